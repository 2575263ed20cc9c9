//! YAML as another way to write JSON.
//!
//! Reads one YAML 1.2 document (core schema) onto the same [`Tape`] that JSON is read onto, so that everything which validates
//! JSON validates YAML too and points into the YAML. Aliases are expanded under the same limits and in proportion to the text, so that an
//! alias bomb is an error that costs little.
//!
//! Not here: merge keys (`<<` is a key like any other), tags other than the core schema's, several documents in one text.

mod offsets;
mod scalar;

use crate::{Entry, ParseCode, ParseError, ReadLimits, Span, Tape, TapeKind, check_size};
use offsets::Offsets;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use scalar::Scalar;
use std::collections::HashMap;

/// Values and keys that the aliases of any text may stand for, however short it is.
const ALIASED_VALUES: usize = 10_000;
/// Bytes of texts that they may stand for.
const ALIASED_BYTES: usize = 256 << 10;

/// What the aliases of one text may still stand for.
///
/// In proportion to the text: the densest JSON has one value for every two bytes, so that YAML with aliases costs its reader about as much
/// as JSON of the same size does. Under the limits of a whole text alone, 414 bytes became 8 million values.
struct Allowance {
    values: usize,
    bytes: usize,
}

impl Allowance {
    fn of(source: &str, limits: ReadLimits) -> Self {
        Self {
            values: ALIASED_VALUES.max(source.len() / 2),
            bytes: limits
                .bytes
                .min(ALIASED_BYTES.max(source.len().saturating_mul(4))),
        }
    }

    /// Takes one value with its text; none when there is not so much left.
    fn take(&mut self, entry: &Entry) -> Option<()> {
        self.values = self.values.checked_sub(1)?;
        if matches!(entry.kind, TapeKind::TextDecoded | TapeKind::IntDecoded) {
            self.bytes = self.bytes.checked_sub((entry.b - entry.a) as usize)?;
        }
        Some(())
    }
}

/// Reads one YAML document.
pub fn parse(source: &str, limits: ReadLimits) -> Result<Tape<'_>, ParseError> {
    check_size(source.len(), limits)?;
    let mut reader = Reader {
        offsets: Offsets::new(source),
        entries: Vec::new(),
        decoded: String::new(),
        open: Vec::new(),
        anchors: HashMap::new(),
        last_end: 0,
        documents: 0,
        allowance: Allowance::of(source, limits),
        limits,
    };
    for event in Parser::new_from_str(source) {
        let (event, span) = event.map_err(|error| {
            let at = reader.offsets.of(error.marker());
            // The parser beneath has a limit of its own for brackets within brackets.
            if error.info().contains("recursion limit") {
                return failure(ParseCode::TooDeep, TOO_DEEP, at, at + 1);
            }
            failure(ParseCode::InvalidYaml, error.info(), at, at + 1)
        })?;
        let place = Span {
            start: reader.offsets.of(&span.start),
            end: reader.offsets.of(&span.end),
        };
        reader.event(event, place)?;
    }
    if reader.entries.is_empty() {
        return Err(failure(
            ParseCode::UnexpectedEnd,
            "the text holds no document",
            0,
            0,
        ));
    }
    Ok(Tape {
        source,
        decoded: reader.decoded,
        entries: reader.entries,
        lossy: false,
    })
}

const TOO_DEEP: &str = "sequences and mappings are nested too deep: flatten the document or raise the limit";

fn failure(code: ParseCode, message: impl Into<String>, start: usize, end: usize) -> ParseError {
    ParseError {
        code,
        message: message.into(),
        span: Span { start, end },
    }
}

struct Open {
    entry: usize,
    count: u32,
    anchor: usize,
    /// For an object: whether the next value is a key. For an array: never.
    key_next: bool,
    object: bool,
}

/// An anchored value: its first entry, and after its end the entry behind it.
struct Anchor {
    first: usize,
    after: Option<usize>,
}

struct Reader<'s> {
    offsets: Offsets<'s>,
    entries: Vec<Entry>,
    decoded: String,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchor>,
    last_end: usize,
    documents: usize,
    /// What aliases may still stand for.
    allowance: Allowance,
    limits: ReadLimits,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, place: Span) -> Result<(), ParseError> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(failure(
                        ParseCode::TrailingData,
                        "expected one document: put each in its own file",
                        place.start,
                        place.end,
                    ));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref(), place)
            }
            Event::SequenceStart(anchor, tag) => self.begin(TapeKind::Array, anchor, tag.as_deref(), place),
            Event::MappingStart(anchor, tag) => self.begin(TapeKind::Object, anchor, tag.as_deref(), place),
            Event::SequenceEnd | Event::MappingEnd => {
                self.end(place);
                Ok(())
            }
            Event::Alias(anchor) => self.alias(anchor, place),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn is_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.key_next)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        place: Span,
    ) -> Result<(), ParseError> {
        let meaning = if self.is_key() {
            // A JSON key is text, whatever it looks like.
            Scalar::Text
        } else {
            scalar::resolve(text, style == ScalarStyle::Plain, tag)
                .map_err(|message| failure(ParseCode::InvalidYaml, message, place.start, place.end))?
        };
        let (start, end) = (place.start as u32, place.end as u32);
        let plain = |kind| Entry {
            kind,
            start,
            end,
            a: 0,
            b: 0,
        };
        let entry = match meaning {
            Scalar::Null => plain(TapeKind::Null),
            Scalar::Bool(true) => plain(TapeKind::True),
            Scalar::Bool(false) => plain(TapeKind::False),
            Scalar::Float(value) => Entry::float(value, start, end),
            Scalar::Int(integer) => self.stored(TapeKind::IntDecoded, &integer.to_string(), place),
            Scalar::Text => self.stored(TapeKind::TextDecoded, text, place),
        };
        let first = self.entries.len();
        self.push(entry)?;
        self.last_end = place.end;
        if anchor > 0 {
            self.anchors.insert(
                anchor,
                Anchor {
                    first,
                    after: Some(first + 1),
                },
            );
        }
        self.value_done();
        Ok(())
    }

    fn stored(&mut self, kind: TapeKind, text: &str, place: Span) -> Entry {
        let a = self.decoded.len() as u32;
        self.decoded.push_str(text);
        Entry {
            kind,
            start: place.start as u32,
            end: place.end as u32,
            a,
            b: self.decoded.len() as u32,
        }
    }

    fn begin(
        &mut self,
        kind: TapeKind,
        anchor: usize,
        tag: Option<&Tag>,
        place: Span,
    ) -> Result<(), ParseError> {
        if self.is_key() {
            let message = "a key must be a plain text, not a sequence or mapping";
            return Err(failure(ParseCode::ExpectedKey, message, place.start, place.end));
        }
        let wanted = if kind == TapeKind::Array { "seq" } else { "map" };
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && tag.suffix == wanted)
        {
            let message = format!("the tag {tag} has no meaning in JSON: remove it");
            return Err(failure(ParseCode::InvalidYaml, message, place.start, place.end));
        }
        self.check_depth(self.open.len() + 1, place)?;
        let entry = self.entries.len();
        if anchor > 0 {
            self.anchors.insert(
                anchor,
                Anchor {
                    first: entry,
                    after: None,
                },
            );
        }
        self.push(Entry {
            kind,
            start: place.start as u32,
            end: place.end as u32,
            a: 0,
            b: 0,
        })?;
        let object = kind == TapeKind::Object;
        self.open.push(Open {
            entry,
            count: 0,
            anchor,
            key_next: object,
            object,
        });
        self.last_end = place.end;
        Ok(())
    }

    fn end(&mut self, place: Span) {
        let Some(open) = self.open.pop() else { return };
        // A flow container ends with its bracket; a block container where its last value ends, not where the next token is.
        if place.end > place.start {
            self.last_end = place.end;
        }
        let after = self.entries.len();
        if let Some(entry) = self.entries.get_mut(open.entry) {
            entry.end = (self.last_end as u32).max(entry.start);
            entry.a = open.count;
            entry.b = after as u32;
        }
        if let Some(anchor) = self.anchors.get_mut(&open.anchor) {
            anchor.after = Some(after);
        }
        self.value_done();
    }

    /// Counts a finished value, or turns from a finished key to its value.
    fn value_done(&mut self) {
        if let Some(open) = self.open.last_mut() {
            if open.object && open.key_next {
                open.key_next = false;
            } else {
                open.count += 1;
                open.key_next = open.object;
            }
        }
    }

    /// Copies an anchored value here. Every copied entry counts against the limits, so aliases of aliases stay bounded.
    fn alias(&mut self, id: usize, place: Span) -> Result<(), ParseError> {
        let (first, after) = match self.anchors.get(&id) {
            Some(Anchor {
                first,
                after: Some(after),
            }) => (*first, *after),
            _ => {
                let message = "an alias cannot stand inside the value it names";
                return Err(failure(ParseCode::InvalidYaml, message, place.start, place.end));
            }
        };
        let is_text = self
            .entries
            .get(first)
            .is_some_and(|entry| entry.kind == TapeKind::TextDecoded);
        if self.is_key() && !is_text {
            let message = "a key must be a plain text: the alias names something else";
            return Err(failure(ParseCode::ExpectedKey, message, place.start, place.end));
        }
        let shift = (self.entries.len() - first) as u32;
        let mut ends: Vec<u32> = Vec::new();
        for index in first..after {
            let Some(mut entry) = self.entries.get(index).copied() else {
                break;
            };
            while ends.last().is_some_and(|end| *end as usize <= index) {
                ends.pop();
            }
            if matches!(entry.kind, TapeKind::Array | TapeKind::Object) {
                self.check_depth(self.open.len() + ends.len() + 1, place)?;
                ends.push(entry.b);
                entry.b += shift;
            }
            if self.allowance.take(&entry).is_none() {
                let message = "the aliases stand for far more than the text holds: write out what they name";
                return Err(failure(
                    ParseCode::TooManyAliases,
                    message,
                    place.start,
                    place.end,
                ));
            }
            self.push(entry)?;
        }
        self.last_end = place.end;
        self.value_done();
        Ok(())
    }

    fn check_depth(&self, depth: usize, place: Span) -> Result<(), ParseError> {
        if depth > self.limits.depth {
            return Err(failure(ParseCode::TooDeep, TOO_DEEP, place.start, place.end));
        }
        Ok(())
    }

    fn push(&mut self, entry: Entry) -> Result<(), ParseError> {
        if self.entries.len() >= self.limits.values {
            let message = "the text holds too many values (aliases count with everything they name)";
            return Err(failure(
                ParseCode::TooManyValues,
                message,
                entry.start as usize,
                entry.end as usize,
            ));
        }
        self.entries.push(entry);
        Ok(())
    }
}
