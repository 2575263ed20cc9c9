//! Reading TOML the strict way: every problem of a document at once, each with its line and column, what is wrong and
//! what would be right; unknown keys refused.
//!
//! Used for `plugin.toml`, `trust.toml` and `mizzen.toml`. The text is bounded by the caller's limit, nesting by the
//! parser's (80), the number of problems by [`MAX_PROBLEMS`].

use crate::{Problem, Span, position_of, shorten};
use jiff::civil::Date;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// More problems than a person will read at once; the rest is counted.
pub const MAX_PROBLEMS: usize = 100;

// Codes of problems, spelled as those of other documents.
const MISSING: &str = "missing";
const UNKNOWN: &str = "unknown_field";
const WRONG_TYPE: &str = "wrong_type";
const OUT_OF_RANGE: &str = "out_of_range";
const TOO_LONG: &str = "too_long";
const UNREADABLE: &str = "unreadable";
/// Of the right type, and refused by whoever reads the document.
const INVALID: &str = "invalid";

/// All problems of a document, in the order of its lines; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// At most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// How many more there were.
    pub dropped: usize,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        if self.dropped > 0 {
            write!(f, "\nand {} more", self.dropped)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Collects what is wrong with one text.
#[derive(Debug)]
pub struct Reader<'i> {
    text: &'i str,
    found: RefCell<Problems>,
}

impl<'i> Reader<'i> {
    /// Parses a text of at most `max` bytes and reads it with `read`, which returns a value or has reported why not.
    ///
    /// # Errors
    /// With all problems of the text.
    pub fn read<T>(
        text: &'i str,
        max: usize,
        read: impl for<'r> FnOnce(Section<'r, 'i>) -> Option<T>,
    ) -> Result<T, Problems> {
        let reader = Self {
            text,
            found: RefCell::new(Problems {
                problems: Vec::new(),
                dropped: 0,
            }),
        };
        if text.len() > max {
            let message = format!("the document has {} bytes", text.len());
            let help = format!("keep it within {max} bytes");
            reader.report(0..0, Problem::new("", TOO_LONG, message).with_help(help));
            return Err(reader.into_problems());
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let message = format!("this is not TOML: {}", error.message().replace('\n', " "));
            let problem =
                Problem::new("", UNREADABLE, message).with_help("see https://toml.io for the syntax");
            reader.report(error.span().unwrap_or(0..0), problem);
        }
        if !errors.is_empty() {
            // A table recovered from broken text would give follow-up problems that are not real.
            return Err(reader.into_problems());
        }
        let root = Section::new(&reader, String::new(), 0..0, table.get_ref());
        match read(root) {
            Some(value) if reader.found.borrow().problems.is_empty() => Ok(value),
            _ => {
                if reader.found.borrow().problems.is_empty() {
                    let problem = Problem::new("", INVALID, "the document is not complete")
                        .with_help("see the documentation of this file");
                    reader.report(0..0, problem);
                }
                Err(reader.into_problems())
            }
        }
    }

    fn into_problems(self) -> Problems {
        let mut found = self.found.into_inner();
        found.problems.sort_by(|a, b| {
            (a.span.map(|span| span.start), &a.path).cmp(&(b.span.map(|span| span.start), &b.path))
        });
        found
    }

    fn report(&self, span: Range<usize>, problem: Problem) {
        let mut found = self.found.borrow_mut();
        if found.problems.len() >= MAX_PROBLEMS {
            found.dropped += 1;
            return;
        }
        found.problems.push(Problem {
            position: Some(position_of(self.text, span.start)),
            span: Some(Span {
                start: span.start,
                end: span.end,
            }),
            ..problem
        });
    }
}

/// A table of the document. What nobody took when it is finished is an unknown key.
#[derive(Debug)]
pub struct Section<'r, 'i> {
    reader: &'r Reader<'i>,
    path: String,
    span: Range<usize>,
    left: BTreeMap<&'r str, (Range<usize>, &'r Spanned<DeValue<'i>>)>,
    known: Vec<&'static str>,
}

impl<'r, 'i> Section<'r, 'i> {
    fn new(reader: &'r Reader<'i>, path: String, span: Range<usize>, table: &'r DeTable<'i>) -> Self {
        let left = table
            .iter()
            .map(|(key, value)| (key.get_ref().as_ref(), (key.span(), value)))
            .collect();
        Self {
            reader,
            path,
            span,
            left,
            known: Vec::new(),
        }
    }

    fn below(&self, key: &str) -> String {
        let plain = !key.is_empty()
            && key
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let key = if plain {
            key.to_owned()
        } else {
            format!("\"{}\"", shorten(key))
        };
        if self.path.is_empty() {
            key
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// The value of a key that may be absent.
    pub fn take(&mut self, key: &'static str) -> Option<Node<'r, 'i>> {
        self.known.push(key);
        let path = self.below(key);
        self.left.remove(key).map(|(key_span, value)| Node {
            reader: self.reader,
            path,
            key_span,
            value,
        })
    }

    /// The value of a key that must be there.
    pub fn require(&mut self, key: &'static str, help: &str) -> Option<Node<'r, 'i>> {
        let node = self.take(key);
        if node.is_none() {
            let problem = Problem::new(self.below(key), MISSING, "it is missing").with_help(help.to_owned());
            self.reader.report(self.span.clone(), problem);
        }
        node
    }

    /// The table of a key that may be absent.
    pub fn table(&mut self, key: &'static str) -> Option<Section<'r, 'i>> {
        self.take(key)?.section()
    }

    /// Every entry that is left, for tables whose keys are the author's: the key, and its value.
    pub fn entries(mut self) -> Vec<(&'r str, Node<'r, 'i>)> {
        let left = std::mem::take(&mut self.left);
        left.into_iter()
            .map(|(key, (key_span, value))| {
                (
                    key,
                    Node {
                        reader: self.reader,
                        path: self.below(key),
                        key_span,
                        value,
                    },
                )
            })
            .collect()
    }

    /// Leaves sections that another part of the program reads.
    pub fn leave(&mut self, keys: &[&'static str]) {
        for key in keys {
            self.known.push(key);
            self.left.remove(key);
        }
    }

    /// Reports what is wrong with the table as a whole.
    pub fn report(&self, message: impl Into<String>, help: impl Into<String>) {
        let problem =
            Problem::new(self.path.as_str(), INVALID, message).with_help(Into::<String>::into(help));
        self.reader.report(self.span.clone(), problem);
    }

    /// Reports every key that nobody took.
    pub fn finish(self) {
        for (key, (span, _)) in &self.left {
            let known = self.known.join(", ");
            let message = format!("unknown key `{}`", shorten(key));
            let problem = Problem::new(self.below(key), UNKNOWN, message)
                .with_help(format!("remove it or use one of: {known}"));
            self.reader.report(span.clone(), problem);
        }
    }
}

/// A value of the document.
#[derive(Debug, Clone)]
pub struct Node<'r, 'i> {
    reader: &'r Reader<'i>,
    path: String,
    key_span: Range<usize>,
    value: &'r Spanned<DeValue<'i>>,
}

impl<'r, 'i> Node<'r, 'i> {
    /// Reports what is wrong with this value.
    pub fn report(&self, message: impl Into<String>, help: impl Into<String>) {
        self.report_as(INVALID, message, help);
    }

    /// Reports what is wrong with this value's key.
    pub fn report_key(&self, message: impl Into<String>, help: impl Into<String>) {
        let problem =
            Problem::new(self.path.as_str(), INVALID, message).with_help(Into::<String>::into(help));
        self.reader.report(self.key_span.clone(), problem);
    }

    fn report_as(&self, code: &'static str, message: impl Into<String>, help: impl Into<String>) {
        let problem = Problem::new(self.path.as_str(), code, message).with_help(Into::<String>::into(help));
        self.reader.report(self.value.span(), problem);
    }

    fn wrong_type<T>(&self, expected: &str) -> Option<T> {
        let found = self.value.get_ref().type_str();
        self.report_as(
            WRONG_TYPE,
            format!("expected {expected}, found {found}"),
            format!("write {expected}"),
        );
        None
    }

    /// A string.
    pub fn string(&self) -> Option<&'r str> {
        self.value
            .get_ref()
            .as_str()
            .or_else(|| self.wrong_type("a string in quotes"))
    }

    /// A string, read further by `parse`, whose error becomes the problem.
    pub fn parsed<T, E: fmt::Display>(
        &self,
        help: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = self.string()?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.report(error.to_string(), help);
                None
            }
        }
    }

    /// A whole number from `range`.
    pub fn integer(&self, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let Some(integer) = self.value.get_ref().as_integer() else {
            return self.wrong_type(&expected);
        };
        let number = i64::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .filter(|n| range.contains(n));
        if number.is_none() {
            self.report_as(
                OUT_OF_RANGE,
                format!("`{}` is out of range", shorten(integer.as_str())),
                format!("write {expected}"),
            );
        }
        number
    }

    /// Whether a string is written here; where a table may stand, too.
    pub fn is_string(&self) -> bool {
        self.value.get_ref().as_str().is_some()
    }

    /// Whether `true` or `false` is written here; where it may stand for something else, too.
    pub fn is_boolean(&self) -> bool {
        self.value.get_ref().as_bool().is_some()
    }

    /// True or false.
    pub fn boolean(&self) -> Option<bool> {
        self.value
            .get_ref()
            .as_bool()
            .or_else(|| self.wrong_type("true or false"))
    }

    /// A date and time with an offset, in seconds since 1970.
    pub fn unix_seconds(&self) -> Option<i64> {
        let datetime = match self.value.get_ref() {
            DeValue::Datetime(datetime) => unix_seconds(datetime),
            _ => None,
        };
        datetime.or_else(|| self.wrong_type("a date and time such as 2026-01-31T00:00:00Z, without quotes"))
    }

    /// A table.
    pub fn section(&self) -> Option<Section<'r, 'i>> {
        match self.value.get_ref() {
            DeValue::Table(table) => Some(Section::new(
                self.reader,
                self.path.clone(),
                self.value.span(),
                table,
            )),
            _ => self.wrong_type("a table"),
        }
    }

    /// A list.
    pub fn list(&self) -> Option<Vec<Node<'r, 'i>>> {
        let Some(items) = self.value.get_ref().as_array() else {
            return self.wrong_type("a list in square brackets");
        };
        let node = |(index, value): (usize, &'r Spanned<DeValue<'i>>)| Node {
            reader: self.reader,
            path: format!("{}[{index}]", self.path),
            key_span: value.span(),
            value,
        };
        Some(items.iter().enumerate().map(node).collect())
    }

    /// Anything, as JSON. Dates become strings; numbers that JSON cannot hold are reported.
    pub fn json(&self) -> Option<serde_json::Value> {
        use serde_json::Value;
        // Recursion is bounded by the parser's own nesting limit.
        match self.value.get_ref() {
            DeValue::String(text) => Some(Value::String(text.to_string())),
            DeValue::Boolean(value) => Some(Value::Bool(*value)),
            DeValue::Datetime(datetime) => Some(Value::String(datetime.to_string())),
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => Some(number.into()),
                Err(_) => self.wrong_type("a whole number of at most 64 bits"),
            },
            DeValue::Float(float) => {
                match float.as_str().parse().ok().and_then(serde_json::Number::from_f64) {
                    Some(number) => Some(Value::Number(number)),
                    None => self.wrong_type("a finite number"),
                }
            }
            DeValue::Array(_) => {
                let items: Vec<Option<Value>> = self.list()?.iter().map(Node::json).collect();
                items
                    .into_iter()
                    .collect::<Option<Vec<Value>>>()
                    .map(Value::Array)
            }
            DeValue::Table(_) => {
                let entries: Vec<(String, Option<Value>)> = self
                    .section()?
                    .entries()
                    .into_iter()
                    .map(|(key, node)| (key.to_owned(), node.json()))
                    .collect();
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| value.map(|value| (key, value)));
                entries
                    .collect::<Option<serde_json::Map<String, Value>>>()
                    .map(Value::Object)
            }
        }
    }
}

/// Only dates with an offset are a moment. Hours and minutes are added by hand: a leap second is no time of `jiff`.
fn unix_seconds(datetime: &toml::value::Datetime) -> Option<i64> {
    let (date, time, offset) = (datetime.date?, datetime.time?, datetime.offset?);
    let (year, month, day) = (
        i16::try_from(date.year),
        i8::try_from(date.month),
        i8::try_from(date.day),
    );
    let date = Date::new(year.ok()?, month.ok()?, day.ok()?).ok()?;
    let midnight = date.duration_since(Date::constant(1970, 1, 1)).as_secs();
    let seconds =
        i64::from(time.hour) * 3_600 + i64::from(time.minute) * 60 + i64::from(time.second.unwrap_or(0));
    let offset = match offset {
        toml::value::Offset::Z => 0,
        toml::value::Offset::Custom { minutes } => i64::from(minutes) * 60,
    };
    Some(midnight + seconds - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let read = Reader::read(text, 10_000, |mut root| {
            let name = root
                .require("name", "add name = \"x\"")
                .and_then(|node| node.string().map(str::to_owned));
            let size = root.take("size").map(|node| node.integer(0..=9));
            root.finish();
            size.unwrap_or(Some(0)).and(name)
        });
        read.err()
            .map(|found| found.problems.iter().map(ToString::to_string).collect())
            .unwrap_or_default()
    }

    #[test]
    fn every_problem_is_reported_with_its_line_and_column() {
        assert_eq!(problems("name = \"a\"\nsize = 3\n"), Vec::<String>::new());
        assert_eq!(
            problems("size = 10\n\n  what = 1\n"),
            [
                "line 1, column 1: name: it is missing; add name = \"x\"",
                "line 1, column 8: size: `10` is out of range; write a whole number from 0 to 9",
                "line 3, column 3: what: unknown key `what`; remove it or use one of: name, size",
            ]
        );
        assert_eq!(
            problems("name = 5"),
            ["line 1, column 8: name: expected a string in quotes, found integer; write a string in quotes"]
        );
    }

    #[test]
    fn broken_toml_is_reported_where_it_breaks() {
        let found = problems("name = \"a\"\nsize = = 3\n");
        assert!(
            found.iter().any(|problem| problem.starts_with("line 2, ")),
            "{found:?}"
        );
        assert!(
            problems("name = \"a\"\nname = \"b\"\n")
                .iter()
                .any(|p| p.starts_with("line 2, "))
        );
    }

    #[test]
    fn hostile_documents_are_refused_quickly_and_without_a_panic() {
        let deep = format!("name = {}", "[".repeat(4_000));
        let dotted = format!("{}x = 1", "a.".repeat(4_000));
        let headers = format!("[{}a]", "a.".repeat(4_000));
        let many = "x = [\n".repeat(1_500);
        let huge = "a".repeat(10_001);
        let keys: String = (0..900).map(|n| format!("k{n} = 1\n")).collect();
        for text in [
            &deep, &dotted, &headers, &many, &huge, &keys, "\0", "\u{feff}", "[[[", "'''", "= =",
        ] {
            assert!(!problems(text).is_empty(), "{}", shorten(text));
        }
        assert!(problems(&keys).len() <= MAX_PROBLEMS);
    }

    #[test]
    fn a_date_with_an_offset_is_a_moment() {
        let moment = |text: &str| {
            Reader::read(&format!("at = {text}"), 100, |mut root| {
                root.take("at").and_then(|node| node.unix_seconds())
            })
            .ok()
        };
        assert_eq!(moment("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(moment("2026-11-16T02:50:21Z"), Some(1_794_797_421));
        assert_eq!(moment("2000-02-29T01:00:00+01:00"), Some(951_782_400));
        assert_eq!(moment("2026-11-16"), None);
        assert_eq!(moment("2026-11-16T02:50:21"), None);
        assert_eq!(moment("\"2026-11-16T02:50:21Z\""), None);
    }
}
