//! Everything that is wrong with a document, and the codes of it.

use mizzen_json::Problem;
use std::fmt;

/// How many problems one document reports at most. A hostile body can hold a million mistakes; nobody reads
/// more than a page of them, and the answer must stay small. The rest is counted in [`Problems::omitted`].
pub const MAX_PROBLEMS: usize = 256;

/// The kind of a mistake, stable over versions: programs match on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// A required field is absent.
    Missing,
    /// A field that the document does not have.
    UnknownField,
    /// A JSON value of another type than the field's.
    WrongType,
    /// A text or list shorter than allowed.
    TooShort,
    /// A text or list longer than allowed.
    TooLong,
    /// A text that does not follow the field's pattern.
    Pattern,
    /// A text outside of the field's fixed set.
    NotInEnum,
    /// A number outside of the field's range.
    OutOfRange,
    /// An item, name or id that appears more than once where it must not.
    Duplicate,
    /// The document is neither a sprite nor a council nor a chain, or more than one of them.
    UnknownDocument,
    /// A step names a sprite that the council does not have.
    SpriteNotInCouncil,
    /// The orders of a chain's steps are not 0…n-1.
    StepOrder,
    /// A map refers to the step itself or to a later one.
    ForwardReference,
    /// A gate is not evaluated by the council's gate agent, or the council does not have exactly one.
    InvalidGateAgent,
    /// A gate's scope or position does not fit where it stands.
    GatePlace,
    /// A map expression does not parse.
    Map,
    /// A condition does not compile.
    Condition,
    /// A JSON Schema inside of the document cannot be used.
    Schema,
    /// A step's action is not among its sprite's capabilities.
    UndeclaredAction,
    /// A sprite claims gate authority and is not the gate agent.
    UnusedGateAuthority,
    /// The text is not JSON or not YAML at all.
    Unreadable,
}

impl Code {
    /// The code as it is sent to clients.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Missing => "missing",
            Code::UnknownField => "unknown_field",
            Code::WrongType => "wrong_type",
            Code::TooShort => "too_short",
            Code::TooLong => "too_long",
            Code::Pattern => "pattern",
            Code::NotInEnum => "not_in_enum",
            Code::OutOfRange => "out_of_range",
            Code::Duplicate => "duplicate",
            Code::UnknownDocument => "unknown_document",
            Code::SpriteNotInCouncil => "sprite_not_in_council",
            Code::StepOrder => "step_order",
            Code::ForwardReference => "forward_reference",
            Code::InvalidGateAgent => "invalid_gate_agent",
            Code::GatePlace => "gate_place",
            Code::Map => "map",
            Code::Condition => "condition",
            Code::Schema => "schema",
            Code::UndeclaredAction => "undeclared_action",
            Code::UnusedGateAuthority => "unused_gate_authority",
            Code::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Every mistake of one document, in document-table order. Non-empty when it travels as an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    omitted: usize,
}

impl Problems {
    /// No problems yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a problem, or counts it when [`MAX_PROBLEMS`] are already listed.
    pub fn push(&mut self, path: impl Into<String>, code: Code, message: impl Into<String>) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(Problem::new(path, code.as_str(), message));
        } else {
            self.omitted += 1;
        }
    }

    /// Adds all problems of another list.
    pub fn extend(&mut self, other: Problems) {
        self.omitted += other.omitted;
        let room = MAX_PROBLEMS.saturating_sub(self.list.len());
        self.omitted += other.list.len().saturating_sub(room);
        self.list.extend(other.list.into_iter().take(room));
    }

    /// Nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many problems are listed.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// How many problems were found and are not listed.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// The problem to tell first: documents list their fields in the order in which they are judged.
    pub fn first(&self) -> Option<&Problem> {
        self.list.first()
    }

    /// The problems, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.list.iter()
    }

    /// `Ok` when nothing is wrong.
    ///
    /// # Errors
    /// The problems themselves, when there are any.
    pub fn into_result(self) -> Result<(), Problems> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{problem}")?;
        }
        if self.omitted > 0 {
            write!(f, "; and {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_mistakes_are_counted_and_not_kept() {
        let mut problems = Problems::new();
        for index in 0..MAX_PROBLEMS + 10 {
            problems.push(format!("/{index}"), Code::Missing, "m");
        }
        assert_eq!((problems.len(), problems.omitted()), (MAX_PROBLEMS, 10));
        assert!(problems.to_string().ends_with("; and 10 more"));
    }
}
