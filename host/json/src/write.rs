//! The three text forms of a value.

use super::{Event, Json, Object, Order, Walk, python_float, scan};
use std::fmt::Write as _;

/// How a value is written. Every form is compact and prints floats as Python does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Members in insertion order, raw UTF-8.
    Compact,
    /// Members in insertion order, everything outside printable ASCII as `\uXXXX`: safe for readers that split lines by Unicode.
    CompactAscii,
    /// Members sorted by code point at every depth, raw UTF-8 (D11).
    Canonical,
    /// Members sorted by code point at every depth, everything outside printable ASCII as `\uXXXX` (D8).
    CanonicalAscii,
}

impl Form {
    /// In which order members are written.
    pub fn order(self) -> Order {
        match self {
            Form::Compact | Form::CompactAscii => Order::Insertion,
            Form::Canonical | Form::CanonicalAscii => Order::CodePoint,
        }
    }
}

impl Json {
    /// Compact text, members in insertion order, raw UTF-8.
    pub fn to_compact(&self) -> String {
        self.to_text(Form::Compact)
    }

    /// Compact text, members in insertion order, everything outside printable ASCII escaped.
    pub fn to_compact_ascii(&self) -> String {
        self.to_text(Form::CompactAscii)
    }

    /// Compact text, members sorted by code point at every depth, raw UTF-8.
    pub fn to_canonical(&self) -> String {
        self.to_text(Form::Canonical)
    }

    /// Compact text, members sorted, everything outside printable ASCII escaped: what fingerprints and fact hashes cover.
    pub fn to_canonical_ascii(&self) -> String {
        self.to_text(Form::CanonicalAscii)
    }

    fn to_text(&self, form: Form) -> String {
        let mut out = String::new();
        self.write(form, &mut out);
        out
    }

    /// Appends the text to `out`.
    pub fn write(&self, form: Form, out: &mut String) {
        write_events(Walk::new(self, form.order()), Vec::new(), form, out);
    }
}

impl Object {
    /// Appends the text to `out`.
    pub fn write(&self, form: Form, out: &mut String) {
        out.push('{');
        write_events(Walk::inside(self, form.order()), vec!['}'], form, out);
    }
}

fn write_events(events: Walk<'_>, mut closers: Vec<char>, form: Form, out: &mut String) {
    // Nothing precedes a value that follows its key, begins its container or is the root.
    let mut fresh = true;
    for event in events {
        if !fresh && !matches!(event, Event::End) {
            out.push(',');
        }
        fresh = false;
        match event {
            Event::BeginArray(_) => {
                out.push('[');
                closers.push(']');
                fresh = true;
            }
            Event::BeginObject(_) => {
                out.push('{');
                closers.push('}');
                fresh = true;
            }
            Event::Key(key) => {
                write_string(key, form, out);
                out.push(':');
                fresh = true;
            }
            Event::Scalar(scalar) => write_scalar(scalar, form, out),
            Event::End => out.extend(closers.pop()),
        }
    }
}

fn write_scalar(scalar: &Json, form: Form, out: &mut String) {
    match scalar {
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Int(integer) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "{integer}");
        }
        Json::Float(value) => out.push_str(&python_float(*value)),
        Json::String(text) => write_string(text, form, out),
        Json::Null | Json::Array(_) | Json::Object(_) => out.push_str("null"),
    }
}

/// Appends `text` as a JSON string, quotes included.
pub fn write_string(text: &str, form: Form, out: &mut String) {
    out.push('"');
    match form {
        Form::Compact | Form::Canonical => write_raw(text, out),
        Form::CompactAscii | Form::CanonicalAscii => write_ascii(text, out),
    }
    out.push('"');
}

fn write_raw(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut done = 0;
    loop {
        // The same bytes that end a plain run when reading must be escaped when writing.
        let at = scan::end_of_run(bytes, done);
        out.push_str(text.get(done..at).unwrap_or_default());
        let Some(special) = bytes.get(at) else { return };
        escape(char::from(*special), out);
        done = at + 1;
    }
}

fn write_ascii(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '"' | '\\' => escape(character, out),
            ' '..='~' => out.push(character),
            _ => escape(character, out),
        }
    }
}

fn escape(character: char, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        _ => {
            let mut units = [0u16; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}
