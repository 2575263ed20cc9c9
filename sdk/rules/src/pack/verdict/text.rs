//! JSON, written as it comes.

use crate::Value;
use crate::json::{plain_length, value_to_json};
use crate::value::push_integer;
use std::fmt::Write;

/// A JSON text in the making. Whoever writes it closes what it opens.
pub(super) struct Text {
    text: String,
    end: char,
}

/// A symbol is a text to whoever reads a decision.
pub(super) fn plain(value: &Value) -> Option<&str> {
    match value {
        Value::Symbol(name) if !matches!(&**name, "TRUE" | "FALSE" | "nil") => Some(name),
        _ => None,
    }
}

impl Text {
    pub(super) fn object(room: usize) -> Self {
        Self::begin('{', '}', room)
    }

    pub(super) fn array(room: usize) -> Self {
        Self::begin('[', ']', room)
    }

    fn begin(start: char, end: char, room: usize) -> Self {
        let mut text = String::with_capacity(room);
        text.push(start);
        Self { text, end }
    }

    pub(super) fn end(mut self) -> String {
        self.text.push(self.end);
        self.text
    }

    pub(super) fn open(&mut self, start: char) {
        self.text.push(start);
    }

    pub(super) fn close(&mut self, end: char) {
        self.text.push(end);
    }

    /// The place of the next item of a list.
    pub(super) fn item(&mut self) -> &mut Self {
        if !matches!(self.text.as_bytes().last(), Some(b'{' | b'[')) {
            self.text.push(',');
        }
        self
    }

    /// The place of the value of this key.
    pub(super) fn key(&mut self, name: &str) -> &mut Self {
        self.item().text(name);
        self.text.push(':');
        self
    }

    pub(super) fn number(&mut self, number: usize) {
        push_integer(&mut self.text, i64::try_from(number).unwrap_or(i64::MAX));
    }

    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Integer(number) => push_integer(&mut self.text, *number),
            value => match plain(value) {
                Some(name) => self.text(name),
                None => self.text.push_str(&value_to_json(value).to_string()),
            },
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.text.reserve(text.len() + 2);
        self.text.push('"');
        let mut rest = text;
        // What is not itself in a text is a byte of its own, so what stands before it is whole.
        while let Some((plain, after)) = rest.split_at_checked(plain_length(rest.as_bytes())) {
            self.text.push_str(plain);
            let mut after = after.chars();
            match after.next() {
                Some(c @ ('"' | '\\')) => self.text.extend(['\\', c]),
                Some(c) => {
                    // Writing to a string cannot fail.
                    let _ = write!(self.text, "\\u{:04x}", u32::from(c));
                }
                None => break,
            }
            rest = after.as_str();
        }
        self.text.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    #[test]
    fn what_is_written_can_be_read_again() {
        let texts = [
            "",
            "plain",
            "a \"b\" \\ c",
            "tab\tline\nnul\0end",
            "é ü 🦀 \u{7f}",
            "{",
            "[,]",
        ];
        for text in texts {
            let mut written = Text::object(0);
            written.key(text).value(&Value::string(text));
            written.key("list").open('[');
            written.item().value(&Value::symbol("halt"));
            written.item().value(&Value::symbol("TRUE"));
            written.item().value(&Value::Integer(-3));
            written.item().value(&Value::Float(0.5));
            written.close(']');
            let written = written.end();
            let read: Json = serde_json::from_str(&written).unwrap();
            assert_eq!(
                read,
                json!({text: text, "list": ["halt", true, -3, 0.5]}),
                "{written}"
            );
        }
    }
}
