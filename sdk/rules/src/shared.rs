//! What is shared: the parts of a program, and texts.
//!
//! A guest parses its rules once, and its memory is kept as it is then. Nothing of a program is ever given back there, so nobody
//! counts who holds it: a count that changes with every fact is a page that has to be put back after every evaluation.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

#[cfg(target_family = "wasm")]
type Pointer<T> = &'static T;
#[cfg(not(target_family = "wasm"))]
type Pointer<T> = Arc<T>;

/// A part of a program, held by everything that speaks of it.
pub struct Lasting<T: ?Sized + 'static>(Pointer<T>);

impl<T> Lasting<T> {
    /// Shares it.
    pub fn new(part: T) -> Self {
        Self::from(Box::new(part))
    }
}

impl<T: ?Sized> From<Box<T>> for Lasting<T> {
    fn from(part: Box<T>) -> Self {
        #[cfg(target_family = "wasm")]
        return Self(Box::leak(part));
        #[cfg(not(target_family = "wasm"))]
        Self(part.into())
    }
}

impl From<&str> for Lasting<str> {
    fn from(text: &str) -> Self {
        Self::from(Box::<str>::from(text))
    }
}

impl<T: ?Sized> Lasting<T> {
    /// Whether both are the same one, and not only equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::ptr::addr_eq(&raw const **self, &raw const **other)
    }
}

impl<T: ?Sized> Clone for Lasting<T> {
    fn clone(&self) -> Self {
        #[cfg(target_family = "wasm")]
        return Self(self.0);
        #[cfg(not(target_family = "wasm"))]
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for Lasting<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Lasting<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Lasting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Lasting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The text of a symbol or string.
#[derive(Clone)]
pub enum Text {
    /// It stands in the rules.
    Lasting(Lasting<str>),
    /// It came with a fact, or was made.
    Made(Arc<str>),
}

impl Text {
    /// A text of the rules.
    pub(crate) fn lasting(text: &str) -> Self {
        Self::Lasting(text.into())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Lasting(text) => text,
            Self::Made(text) => text,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Made(text.into())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Made(text.into())
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
