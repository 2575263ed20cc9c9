//! Hostile text in a message: cut, and without what a terminal would obey.

/// How many characters [`quote`] shows.
const QUOTED: usize = 64;

/// How many characters [`shorten`] shows.
const SHORTENED: usize = 80;

/// Whether a terminal would obey the character instead of showing it: controls, and marks that turn the direction of writing.
pub fn steers_a_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Hostile text for a message: at most 80 characters, those that a terminal would obey escaped.
pub fn shorten(value: &str) -> String {
    let mut out = String::new();
    for (count, c) in value.chars().enumerate() {
        if count == SHORTENED {
            out.push('…');
            break;
        }
        if steers_a_terminal(c) {
            out.extend(c.escape_default())
        } else {
            out.push(c)
        }
    }
    out
}

/// A client's text, quoted for a message: escaped and cut, because it may be a megabyte of control characters.
pub fn quote(text: &str) -> String {
    let cut: String = text.chars().take(QUOTED).collect();
    if cut.len() < text.len() {
        format!("{cut:?}…")
    } else {
        format!("{cut:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_cannot_steer_a_terminal() {
        assert_eq!(
            shorten("a\u{1b}[2J\u{202e}b\u{61c}\n"),
            "a\\u{1b}[2J\\u{202e}b\\u{61c}\\n"
        );
        assert_eq!(shorten("é 漢 😀"), "é 漢 😀");
    }

    #[test]
    fn quotes_are_cut_and_escaped() {
        assert_eq!(quote("a\nb"), "\"a\\nb\"");
        assert_eq!(quote(&"é".repeat(65)), format!("\"{}\"…", "é".repeat(64)));
    }
}
