//! What can be wrong with a path, when it is written and when it is followed.

use super::{MAX_PATH_CHARS, MAX_SEGMENTS, Path};

/// A path that does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {position}: {kind}")]
pub struct PathError {
    /// Where, counted in characters from 0.
    pub position: usize,
    /// What is wrong.
    pub kind: PathErrorKind,
}

/// What is wrong with a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathErrorKind {
    /// Longer than a path may be.
    #[error("a path has at most {MAX_PATH_CHARS} characters, this one has {0}")]
    TooLong(usize),
    /// More segments than a path may have.
    #[error("a path has at most {MAX_SEGMENTS} segments")]
    TooManySegments,
    /// Not one of the roots.
    #[error(
        "unknown root: write $input or $steps[n].output, in an output_map also $output or $.field; $$ begins a literal text"
    )]
    UnknownRoot,
    /// `$output` or `$.` in an `input_map`.
    #[error("there is no response yet in an input_map: write $input or $steps[n].output")]
    NoOutputYet,
    /// `$steps` is not followed by `[n].output`.
    #[error("steps are read as $steps[n].output, with n the order of an earlier step")]
    BadStep,
    /// A name is empty or begins with what a name cannot hold.
    #[error("expected a name of letters, digits, _ or - after the dot; any other name is written ['name']")]
    ExpectedName,
    /// Something that cannot follow here.
    #[error(
        "expected .name, ['name'], [index], ? at the end, or nothing; wildcards and filters do not exist"
    )]
    Unexpected,
    /// Brackets hold neither an index nor a quoted name.
    #[error("expected an index from 0 without leading zeros, or a quoted name, in brackets")]
    BadBracket,
    /// A quoted name has no end, or an unknown escape.
    #[error(
        "a quoted name ends with the quote it begins with; inside, write \\\\ and the quote with a backslash"
    )]
    BadQuote,
    /// A literal that the type of the values cannot hold.
    #[error("a literal nests at most {limit} levels deep")]
    LiteralTooDeep {
        /// The deepest nesting.
        limit: usize,
    },
}

/// A map that could not be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapFault {
    /// A path leads nowhere.
    #[error(
        "{key:?}: {path} leads nowhere: {reason} (character {position}); add ? to the path if null will do"
    )]
    Missing {
        /// The entry's key.
        key: String,
        /// The path as written.
        path: String,
        /// Where in the path it ends, in characters from 0.
        position: usize,
        /// What is not there.
        reason: String,
    },
    /// What the map builds is larger than allowed.
    #[error("{key:?}: the mapped value is larger than {limit} bytes")]
    TooLarge {
        /// The entry at which the limit was passed.
        key: String,
        /// The limit, in bytes of JSON text.
        limit: usize,
    },
}

/// Where a path ends before its last segment. Only becomes text when somebody will read it.
#[derive(Debug)]
pub(super) struct NotThere {
    pub(super) position: usize,
    pub(super) reason: String,
}

impl NotThere {
    pub(super) fn under(self, key: &str, path: &Path) -> MapFault {
        MapFault::Missing {
            key: key.to_owned(),
            path: path.as_str().to_owned(),
            position: self.position,
            reason: self.reason,
        }
    }
}
