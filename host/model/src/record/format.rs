//! The forms that texts have: each as the regular expression of the JSON Schema and as the function of the types.
//! A property test holds the two together.

use crate::duration::{DURATION_MAX, DURATION_PATTERN, is_duration};
use crate::governance::{PACK_ID_MAX, PACK_ID_PATTERN, is_pack_id};
use crate::id::{UUID_PATTERN, is_uuid};
use crate::rule::{HOOK_MAX, HOOK_PATTERN, is_hook};
use crate::sprite::{
    SEMVER_MAX, SEMVER_PATTERN, SPRITE_NAME_MAX, SPRITE_NAME_MIN, SPRITE_NAME_PATTERN, TOOL_REFERENCE_MAX,
    TOOL_REFERENCE_PATTERN, VERSION_RANGE_MAX, VERSION_RANGE_PATTERN, is_semver, is_sprite_name,
    is_tool_reference, is_version_range,
};
use crate::timestamp::{TIMESTAMP_MAX, TIMESTAMP_PATTERN, is_timestamp};

/// The form of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Anything.
    Free,
    /// Anything but spaces, tabs and line ends alone.
    NotBlank,
    /// A lowercase UUID.
    Uuid,
    /// `SOL-FORGE`.
    SpriteName,
    /// SemVer 2.0.0.
    SemVer,
    /// RFC 3339.
    Timestamp,
    /// `30s`.
    Duration,
    /// `namespace.name@^1`.
    ToolReference,
    /// `^1.2`.
    VersionRange,
    /// `webhook:URL` or `notify:CHANNEL:TARGET`.
    Hook,
    /// 64 lowercase hexadecimal digits.
    HexHash,
    /// A pack's id, a stable slug.
    PackId,
}

impl Format {
    /// The regular expression (ECMA-262), if the form has one.
    pub const fn pattern(self) -> Option<&'static str> {
        Some(match self {
            Format::Free => return None,
            Format::NotBlank => r"[^ \t\n\r]",
            Format::Uuid => UUID_PATTERN,
            Format::SpriteName => SPRITE_NAME_PATTERN,
            Format::SemVer => SEMVER_PATTERN,
            Format::Timestamp => TIMESTAMP_PATTERN,
            Format::Duration => DURATION_PATTERN,
            Format::ToolReference => TOOL_REFERENCE_PATTERN,
            Format::VersionRange => VERSION_RANGE_PATTERN,
            Format::Hook => HOOK_PATTERN,
            Format::HexHash => "^[0-9a-f]{64}$",
            Format::PackId => PACK_ID_PATTERN,
        })
    }

    /// JSON Schema's `format` annotation, where there is one.
    pub const fn annotation(self) -> Option<&'static str> {
        match self {
            Format::Uuid => Some("uuid"),
            Format::Timestamp => Some("date-time"),
            _ => None,
        }
    }

    /// The lengths that belong to the form: fewest and most characters.
    pub(crate) const fn lengths(self) -> (usize, usize) {
        match self {
            Format::Free | Format::NotBlank => (1, 256),
            Format::Uuid => (36, 36),
            Format::SpriteName => (SPRITE_NAME_MIN, SPRITE_NAME_MAX),
            Format::SemVer => (5, SEMVER_MAX),
            Format::Timestamp => (20, TIMESTAMP_MAX),
            Format::Duration => (2, DURATION_MAX),
            Format::ToolReference => (3, TOOL_REFERENCE_MAX),
            Format::VersionRange => (1, VERSION_RANGE_MAX),
            Format::Hook => (10, HOOK_MAX),
            Format::HexHash => (64, 64),
            Format::PackId => (1, PACK_ID_MAX),
        }
    }

    /// Whether a text has the form; lengths are judged separately.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Format::Free => true,
            Format::NotBlank => text.contains(|character| !matches!(character, ' ' | '\t' | '\n' | '\r')),
            Format::Uuid => is_uuid(text),
            Format::SpriteName => is_sprite_name(text),
            Format::SemVer => is_semver(text),
            Format::Timestamp => is_timestamp(text),
            Format::Duration => is_duration(text),
            Format::ToolReference => is_tool_reference(text),
            Format::VersionRange => is_version_range(text),
            Format::Hook => is_hook(text),
            Format::PackId => is_pack_id(text),
            Format::HexHash => crate::hex::is_digits(text, 64),
        }
    }

    /// What to write instead.
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Format::Free => "text",
            Format::NotBlank => "text that is not blank",
            Format::Uuid => "a lowercase UUID such as 3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35",
            Format::SpriteName => "2 to 64 characters of A-Z, 0-9 and single hyphens, such as SOL-FORGE",
            Format::SemVer => "a SemVer 2.0.0 version such as 1.0.0 or 1.0.0-alpha.1",
            Format::Timestamp => "an RFC 3339 timestamp with an offset, such as 2026-04-27T10:00:00Z",
            Format::Duration => "a duration such as 500ms, 30s, 5m or 1h",
            Format::VersionRange => "a version or range such as 1.4.0, ^1.2 or =1.4.0",
            Format::ToolReference => "a tool or skill such as namespace.name or namespace.name@^1",
            Format::Hook => "webhook:URL (http or https) or notify:CHANNEL:TARGET",
            Format::HexHash => "64 lowercase hexadecimal digits",
            Format::PackId => "a stable slug such as safety-pii: a-z and 0-9, after the first also _ - .",
        }
    }
}
