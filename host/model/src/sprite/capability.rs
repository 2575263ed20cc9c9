//! A named skill of a sprite, and what performs it.

use super::ToolReference;
use crate::record::{Field, FieldKind, Fields, Format, ObjectWriter, Record};
use mizzen_json::{Json, Object};

/// The longest name of a capability, and so of a step's action, in characters.
pub(crate) const CAPABILITY_NAME_MAX: usize = 128;

/// A capability's table.
pub static CAPABILITY: Record = Record {
    name: "Capability",
    about: "A named skill with a JSON Schema parameter definition, declaring what a sprite can do.",
    fields: &[
        Field::required(
            "name",
            FieldKind::text(1, CAPABILITY_NAME_MAX),
            "The name that a step's action refers to.",
        ),
        Field::required(
            "description",
            FieldKind::text(0, 4096),
            "What the capability does.",
        ),
        Field::required(
            "parameters",
            FieldKind::Object { max: 1024 },
            "JSON Schema of the parameters.",
        ),
        Field::optional(
            "tool",
            FieldKind::formatted(Format::ToolReference),
            "The tool or skill that performs the capability, such as namespace.name@^1. Without it, the one installed tool of the capability's name does.",
        ),
    ],
};

/// A named skill of a sprite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// The name that a step's action refers to.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of the parameters, exactly as written: it is part of the fingerprint.
    pub parameters: Object,
    /// What performs it, when it is said.
    pub tool: Option<ToolReference>,
}

impl Capability {
    pub(crate) fn build(value: &Json) -> Option<Self> {
        let fields = Fields::of(value)?;
        Some(Self {
            name: fields.owned("name")?,
            description: fields.owned("description")?,
            parameters: fields.object("parameters")?,
            tool: fields.optional("tool", ToolReference::parse)?,
        })
    }

    /// The capability as JSON.
    pub fn to_json(&self) -> Json {
        ObjectWriter::new()
            .text("name", &self.name)
            .text("description", &self.description)
            .set("parameters", self.parameters.clone())
            .optional_text("tool", self.tool.as_ref())
            .done()
    }
}
