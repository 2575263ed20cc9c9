//! What the dialects share: groups, classes, repetitions, and how all of it is written again.

use super::Engine;
use super::class::{Ranges, complement, folded, has_known_cases, posix};
use std::fmt::Write as _;
use std::str::Chars;

/// What one dialect has of its own.
pub(super) trait Dialect {
    /// Whether `[]a]` begins with a bracket that stands for itself; otherwise `[]` is a class without characters, which is refused.
    const BRACKET_FIRST: bool;
    /// Whether classes have `[:alpha:]`.
    const POSIX: bool;
    /// Whether `-` behind `\w` stands for itself, and what follows it too: `[\w-a-z]` is `\w`, `-`, `a`, `-` and `z`.
    const CLASS_TAKES_DASH: bool;

    /// After a backslash.
    fn escape(&self, reader: &mut Reader<'_>, in_class: bool) -> Result<Item, String>;

    /// After an opening bracket.
    fn group(&self, reader: &mut Reader<'_>) -> Result<(), String>;

    /// After a brace that begins no repetition.
    fn brace(&self, reader: &mut Reader<'_>) -> Result<(), String>;

    /// What `.` stands for.
    fn any(&self) -> &'static str;
}

/// What an escape stands for.
pub(super) enum Item {
    Character(char),
    /// Any of these; the cases are in it.
    Class(Ranges),
    /// A class of Unicode, as it is written.
    Property(String),
    /// Between a word and what is none, in ASCII.
    Boundary,
    /// Everywhere else.
    NoBoundary,
    /// The beginning or the end of the text, as it is written.
    Anchor(&'static str),
}

/// What was read last, as far as it says what may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Atom,
    Boundary,
    Repetition,
}

/// Reads a pattern and writes it again.
pub(super) struct Reader<'p> {
    left: Chars<'p>,
    written: String,
    engine: Engine,
    last: Last,
    /// For the pattern and for every open group: whether letters stand for both of their cases.
    folds: Vec<bool>,
    /// Whether `:]` is known to occur nowhere behind.
    no_more_names: bool,
}

impl<'p> Reader<'p> {
    pub(super) fn new(pattern: &'p str, engine: Engine) -> Self {
        Self {
            left: pattern.chars(),
            written: String::with_capacity(pattern.len() + 16),
            engine,
            last: Last::Nothing,
            folds: vec![false],
            no_more_names: false,
        }
    }

    pub(super) fn next(&mut self) -> Option<char> {
        self.left.next()
    }

    /// What has not been read.
    pub(super) fn left(&self) -> &'p str {
        self.left.as_str()
    }

    /// Reads a text if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        match self.left().strip_prefix(text) {
            Some(rest) => {
                self.left = rest.chars();
                true
            }
            None => false,
        }
    }

    /// Reads up to a character, and the character itself.
    pub(super) fn take_until(&mut self, end: char) -> Option<&'p str> {
        let (before, rest) = self.left().split_once(end)?;
        self.left = rest.chars();
        Some(before)
    }

    pub(super) fn engine(&self) -> Engine {
        self.engine
    }

    pub(super) fn folds(&self) -> bool {
        self.folds.last().copied().unwrap_or_default()
    }

    /// Letters stand for both of their cases, or no longer do, up to the end of the group.
    pub(super) fn fold(&mut self, folds: bool) {
        if let Some(last) = self.folds.last_mut() {
            *last = folds;
        }
    }

    /// Writes what opens a group.
    pub(super) fn open(&mut self, opening: &str) {
        self.written.push_str(opening);
        self.folds.push(self.folds());
        self.last = Last::Nothing;
    }

    /// Writes flags, which are no group.
    pub(super) fn flags(&mut self, flags: &str) {
        self.written.push_str(flags);
        self.last = Last::Nothing;
    }

    pub(super) fn close(&mut self) -> Result<(), String> {
        if self.folds.len() < 2 {
            return Err("`)` closes no group".to_owned());
        }
        self.folds.pop();
        self.atom(")");
        Ok(())
    }

    pub(super) fn alternative(&mut self) {
        self.written.push('|');
        self.last = Last::Nothing;
    }

    /// Writes something that can be repeated.
    pub(super) fn atom(&mut self, text: &str) {
        self.written.push_str(text);
        self.last = Last::Atom;
    }

    /// What comes next, where it is how often something is repeated: `2}`, `2,}`, `2,3}`.
    pub(super) fn count(&mut self) -> Option<&'p str> {
        let text = self.left();
        let is_end = |c: char| !c.is_ascii_digit() && c != ',';
        let (count, rest) = text.split_at_checked(text.find(is_end)?)?;
        let rest = rest.strip_prefix('}')?;
        let (least, most) = count.split_once(',').unwrap_or((count, ""));
        if least.is_empty() || most.contains(',') {
            return None;
        }
        self.left = rest.chars();
        text.get(..count.len() + 1)
    }

    pub(super) fn repeat(&mut self, how_often: &str) -> Result<(), String> {
        let opening = if how_often.ends_with('}') { "{" } else { "" };
        match self.last {
            Last::Nothing => {
                return Err(format!(
                    "there is nothing that `{opening}{}` repeats",
                    shown(how_often)
                ));
            }
            Last::Repetition => {
                return Err(format!(
                    "`{opening}{}` repeats a repetition; put that into (?:…)",
                    shown(how_often)
                ));
            }
            Last::Atom | Last::Boundary => {}
        }
        self.written.push_str(opening);
        self.written.push_str(how_often);
        if self.take("?") {
            self.written.push('?');
        }
        self.last = Last::Repetition;
        Ok(())
    }

    /// Whether `\b` or `\B` was read last.
    pub(super) fn is_behind_boundary(&self) -> bool {
        self.last == Last::Boundary
    }

    /// A character that stands for itself.
    pub(super) fn literal(&mut self, c: char) -> Result<(), String> {
        if !self.folds() {
            push_literal(&mut self.written, c);
            self.last = Last::Atom;
            return Ok(());
        }
        let ranges = self.cases(c, c)?;
        match ranges.as_slice() {
            [_] => push_literal(&mut self.written, c),
            ranges => push_class(&mut self.written, false, ranges, &[]),
        }
        self.last = Last::Atom;
        Ok(())
    }

    pub(super) fn item(&mut self, item: Item) -> Result<(), String> {
        match item {
            Item::Character(c) => self.literal(c)?,
            Item::Class(ranges) => {
                push_class(&mut self.written, false, &ranges, &[]);
                self.last = Last::Atom;
            }
            Item::Property(text) => self.atom(&text),
            Item::Anchor(text) => self.atom(text),
            Item::Boundary | Item::NoBoundary => {
                let is_boundary = matches!(item, Item::Boundary);
                self.atom(match (self.engine, is_boundary) {
                    (Engine::Full, true) => r"(?-u:\b)",
                    (Engine::Full, false) => r"(?-u:\B)",
                    (Engine::Lite, true) => r"\b",
                    (Engine::Lite, false) => r"\B",
                });
                self.last = Last::Boundary;
            }
        }
        Ok(())
    }

    /// A range with the cases that it stands for.
    fn cases(&self, low: char, high: char) -> Result<Ranges, String> {
        if !self.folds() {
            return Ok(vec![(low, high)]);
        }
        if self.engine == Engine::Lite && !has_known_cases(low, high) {
            return Err(format!(
                "behind (?i) stands {}, and cases are known of ASCII only; write both of them",
                high.escape_unicode()
            ));
        }
        Ok(folded(low, high))
    }

    /// Reads a class after its opening bracket.
    pub(super) fn class<D: Dialect>(&mut self, dialect: &D) -> Result<(), String> {
        let is_negated = self.take("^");
        let (mut ranges, mut properties): (Ranges, Vec<String>) = (Vec::new(), Vec::new());
        if !D::BRACKET_FIRST && self.left().starts_with(']') {
            return Err("a class without characters; write what it should match".to_owned());
        }
        let mut is_first = true;
        while let Some(item) = self.class_item(dialect, is_first)? {
            is_first = false;
            match item {
                Item::Character(low) => {
                    let high = match self.range_goes_on() {
                        true => self.range_end(dialect)?,
                        false => low,
                    };
                    if high < low {
                        return Err(format!(
                            "the range from {} to {} has no characters",
                            low.escape_default(),
                            high.escape_default()
                        ));
                    }
                    ranges.extend(self.cases(low, high)?);
                    continue;
                }
                Item::Class(named) => ranges.extend(named),
                Item::Property(text) => properties.push(text),
                Item::Boundary | Item::NoBoundary | Item::Anchor(_) => return Err(in_class()),
            }
            if D::CLASS_TAKES_DASH && self.range_goes_on() {
                ranges.push(('-', '-'));
                match self.class_item(dialect, false)? {
                    Some(Item::Character(c)) => ranges.extend(self.cases(c, c)?),
                    Some(Item::Class(named)) => ranges.extend(named),
                    Some(Item::Property(text)) => properties.push(text),
                    _ => return Err(in_class()),
                }
            }
        }
        push_class(&mut self.written, is_negated, &ranges, &properties);
        self.last = Last::Atom;
        Ok(())
    }

    /// The next item of a class; none at its end.
    fn class_item<D: Dialect>(&mut self, dialect: &D, is_first: bool) -> Result<Option<Item>, String> {
        Ok(Some(
            match self.next().ok_or("a class has no `]` that ends it")? {
                ']' if !is_first => return Ok(None),
                '[' if D::POSIX => match self.posix()? {
                    Some(named) => Item::Class(named),
                    None => Item::Character('['),
                },
                '\\' => dialect.escape(self, true)?,
                c => Item::Character(c),
            },
        ))
    }

    /// Reads the `-` of a range. One before the closing bracket stands for itself.
    fn range_goes_on(&mut self) -> bool {
        let goes_on = self.left().starts_with('-') && !self.left().starts_with("-]");
        goes_on && self.take("-")
    }

    fn range_end<D: Dialect>(&mut self, dialect: &D) -> Result<char, String> {
        match self.next().ok_or("a class has no `]` that ends it")? {
            '\\' => match dialect.escape(self, true)? {
                Item::Character(c) => Ok(c),
                _ => Err("a range ends in a character, not in a class".to_owned()),
            },
            c => Ok(c),
        }
    }

    /// After `[` inside of a class: the rest of `[:alpha:]`. Without a `:]` somewhere behind, the bracket stands for itself.
    fn posix(&mut self) -> Result<Option<Ranges>, String> {
        if self.no_more_names || !self.left().starts_with(':') {
            return Ok(None);
        }
        let Some((name, rest)) = self.left().get(1..).and_then(|left| left.split_once(":]")) else {
            // What was looked through once is not looked through again.
            self.no_more_names = true;
            return Ok(None);
        };
        let (is_negated, name) = match name.strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, name),
        };
        let Some(named) = posix(name) else {
            return Err(format!("there is no class [:{}:]", shown(name)));
        };
        self.left = rest.chars();
        let named = match self.folds() {
            true => super::class::all_folded(named),
            false => named.to_vec(),
        };
        Ok(Some(match is_negated {
            true => complement(&named),
            false => named,
        }))
    }

    pub(super) fn end(self) -> Result<String, String> {
        match self.folds.len() {
            1 => Ok(self.written),
            _ => Err("a group has no `)` that ends it".to_owned()),
        }
    }
}

fn in_class() -> String {
    "an assertion stands in a class".to_owned()
}

/// A part of a pattern, for a message.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    start.escape_debug().to_string()
}

fn push_literal(written: &mut String, c: char) {
    match c {
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => {
            written.extend(['\\', c]);
        }
        c if c.is_ascii_control() => push_code(written, c),
        c => written.push(c),
    }
}

fn push_code(written: &mut String, c: char) {
    // Writing to a text cannot fail.
    let _ = write!(written, "\\x{{{:X}}}", u32::from(c));
}

/// Nothing in a class has a meaning of its own but letters, digits, `_`, the space, codes and `-` between two of them.
fn push_class(written: &mut String, is_negated: bool, ranges: &[(char, char)], properties: &[String]) {
    let push = |written: &mut String, c: char| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '_' | ' ') => written.push(c),
        c => push_code(written, c),
    };
    written.push_str(if is_negated { "[^" } else { "[" });
    for (low, high) in ranges {
        push(written, *low);
        if high > low {
            written.push('-');
            push(written, *high);
        }
    }
    properties.iter().for_each(|property| written.push_str(property));
    written.push(']');
}
