//! Diagnostics for people: what is wrong, the line it stands on, the place underlined, what to do.

mod excerpt;

use excerpt::Excerpt;
use mizzen_json::Problem;
use std::fmt::Write as _;
use std::io::IsTerminal as _;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The document is refused.
    Error,
    /// The document is suspicious.
    Warning,
}

/// A problem, and how it is announced.
#[derive(Debug)]
pub(crate) struct Finding<'p> {
    pub(crate) severity: Severity,
    /// What it is called here: documents with stages name those too.
    pub(crate) code: String,
    pub(crate) problem: &'p Problem,
}

/// Whether to use colour: a terminal, and nobody asked not to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// ANSI escapes.
    On,
    /// Plain text.
    Off,
}

impl Colour {
    /// What suits standard error.
    pub(crate) fn for_stderr() -> Self {
        let wanted = std::io::stderr().is_terminal()
            && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if wanted { Colour::On } else { Colour::Off }
    }

    fn paint(self, style: &str, text: &str) -> String {
        match self {
            Colour::On => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
            Colour::Off => text.to_owned(),
        }
    }
}

/// A named source, with its lines found once: ten thousand errors in ten megabytes must not mean ten thousand passes.
pub(crate) struct Source<'s> {
    name: &'s str,
    text: &'s str,
    lines: Vec<usize>,
    /// How many characters begin before each block of bytes: a line can be as long as the text.
    characters: Vec<usize>,
}

const BLOCK: usize = 4096;

/// Continuation bytes of UTF-8 do not begin a character.
fn count_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

impl<'s> Source<'s> {
    pub(crate) fn new(name: &'s str, text: &'s str) -> Self {
        let breaks = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .map(|(at, _)| at + 1);
        Source {
            name,
            text,
            lines: std::iter::once(0).chain(breaks).collect(),
            characters: text
                .as_bytes()
                .chunks(BLOCK)
                .scan(0, |sum, block| {
                    let before = *sum;
                    *sum += count_characters(block);
                    Some(before)
                })
                .collect(),
        }
    }

    /// How many characters begin before this offset.
    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let block = (offset / BLOCK).min(self.characters.len().saturating_sub(1));
        let counted = self.characters.get(block).copied().unwrap_or(0);
        counted + count_characters(bytes.get(block * BLOCK..offset).unwrap_or_default())
    }

    /// Line and column in characters, both from 1.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let column = self
            .characters_before(offset)
            .saturating_sub(self.characters_before(start));
        (line, column + 1)
    }

    fn line(&self, number: usize) -> (usize, &'s str) {
        let start = self.lines.get(number - 1).copied().unwrap_or(0);
        let end = self.lines.get(number).map_or(self.text.len(), |next| next - 1);
        (
            start,
            self.text
                .get(start..end)
                .unwrap_or_default()
                .trim_end_matches('\r'),
        )
    }
}

/// A problem as text, ending with a newline.
pub(crate) fn render(source: &Source<'_>, finding: &Finding<'_>, colour: Colour) -> String {
    let problem = finding.problem;
    let (word, style) = match finding.severity {
        Severity::Error => ("error", "1;31"),
        Severity::Warning => ("warning", "1;33"),
    };
    let mut out = String::new();
    let title = colour.paint(style, &format!("{word}[{}]", finding.code));
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{title}: {}",
        colour.paint("1", &excerpt::printable(&problem.message))
    );
    let bar = colour.paint("1;34", "|");
    let mut margin = 2;
    if let Some(span) = problem.span {
        let (line, column) = source.position(span.start);
        let (start, text) = source.line(line);
        let number = line.to_string();
        margin = number.len() + 1;
        let gap = " ".repeat(margin);
        let excerpt = Excerpt::new(
            text,
            span.start.saturating_sub(start)..span.end.saturating_sub(start),
        );
        let arrow = colour.paint("1;34", "-->");
        let _ = writeln!(
            out,
            "{}{arrow} {}:{line}:{column}",
            " ".repeat(number.len()),
            source.name
        );
        let _ = writeln!(out, "{gap}{bar}");
        let _ = writeln!(out, "{} {bar} {}", colour.paint("1;34", &number), excerpt.text);
        let mark = colour.paint(
            style,
            &format!(
                "{} {}",
                "^".repeat(excerpt.width),
                excerpt::printable(&problem.help)
            ),
        );
        let _ = writeln!(
            out,
            "{gap}{bar} {}{}",
            " ".repeat(excerpt.indent),
            mark.trim_end()
        );
        let _ = writeln!(out, "{gap}{bar}");
    }
    if !problem.path.is_empty() {
        let sign = colour.paint("1;34", "=");
        let _ = writeln!(
            out,
            "{}{sign} {}: {}",
            " ".repeat(margin),
            colour.paint("1", "at"),
            excerpt::printable(&problem.path)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_json::Span;
    use std::ops::Range;

    fn plain(text: &str, span: Range<usize>) -> String {
        let problem = Problem {
            span: Some(Span {
                start: span.start,
                end: span.end,
            }),
            ..Problem::new("/a", "missing", "a field is missing").with_help("add it")
        };
        let finding = Finding {
            severity: Severity::Error,
            code: problem.code.to_owned(),
            problem: &problem,
        };
        render(&Source::new("f.json", text), &finding, Colour::Off)
    }

    #[test]
    fn the_place_is_underlined_on_its_line() {
        assert_eq!(
            plain("{\n  \"é\": [1, 2]\n}\n", 10..16),
            "error[missing]: a field is missing\n --> f.json:2:8\n  |\n2 |   \"é\": [1, 2]\n  |        ^^^^^^ add it\n  |\n  = at: /a\n"
        );
    }

    #[test]
    fn a_place_at_the_end_of_the_text_is_still_shown() {
        let text = plain("abc", 3..3);
        assert!(
            text.contains("f.json:1:4") && text.contains("|    ^ add it"),
            "{text}"
        );
    }

    #[test]
    fn escape_sequences_of_the_source_do_not_reach_the_terminal() {
        assert!(!plain("\"\u{1b}[31m\u{202e}\"", 0..3).contains(['\u{1b}', '\u{202e}']));
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_place() {
        let line = format!("{}HERE{}", "x".repeat(1_000_000), "y".repeat(1_000_000));
        let text = plain(&line, 1_000_000..1_000_004);
        assert!(
            text.len() < 1_000 && text.contains("HERE") && text.contains("^^^^ add it"),
            "{text}"
        );
    }

    #[test]
    fn columns_are_counted_in_characters_across_blocks() {
        let text = format!("é\n{}ü{}x", "é".repeat(3000), "a".repeat(5000));
        let source = Source::new("f", &text);
        for (offset, _) in text.char_indices() {
            let line = if offset < 3 { 1 } else { 2 };
            let start = if line == 1 { 0 } else { 3 };
            let column = text[start..offset].chars().count() + 1;
            assert_eq!(source.position(offset), (line, column));
        }
        assert_eq!(source.position(text.len()), (2, 8003));
        assert_eq!(Source::new("f", "").position(0), (1, 1));
    }
}
