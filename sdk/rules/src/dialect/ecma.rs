//! What ECMA-262 has of its own, as JSON Schemas use it: no flags but `u`, so a text is a list of code points. Where authors rely on
//! what browsers read without `u` and there is only one reading (`\-`, `[\w-.]`), that is taken too.

use super::Engine;
use super::class::{DIGIT, WORD, complement};
use super::reader::{Dialect, Item, Reader, shown};

pub(super) struct Ecma;

/// `WhiteSpace` and `LineTerminator`.
const SPACE: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];

fn missing<T>(what: &str) -> Result<T, String> {
    Err(format!(
        "{what} is not in the patterns of JSON Schemas (ECMA-262)"
    ))
}

impl Dialect for Ecma {
    const BRACKET_FIRST: bool = false;
    const POSIX: bool = false;
    const CLASS_TAKES_DASH: bool = true;

    fn escape(&self, reader: &mut Reader<'_>, in_class: bool) -> Result<Item, String> {
        let class = |ranges: &[(char, char)]| Ok(Item::Class(ranges.to_vec()));
        let others = |ranges: &[(char, char)]| Ok(Item::Class(complement(ranges)));
        let c = reader.next().ok_or("it ends in a backslash")?;
        match c {
            'd' => class(DIGIT),
            'D' => others(DIGIT),
            'w' => class(WORD),
            'W' => others(WORD),
            's' => class(SPACE),
            'S' => others(SPACE),
            'b' if in_class => Ok(Item::Character('\x08')),
            'b' => Ok(Item::Boundary),
            'B' if !in_class => Ok(Item::NoBoundary),
            'f' => Ok(Item::Character('\x0c')),
            'n' => Ok(Item::Character('\n')),
            'r' => Ok(Item::Character('\r')),
            't' => Ok(Item::Character('\t')),
            'v' => Ok(Item::Character('\x0b')),
            'c' => control(reader).map(Item::Character),
            'x' => code(reader, 2).and_then(character).map(Item::Character),
            'u' => unicode(reader).map(Item::Character),
            'p' | 'P' => property(reader, c),
            '0' if !reader.left().starts_with(|next: char| next.is_ascii_digit()) => {
                Ok(Item::Character('\0'))
            }
            '0'..='9' | 'k' => {
                Err("back-references are not there: they take more than linear time".to_owned())
            }
            c if c.is_ascii() && !c.is_ascii_alphabetic() => Ok(Item::Character(c)),
            c => missing(&format!("\\{}", c.escape_debug())),
        }
    }

    fn group(&self, reader: &mut Reader<'_>) -> Result<(), String> {
        if !reader.take("?") {
            reader.open("(");
            return Ok(());
        }
        if reader.take(":") {
            reader.open("(?:");
            return Ok(());
        }
        let left = reader.left();
        if ["=", "!", "<=", "<!"].iter().any(|look| left.starts_with(look)) {
            return Err("look-around is not there: it takes more than linear time".to_owned());
        }
        if reader.take("<") {
            let name = reader.take_until('>').unwrap_or_default();
            let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
            if name.is_empty() || !name.chars().all(is_letter) {
                return Err("the name of a group is letters, digits, `_` and `$`".to_owned());
            }
            // Nothing refers to it.
            reader.open("(");
            return Ok(());
        }
        missing(&format!("(?{}", shown(left.get(..1).unwrap_or_default())))
    }

    fn brace(&self, _: &mut Reader<'_>) -> Result<(), String> {
        Err("`{` begins no repetition; write \\{ for the character".to_owned())
    }

    /// Everything but the four that end a line.
    fn any(&self) -> &'static str {
        r"[^\x{A}\x{D}\x{2028}\x{2029}]"
    }
}

fn character(code: u32) -> Result<char, String> {
    char::from_u32(code).ok_or_else(|| "half of a surrogate pair stands for no character".to_owned())
}

/// So many hexadecimal digits.
fn code(reader: &mut Reader<'_>, digits: usize) -> Result<u32, String> {
    let wrong = || "a character is written as \\x41, \\u0041 or \\u{1F600}".to_owned();
    let text = reader.left().get(..digits).ok_or_else(wrong)?;
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    reader.take(text);
    u32::from_str_radix(text, 16).map_err(|_| wrong())
}

/// After `\u`: `0041`, `{1F600}`, or both halves of a pair, `D83D\uDE00`.
fn unicode(reader: &mut Reader<'_>) -> Result<char, String> {
    if reader.take("{") {
        let digits = reader.take_until('}').unwrap_or_default();
        let is_code = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_code);
        return character(code.unwrap_or(u32::MAX));
    }
    let first = code(reader, 4)?;
    if !(0xd800..0xdc00).contains(&first) || !reader.take("\\u") {
        return character(first);
    }
    match code(reader, 4)? {
        second @ 0xdc00..0xe000 => character(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)),
        _ => character(first),
    }
}

/// After `\c`: a letter.
fn control(reader: &mut Reader<'_>) -> Result<char, String> {
    match reader.next() {
        Some(letter) if letter.is_ascii_alphabetic() => character(u32::from(letter) % 32),
        _ => missing("\\c without a letter"),
    }
}

/// After `\p` or `\P`: `{Letter}` or `{Script=Greek}`.
fn property(reader: &mut Reader<'_>, letter: char) -> Result<Item, String> {
    if reader.engine() == Engine::Lite {
        return Err("classes of Unicode (\\p) are not there; write the characters".to_owned());
    }
    let is_opened = reader.take("{");
    let name = reader.take_until('}').filter(|_| is_opened).unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'=');
    if name.is_empty() || !name.bytes().all(is_name) {
        return Err(format!("a class of Unicode is written as \\{letter}{{Letter}}"));
    }
    Ok(Item::Property(format!("\\{letter}{{{name}}}")))
}
