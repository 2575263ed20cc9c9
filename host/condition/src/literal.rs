//! Number and string literals of CEL.

use super::token::TokenKind;

/// Reads the number at the start of `text`: the token and its length in bytes.
pub(crate) fn number(text: &str) -> Result<(TokenKind, usize), String> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = |at: usize| text.get(at..).unwrap_or("");
    if text.starts_with("0x") || text.starts_with("0X") {
        let length = rest(2).bytes().take_while(u8::is_ascii_hexdigit).count();
        let value = u64::from_str_radix(rest(2).get(..length).unwrap_or(""), 16)
            .map_err(|_| "a hexadecimal number has no digits or does not fit into 64 bits".to_owned())?;
        return Ok(integer(value, rest(2 + length), 2 + length));
    }
    let whole = digits(text);
    let mut length = whole;
    let fraction = if rest(length).starts_with('.') {
        digits(rest(length + 1))
    } else {
        0
    };
    if fraction > 0 {
        length += 1 + fraction;
    }
    let mut double = fraction > 0;
    if rest(length).starts_with(['e', 'E']) {
        let sign = usize::from(rest(length + 1).starts_with(['+', '-']));
        let exponent = digits(rest(length + 1 + sign));
        if exponent > 0 {
            length += 1 + sign + exponent;
            double = true;
        }
    }
    let spelled = text.get(..length).unwrap_or("");
    if double {
        let value: f64 = spelled.parse().map_err(|_| format!("{spelled} is no number"))?;
        if !value.is_finite() {
            return Err(format!("{spelled} does not fit into a double"));
        }
        return Ok((TokenKind::Double(value), length));
    }
    let value = spelled
        .parse()
        .map_err(|_| format!("{spelled} does not fit into 64 bits"))?;
    Ok(integer(value, rest(length), length))
}

fn integer(value: u64, rest: &str, length: usize) -> (TokenKind, usize) {
    if rest.starts_with(['u', 'U']) {
        (TokenKind::Uint(value), length + 1)
    } else {
        (TokenKind::Int(value), length)
    }
}

/// Whether the letters at the start of `text` are the prefix of a string, as in `r"…"` or `b'…'`.
pub(crate) fn starts_string(text: &str) -> bool {
    Prefix::read(text).is_some_and(|prefix| {
        text.get(prefix.length..)
            .is_some_and(|rest| rest.starts_with(['"', '\'']))
    })
}

struct Prefix {
    raw: bool,
    bytes: bool,
    length: usize,
}

impl Prefix {
    fn read(text: &str) -> Option<Self> {
        let mut prefix = Self {
            raw: false,
            bytes: false,
            length: 0,
        };
        for byte in text.bytes().take(2) {
            match byte {
                b'r' | b'R' if !prefix.raw => prefix.raw = true,
                b'b' | b'B' if !prefix.bytes => prefix.bytes = true,
                b'"' | b'\'' => break,
                _ => return None,
            }
            prefix.length += 1;
        }
        Some(prefix)
    }
}

/// Reads the string or bytes literal at the start of `text`: the token and its length in bytes. An error carries its offset.
pub(crate) fn string(text: &str) -> Result<(TokenKind, usize), (usize, String)> {
    let prefix = Prefix::read(text).ok_or((0, "no string here".to_owned()))?;
    let rest = text.get(prefix.length..).unwrap_or("");
    let quote = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find(|quote| rest.starts_with(quote));
    let quote = quote.ok_or((0, "no string here".to_owned()))?;
    let mut at = prefix.length + quote.len();
    let mut content = Content::default();
    loop {
        let rest = text.get(at..).unwrap_or("");
        if rest.starts_with(quote) {
            at += quote.len();
            break;
        }
        let Some(c) = rest.chars().next() else {
            return Err((0, format!("the string that starts with {quote} is never closed")));
        };
        match c {
            '\n' | '\r' if quote.len() == 1 => {
                return Err((
                    at,
                    "a string ends with its line; long ones need three quotes".to_owned(),
                ));
            }
            '\\' if prefix.raw => {
                // Nothing is special in a raw string: a quote closes it even after a backslash.
                content.text("\\");
                at += 1;
            }
            '\\' => at += escape(rest, &prefix, &mut content).map_err(|message| (at, message))?,
            c => {
                content.text(c.encode_utf8(&mut [0; 4]));
                at += c.len_utf8();
            }
        }
    }
    let kind = if prefix.bytes {
        TokenKind::Bytes(content.0.into())
    } else {
        let text = String::from_utf8(content.0).map_err(|_| (0, "a string is not UTF-8".to_owned()))?;
        TokenKind::String(text.into())
    };
    Ok((kind, at))
}

#[derive(Default)]
struct Content(Vec<u8>);

impl Content {
    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// Reads one escape at the start of `text` and gives back its length.
fn escape(text: &str, prefix: &Prefix, content: &mut Content) -> Result<usize, String> {
    let letter = text.chars().nth(1).ok_or("a backslash escapes nothing")?;
    let simple = match letter {
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'v' => Some('\u{b}'),
        '\\' | '?' | '"' | '\'' | '`' => Some(letter),
        _ => None,
    };
    if let Some(c) = simple {
        content.text(c.encode_utf8(&mut [0; 4]));
        return Ok(2);
    }
    let (digits, radix, skip) = match letter {
        'x' | 'X' => (2, 16, 2),
        'u' if !prefix.bytes => (4, 16, 2),
        'U' if !prefix.bytes => (8, 16, 2),
        '0'..='3' => (3, 8, 1),
        _ => {
            return Err(format!(
                "\\{letter} is no escape; write \\\\ for a backslash, or a raw string r\"…\""
            ));
        }
    };
    let spelled = text.get(skip..skip + digits).unwrap_or("");
    let value = (spelled.len() == digits && spelled.chars().all(|c| c.is_digit(radix)))
        .then(|| u32::from_str_radix(spelled, radix).ok())
        .flatten()
        .ok_or_else(|| format!("the escape \\{letter} needs {digits} digits"))?;
    if prefix.bytes {
        content
            .0
            .push(u8::try_from(value).map_err(|_| "an escape in bytes does not fit into a byte".to_owned())?);
    } else {
        let c =
            char::from_u32(value).ok_or_else(|| format!("\\{letter}{spelled} is no Unicode character"))?;
        content.text(c.encode_utf8(&mut [0; 4]));
    }
    Ok(skip + digits)
}
