//! Strings and numbers, the two tokens with an inside.

use super::ParseCode;

/// A fault inside a token: what is wrong, and the bytes it is about, relative to the text.
pub(super) struct Fault {
    pub(super) code: ParseCode,
    pub(super) start: usize,
    pub(super) end: usize,
}

fn fault(code: ParseCode, start: usize, end: usize) -> Fault {
    Fault { code, start, end }
}

/// The first byte from `from` on that ends a plain run: a quote, a backslash, a control character, or the end of the text.
#[inline]
pub(crate) fn end_of_run(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let mut rest = bytes.get(from..).unwrap_or_default();
    // Eight bytes at a time: most strings are plain, and this is where a validator spends its time.
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        // A byte below what is subtracted gets its high bit; so do bytes with one of their own, which `!word` takes out again.
        let quotes = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
        let backslashes = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
        let controls = word.wrapping_sub(ONES * 0x20);
        let found = (quotes | backslashes | controls) & !word & HIGHS;
        if found != 0 {
            // A borrow can only mark bytes above a true hit, so the lowest mark is always true.
            return bytes.len() - rest.len() + (found.trailing_zeros() / 8) as usize;
        }
        rest = after;
    }
    let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    bytes.len() - rest.len() + rest.iter().position(special).unwrap_or(rest.len())
}

/// Decodes the escape that begins at `at` (a backslash) into `out`; the offset after it.
pub(super) fn escape(bytes: &[u8], at: usize, out: &mut String) -> Result<usize, Fault> {
    let plain = match bytes.get(at + 1) {
        None => return Err(fault(ParseCode::UnterminatedString, at, at + 1)),
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, at, out),
        Some(_) => return Err(fault(ParseCode::InvalidEscape, at, at + 2)),
    };
    out.push(plain);
    Ok(at + 2)
}

fn unicode_escape(bytes: &[u8], at: usize, out: &mut String) -> Result<usize, Fault> {
    let first = hex(bytes, at + 2).ok_or_else(|| fault(ParseCode::InvalidEscape, at, at + 2))?;
    if let Some(character) = char::from_u32(first) {
        out.push(character);
        return Ok(at + 6);
    }
    // A high surrogate is a character only together with the low one that must follow.
    let second = match bytes.get(at + 6..at + 8) {
        Some(b"\\u") if first < 0xDC00 => hex(bytes, at + 8),
        _ => None,
    };
    let character = second
        .filter(|second| (0xDC00..0xE000).contains(second))
        .and_then(|second| char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)));
    match character {
        Some(character) => {
            out.push(character);
            Ok(at + 12)
        }
        None => Err(fault(ParseCode::LoneSurrogate, at, at + 6)),
    }
}

fn hex(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0u32, |value, byte| {
        Some(value << 4 | (*byte as char).to_digit(16)?)
    })
}

/// A number token.
pub(super) struct Number {
    pub(super) end: usize,
    pub(super) integer: bool,
}

/// The number that begins at `start`, by the JSON grammar.
pub(super) fn number(bytes: &[u8], start: usize) -> Result<Number, Fault> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = start;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    let whole = at;
    at = digits(whole);
    // "01" is two tokens to the grammar; one fault about the number reads better.
    if at == whole || (bytes.get(whole) == Some(&b'0') && at > whole + 1) {
        return Err(fault(ParseCode::InvalidNumber, start, at.max(start + 1)));
    }
    let mut integer = true;
    if bytes.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = digits(fraction);
        if at == fraction {
            return Err(fault(ParseCode::InvalidNumber, start, at));
        }
        integer = false;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let mut exponent = at + 1;
        if matches!(bytes.get(exponent), Some(b'+' | b'-')) {
            exponent += 1;
        }
        at = digits(exponent);
        if at == exponent {
            return Err(fault(ParseCode::InvalidNumber, start, at));
        }
        integer = false;
    }
    Ok(Number { end: at, integer })
}
