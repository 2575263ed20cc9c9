//! What performs a capability: `namespace.name@^1`.

use semver::VersionReq;
use std::fmt;

/// A tool or skill id, then optionally `@` and a version or range (`^1`, `~1.2`, `=1.2.3`, `1.2.3`). Numbers have at
/// most nine digits, so that they fit whatever compares them.
pub const TOOL_REFERENCE_PATTERN: &str = concat!(
    r"^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)+",
    r"(?:@[~^=]?(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){0,2})?$"
);
/// A version or range alone, as it follows the `@`.
pub const VERSION_RANGE_PATTERN: &str = r"^[~^=]?(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){0,2}$";
/// The longest range, in characters: three numbers, two dots and a sign.
pub const VERSION_RANGE_MAX: usize = 30;
/// The longest reference, in characters: a namespace of 128, a name of 64, and a range.
pub const TOOL_REFERENCE_MAX: usize = 256;

/// A text that is not a reference to a tool or skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a tool reference: expected namespace.name, or namespace.name@RANGE with a range such as ^1, ~1.2 or =1.2.3"
)]
pub struct NotAToolReference;

/// A reference to an installed tool or skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolReference {
    text: String,
    id_length: usize,
    range: Option<VersionReq>,
}

fn is_segment(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

fn is_id(text: &str) -> bool {
    text.contains('.') && text.split('.').all(is_segment)
}

/// Whether a text follows [`VERSION_RANGE_PATTERN`].
pub(crate) fn is_version_range(text: &str) -> bool {
    let numbers = text.strip_prefix(['~', '^', '=']).unwrap_or(text);
    numbers.split('.').count() <= 3
        && numbers.split('.').all(|number| {
            (1..=9).contains(&number.len())
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && (number == "0" || !number.starts_with('0'))
        })
}

/// Whether a text follows [`TOOL_REFERENCE_PATTERN`]; the length is judged separately.
pub(crate) fn is_tool_reference(text: &str) -> bool {
    match text.split_once('@') {
        Some((id, range)) => is_id(id) && is_version_range(range),
        None => is_id(text),
    }
}

impl ToolReference {
    /// Reads a reference.
    ///
    /// # Errors
    /// [`NotAToolReference`] when the text does not follow the pattern or the length.
    pub fn parse(text: &str) -> Result<Self, NotAToolReference> {
        if text.len() > TOOL_REFERENCE_MAX || !is_tool_reference(text) {
            return Err(NotAToolReference);
        }
        let (id, range) = match text.split_once('@') {
            Some((id, range)) => (id, Some(VersionReq::parse(range).map_err(|_| NotAToolReference)?)),
            None => (text, None),
        };
        Ok(Self {
            text: text.to_owned(),
            id_length: id.len(),
            range,
        })
    }

    /// The tool's or skill's id: `namespace.name`.
    pub fn id(&self) -> &str {
        self.text.get(..self.id_length).unwrap_or(&self.text)
    }

    /// The versions that will do; none when any will.
    pub fn range(&self) -> Option<&VersionReq> {
        self.range.as_ref()
    }

    /// Whether a tool of this id and version is what the reference names.
    pub fn accepts(&self, id: &str, version: &semver::Version) -> bool {
        self.id() == id && self.range.as_ref().is_none_or(|range| range.matches(version))
    }

    /// The spelling in the document.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for ToolReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_an_id_and_a_range() {
        for (text, id, version, accepted) in [
            ("acme.text.count@^1", "acme.text.count", "1.9.0", true),
            ("acme.text.count@^1", "acme.text.count", "2.0.0", false),
            ("acme.count@~1.2", "acme.count", "1.2.9", true),
            ("acme.count@~1.2", "acme.count", "1.3.0", false),
            ("acme.count@=1.2.3", "acme.count", "1.2.4", false),
            ("acme.count", "acme.count", "7.0.0", true),
            ("acme.count", "acme.other", "7.0.0", false),
        ] {
            let reference = ToolReference::parse(text).unwrap();
            assert_eq!(
                reference.accepts(id, &version.parse().unwrap()),
                accepted,
                "{text} {version}"
            );
        }
    }

    #[test]
    fn what_is_not_a_reference_is_refused() {
        for bad in [
            "",
            "count",
            ".count",
            "acme.",
            "Acme.count",
            "acme.count@",
            "acme.count@x",
            "acme.count@^",
            "acme.count@01",
            "acme.count@1.2.3.4",
            "acme.count@^1@2",
            "acme:count",
            "acme.count@>=1",
            "acme.count@1234567890",
            "acme.9count",
            "acme.count@^1 ",
        ] {
            assert_eq!(ToolReference::parse(bad), Err(NotAToolReference), "{bad:?}");
        }
    }
}
