//! The three top-level documents of `iris.schema.json`, told apart by the field that only one of them has.

use crate::chain::{CHAIN, Chain};
use crate::council::{COUNCIL, Council};
use crate::problem::{Code, Problems};
use crate::record::{References, definitions};
use crate::sprite::{SPRITE, Sprite};
use mizzen_json::{Json, Object};

/// A sprite, a council or a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Document {
    /// Has `system_prompt`.
    Sprite(Box<Sprite>),
    /// Has `sprites`.
    Council(Box<Council>),
    /// Has `steps`.
    Chain(Box<Chain>),
}

impl Document {
    /// Reads a whole document of whichever kind.
    ///
    /// # Errors
    /// Every problem of the kind that the document is, or that it is none or several of them.
    pub fn parse(document: &Json) -> Result<Self, Problems> {
        let has = |field: &str| document.get(field).is_some();
        match (has("system_prompt"), has("sprites"), has("steps")) {
            (true, false, false) => Sprite::parse(document).map(|sprite| Document::Sprite(Box::new(sprite))),
            (false, true, false) => {
                Council::parse(document).map(|council| Document::Council(Box::new(council)))
            }
            (false, false, true) => Chain::parse(document).map(|chain| Document::Chain(Box::new(chain))),
            _ => {
                let mut problems = Problems::new();
                let message = "expected a sprite (with system_prompt), a council (with sprites) or a chain (with steps), and only one of them";
                problems.push("", Code::UnknownDocument, message);
                Err(problems)
            }
        }
    }

    /// The whole document, in table order.
    pub fn to_json(&self) -> Json {
        match self {
            Document::Sprite(sprite) => sprite.to_json(),
            Document::Council(council) => council.to_json(),
            Document::Chain(chain) => chain.to_json(),
        }
    }
}

/// `iris.schema.json`: what [`Document::parse`] accepts, as JSON Schema (Draft 2020-12).
pub fn iris_schema() -> Json {
    let roots = [&SPRITE, &COUNCIL, &CHAIN];
    let one_of = roots.map(|record| {
        let mut reference = Object::new();
        reference.insert("$ref", Json::from(format!("#/$defs/{}", record.name)));
        Json::from(reference)
    });
    let mut schema = Object::new();
    schema.insert(
        "$schema",
        Json::from("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title", Json::from("iris.schema.json"));
    schema.insert("description", Json::from("A sprite, a council or a chain."));
    schema.insert("oneOf", Json::from(Vec::from(one_of)));
    schema.insert("$defs", Json::from(definitions(&roots, References::Definitions)));
    schema.into()
}
