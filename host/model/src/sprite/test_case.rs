//! Declared tests of a sprite, and how an answer is judged.

use crate::record::{Field, FieldKind, Fields, ObjectWriter, Record};
use mizzen_json::{Json, Object};

/// A test case's table.
pub static TEST_CASE: Record = Record {
    name: "TestCase",
    about: "A declarative test of a sprite's behaviour.",
    fields: &[
        Field::required("name", FieldKind::text(1, 256), "What the test shows."),
        Field::required(
            "input",
            FieldKind::Object { max: 1024 },
            "What the sprite is given. Its `action` chooses the capability when the sprite has several.",
        ),
        Field::required(
            "expected_output",
            FieldKind::Object { max: 1024 },
            "What must come back: every field here, equal; other fields are allowed.",
        ),
        Field::optional(
            "tags",
            FieldKind::list(const { &FieldKind::text(1, 64) }, 0, 256),
            "Words to select the test by.",
        ),
    ],
};

/// A declarative test of a sprite's behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCase {
    /// What the test shows.
    pub name: String,
    /// What the sprite is given.
    pub input: Object,
    /// What must come back.
    pub expected_output: Object,
    /// Words to select the test by; absent is told from empty, because both are part of the fingerprint.
    pub tags: Option<Vec<String>>,
}

impl TestCase {
    pub(crate) fn build(value: &Json) -> Option<Self> {
        let fields = Fields::of(value)?;
        Some(Self {
            name: fields.owned("name")?,
            input: fields.object("input")?,
            expected_output: fields.object("expected_output")?,
            tags: fields.optional_list("tags", |tag| tag.as_str().map(str::to_owned))?,
        })
    }

    /// The test case as JSON.
    pub fn to_json(&self) -> Json {
        let writer = ObjectWriter::new()
            .text("name", &self.name)
            .set("input", self.input.clone())
            .set("expected_output", self.expected_output.clone());
        match &self.tags {
            Some(tags) => writer.texts("tags", tags).done(),
            None => writer.done(),
        }
    }

    /// Whether the test has one of the wanted tags, or none are wanted.
    pub fn is_selected(&self, wanted: &[String]) -> bool {
        wanted.is_empty() || self.tags.iter().flatten().any(|tag| wanted.contains(tag))
    }
}
