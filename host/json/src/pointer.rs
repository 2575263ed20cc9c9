//! RFC 6901 pointers.

use std::borrow::Cow;
use std::fmt;

/// A pointer into a document, grown and shrunk while walking it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pointer {
    text: String,
}

impl Pointer {
    /// The pointer to the whole document: empty.
    pub fn root() -> Self {
        Pointer::default()
    }

    /// The pointer to a member of what this points to.
    pub fn key(&self, key: &str) -> Pointer {
        Pointer {
            text: field_path(&self.text, key),
        }
    }

    /// The pointer to an element of what this points to.
    pub fn index(&self, index: usize) -> Pointer {
        Pointer {
            text: item_path(&self.text, index),
        }
    }

    /// The pointer as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> String {
        pointer.text
    }
}

/// The pointer to a member of the object at `parent`.
pub fn field_path(parent: &str, field: &str) -> String {
    [parent, "/", &escape_token(field)].concat()
}

/// The pointer to an item of the array at `parent`.
pub fn item_path(parent: &str, index: usize) -> String {
    format!("{parent}/{index}")
}

/// A key as one token of a pointer: `~` becomes `~0`, `/` becomes `~1`.
pub fn escape_token(key: &str) -> Cow<'_, str> {
    if key.bytes().any(|byte| byte == b'~' || byte == b'/') {
        Cow::Owned(key.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(key)
    }
}

/// Whether a text is a pointer: empty, or tokens after slashes in which every `~` is the beginning of `~0` or `~1`.
pub fn is_pointer(text: &str) -> bool {
    let escapes = |text: &str| text.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    text.is_empty() || text.starts_with('/') && escapes(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_escape_the_tilde_before_the_slash() {
        assert_eq!(Pointer::root().key("a~b/c").as_str(), "/a~0b~1c");
        assert_eq!(
            Pointer::root().key("rules").index(0).key("").as_str(),
            "/rules/0/"
        );
        assert_eq!(Pointer::root().as_str(), "");
    }

    #[test]
    fn a_tilde_that_escapes_nothing_makes_no_pointer() {
        for text in ["", "/", "/a", "/a~0b~1c", "//", "/~0~1", "/é"] {
            assert!(is_pointer(text), "{text}");
        }
        for text in ["a", "/m~n", "/~", "/a~2", "~0", "#/a", " /a"] {
            assert!(!is_pointer(text), "{text}");
        }
    }
}
