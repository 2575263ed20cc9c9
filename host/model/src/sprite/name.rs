//! The name of a sprite.

use std::fmt;

/// The seed's pattern.
pub const SPRITE_NAME_PATTERN: &str = "^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*$";
/// The shortest name, in characters.
pub const SPRITE_NAME_MIN: usize = 2;
/// The longest name, in characters.
pub const SPRITE_NAME_MAX: usize = 64;

/// A text that is not a sprite's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a sprite name: expected 2 to 64 characters of A-Z, 0-9 and single hyphens, starting with a letter, such as SOL-FORGE"
)]
pub struct NotASpriteName;

/// A sprite's name, such as `SOL-FORGE`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpriteName(String);

/// Whether a text follows [`SPRITE_NAME_PATTERN`]; the length is judged separately.
pub(crate) fn is_sprite_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.split('-').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        })
}

impl SpriteName {
    /// Reads a name.
    ///
    /// # Errors
    /// [`NotASpriteName`] when the text does not follow the pattern or the length.
    pub fn parse(text: &str) -> Result<Self, NotASpriteName> {
        let fits = (SPRITE_NAME_MIN..=SPRITE_NAME_MAX).contains(&text.len()) && is_sprite_name(text);
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotASpriteName)
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SpriteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_pattern_and_the_length() {
        for good in [
            "SOL-FORGE",
            "CORTEX-01",
            "LEWIS-06",
            "A1",
            "A-1-B",
            &"A".repeat(64),
        ] {
            assert!(SpriteName::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "A",
            "sol",
            "SOL_FORGE",
            "-A",
            "A-",
            "A--B",
            "1A",
            "AÉ",
            "A B",
            "SOL\n",
            &"A".repeat(65),
        ] {
            assert!(SpriteName::parse(bad).is_err(), "{bad}");
        }
    }
}
