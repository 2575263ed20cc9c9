//! Which permissions of a large set can allow a name at all.
//!
//! A glob matches only texts that begin with what stands before its first star and end with what stands after its last one.
//! The longer of the two is looked up by its hash. Whoever shares the hash is asked; nobody else could say yes. So a
//! permission is never granted by the index, and two literals with one hash cost a question and change nothing.

/// Permissions by a literal end of the names that they allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Index {
    beginnings: Literals,
    endings: Literals,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Literals {
    /// How long the literals are, shortest first, each length once.
    lengths: Vec<usize>,
    /// The hash of each literal and the place of its permission, sorted.
    places: Vec<(u64, usize)>,
}

impl Index {
    /// Takes what each permission's names begin and end with, in the order of the set.
    pub(super) fn new<'a>(ends: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut beginnings, mut endings) = (Literals::default(), Literals::default());
        for (place, (before, after)) in ends.enumerate() {
            if before.len() > after.len() {
                beginnings.insert(before.bytes(), place);
            } else {
                endings.insert(after.bytes().rev(), place);
            }
        }
        Self {
            beginnings: beginnings.sorted(),
            endings: endings.sorted(),
        }
    }

    /// Whether `holds` is true of one of the places that could allow this name.
    pub(super) fn any(&self, name: &str, mut holds: impl FnMut(usize) -> bool) -> bool {
        self.endings.any(name.bytes().rev(), &mut holds) || self.beginnings.any(name.bytes(), &mut holds)
    }
}

impl Literals {
    fn insert(&mut self, literal: impl Iterator<Item = u8>, place: usize) {
        let (length, hash) = literal.fold((0, EMPTY), |(length, hash), byte| {
            (length + 1, extended(hash, byte))
        });
        self.lengths.push(length);
        self.places.push((hash, place));
    }

    fn sorted(mut self) -> Self {
        self.lengths.sort_unstable();
        self.lengths.dedup();
        self.places.sort_unstable();
        self
    }

    /// Reads no more of the name than the longest literal is long: names come from guests.
    fn any(&self, mut name: impl Iterator<Item = u8>, holds: &mut impl FnMut(usize) -> bool) -> bool {
        let (mut hash, mut read) = (EMPTY, 0);
        for length in &self.lengths {
            while read < *length {
                let Some(byte) = name.next() else { return false };
                hash = extended(hash, byte);
                read += 1;
            }
            let first = self.places.partition_point(|(of, _)| *of < hash);
            let same = self.places.get(first..).unwrap_or_default().iter();
            if same
                .take_while(|(of, _)| *of == hash)
                .any(|(_, place)| holds(*place))
            {
                return true;
            }
        }
        false
    }
}

/// FNV-1a: the hash of a longer literal follows from the shorter one, so a name is read once for all lengths.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

const fn extended(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_share_an_end_are_asked() {
        let ends = [("", ".example.com"), ("acme.", ""), ("", ""), ("whole", "whole")];
        let index = Index::new(ends.into_iter());
        let asked = |name: &str| {
            let mut asked = Vec::new();
            assert!(!index.any(name, |place| {
                asked.push(place);
                false
            }));
            asked.sort_unstable();
            asked
        };
        assert_eq!(asked("api.example.com"), [0, 2]);
        assert_eq!(asked("acme.text"), [1, 2]);
        assert_eq!(asked("acme.example.com"), [0, 1, 2]);
        assert_eq!(asked("whole"), [2, 3]);
        assert_eq!(asked(""), [2]);
        assert!(index.any("whole", |place| place == 3));
    }
}
