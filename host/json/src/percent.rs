//! Percent-decoding, in the two ways that the host needs.

use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// Decodes a text whose escapes must all be whole and whose result must be UTF-8: a request's query, a file's URL.
pub fn decode_strict(text: &str) -> Option<String> {
    let is_whole = |escape: &str| {
        escape
            .as_bytes()
            .first_chunk::<2>()
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_whole) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

/// Decodes a reference that is compared with known names: what is no escape stands for itself.
pub fn decode_lossy(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_escapes_are_refused_or_kept() {
        let check = |text: &str, strict: Option<&str>, lossy: &str| {
            assert_eq!(decode_strict(text).as_deref(), strict, "{text}");
            assert_eq!(decode_lossy(text), lossy, "{text}");
        };
        check("a%20b", Some("a b"), "a b");
        check("%C3%A9", Some("é"), "é");
        check("%c3%a9%", None, "é%");
        check("%ff", None, "\u{fffd}");
        check("%zz", None, "%zz");
        check("%2", None, "%2");
        check("%é0", None, "%é0");
        check("", Some(""), "");
    }
}
