//! Names that conditions cannot use, and what to say about them.

use super::ast::Comprehension;
use super::error::{ConditionError, Position};
use super::function::Function;

/// Words that CEL keeps for the languages it is embedded in, and its own keywords.
pub(crate) const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The error of a function that does not exist, with what was probably meant.
pub(crate) fn unknown_function(name: &str, position: Position) -> ConditionError {
    let error = ConditionError::new(position, format!("unknown function `{name}`"));
    match name {
        "now" => error.hint("conditions have no clock: a decision must be reproducible from the journal"),
        "random" | "rand" | "uuid" => {
            error.hint("conditions have no randomness: a decision must be reproducible from the journal")
        }
        "len" | "length" | "count" => error.hint("did you mean `size`?"),
        _ => {
            let known = Function::names()
                .chain(Comprehension::NAMES.map(|(name, _)| name))
                .chain(["has"]);
            match mizzen_json::nearest(name, known) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => {
                    let names: Vec<_> = Function::names().collect();
                    error.hint(format!(
                        "there are: {}, has, all, exists, exists_one, filter, map",
                        names.join(", ")
                    ))
                }
            }
        }
    }
}
