//! One path: parsed once, followed at every step.

use super::error::NotThere;
use super::{PathError, PathErrorKind, Scope, Side, Tree};
use std::fmt;

/// The longest path, in characters.
pub const MAX_PATH_CHARS: usize = 256;
/// The most segments after the root.
pub const MAX_SEGMENTS: usize = 32;
/// More digits than any list has items.
const MAX_INDEX_DIGITS: usize = 9;

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    text: String,
    root: Root,
    segments: Vec<(usize, Segment)>,
    optional: bool,
}

/// Where a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The execution's input.
    Input,
    /// The mapped output of the step with that order.
    Step(usize),
    /// The step's raw response.
    Output,
}

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A field of an object.
    Field(String),
    /// An item of a list.
    Item(usize),
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Path {
    /// Reads a path, in one pass.
    ///
    /// # Errors
    /// [`PathError`] with the place of the first mistake.
    pub fn parse(text: &str, side: Side) -> Result<Self, PathError> {
        // Counting stops early: the text may be a megabyte.
        let length = text.chars().take(MAX_PATH_CHARS + 1).count();
        if length > MAX_PATH_CHARS {
            let length = text.chars().count();
            return Err(PathError {
                position: MAX_PATH_CHARS,
                kind: PathErrorKind::TooLong(length),
            });
        }
        let mut reader = Reader {
            chars: text.chars().collect(),
            next: 0,
        };
        let root = reader.root(side)?;
        let mut segments = Vec::new();
        let mut optional = false;
        while let Some(character) = reader.peek() {
            let position = reader.next;
            if optional {
                return Err(reader.error(PathErrorKind::Unexpected));
            }
            let segment = match character {
                '.' => {
                    reader.next += 1;
                    Segment::Field(reader.name()?)
                }
                '[' => reader.bracket()?,
                '?' => {
                    reader.next += 1;
                    optional = true;
                    continue;
                }
                _ => return Err(reader.error(PathErrorKind::Unexpected)),
            };
            if segments.len() == MAX_SEGMENTS {
                return Err(PathError {
                    position,
                    kind: PathErrorKind::TooManySegments,
                });
            }
            segments.push((position, segment));
        }
        Ok(Self {
            text: text.to_owned(),
            root,
            segments,
            optional,
        })
    }

    /// The path as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where it begins.
    pub fn root(&self) -> Root {
        self.root
    }

    /// What follows the root.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().map(|(_, segment)| segment)
    }

    /// Whether null will do when there is nothing.
    pub fn is_optional(&self) -> bool {
        self.optional
    }

    /// Follows the path.
    pub(super) fn find<'a, V: Tree>(&self, scope: Scope<'a, V>) -> Result<&'a V, NotThere> {
        let not_there = |position: usize, reason: String| NotThere { position, reason };
        let mut at = match self.root {
            Root::Input => scope.input,
            Root::Step(order) => match scope.steps.get(order) {
                Some(Some(output)) => output,
                Some(None) => return Err(not_there(0, format!("step {order} has no output"))),
                None => return Err(not_there(0, format!("step {order} has not run"))),
            },
            Root::Output => scope
                .output
                .ok_or_else(|| not_there(0, "there is no response".to_owned()))?,
        };
        for (position, segment) in &self.segments {
            let next = match segment {
                Segment::Field(name) => at.field(name),
                Segment::Item(index) => at.item(*index),
            };
            at = next.ok_or_else(|| not_there(*position, describe(segment, at.shape())))?;
        }
        Ok(at)
    }
}

fn describe(segment: &Segment, shape: &str) -> String {
    match (segment, shape) {
        (Segment::Field(name), "object") => format!("there is no field {name:?}"),
        (Segment::Field(name), shape) => format!("there is no field {name:?} in {shape}"),
        (Segment::Item(index), "array") => format!("the list has no item {index}"),
        (Segment::Item(index), shape) => format!("there is no item {index} in {shape}"),
    }
}

struct Reader {
    chars: Vec<char>,
    next: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.next).copied()
    }

    fn error(&self, kind: PathErrorKind) -> PathError {
        PathError {
            position: self.next,
            kind,
        }
    }

    fn take(&mut self, expected: &str) -> bool {
        let matches = expected
            .chars()
            .enumerate()
            .all(|(i, c)| self.chars.get(self.next + i) == Some(&c));
        if matches {
            self.next += expected.chars().count();
        }
        matches
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let start = self.next;
        while self.peek().is_some_and(&belongs) {
            self.next += 1;
        }
        self.chars
            .get(start..self.next)
            .unwrap_or_default()
            .iter()
            .collect()
    }

    fn root(&mut self, side: Side) -> Result<Root, PathError> {
        if !self.take("$") {
            return Err(self.error(PathErrorKind::UnknownRoot));
        }
        let start = self.next;
        let word = self.run(is_name_character);
        match (word.as_str(), side) {
            ("input", _) => Ok(Root::Input),
            ("steps", _) => self.step(),
            ("output" | "", Side::Output) => Ok(Root::Output),
            ("output", Side::Input) => Err(PathError {
                position: start,
                kind: PathErrorKind::NoOutputYet,
            }),
            ("", Side::Input) if matches!(self.peek(), Some('.' | '[')) => Err(PathError {
                position: start,
                kind: PathErrorKind::NoOutputYet,
            }),
            _ => Err(PathError {
                position: start,
                kind: PathErrorKind::UnknownRoot,
            }),
        }
    }

    fn step(&mut self) -> Result<Root, PathError> {
        let position = self.next;
        let bad = PathError {
            position,
            kind: PathErrorKind::BadStep,
        };
        if !self.take("[") {
            return Err(bad);
        }
        let Some(order) = self.index() else {
            return Err(bad);
        };
        if !self.take("].output") || self.peek().is_some_and(is_name_character) {
            return Err(bad);
        }
        Ok(Root::Step(order))
    }

    fn name(&mut self) -> Result<String, PathError> {
        let name = self.run(is_name_character);
        if name.is_empty() {
            Err(self.error(PathErrorKind::ExpectedName))
        } else {
            Ok(name)
        }
    }

    fn bracket(&mut self) -> Result<Segment, PathError> {
        self.next += 1;
        let segment = match self.peek() {
            Some(quote @ ('\'' | '"')) => {
                self.next += 1;
                Segment::Field(self.quoted(quote)?)
            }
            _ => match self.index() {
                Some(index) => Segment::Item(index),
                None => return Err(self.error(PathErrorKind::BadBracket)),
            },
        };
        if self.take("]") {
            Ok(segment)
        } else {
            Err(self.error(PathErrorKind::BadBracket))
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, PathError> {
        let mut name = String::new();
        loop {
            let character = self.peek().ok_or_else(|| self.error(PathErrorKind::BadQuote))?;
            self.next += 1;
            match character {
                end if end == quote => return Ok(name),
                '\\' => match self.peek() {
                    Some(escaped @ ('\\' | '\'' | '"')) => {
                        self.next += 1;
                        name.push(escaped);
                    }
                    _ => return Err(self.error(PathErrorKind::BadQuote)),
                },
                other => name.push(other),
            }
        }
    }

    /// Digits without leading zeros. Nothing is consumed when there is no index.
    fn index(&mut self) -> Option<usize> {
        let start = self.next;
        let digits = self.run(|character| character.is_ascii_digit());
        let fits =
            (1..=MAX_INDEX_DIGITS).contains(&digits.len()) && (digits == "0" || !digits.starts_with('0'));
        match digits.parse() {
            Ok(index) if fits => Some(index),
            _ => {
                self.next = start;
                None
            }
        }
    }
}

fn is_name_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '-'
}
