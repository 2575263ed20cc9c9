//! Where a piece of a decoded text stands in the source.

use super::tape::TapeKind;
use super::{Node, Span};
use std::ops::Range;

impl Node<'_> {
    /// The place in the source of a range of bytes of this string, as exactly as it can be told: the very characters where the
    /// source spells them one by one, the line they are on in a block of YAML, else the whole string.
    pub fn span_within(self, range: Range<usize>) -> Span {
        self.exactly(&range)
            .or_else(|| self.by_line(&range))
            .unwrap_or_else(|| self.span())
    }

    fn exactly(self, range: &Range<usize>) -> Option<Span> {
        let text = self.as_str()?;
        let whole = self.span();
        let entry = self.entry();
        if entry.kind == TapeKind::Text {
            let at = |offset: usize| entry.a as usize + offset.min(text.len());
            return Some(Span {
                start: at(range.start),
                end: at(range.end),
            });
        }
        let source = self.source_text();
        let body = source.strip_prefix(['"', '\'']).unwrap_or(source);
        let mut at = whole.start + (source.len() - body.len());
        let mut rest = body;
        let (mut start, mut end) = (None, None);
        // One character of the text after the other, against the way the source spells it.
        for (offset, character) in text.char_indices() {
            if offset >= range.start && start.is_none() {
                start = Some(at);
            }
            if offset >= range.end {
                end = Some(at);
                break;
            }
            let width = spelled(rest, character)?;
            at += width;
            rest = rest.get(width..)?;
        }
        let start = start.unwrap_or(at);
        Some(Span {
            start,
            end: end.unwrap_or(at).max(start),
        })
    }

    /// A block scalar indents its lines, so each is looked for by itself.
    fn by_line(self, range: &Range<usize>) -> Option<Span> {
        let text = self.as_str()?;
        let before = text.get(..range.start)?;
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(begin..)?.lines().next()?;
        let source = self.source_text();
        let mut places = source.match_indices(line);
        let (Some((at, _)), None, false) = (places.next(), places.next(), line.is_empty()) else {
            return None;
        };
        let begin_in_source = self.span().start + at;
        let within = |offset: usize| begin_in_source + offset.saturating_sub(begin).min(line.len());
        Some(Span {
            start: within(range.start),
            end: within(range.end),
        })
    }
}

/// How many bytes spell this character at the beginning of the source; nothing if something else stands there.
fn spelled(source: &str, character: char) -> Option<usize> {
    let mut characters = source.chars();
    let first = characters.next()?;
    if first != '\\' {
        return (first == character).then(|| first.len_utf8());
    }
    let short = match characters.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => return spelled_in_hex(source, character),
        other @ ('"' | '\\' | '/') => other,
        _ => return None,
    };
    (short == character).then_some(2)
}

fn spelled_in_hex(source: &str, character: char) -> Option<usize> {
    let mut units = [0; 2];
    let mut width = 0;
    for unit in character.encode_utf16(&mut units) {
        let digits = source.get(width..)?.strip_prefix("\\u")?.get(..4)?;
        if u16::from_str_radix(digits, 16).ok()? != *unit {
            return None;
        }
        width += 6;
    }
    Some(width)
}

#[cfg(test)]
mod tests {
    use crate::yaml;
    use crate::{ReadLimits, Tape, View, parse};

    fn first_item<'t>(tape: &'t Tape<'t>) -> super::Node<'t> {
        match tape.root().view() {
            View::Array(mut items) => items.next().unwrap(),
            _ => tape.root(),
        }
    }

    fn check(tape: &Tape<'_>, needle: &str, expected: &str) {
        let node = first_item(tape);
        let start = node.as_str().unwrap().find(needle).unwrap();
        let span = node.span_within(start..start + needle.len());
        assert_eq!(&tape.source()[span.start..span.end], expected);
    }

    #[test]
    fn a_piece_of_a_string_is_found_where_the_source_spells_it() {
        let json = |source: &'static str| parse(source, ReadLimits::default()).unwrap();
        check(&json(r#"["plain bad"]"#), "bad", "bad");
        check(&json(r#"["\n\t\"é\u00e9 bad \ud83d\ude00"]"#), "bad", "bad");
        check(&json(r#"["x\ud83d\ude00y"]"#), "😀", r"\ud83d\ude00");
        check(&json(r#"["bad"]"#), "bad", "bad");
        check(&json(r#"["\u0062ad"]"#), "bad", r"\u0062ad");
    }

    #[test]
    fn a_piece_of_a_yaml_scalar_is_found_in_its_style() {
        let yaml = |source: &'static str| yaml::parse(source, ReadLimits::default()).unwrap();
        check(&yaml("- some bad thing\n"), "bad", "bad");
        check(&yaml("- 'some bad thing'\n"), "bad", "bad");
        check(&yaml("- \"some\\tbad thing\"\n"), "bad", "bad");
        check(&yaml("- |\n  first\n  the bad line\n"), "bad", "bad");
        // A folded line is spelled in two; the whole scalar is the honest answer.
        let folded = yaml("- >\n  fold\n  ed bad\n");
        let whole = first_item(&folded).source_text();
        check(&folded, "fold ed", whole);
    }
}
