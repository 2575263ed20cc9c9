//! Between the JSON of the contract and the author's types.

use crate::ToolError;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_path_to_error::{Path, Segment};

/// The input of a tool that takes none: `{}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

/// What a fallible tool returns.
pub trait Outcome {
    /// The output of a success.
    type Output;
    /// The output, or the error as a type of the contract.
    fn into_result(self) -> Result<Self::Output, ToolError>;
}

impl<T, E: Into<ToolError>> Outcome for Result<T, E> {
    type Output = T;

    fn into_result(self) -> Result<T, ToolError> {
        self.map_err(Into::into)
    }
}

/// Reads an input; the error names where it does not fit. serde_json bounds the nesting (128).
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, ToolError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| ToolError::invalid_input(pointer(error.path()), error.inner().to_string()))?;
    reader
        .end()
        .map_err(|error| ToolError::invalid_input("", error.to_string()))?;
    Ok(value)
}

/// Writes an output.
pub fn write<T: Serialize>(output: T) -> Result<String, ToolError> {
    serde_json::to_string(&output).map_err(|error| {
        ToolError::failed(
            "OUTPUT_NOT_JSON",
            format!("the output cannot be written as JSON: {error}"),
        )
    })
}

/// Writes the output of a tool that can fail.
pub fn finish<R: Outcome<Output: Serialize>>(outcome: R) -> Result<String, ToolError> {
    write(outcome.into_result()?)
}

/// The JSON Schema of what `T` reads.
pub fn input_schema<T: JsonSchema>() -> String {
    SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
        .to_string()
}

/// The JSON Schema of what `T` writes.
pub fn output_schema<T: JsonSchema>() -> String {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
        .to_string()
}

/// An RFC 6901 pointer.
fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            // A variant is not a place in the text when the enum is untagged or tagged inside; the map key before it
            // already names the place when it is tagged outside.
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}
