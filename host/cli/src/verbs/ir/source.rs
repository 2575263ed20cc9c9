//! Where documents come from: a file or standard input, JSON or YAML.

use mizzen_json::yaml;
use mizzen_json::{ParseError, ReadLimits, Tape};
use mizzen_model::ir::{Inspection, Options, ValidationError, inspect_tape, parse_failure};
use std::io::Read as _;
use std::path::Path;

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Syntax {
    /// By the file's extension, or by its first line.
    Auto,
    /// JSON.
    Json,
    /// YAML 1.2.
    Yaml,
}

/// Which documents, and how much of them is read.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Reading {
    /// How the input is written
    #[arg(long, value_enum, default_value = "auto")]
    syntax: Syntax,
    /// Refuse inputs with more bytes than this
    #[arg(long, value_name = "N", default_value_t = ReadLimits::default().bytes)]
    max_bytes: usize,
    /// Refuse inputs nested deeper than this
    #[arg(long, value_name = "N", default_value_t = ReadLimits::default().depth)]
    max_depth: usize,
    /// Refuse inputs with more values than this
    #[arg(long, value_name = "N", default_value_t = ReadLimits::default().values)]
    max_values: usize,
}

impl Default for Reading {
    fn default() -> Self {
        let ReadLimits { bytes, depth, values } = ReadLimits::default();
        Reading {
            syntax: Syntax::Json,
            max_bytes: bytes,
            max_depth: depth,
            max_values: values,
        }
    }
}

/// A document's text, named as the user named it.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) text: String,
    syntax: Syntax,
    /// Set when the bytes were not UTF-8 or too many; the text is then what could be read.
    refused: Option<ParseError>,
    options: Options,
}

/// The input cannot be read at all; that is a matter of usage and not of the document.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {name}: {reason}")]
pub(super) struct Unreadable {
    name: String,
    reason: std::io::Error,
}

impl Reading {
    /// Reads a file, or standard input for `-`.
    pub(super) fn read(self, file: &str) -> Result<Input, Unreadable> {
        let name = if file == "-" { "<stdin>" } else { file }.to_owned();
        let limits = ReadLimits {
            bytes: self.max_bytes,
            depth: self.max_depth,
            values: self.max_values,
        };
        // One byte more than allowed is enough to know that there is too much.
        let most = (self.max_bytes as u64).saturating_add(1);
        let mut bytes = Vec::new();
        let read = if file == "-" {
            std::io::stdin().lock().take(most).read_to_end(&mut bytes)
        } else {
            std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes))
        };
        read.map_err(|reason| Unreadable {
            name: name.clone(),
            reason,
        })?;
        let syntax = match self.syntax {
            Syntax::Auto => guess(file, &bytes),
            chosen => chosen,
        };
        // JSON's parser is also who refuses what is no text.
        let refused = match String::from_utf8(bytes) {
            Ok(text) => {
                return Ok(Input {
                    name,
                    text,
                    syntax,
                    refused: None,
                    options: Options {
                        json: limits,
                        ..Options::default()
                    },
                });
            }
            Err(error) => {
                let refused = mizzen_json::parse_bytes(error.as_bytes(), limits).err();
                (refused, String::from_utf8_lossy(error.as_bytes()).into_owned())
            }
        };
        let (refused, text) = refused;
        Ok(Input {
            name,
            text,
            syntax,
            refused,
            options: Options {
                json: limits,
                ..Options::default()
            },
        })
    }
}

type ParseJson<'i> = fn(&'i str, ReadLimits) -> Result<Tape<'i>, ParseError>;

impl Input {
    /// The text on a tape, for a validator.
    pub(super) fn parse(&self) -> Result<Tape<'_>, Box<ValidationError>> {
        self.parse_by(mizzen_json::parse_lossy)
    }

    /// The text on a tape, refused when a string of it is no Unicode text.
    pub(super) fn parse_exactly(&self) -> Result<Tape<'_>, Box<ValidationError>> {
        self.parse_by(mizzen_json::parse)
    }

    fn parse_by<'i>(&'i self, parse_json: ParseJson<'i>) -> Result<Tape<'i>, Box<ValidationError>> {
        let parsed = match (&self.refused, self.syntax) {
            (Some(error), _) => Err(error.clone()),
            (None, Syntax::Yaml) => yaml::parse(&self.text, self.options.json),
            (None, Syntax::Json | Syntax::Auto) => parse_json(&self.text, self.options.json),
        };
        parsed.map_err(|error| {
            let mut failure = parse_failure(&self.text, &error);
            if self.syntax == Syntax::Yaml {
                failure.expected = "valid YAML".into();
            }
            Box::new(failure)
        })
    }

    /// The document, or why it is none.
    pub(super) fn inspect(&self) -> Inspection {
        match self.parse() {
            Ok(tape) => inspect_tape(&tape, self.options),
            Err(error) => Inspection {
                errors: vec![*error],
                ..Inspection::default()
            },
        }
    }
}

/// The extension decides; without one, a first line that no JSON could have.
fn guess(file: &str, bytes: &[u8]) -> Syntax {
    let extension = Path::new(file)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "yaml" | "yml" => return Syntax::Yaml,
        "json" => return Syntax::Json,
        _ => {}
    }
    let start = String::from_utf8_lossy(bytes.get(..bytes.len().min(512)).unwrap_or_default()).into_owned();
    let first = start.trim_start().lines().next().unwrap_or_default();
    let key = first.split_once(':').is_some_and(|(key, _)| {
        !key.is_empty()
            && key
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '"' | '\''))
    });
    if key || first.starts_with("---") || first.starts_with('#') || first.starts_with('%') {
        Syntax::Yaml
    } else {
        Syntax::Json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_and_else_the_first_line() {
        let check = |file: &str, text: &str, expected: Syntax| {
            assert_eq!(guess(file, text.as_bytes()), expected, "{file} {text}")
        };
        check("a.yaml", "{}", Syntax::Yaml);
        check("a.YML", "{}", Syntax::Yaml);
        check("a.json", "a: 1", Syntax::Json);
        check("-", "{\"a\": 1}", Syntax::Json);
        check("-", "  \n{", Syntax::Json);
        check("-", "ir_version: \"1.0.0\"\n", Syntax::Yaml);
        check("-", "# comment", Syntax::Yaml);
        check("-", "---\na: 1", Syntax::Yaml);
        check("-", "", Syntax::Json);
        check("-", "01", Syntax::Json);
        check("document", "[1]", Syntax::Json);
    }
}
