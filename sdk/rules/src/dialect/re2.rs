//! What RE2 has of its own: <https://github.com/google/re2/wiki/Syntax>.

use super::Engine;
use super::class::{DIGIT, WORD, all_folded, complement};
use super::reader::{Dialect, Item, Reader, shown};

pub(super) struct Re2;

/// Without the vertical tab, which `[:space:]` has.
const SPACE: &[(char, char)] = &[('\t', '\n'), ('\x0c', '\r'), (' ', ' ')];

fn missing<T>(what: &str) -> Result<T, String> {
    Err(format!("{what} is not in RE2"))
}

impl Dialect for Re2 {
    const BRACKET_FIRST: bool = true;
    const POSIX: bool = true;
    const CLASS_TAKES_DASH: bool = false;

    fn escape(&self, reader: &mut Reader<'_>, in_class: bool) -> Result<Item, String> {
        let word = match reader.folds() {
            true => all_folded(WORD),
            false => WORD.to_vec(),
        };
        let class = |ranges: &[(char, char)]| Ok(Item::Class(ranges.to_vec()));
        let others = |ranges: &[(char, char)]| Ok(Item::Class(complement(ranges)));
        let c = reader.next().ok_or("it ends in a backslash")?;
        match c {
            'w' => class(&word),
            'W' => others(&word),
            'd' => class(DIGIT),
            'D' => others(DIGIT),
            's' => class(SPACE),
            'S' => others(SPACE),
            'b' if !in_class => Ok(Item::Boundary),
            'B' if !in_class => Ok(Item::NoBoundary),
            'A' if !in_class => Ok(Item::Anchor(r"\A")),
            'z' if !in_class => Ok(Item::Anchor(r"\z")),
            'a' => Ok(Item::Character('\x07')),
            'f' => Ok(Item::Character('\x0c')),
            'n' => Ok(Item::Character('\n')),
            'r' => Ok(Item::Character('\r')),
            't' => Ok(Item::Character('\t')),
            'v' => Ok(Item::Character('\x0b')),
            'x' => hexadecimal(reader).map(Item::Character),
            'p' | 'P' => property(reader, c),
            '0'..='9' => Err("a number behind a backslash; write a character as \\x{…}".to_owned()),
            c if c.is_ascii() && !c.is_ascii_alphabetic() => Ok(Item::Character(c)),
            c => missing(&format!("\\{}", c.escape_debug())),
        }
    }

    fn group(&self, reader: &mut Reader<'_>) -> Result<(), String> {
        if !reader.take("?") {
            reader.open("(");
            return Ok(());
        }
        let looks_behind = reader.left().starts_with("<=") || reader.left().starts_with("<!");
        if reader.take("P<") || (!looks_behind && reader.take("<")) {
            let name = reader.take_until('>').unwrap_or_default();
            if name.is_empty()
                || !name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                return Err("the name of a group is letters, digits and `_`".to_owned());
            }
            reader.open(&format!("(?P<{name}>"));
            return Ok(());
        }
        let left = reader.left();
        let end = left.find(|c: char| !matches!(c, 'i' | 'm' | 's' | 'U' | '-'));
        let (flags, ending) = match end.and_then(|end| left.split_at_checked(end)) {
            Some((flags, rest)) => (flags, rest.chars().next()),
            None => (left, None),
        };
        let opens = match ending {
            Some(':') => true,
            Some(')') if !flags.is_empty() => false,
            Some(flag @ ('a'..='z' | 'A'..='Z')) => return missing(&format!("the flag {flag}")),
            Some('=' | '!' | '<') => return missing("look-around"),
            _ => return missing(&format!("(?{}", shown(left))),
        };
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let folds = (reader.folds() || on.contains('i')) && !off.contains('i');
        // The flags, and what ends them.
        reader.take(flags);
        reader.next();
        match opens {
            true => {
                reader.open(&format!("(?{flags}:"));
                reader.fold(folds);
            }
            false => {
                reader.flags(&format!("(?{flags})"));
                reader.fold(folds);
            }
        }
        Ok(())
    }

    /// A brace that begins no repetition stands for itself.
    fn brace(&self, reader: &mut Reader<'_>) -> Result<(), String> {
        if reader.is_behind_boundary() {
            return missing("\\b{…}");
        }
        reader.literal('{')
    }

    fn any(&self) -> &'static str {
        "."
    }
}

/// After `\x`: `41` or `{10FFFF}`.
fn hexadecimal(reader: &mut Reader<'_>) -> Result<char, String> {
    let wrong = || "a character is written as \\x41 or \\x{10FFFF}".to_owned();
    let digits = match reader.take("{") {
        true => reader.take_until('}').ok_or_else(wrong)?,
        false => {
            let digits = reader.left().get(..2).ok_or_else(wrong)?;
            reader.take(digits);
            digits
        }
    };
    let is_code = (1..=6).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_code);
    code.and_then(char::from_u32).ok_or_else(wrong)
}

/// After `\p` or `\P`: `L` or `{Greek}`.
fn property(reader: &mut Reader<'_>, letter: char) -> Result<Item, String> {
    if reader.engine() == Engine::Lite {
        return Err("classes of Unicode (\\p) are not there in rules; write the characters".to_owned());
    }
    let wrong = || format!("a class of Unicode is written as \\{letter}L or \\{letter}{{Greek}}");
    let name = match reader.take("{") {
        true => reader.take_until('}').ok_or_else(wrong)?,
        false => {
            let left = reader.left();
            let name = left.get(..1).ok_or_else(wrong)?;
            reader.take(name);
            name
        }
    };
    // The engine has no `\p{^Greek}`.
    let (letter, name) = match (name.strip_prefix('^'), letter) {
        (None, letter) => (letter, name),
        (Some(name), 'p') => ('P', name),
        (Some(name), _) => ('p', name),
    };
    if name.is_empty()
        || !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        return Err(wrong());
    }
    Ok(Item::Property(format!("\\{letter}{{{name}}}")))
}
