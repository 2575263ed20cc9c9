//! Stable slugs: ids that can be typed, sorted, put into a path and compared byte for byte.

const MAX: usize = 128;

/// Why an id is not a stable slug.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlugError {
    /// More than 128 characters.
    #[error("a {kind} id has at most {MAX} characters, this one has {length}")]
    TooLong {
        /// `node`, `rule` or `pack`.
        kind: &'static str,
        /// How long it is.
        length: usize,
    },
    /// Empty.
    #[error("a {kind} id must not be empty")]
    Empty {
        /// `node`, `rule` or `pack`.
        kind: &'static str,
    },
    /// A character that cannot stand there.
    #[error(
        "{character:?} cannot stand at position {position} of a {kind} id: use a-z and 0-9, after the first also _ - ."
    )]
    Character {
        /// `node`, `rule` or `pack`.
        kind: &'static str,
        /// The character.
        character: char,
        /// Its position, from 1.
        position: usize,
    },
}

/// Checks a node id against `^[a-z0-9][a-z0-9_\-.]{0,127}$`.
pub fn validate_node_id(id: &str) -> Result<(), SlugError> {
    check(id, "node")
}

/// Checks a rule id against `^[a-z0-9][a-z0-9_\-.]{0,127}$`.
pub fn validate_rule_id(id: &str) -> Result<(), SlugError> {
    check(id, "rule")
}

/// Checks a pack id against `^[a-z0-9][a-z0-9_\-.]{0,127}$`.
pub fn validate_pack_id(id: &str) -> Result<(), SlugError> {
    check(id, "pack")
}

/// Which bytes may stand in a slug: the letters and digits anywhere, the rest after the first.
const ANYWHERE: u8 = 2;
const LATER: u8 = 1;
static PLACES: [u8; 256] = {
    let mut places = [0; 256];
    let mut byte = 0u8;
    loop {
        if let Some(place) = places.as_mut_slice().split_at_mut(byte as usize).1.first_mut() {
            *place = match byte {
                b'a'..=b'z' | b'0'..=b'9' => ANYWHERE,
                b'_' | b'-' | b'.' => LATER,
                _ => 0,
            };
        }
        if byte == u8::MAX {
            break places;
        }
        byte += 1;
    }
};

fn place(byte: u8) -> u8 {
    PLACES.get(usize::from(byte)).copied().unwrap_or(0)
}

fn check(id: &str, kind: &'static str) -> Result<(), SlugError> {
    let bytes = id.as_bytes();
    let stands = bytes.len() <= MAX
        && bytes.first().is_some_and(|head| place(*head) == ANYWHERE)
        && bytes.iter().all(|byte| place(*byte) != 0);
    if stands { Ok(()) } else { Err(explain(id, kind)) }
}

#[cold]
fn explain(id: &str, kind: &'static str) -> SlugError {
    match id.chars().count() {
        0 => SlugError::Empty { kind },
        length if length > MAX => SlugError::TooLong { kind, length },
        _ if id.bytes().next().is_some_and(|head| place(head) == ANYWHERE) => {
            wrong_character(id, kind, |byte| place(byte) != 0)
        }
        _ => wrong_character(id, kind, |_| false),
    }
}

fn wrong_character(id: &str, kind: &'static str, allowed: impl Fn(u8) -> bool) -> SlugError {
    let found = id
        .chars()
        .enumerate()
        .find(|(_, c)| !u8::try_from(*c).is_ok_and(|byte| byte.is_ascii() && allowed(byte)));
    let (index, character) = found.unwrap_or((0, '\0'));
    SlugError::Character {
        kind,
        character,
        position: index + 1,
    }
}

/// Lowercases a text and makes every run of other characters than letters and digits of ASCII one `-`; at most 24 characters.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    let mut gap = false;
    for character in text.chars() {
        if !character.is_ascii_alphanumeric() {
            gap = true;
            continue;
        }
        if gap && !out.is_empty() {
            out.push('-');
        }
        gap = false;
        out.push(character.to_ascii_lowercase());
        if out.len() >= 24 {
            break;
        }
    }
    out.truncate(24);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_the_slug_pattern() {
        let check = |id: &str, valid: bool| assert_eq!(validate_node_id(id).is_ok(), valid, "{id:?}");
        check("a", true);
        check("0", true);
        check("a_b-c.d9", true);
        check(&"a".repeat(128), true);
        check(&"a".repeat(129), false);
        check(&"é".repeat(100), false);
        check("", false);
        check("A", false);
        check("_a", false);
        check("-a", false);
        check(".a", false);
        check("a/b", false);
        check("a b", false);
        check("a\n", false);
        check("a١", false);
        check("é", false);
        check("a\u{0}", false);
    }

    #[test]
    fn the_error_names_the_character_and_its_place() {
        assert_eq!(
            validate_rule_id("ab/c").unwrap_err().to_string(),
            "'/' cannot stand at position 3 of a rule id: use a-z and 0-9, after the first also _ - ."
        );
        assert_eq!(
            validate_pack_id("-x"),
            Err(SlugError::Character {
                kind: "pack",
                character: '-',
                position: 1
            })
        );
    }

    #[test]
    fn slugs_are_lowercase_and_short() {
        let check = |text: &str, expected: &str| assert_eq!(slug(text), expected, "{text:?}");
        check("Hello, World!", "hello-world");
        check("  --A--  ", "a");
        check("Ünïcode", "n-code");
        check("", "");
        check("!!!", "");
        check("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwx");
        check("abcdefghijklmnopqrstuvw xyz", "abcdefghijklmnopqrstuvw-");
        check("a_b.c", "a-b-c");
    }
}
