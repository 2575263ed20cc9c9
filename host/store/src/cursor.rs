//! Pages and the opaque positions between them.
//!
//! A cursor is a keyset position (never an offset, so a page costs the same at any depth), tied by a checksum to the list
//! and filter it came from: one that is used elsewhere, or made up, is refused instead of giving a wrong page.

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// What is on it, in the order of the list.
    pub items: Vec<T>,
    /// Where the next page begins; none on the last one.
    pub next: Option<Cursor>,
}

/// A position in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) position: [i64; 2],
}

/// The text is not a cursor of this list and filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the cursor does not belong to this list and filter; use next_cursor of the page before, with the same filter"
)]
pub struct BadCursor;

/// Two positions and a checksum.
const BYTES: usize = 24;

impl Cursor {
    /// A position in a list that orders by two numbers (the second breaks ties).
    pub fn at(position: [i64; 2]) -> Self {
        Self { position }
    }

    /// The two numbers.
    pub fn position(&self) -> [i64; 2] {
        self.position
    }

    /// Writes the cursor for callers. `scope` names the list and its filter.
    pub fn to_text(&self, scope: &str) -> String {
        let mut bytes = Vec::with_capacity(BYTES);
        for number in self.position {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&checksum(&bytes, scope));
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads a cursor that [`Cursor::to_text`] wrote for the same scope.
    pub fn parse(text: &str, scope: &str) -> Result<Self, BadCursor> {
        if text.len() != BYTES * 2 || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(BadCursor);
        }
        let (first, rest) = text.split_at_checked(16).ok_or(BadCursor)?;
        let (second, _) = rest.split_at_checked(16).ok_or(BadCursor)?;
        let number = |hex: &str| {
            u64::from_str_radix(hex, 16)
                .map(u64::cast_signed)
                .map_err(|_| BadCursor)
        };
        let cursor = Self {
            position: [number(first)?, number(second)?],
        };
        if cursor.to_text(scope) == text {
            Ok(cursor)
        } else {
            Err(BadCursor)
        }
    }
}

fn checksum(position: &[u8], scope: &str) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new_derive_key("mizzen/list-cursor/v1");
    hasher.update(position);
    hasher.update(scope.as_bytes());
    let mut short = [0; 8];
    hasher.finalize_xof().fill(&mut short);
    short
}

/// A page holds at most this many bytes of documents (and always at least one), whatever its limit says: a hundred
/// documents of a megabyte would be a hundred megabytes.
const PAGE_BYTES: usize = 4 << 20;

/// Collects up to `limit` rows; the position of the last one taken continues the list when there was more.
pub(crate) fn take_page<T>(
    limit: usize,
    rows: impl Iterator<Item = rusqlite::Result<(T, i64, usize)>>,
) -> rusqlite::Result<Page<T>> {
    let mut items = Vec::new();
    let mut last = 0;
    let mut bytes = 0_usize;
    for row in rows {
        let (item, seq, size) = row?;
        bytes = bytes.saturating_add(size);
        if items.len() >= limit || !items.is_empty() && bytes > PAGE_BYTES {
            return Ok(Page {
                items,
                next: Some(Cursor::at([last, 0])),
            });
        }
        last = seq;
        items.push(item);
    }
    Ok(Page { items, next: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_only_for_its_own_list_and_filter() {
        let text = Cursor::at([7, -3]).to_text("sprites?tag=core");
        assert_eq!(Cursor::parse(&text, "sprites?tag=core"), Ok(Cursor::at([7, -3])));
        assert_eq!(Cursor::parse(&text, "sprites?tag=other"), Err(BadCursor));
        assert_eq!(
            Cursor::parse(&text.to_uppercase(), "sprites?tag=core"),
            Err(BadCursor)
        );
    }

    #[test]
    fn what_is_not_a_cursor_is_refused() {
        for text in [
            "",
            "0",
            "zz",
            &"0".repeat(48),
            &"é".repeat(24),
            &"f".repeat(4_000),
        ] {
            assert_eq!(Cursor::parse(text, "sprites"), Err(BadCursor), "{text}");
        }
    }
}
