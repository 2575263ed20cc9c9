//! Text to nested lists, with an explicit stack: depth is a limit, not a recursion.

use crate::error::{Position, RuleError};
use crate::shared::Text;
use crate::value::Value;

/// A piece of text: from, to.
pub(crate) type Span = (Position, Position);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Form {
    pub(crate) kind: FormKind,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FormKind {
    /// A symbol, string or number.
    Atom(Value),
    /// `?x`, or `?` without a name.
    Single(Option<Box<str>>),
    /// `$?x`, or `$?`.
    Multi(Option<Box<str>>),
    /// `&`, `|` or `~`.
    Sign(char),
    List(Vec<Form>),
}

impl Form {
    pub(crate) fn symbol(&self) -> Option<&str> {
        match &self.kind {
            FormKind::Atom(Value::Symbol(name)) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Form]> {
        match &self.kind {
            FormKind::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.symbol() == Some(name)
    }

    /// The word that a list starts with.
    pub(crate) fn head(&self) -> Option<&str> {
        self.list()?.first()?.symbol()
    }
}

/// How large a text may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextLimits {
    pub(crate) bytes: usize,
    pub(crate) nesting: usize,
}

impl TextLimits {
    /// A `when` string, a fact or a pattern.
    pub(crate) const WHEN: Self = Self {
        bytes: 4096,
        nesting: 32,
    };
    /// A rule file.
    pub(crate) const FILE: Self = Self {
        bytes: 256 * 1024,
        nesting: 32,
    };
}

/// Reads all forms of `text`.
pub(crate) fn read(text: &str, limits: TextLimits) -> Result<Vec<Form>, RuleError> {
    let mut reader = Reader {
        rest: text,
        position: Position { line: 1, column: 1 },
    };
    if text.len() > limits.bytes {
        return Err(RuleError::budget(
            (reader.position, reader.position),
            format!(
                "the text has {} bytes, more than the budget of {}",
                text.len(),
                limits.bytes
            ),
        )
        .hint("divide it into several"));
    }
    let mut done = Vec::new();
    let mut open: Vec<(Position, Vec<Form>)> = Vec::new();
    loop {
        reader.skip_blank();
        let start = reader.position;
        let Some(c) = reader.rest.chars().next() else {
            break;
        };
        let form = match c {
            '(' => {
                reader.take(1);
                if open.len() >= limits.nesting {
                    return Err(RuleError::budget(
                        (start, reader.position),
                        format!(
                            "parentheses are nested deeper than the budget of {}",
                            limits.nesting
                        ),
                    )
                    .hint("conclude a part of it in a rule of its own"));
                }
                open.push((start, Vec::new()));
                continue;
            }
            ')' => {
                reader.take(1);
                let (start, items) = open.pop().ok_or_else(|| {
                    RuleError::refused((start, reader.position), "`)` closes nothing")
                        .hint("take it away, or look for a `(` that is missing before it")
                })?;
                Form {
                    kind: FormKind::List(items),
                    span: (start, reader.position),
                }
            }
            _ => reader.atom(c)?,
        };
        match open.last_mut() {
            Some((_, items)) => items.push(form),
            None => done.push(form),
        }
    }
    match open.first() {
        Some((start, _)) => Err(
            RuleError::refused((*start, reader.position), "`(` is never closed")
                .hint("add the `)` that belongs to it"),
        ),
        None => Ok(done),
    }
}

/// What ends a symbol besides white space.
const DELIMITERS: [char; 8] = ['"', '(', ')', '&', '|', '<', '~', ';'];

struct Reader<'a> {
    rest: &'a str,
    position: Position,
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for c in taken.chars() {
            if c == '\n' {
                self.position.line = self.position.line.saturating_add(1);
                self.position.column = 1;
            } else {
                self.position.column = self.position.column.saturating_add(1);
            }
        }
        self.rest = rest;
        taken
    }

    fn skip_blank(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.take(blank);
            if !self.rest.starts_with(';') {
                return;
            }
            let comment = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(comment);
        }
    }

    fn atom(&mut self, first: char) -> Result<Form, RuleError> {
        let start = self.position;
        let kind = match first {
            '"' => return self.string(),
            '&' | '|' | '~' => {
                self.take(1);
                FormKind::Sign(first)
            }
            '?' => {
                self.take(1);
                FormKind::Single(self.name(start)?)
            }
            '$' if self.rest.starts_with("$?") => {
                self.take(2);
                FormKind::Multi(self.name(start)?)
            }
            _ => {
                // A symbol may start with `<`, as in `<=` and `<-`, and not contain it further on.
                let after = self.rest.get(first.len_utf8()..).unwrap_or("");
                let length = first.len_utf8() + word_length(after);
                FormKind::Atom(atom_value(self.take(length)))
            }
        };
        Ok(Form {
            kind,
            span: (start, self.position),
        })
    }

    fn name(&mut self, start: Position) -> Result<Option<Box<str>>, RuleError> {
        let length = word_length(self.rest);
        let name = self.take(length);
        if name.is_empty() {
            return Ok(None);
        }
        let letter = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !letter {
            let error = RuleError::refused((start, self.position), format!("`?{name}` is no variable"));
            return Err(if name.starts_with('*') {
                error.hint("global variables do not exist here; use a fact")
            } else {
                error.hint("a variable's name starts with a letter")
            });
        }
        Ok(Some(name.into()))
    }

    fn string(&mut self) -> Result<Form, RuleError> {
        let start = self.position;
        let mut text = String::new();
        let mut length = 1;
        let mut characters = self.rest.chars().skip(1);
        loop {
            let Some(c) = characters.next() else {
                return Err(
                    RuleError::refused((start, self.position), "a string is never closed")
                        .hint("add the `\"` that ends it; inside of a string it is `\\\"`"),
                );
            };
            length += c.len_utf8();
            match c {
                '"' => break,
                '\\' => {
                    let Some(escaped) = characters.next() else {
                        continue;
                    };
                    length += escaped.len_utf8();
                    text.push(escaped);
                }
                c => text.push(c),
            }
        }
        self.take(length);
        Ok(Form {
            kind: FormKind::Atom(Value::String(Text::lasting(&text))),
            span: (start, self.position),
        })
    }
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || DELIMITERS.contains(&c))
        .unwrap_or(text.len())
}

/// A number if it looks like one, else a symbol.
pub(crate) fn atom_value(word: &str) -> Value {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.contains(|c: char| c.is_ascii_digit())
        && digits
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if numeric {
        if let Ok(value) = word.parse::<i64>() {
            return Value::Integer(value);
        }
        if let Some(value) = word.parse::<f64>().ok().and_then(Value::float) {
            return value;
        }
    }
    Value::Symbol(Text::lasting(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, printed: &str) {
        assert_eq!(
            format!("{:?}", read(text, TextLimits::WHEN).map(|forms| show(&forms))),
            format!("{:?}", Ok::<_, RuleError>(printed.to_owned()))
        );
    }

    fn show(forms: &[Form]) -> String {
        let parts: Vec<_> = forms
            .iter()
            .map(|form| match &form.kind {
                FormKind::Atom(value) => value.to_string(),
                FormKind::Single(name) => format!("?{}", name.as_deref().unwrap_or("")),
                FormKind::Multi(name) => format!("$?{}", name.as_deref().unwrap_or("")),
                FormKind::Sign(sign) => sign.to_string(),
                FormKind::List(items) => format!("({})", show(items)),
            })
            .collect();
        parts.join(" ")
    }

    #[test]
    fn forms_are_read_as_clips_reads_them() {
        check("(severity ?s&:(>= ?s 4))", "(severity ?s & : (>= ?s 4))");
        check("?f<-(a ~b|c) ; comment\n$?x $? ?", "?f <- (a ~ b | c) $?x $? ?");
        check(
            "(a \"q\\\"\\\\\" 1 -2 1.5 1e3 .5 +7 1.2.3 - <= a<b)",
            "(a \"q\\\"\\\\\" 1 -2 1.5 1000.0 0.5 7 1.2.3 - <= a <b)",
        );
        check("=(+ 1 2)", "= (+ 1 2)");
    }

    #[test]
    fn broken_texts_are_refused_with_their_place() {
        for (text, line, column, message) in [
            ("(a", 1, 1, "never closed"),
            ("a)", 1, 2, "closes nothing"),
            ("\n \"abc", 2, 2, "never closed"),
            ("?*g*", 1, 1, "no variable"),
            (&"(".repeat(4096), 1, 33, "nested deeper than the budget of 32"),
            (&" ".repeat(4097), 1, 1, "4097 bytes"),
        ] {
            let error = read(text, TextLimits::WHEN).unwrap_err();
            assert_eq!((error.start.line, error.start.column), (line, column), "{error}");
            assert!(error.message.contains(message), "{error}");
        }
    }
}
