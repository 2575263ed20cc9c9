//! The parser: strict RFC 8259, iterative, bounded.

use super::failure::failure;
use super::scan::{self, Fault};
use super::{Entry, ParseCode, ParseError, Span, Tape, TapeKind};

/// How much input is read before it is refused. The defaults hold every honest document and keep a hostile one cheap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Bytes of the text. At most 4 GiB - 1, because offsets are 32 bits wide.
    pub bytes: usize,
    /// Arrays and objects inside each other.
    pub depth: usize,
    /// Values and keys together.
    pub values: usize,
}

impl Default for ReadLimits {
    /// 64 MiB, 1,000 levels (Python's reader stops there too), 8 million values.
    fn default() -> Self {
        ReadLimits {
            bytes: 64 << 20,
            depth: 1_000,
            values: 8_000_000,
        }
    }
}

/// Reads one JSON value from bytes, which must be UTF-8.
pub fn parse_bytes(bytes: &[u8], limits: ReadLimits) -> Result<Tape<'_>, ParseError> {
    check_size(bytes.len(), limits)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, limits),
        Err(error) => {
            let start = error.valid_up_to();
            let end = start + error.error_len().unwrap_or(1);
            Err(failure(ParseCode::InvalidUtf8, start, end))
        }
    }
}

/// As [`parse`], but half a surrogate pair in a string is not refused: U+FFFD stands for it and [`super::Node::first_lossy`]
/// finds it. JSON's grammar allows such a string though no text can hold it, so a validator can say which field it is.
pub fn parse_lossy(source: &str, limits: ReadLimits) -> Result<Tape<'_>, ParseError> {
    parse_with(source, limits, Surrogates::Replace)
}

/// Reads one JSON value from text.
pub fn parse(source: &str, limits: ReadLimits) -> Result<Tape<'_>, ParseError> {
    parse_with(source, limits, Surrogates::Refuse)
}

/// What happens to half a surrogate pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surrogates {
    Refuse,
    Replace,
}

fn parse_with(source: &str, limits: ReadLimits, surrogates: Surrogates) -> Result<Tape<'_>, ParseError> {
    check_size(source.len(), limits)?;
    let mut parser = Parser {
        source,
        bytes: source.as_bytes(),
        at: 0,
        entries: Vec::with_capacity(source.len() / 8),
        decoded: String::new(),
        open: Vec::new(),
        limits,
        surrogates,
        lossy: false,
        fault: None,
    };
    let ended = parser.document();
    match (ended, parser.fault) {
        (Ok(()), None) => Ok(Tape {
            source,
            decoded: parser.decoded,
            entries: parser.entries,
            lossy: parser.lossy,
        }),
        // An escape ends after two bytes, which may be inside a character: a place is always one that can be underlined.
        (_, Some(Fault { code, start, end })) => Err(failure(
            code,
            source.floor_char_boundary(start),
            source.ceil_char_boundary(end),
        )),
        // Whoever stops says why; a text nobody vouched for is refused all the same.
        (Err(Stop), None) => Err(failure(ParseCode::UnexpectedCharacter, 0, source.len())),
    }
}

pub(crate) fn check_size(length: usize, limits: ReadLimits) -> Result<(), ParseError> {
    let bytes = limits.bytes.min(u32::MAX as usize - 1);
    if length > bytes {
        let message = format!(
            "the text has {length} bytes, more than the {bytes} allowed: split it or raise the limit"
        );
        return Err(ParseError {
            code: ParseCode::TooLarge,
            message,
            span: Span {
                start: bytes,
                end: length,
            },
        });
    }
    Ok(())
}

/// The parser has noted its fault and ends. The fault itself stays out of the answers, so that they fit a register.
struct Stop;

struct Open {
    entry: u32,
    count: u32,
    object: bool,
}

struct Parser<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    entries: Vec<Entry>,
    decoded: String,
    open: Vec<Open>,
    limits: ReadLimits,
    surrogates: Surrogates,
    lossy: bool,
    fault: Option<Fault>,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<(), Stop> {
        if self.bytes.starts_with(b"\xEF\xBB\xBF") {
            return Err(self.stop(ParseCode::ByteOrderMark, 0, 3));
        }
        loop {
            if self.value()? {
                continue;
            }
            if self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Reads a scalar or opens a container; true when a container was opened whose first value must be read next.
    #[inline]
    fn value(&mut self) -> Result<bool, Stop> {
        self.skip_space();
        let start = self.at;
        let Some(byte) = self.bytes.get(start).copied() else {
            return Err(self.stop_here(ParseCode::UnexpectedEnd));
        };
        match byte {
            b'"' => self.string()?,
            b'{' => return self.begin(TapeKind::Object),
            b'[' => return self.begin(TapeKind::Array),
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.word("true", TapeKind::True)?,
            b'f' => self.word("false", TapeKind::False)?,
            b'n' => self.word("null", TapeKind::Null)?,
            b'N' | b'I' => return Err(self.not_a_number()),
            _ => return Err(self.stop_here(ParseCode::UnexpectedCharacter)),
        }
        Ok(false)
    }

    #[inline]
    fn begin(&mut self, kind: TapeKind) -> Result<bool, Stop> {
        if self.open.len() >= self.limits.depth {
            return Err(self.stop_here(ParseCode::TooDeep));
        }
        let entry = self.entries.len() as u32;
        let start = self.at as u32;
        self.push(Entry {
            kind,
            start,
            end: start,
            a: 0,
            b: 0,
        })?;
        self.at += 1;
        let object = kind == TapeKind::Object;
        self.open.push(Open {
            entry,
            count: 0,
            object,
        });
        self.skip_space();
        let closer = if object { b'}' } else { b']' };
        if self.bytes.get(self.at) == Some(&closer) {
            self.close();
            return Ok(false);
        }
        if object {
            self.key()?;
        }
        Ok(true)
    }

    /// Closes what is complete; true at the end of the document, false when another value follows.
    #[inline]
    fn after_value(&mut self) -> Result<bool, Stop> {
        loop {
            self.skip_space();
            let next = self.bytes.get(self.at).copied();
            let Some(open) = self.open.last_mut() else {
                return match next {
                    None => Ok(true),
                    Some(_) => Err(self.stop(ParseCode::TrailingData, self.at, self.bytes.len())),
                };
            };
            open.count += 1;
            match (next, open.object) {
                (Some(b'}'), true) | (Some(b']'), false) => self.close(),
                (Some(b','), object) => {
                    let comma = self.at;
                    self.at += 1;
                    self.skip_space();
                    if matches!(self.bytes.get(self.at), Some(b'}' | b']')) {
                        return Err(self.stop(ParseCode::TrailingComma, comma, comma + 1));
                    }
                    if object {
                        self.key()?;
                    }
                    return Ok(false);
                }
                (None, _) => return Err(self.stop_here(ParseCode::UnexpectedEnd)),
                _ => return Err(self.stop_here(ParseCode::ExpectedComma)),
            }
        }
    }

    #[inline]
    fn close(&mut self) {
        self.at += 1;
        let after = self.entries.len() as u32;
        if let Some(open) = self.open.pop()
            && let Some(entry) = self.entries.get_mut(open.entry as usize)
        {
            entry.end = self.at as u32;
            entry.a = open.count;
            entry.b = after;
        }
    }

    #[inline]
    fn key(&mut self) -> Result<(), Stop> {
        match self.bytes.get(self.at) {
            Some(b'"') => self.string()?,
            None => return Err(self.stop_here(ParseCode::UnexpectedEnd)),
            Some(_) => return Err(self.stop_here(ParseCode::ExpectedKey)),
        }
        self.skip_space();
        match self.bytes.get(self.at) {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            None => Err(self.stop_here(ParseCode::UnexpectedEnd)),
            Some(_) => Err(self.stop_here(ParseCode::ExpectedColon)),
        }
    }

    #[inline(always)]
    fn string(&mut self) -> Result<(), Stop> {
        let quote = self.at;
        let body = quote + 1;
        let at = scan::end_of_run(self.bytes, body);
        if self.bytes.get(at) != Some(&b'"') {
            return self.string_with_escapes(quote, at);
        }
        self.at = at + 1;
        self.push(Entry {
            kind: TapeKind::Text,
            start: quote as u32,
            end: self.at as u32,
            a: body as u32,
            b: at as u32,
        })
    }

    /// The string that begins at `quote` and is plain until `at`.
    #[inline(never)]
    fn string_with_escapes(&mut self, quote: usize, mut at: usize) -> Result<(), Stop> {
        let first = self.decoded.len();
        let mut kind = TapeKind::TextDecoded;
        let mut run = quote + 1;
        loop {
            self.decoded
                .push_str(self.source.get(run..at).unwrap_or_default());
            match self.bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    run = match scan::escape(self.bytes, at, &mut self.decoded) {
                        Ok(next) => next,
                        Err(fault) if self.may_replace(&fault) => {
                            kind = TapeKind::TextLossy;
                            self.lossy = true;
                            self.decoded.push(char::REPLACEMENT_CHARACTER);
                            fault.end
                        }
                        Err(fault) => return Err(self.stop(fault.code, fault.start, fault.end)),
                    }
                }
                Some(_) => return Err(self.stop(ParseCode::ControlCharacter, at, at + 1)),
                None => return Err(self.stop(ParseCode::UnterminatedString, quote, at)),
            }
            at = scan::end_of_run(self.bytes, run);
        }
        self.at = at + 1;
        self.push(Entry {
            kind,
            start: quote as u32,
            end: self.at as u32,
            a: first as u32,
            b: self.decoded.len() as u32,
        })
    }

    fn may_replace(&self, fault: &Fault) -> bool {
        fault.code == ParseCode::LoneSurrogate && self.surrogates == Surrogates::Replace
    }

    fn number(&mut self) -> Result<(), Stop> {
        let start = self.at;
        if self
            .bytes
            .get(start..)
            .is_some_and(|rest| rest.starts_with(b"-I"))
        {
            return Err(self.not_a_number());
        }
        let number = match scan::number(self.bytes, start) {
            Ok(number) => number,
            Err(fault) => return Err(self.stop(fault.code, fault.start, fault.end)),
        };
        self.at = number.end;
        let (from, to) = (start as u32, number.end as u32);
        if number.integer {
            return self.push(Entry {
                kind: TapeKind::Int,
                start: from,
                end: to,
                a: from,
                b: to,
            });
        }
        let text = self.source.get(start..number.end).unwrap_or_default();
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => self.push(Entry::float(value, from, to)),
            _ => Err(self.stop(ParseCode::NumberOutOfRange, start, number.end)),
        }
    }

    fn word(&mut self, word: &str, kind: TapeKind) -> Result<(), Stop> {
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word.as_bytes()) {
            return Err(self.stop_here(ParseCode::UnexpectedCharacter));
        }
        let start = self.at as u32;
        self.at = end;
        self.push(Entry {
            kind,
            start,
            end: end as u32,
            a: 0,
            b: 0,
        })
    }

    #[inline]
    fn push(&mut self, entry: Entry) -> Result<(), Stop> {
        if self.entries.len() >= self.limits.values {
            return Err(self.stop_here(ParseCode::TooManyValues));
        }
        self.entries.push(entry);
        Ok(())
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn not_a_number(&mut self) -> Stop {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        for word in ["NaN", "Infinity", "-Infinity"] {
            if rest.starts_with(word.as_bytes()) {
                return self.stop(ParseCode::NotANumber, self.at, self.at + word.len());
            }
        }
        self.stop_here(ParseCode::UnexpectedCharacter)
    }

    /// A fault at the current character, or at the end of the text.
    #[cold]
    fn stop_here(&mut self, code: ParseCode) -> Stop {
        let width = self
            .source
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        self.stop(code, self.at, self.at + width)
    }

    #[cold]
    fn stop(&mut self, code: ParseCode, start: usize, end: usize) -> Stop {
        self.fault = Some(Fault { code, start, end });
        Stop
    }
}
