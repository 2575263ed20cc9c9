//! The names of plugins, namespaces and tools, checked once and never again.
//!
//! All of them are short lowercase ASCII, so that a name can become part of a file name, an id or a log line without
//! escaping. A name from a package is hostile until it has passed `parse`.

use mizzen_json::shorten;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// The longest namespace, in bytes.
pub const MAX_NAMESPACE: usize = 128;
/// The longest plugin or tool name, in bytes.
pub const MAX_NAME: usize = 64;

/// A name that does not have the shape its kind asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a {kind}; expected {expected}")]
pub struct NameError {
    /// What the name was to be: `plugin name`, `namespace`, `tool name`, ….
    pub kind: &'static str,
    /// The value, shortened when it is long.
    pub value: String,
    /// The shape that is asked for.
    pub expected: &'static str,
}

impl NameError {
    pub(crate) fn new(kind: &'static str, value: &str, expected: &'static str) -> Self {
        Self {
            kind,
            value: shorten(value),
            expected,
        }
    }
}

fn starts_low(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
}

fn is_name(text: &str, dash_only: DashOnly) -> bool {
    text.len() <= MAX_NAME
        && starts_low(text)
        && text.bytes().all(|b| {
            b.is_ascii_lowercase()
                || b.is_ascii_digit()
                || b == b'-'
                || (b == b'_' && dash_only == DashOnly::No)
        })
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum DashOnly {
    Yes,
    No,
}

macro_rules! checked_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = NameError;
            fn try_from(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

checked_name! {
    /// The name of a plugin: `[a-z][a-z0-9-]{0,63}`.
    PluginName
}

checked_name! {
    /// The name of a tool, skill or store inside its namespace: `[a-z][a-z0-9_-]{0,63}`.
    ToolName
}

checked_name! {
    /// A namespace: segments `[a-z][a-z0-9_-]*` joined by dots, at most 128 characters.
    Namespace
}

checked_name! {
    /// A tool's full id: its namespace, a dot, its name.
    ToolId
}

impl PluginName {
    /// Reads a plugin name.
    ///
    /// # Errors
    /// When it does not have the shape of one.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if is_name(text, DashOnly::Yes) {
            Ok(Self(text.into()))
        } else {
            Err(NameError::new(
                "plugin name",
                text,
                "1 to 64 lowercase letters, digits and dashes, beginning with a letter",
            ))
        }
    }
}

impl ToolName {
    /// Reads a tool name.
    ///
    /// # Errors
    /// When it does not have the shape of one.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if is_name(text, DashOnly::No) {
            Ok(Self(text.into()))
        } else {
            Err(NameError::new(
                "tool name",
                text,
                "1 to 64 lowercase letters, digits, dashes and underscores, beginning with a letter",
            ))
        }
    }
}

impl Namespace {
    /// Reads a namespace.
    ///
    /// # Errors
    /// When it does not have the shape of one.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let segment_ok = |segment: &str| {
            starts_low(segment)
                && segment
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        };
        if text.len() <= MAX_NAMESPACE && text.split('.').all(segment_ok) {
            Ok(Self(text.into()))
        } else {
            Err(NameError::new(
                "namespace",
                text,
                "lowercase segments such as `acme` or `acme.text`, each beginning with a letter, at most 128 characters",
            ))
        }
    }

    /// Whether `other` is this namespace or lies below it: `acme` covers `acme` and `acme.text`, not `acmes`.
    pub fn covers(&self, other: &Self) -> bool {
        is_inside(&other.0, &self.0)
    }

    /// Whether an id such as `acme.text.count` lies inside of this namespace, or is the namespace itself.
    pub fn contains_id(&self, id: &str) -> bool {
        is_inside(id, &self.0)
    }
}

fn is_inside(text: &str, namespace: &str) -> bool {
    text.strip_prefix(namespace)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl ToolId {
    /// The id of a tool in a namespace.
    pub fn new(namespace: &Namespace, name: &ToolName) -> Self {
        Self(format!("{namespace}.{name}").into())
    }

    /// Reads an id: everything before the last dot is the namespace.
    ///
    /// # Errors
    /// When a part does not have its shape, or there is no dot.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let parts = text
            .rsplit_once('.')
            .filter(|(namespace, name)| Namespace::parse(namespace).is_ok() && ToolName::parse(name).is_ok());
        match parts {
            Some(_) => Ok(Self(text.into())),
            None => Err(NameError::new(
                "tool id",
                text,
                "NAMESPACE.NAME, such as `acme.text.count`",
            )),
        }
    }

    /// The namespace part.
    pub fn namespace(&self) -> &str {
        self.0.rsplit_once('.').map_or("", |(namespace, _)| namespace)
    }

    /// The name part.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('.').map_or("", |(_, name)| name)
    }
}

/// Which namespaces an operator means: exactly `acme`, or everything below it with `acme.*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamespacePattern {
    /// Every namespace: `*`.
    Any,
    /// This namespace alone.
    Exactly(Namespace),
    /// Every namespace below this one, and not itself.
    Below(Namespace),
}

impl NamespacePattern {
    /// Reads `*`, `acme` or `acme.*`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let wrong = || {
            NameError::new(
                "namespace pattern",
                text,
                "`*`, a namespace such as `acme`, or `acme.*` for those below it",
            )
        };
        if text == "*" {
            return Ok(Self::Any);
        }
        match text.strip_suffix(".*") {
            Some(above) => Namespace::parse(above).map(Self::Below).map_err(|_| wrong()),
            None => Namespace::parse(text).map(Self::Exactly).map_err(|_| wrong()),
        }
    }

    /// Whether the pattern means this namespace.
    pub fn matches(&self, namespace: &Namespace) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(this) => this == namespace,
            Self::Below(above) => above != namespace && above.covers(namespace),
        }
    }
}

impl NamespacePattern {
    /// Whether the pattern means this namespace, or one above or below it.
    pub fn is_related(&self, namespace: &Namespace) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(this) | Self::Below(this) => this.covers(namespace) || namespace.covers(this),
        }
    }
}

impl fmt::Display for NamespacePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exactly(namespace) => write!(f, "{namespace}"),
            Self::Below(namespace) => write!(f, "{namespace}.*"),
        }
    }
}

impl Serialize for NamespacePattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_exactly_the_shapes_of_the_contract() {
        let long = "a".repeat(64);
        let too_long = "a".repeat(65);
        for (text, plugin, tool, namespace) in [
            ("text", true, true, true),
            ("a", true, true, true),
            ("a-1", true, true, true),
            ("a_1", false, true, true),
            ("acme.text", false, false, true),
            (long.as_str(), true, true, true),
            (too_long.as_str(), false, false, true),
            ("", false, false, false),
            ("1a", false, false, false),
            ("-a", false, false, false),
            ("A", false, false, false),
            ("aé", false, false, false),
            ("a..b", false, false, false),
            (".a", false, false, false),
            ("a.", false, false, false),
            ("a.1", false, false, false),
            ("../a", false, false, false),
            ("a/b", false, false, false),
            ("a\n", false, false, false),
            ("a\0", false, false, false),
        ] {
            assert_eq!(PluginName::parse(text).is_ok(), plugin, "plugin name {text:?}");
            assert_eq!(ToolName::parse(text).is_ok(), tool, "tool name {text:?}");
            assert_eq!(Namespace::parse(text).is_ok(), namespace, "namespace {text:?}");
        }
        assert!(Namespace::parse(&"a".repeat(128)).is_ok());
        assert!(Namespace::parse(&"a".repeat(129)).is_err());
    }

    #[test]
    fn a_namespace_covers_itself_and_what_is_below_it() {
        let acme = Namespace::parse("acme").unwrap();
        for (other, covered) in [
            ("acme", true),
            ("acme.text", true),
            ("acme.a.b", true),
            ("acmes", false),
            ("ac", false),
        ] {
            assert_eq!(acme.covers(&Namespace::parse(other).unwrap()), covered, "{other}");
        }
    }

    #[test]
    fn a_tool_id_splits_at_its_last_dot() {
        let id = ToolId::parse("acme.text.word_count").unwrap();
        assert_eq!((id.namespace(), id.name()), ("acme.text", "word_count"));
        assert!(ToolId::parse("acme").is_err());
        assert!(ToolId::parse("acme.").is_err());
        assert!(ToolId::parse("acme..x").is_err());
    }

    #[test]
    fn a_pattern_means_one_namespace_or_those_below() {
        for (pattern, namespace, matches) in [
            ("acme", "acme", true),
            ("acme", "acme.text", false),
            ("acme.*", "acme.text", true),
            ("acme.*", "acme.text.x", true),
            ("acme.*", "acme", false),
            ("acme.*", "acmes.text", false),
            ("*", "anything", true),
        ] {
            let parsed = NamespacePattern::parse(pattern).unwrap();
            assert_eq!(parsed.to_string(), pattern);
            assert_eq!(
                parsed.matches(&Namespace::parse(namespace).unwrap()),
                matches,
                "{pattern} {namespace}"
            );
        }
        assert!(NamespacePattern::parse("ac*").is_err());
        assert!(NamespacePattern::parse("*.acme").is_err());
    }

    #[test]
    fn hostile_text_is_shortened_and_escaped_in_messages() {
        let error = PluginName::parse(&format!("\u{1b}[31m{}", "x".repeat(10_000))).unwrap_err();
        assert!(error.to_string().len() < 400, "{error}");
        assert!(!error.to_string().contains('\u{1b}'));
    }
}
