//! `input_map` and `output_map`: where each field of a step's input and output comes from.
//!
//! A value of a map is a *literal* unless it is a string that begins with `$`:
//!
//! | written | means |
//! |---|---|
//! | `$input.user.name` | the execution's input |
//! | `$steps[0].output.code` | the mapped output of step 0 |
//! | `$output.code`, `$.code` | the step's raw response (`output_map` only) |
//! | `$input['odd name'][3]` | any key, and items of lists |
//! | `$input.note?` | the same, or null when there is nothing |
//! | `$$5 off` | the literal text `$5 off` |
//! | `"text"`, `3`, `{"a": 1}` | itself |
//!
//! Deliberately absent: wildcards, filters, `..` and anything else whose cost is not the length of the path. A path has at
//! most 256 characters and 32 segments, parsing and applying are linear, and what a map copies is bounded by the caller.

mod error;
mod path;
mod tree;

pub use error::{MapFault, PathError, PathErrorKind};
pub use path::{MAX_PATH_CHARS, MAX_SEGMENTS, Path, Root, Segment};
pub use tree::Tree;

use mizzen_json::{Json, Object, TooDeep};

/// Which of a step's two maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// `input_map`: there is no response yet.
    Input,
    /// `output_map`: the response can be read.
    Output,
}

/// A parsed map. `V` is the type of the values it is applied to; literals are kept in it.
#[derive(Debug, Clone, Default)]
pub struct Map<V = Json> {
    entries: Vec<(String, Source<V>)>,
}

#[derive(Debug, Clone)]
enum Source<V> {
    Literal(V),
    Path(Path),
}

/// An entry that is not a map's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key:?}: {error}")]
pub struct EntryError {
    /// The entry's key.
    pub key: String,
    /// What is wrong with its value.
    pub error: PathError,
}

/// What paths are read from.
#[derive(Debug)]
pub struct Scope<'a, V> {
    /// The execution's input.
    pub input: &'a V,
    /// The mapped outputs of the steps so far, by order; none for a step that failed or was skipped (D4).
    pub steps: &'a [Option<V>],
    /// The step's raw response, for `output_map`.
    pub output: Option<&'a V>,
}

// Derived `Clone` and `Copy` would ask the same of `V`.
impl<V> Clone for Scope<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V> Copy for Scope<'_, V> {}

impl<V: Tree> Map<V> {
    /// Parses every entry.
    ///
    /// # Errors
    /// Every entry that does not parse, in document order.
    pub fn parse(entries: &Object, side: Side) -> Result<Self, Vec<EntryError>> {
        let mut parsed = Vec::with_capacity(entries.len());
        let mut errors = Vec::new();
        for (key, value) in entries.iter() {
            match parse_source(value, side) {
                Ok(source) => parsed.push((key.to_owned(), source)),
                Err(error) => errors.push(EntryError {
                    key: key.to_owned(),
                    error,
                }),
            }
        }
        if errors.is_empty() {
            Ok(Self { entries: parsed })
        } else {
            Err(errors)
        }
    }

    /// No entries. As an `output_map` it keeps the whole response.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every literal with the key it stands under.
    pub fn literals(&self) -> impl Iterator<Item = (&str, &V)> {
        self.entries.iter().filter_map(|(key, source)| match source {
            Source::Literal(value) => Some((key.as_str(), value)),
            Source::Path(_) => None,
        })
    }

    /// Every path with the key it stands under.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.entries.iter().filter_map(|(key, source)| match source {
            Source::Literal(_) => None,
            Source::Path(path) => Some((key.as_str(), path)),
        })
    }

    /// Builds the object that the map describes. `limit` bounds the size of what is built, in bytes of JSON text:
    /// a map may name one large value in each of its entries.
    ///
    /// # Errors
    /// [`MapFault`]: the first entry whose path leads nowhere, or that the whole is larger than `limit`.
    pub fn apply(&self, scope: Scope<'_, V>, limit: usize) -> Result<V, MapFault> {
        let mut left = limit;
        let mut built = Vec::with_capacity(self.entries.len());
        for (key, source) in &self.entries {
            let value = match source {
                Source::Literal(literal) => literal,
                Source::Path(path) => match path.find(scope) {
                    Ok(found) => found,
                    Err(missing) if path.is_optional() => {
                        drop(missing);
                        built.push((key.clone(), V::null()));
                        continue;
                    }
                    Err(missing) => return Err(missing.under(key, path)),
                },
            };
            let too_large = || MapFault::TooLarge {
                key: key.clone(),
                limit,
            };
            let size = value.size(left).ok_or_else(too_large)?;
            left = left.checked_sub(size + key.len()).ok_or_else(too_large)?;
            built.push((key.clone(), value.copy()));
        }
        Ok(V::object(built))
    }
}

fn parse_source<V: Tree>(value: &Json, side: Side) -> Result<Source<V>, PathError> {
    let literal = |value: &Json| {
        V::from_json(value)
            .map(Source::Literal)
            .map_err(|TooDeep { limit }| PathError {
                position: 0,
                kind: PathErrorKind::LiteralTooDeep { limit },
            })
    };
    match value.as_str() {
        Some(text) => match text.strip_prefix("$$") {
            Some(rest) => literal(&Json::from(format!("${rest}"))),
            None if text.starts_with('$') => Path::parse(text, side).map(Source::Path),
            None => literal(value),
        },
        None => literal(value),
    }
}
