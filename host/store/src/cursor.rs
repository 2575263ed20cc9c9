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

/// A position in a list, in bytes that only the backend that made it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    bytes: [u8; CURSOR_BYTES],
    length: usize,
}

/// Bytes that a position may have: a time, an id of 16 bytes, and 8 to spare.
const CURSOR_BYTES: usize = 32;

/// The text is not a cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one of this list; use next_cursor of the page before")]
pub struct BadCursor;

/// Knows which cursors are positions.
pub trait Cursors {
    /// Whether the backend could have made a cursor for a list. One that it could not have made is made up.
    fn is_position(&self, list: List, cursor: &Cursor) -> bool;
}

impl Cursor {
    /// A position of 1 to 32 bytes.
    pub fn new<const N: usize>(position: [u8; N]) -> Self {
        const { assert!(N > 0 && N <= CURSOR_BYTES) };
        let mut bytes = [0; CURSOR_BYTES];
        for (byte, of_position) in bytes.iter_mut().zip(position) {
            *byte = of_position;
        }
        Self { bytes, length: N }
    }

    /// The position.
    pub fn position(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Writes the cursor for callers.
    pub fn to_text(&self, list: List) -> String {
        let mut text = String::from(list.letter());
        text.push_str(&mizzen_model::hex::encode(self.position()));
        text
    }

    /// Reads what [`Cursor::to_text`] wrote for the same list. [`crate::Store::cursor`] also asks the backend.
    pub(crate) fn parse(list: List, text: &str) -> Result<Self, BadCursor> {
        let digits = text.strip_prefix(list.letter()).ok_or(BadCursor)?;
        let length = digits.len() / 2;
        if length > CURSOR_BYTES || !mizzen_model::hex::is_digits(digits, length * 2) {
            return Err(BadCursor);
        }
        let mut bytes = [0; CURSOR_BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| BadCursor)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| BadCursor)?;
        }
        (length > 0).then_some(Self { bytes, length }).ok_or(BadCursor)
    }
}

/// A page holds at most this many bytes of documents (and always at least one), whatever its limit says: a hundred
/// documents of a megabyte would be a hundred megabytes.
pub const PAGE_BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: [List; 4] = [List::Sprites, List::Councils, List::Executions, List::Audit];

    #[test]
    fn a_cursor_is_read_back_as_it_was_written() {
        assert_eq!(Cursor::new([255; 24]).position(), [255; 24]);
        for cursor in [
            Cursor::new([7]),
            Cursor::new([0; 16]),
            Cursor::new([255; 24]),
            Cursor::new([1; 32]),
        ] {
            for list in LISTS {
                assert_eq!(Cursor::parse(list, &cursor.to_text(list)), Ok(cursor));
            }
        }
    }

    #[test]
    fn the_text_is_the_list_and_the_bytes() {
        let cursor = Cursor::new([0, 0x0d, 0xa5, 0xff]);
        assert_eq!(cursor.to_text(List::Executions), "x000da5ff");
    }

    #[test]
    fn what_is_not_a_cursor_is_refused() {
        for text in [
            "",
            "0",
            "zz",
            "+1",
            &"0".repeat(31),
            &"F".repeat(32),
            &"é".repeat(16),
            &"f".repeat(66),
            &"f".repeat(4_000),
        ] {
            for list in LISTS {
                assert_eq!(Cursor::parse(list, text), Err(BadCursor), "{text}");
                let named = format!("{}{text}", list.letter());
                assert_eq!(Cursor::parse(list, &named), Err(BadCursor), "{named}");
            }
        }
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let text = Cursor::new([7; 16]).to_text(List::Executions);
        assert_eq!(Cursor::parse(List::Sprites, &text), Err(BadCursor));
        assert_eq!(Cursor::parse(List::Councils, &text), Err(BadCursor));
    }
}
