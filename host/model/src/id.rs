//! Identifiers: lowercase RFC 4122 text, and nothing else.

use std::fmt;
use uuid::Uuid;

/// The pattern of every id, as the JSON Schema states it. The nil UUID is one: clients use it to ask for what
/// does not exist.
pub const UUID_PATTERN: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

/// A text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an id: expected a lowercase UUID such as 3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35 (36 characters, no braces or prefix)"
)]
pub struct NotAnId;

/// Whether a text is a UUID in the one accepted spelling. `uuid` itself also reads uppercase, braces and URNs:
/// two spellings of one id would be two keys.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

fn parse_uuid(text: &str) -> Result<Uuid, NotAnId> {
    if !is_uuid(text) {
        return Err(NotAnId);
    }
    Uuid::try_parse(text).map_err(|_| NotAnId)
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            /// Reads the one accepted spelling.
            ///
            /// # Errors
            /// [`NotAnId`] for anything but 36 characters of lowercase, hyphenated hexadecimal.
            pub fn parse(text: &str) -> Result<Self, NotAnId> {
                parse_uuid(text).map(Self)
            }

            /// The UUID.
            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                Self::parse(text)
            }
        }
    };
}

id! {
    /// A sprite.
    SpriteId
}
id! {
    /// A council.
    CouncilId
}
id! {
    /// A chain.
    ChainId
}
id! {
    /// One execution of a chain.
    ExecutionId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_of_an_id_is_read() {
        let good = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35";
        assert_eq!(SpriteId::parse(good).unwrap().to_string(), good);
        assert!(SpriteId::parse("00000000-0000-0000-0000-000000000000").is_ok());
        for bad in [
            "",
            "3F2C1D9E-5B7A-4C86-9E21-0A4D6F8B1C35",
            "{3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35}",
            "urn:uuid:3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35",
            "3f2c1d9e5b7a4c869e210a4d6f8b1c35",
            "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c3",
            "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35\n",
            "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1cé",
            "3f2c1d9e_5b7a-4c86-9e21-0a4d6f8b1c35",
        ] {
            assert_eq!(SpriteId::parse(bad), Err(NotAnId), "{bad:?}");
        }
    }
}
