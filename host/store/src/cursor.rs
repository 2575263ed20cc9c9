//! Pages and the opaque positions between them.
//!
//! A cursor is a keyset position, never an offset, so a page costs the same at any depth. A position is one in every filter of
//! its list: a cursor that is used with another filter goes on from the same place. One of another list is not a position in
//! this one: its text says which list it is of.

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// What is on it, in the order of the list.
    pub items: Vec<T>,
    /// Where the next page begins; none on the last one.
    pub next: Option<Cursor>,
}

/// A list that has pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Sprites, oldest first.
    Sprites,
    /// Councils, oldest first.
    Councils,
    /// Executions, newest first; of a chain, or of all.
    Executions,
    /// Entries of the audit log, newest first.
    Audit,
}

impl List {
    /// What the text of its cursors begins with.
    pub const fn letter(self) -> char {
        match self {
            Self::Sprites => 's',
            Self::Councils => 'c',
            Self::Executions => 'x',
            Self::Audit => 'a',
        }
    }
}

/// A position in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) position: [i64; 2],
}

/// The text is not a cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one of this list; use next_cursor of the page before")]
pub struct BadCursor;

/// Hexadecimal digits of a cursor: two numbers of 64 bits.
const DIGITS: usize = 32;

impl Cursor {
    /// A position in a list that orders by two numbers (the second breaks ties).
    pub fn at(position: [i64; 2]) -> Self {
        Self { position }
    }

    /// The two numbers.
    pub fn position(&self) -> [i64; 2] {
        self.position
    }

    /// Writes the cursor for callers.
    pub fn to_text(&self, list: List) -> String {
        let [first, second] = self.position;
        format!("{}{first:016x}{second:016x}", list.letter())
    }

    /// Reads a cursor that [`Cursor::to_text`] wrote for the same list.
    pub fn parse(list: List, text: &str) -> Result<Self, BadCursor> {
        let text = text.strip_prefix(list.letter()).ok_or(BadCursor)?;
        if !mizzen_model::hex::is_digits(text, DIGITS) {
            return Err(BadCursor);
        }
        let (first, second) = text.split_at_checked(DIGITS / 2).ok_or(BadCursor)?;
        let number = |hex: &str| {
            // No list has a place below zero: such a cursor is made up, and would begin the list again.
            i64::from_str_radix(hex, 16).map_err(|_| BadCursor)
        };
        Ok(Self {
            position: [number(first)?, number(second)?],
        })
    }
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
    fn a_cursor_is_read_back_as_it_was_written() {
        for position in [[0, 0], [7, 3], [i64::MAX, i64::MAX]] {
            for list in [List::Sprites, List::Councils, List::Executions, List::Audit] {
                assert_eq!(
                    Cursor::parse(list, &Cursor::at(position).to_text(list)),
                    Ok(Cursor::at(position))
                );
            }
        }
    }

    #[test]
    fn what_is_not_a_cursor_is_refused() {
        for text in [
            "",
            "0",
            "zz",
            &"0".repeat(31),
            &"F".repeat(32),
            &"f".repeat(32),
            "00000000000000078000000000000000",
            &"é".repeat(16),
            &"f".repeat(4_000),
        ] {
            for list in [List::Sprites, List::Councils, List::Executions, List::Audit] {
                assert_eq!(Cursor::parse(list, text), Err(BadCursor), "{text}");
                let named = format!("{}{text}", list.letter());
                assert_eq!(Cursor::parse(list, &named), Err(BadCursor), "{named}");
            }
        }
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let text = Cursor::at([7, 0]).to_text(List::Executions);
        assert_eq!(Cursor::parse(List::Sprites, &text), Err(BadCursor));
        assert_eq!(Cursor::parse(List::Councils, &text), Err(BadCursor));
    }
}
