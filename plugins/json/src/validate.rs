//! `json.validate`.

mod applicators;
mod assertions;
mod checker;

use checker::Checker;
use mizzen_sdk::prelude::*;

const MOST_PROBLEMS: u32 = 1_000;

/// A document and the schema it should fit.
#[input]
pub struct Validate {
    /// The document to check.
    document: Value,
    /// A JSON Schema of draft 2020-12.
    schema: Value,
    /// How many problems to return at most, up to 1,000.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: u32,
}

fn default_limit() -> u32 {
    100
}

/// Whether it fits, and what does not.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the document fits.
    valid: bool,
    /// What does not fit.
    problems: Vec<Problem>,
    /// Whether there are more problems than the limit.
    more: bool,
}

/// One thing that does not fit.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the document: an RFC 6901 pointer.
    path: String,
    /// Where in the schema: an RFC 6901 pointer to the keyword.
    schema_path: String,
    /// What is wrong and what was expected.
    message: String,
}

/// Validates a JSON document against a JSON Schema (draft 2020-12) and lists every problem with its place in both. References stay inside the schema; `format` is not checked; keywords that cannot be checked here are refused rather than ignored.
#[tool(
    side_effects = "none",
    tags = ["schema", "check"],
    example(
        name = "a document that fits",
        input = {
            "document": { "name": "Ada", "age": 36 },
            "schema": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "age": { "type": "integer", "minimum": 0 } } }
        },
        output = { "valid": true, "problems": [], "more": false }
    ),
    example(
        name = "every problem with its place",
        input = {
            "document": { "age": -1, "pets": ["cat", 7], "x": 1 },
            "schema": {
                "type": "object", "required": ["name"], "additionalProperties": false,
                "properties": { "name": true, "age": { "minimum": 0 }, "pets": { "items": { "type": "string" } } }
            }
        },
        output = { "valid": false, "more": false, "problems": [
            { "path": "", "schema_path": "/required", "message": "`name` is missing" },
            { "path": "/age", "schema_path": "/properties/age/minimum", "message": "-1 is below 0" },
            { "path": "/pets/1", "schema_path": "/properties/pets/items/type", "message": "expected string, found integer" },
            { "path": "/x", "schema_path": "/additionalProperties", "message": "nothing is allowed here" }
        ] }
    ),
    example(
        name = "a reference into the schema",
        input = {
            "document": { "next": { "next": 1 } },
            "schema": { "$ref": "#/$defs/list", "$defs": { "list": { "type": "object", "properties": { "next": { "$ref": "#/$defs/list" } } } } }
        },
        output = { "valid": false, "more": false, "problems": [
            { "path": "/next/next", "schema_path": "/$defs/list/type", "message": "expected object, found integer" }
        ] }
    )
)]
pub fn validate(input: Validate) -> Result<Verdict, ToolError> {
    if input.limit == 0 || input.limit > MOST_PROBLEMS {
        return Err(ToolError::invalid_input(
            "/limit",
            format!("expected 1 to {MOST_PROBLEMS}, found {}", input.limit),
        ));
    }
    let limit = usize::try_from(input.limit).unwrap_or(usize::MAX);
    let mut problems = Checker::new(&input.schema).problems(&input.document, limit + 1)?;
    let more = problems.len() > limit;
    problems.truncate(limit);
    Ok(Verdict {
        valid: problems.is_empty(),
        problems,
        more,
    })
}

#[cfg(test)]
mod tests;
