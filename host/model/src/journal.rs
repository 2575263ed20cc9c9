//! The journal of a run as bytes that can be checked: every entry's hash covers its bytes and the hash before it.
//!
//! A journal begins with the hash of its run's id, so that entries of one run do not fit another. Signing the last hash
//! is not here: a key is needed for it.

use crate::id::ExecutionId;

/// The hash of an entry, or what the first entry is linked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link([u8; 32]);

impl Link {
    /// What the first entry of a run is linked to.
    pub fn first(run: ExecutionId) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("mizzen/run-journal/v1");
        hasher.update(run.uuid().as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The hash of the entry that comes after this one.
    #[must_use]
    pub fn next(self, entry: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("mizzen/run-entry/v1");
        // The hash before has a fixed length, so no two pairs share their bytes.
        hasher.update(&self.0);
        hasher.update(entry.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The hash.
    pub fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// A hash that was stored.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("blake3:")?;
        f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_link_depends_on_the_run_the_entry_and_everything_before() {
        let run =
            |last: char| ExecutionId::parse(&format!("00000000-0000-4000-8000-00000000000{last}")).unwrap();
        let (one, two) = (Link::first(run('1')), Link::first(run('2')));
        assert_ne!(one, two);
        assert_ne!(one.next("a"), two.next("a"));
        assert_ne!(one.next("a").next("b"), one.next("b").next("a"));
        assert_eq!(one.next("a").next("b"), one.next("a").next("b"));
    }
}
