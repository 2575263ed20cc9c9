//! Positions of lists: two numbers, the second breaks ties. And pages of rows.

use crate::database::Database;
use mizzen_store::{BadCursor, Cursor, Cursors, List, PAGE_BYTES, Page};

impl Cursors for Database {
    fn is_position(&self, _: List, cursor: &Cursor) -> bool {
        // No list has a place below zero: such a cursor is made up, and would begin the list again.
        numbers(cursor).is_some_and(|numbers| numbers.iter().all(|number| *number >= 0))
    }
}

/// The cursor at a position, for measurements that begin in the middle of a large table.
pub fn cursor_at(position: [i64; 2]) -> Cursor {
    let [first, second] = position.map(|number| u128::from(number.cast_unsigned()));
    Cursor::new((first << 64 | second).to_be_bytes())
}

fn numbers(cursor: &Cursor) -> Option<[i64; 2]> {
    let (numbers, rest) = cursor.position().as_chunks::<8>();
    let numbers: &[[u8; 8]; 2] = numbers.try_into().ok()?;
    rest.is_empty().then(|| numbers.map(i64::from_be_bytes))
}

/// The two numbers of a cursor. One that another backend made is a fault: [`mizzen_store::Store::cursor`] refuses it before.
pub(crate) fn position(cursor: &Cursor) -> rusqlite::Result<[i64; 2]> {
    numbers(cursor).ok_or_else(|| rusqlite::Error::ToSqlConversionFailure(Box::new(BadCursor)))
}

/// Where a list in the order of creation goes on.
pub(crate) fn first_after(cursor: Option<Cursor>) -> rusqlite::Result<i64> {
    match cursor {
        None => Ok(0),
        Some(cursor) => position(&cursor).map(|[seq, _]| seq),
    }
}

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
                next: Some(cursor_at([last, 0])),
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
    fn a_position_is_two_numbers_of_64_bits() {
        for numbers in [[0, 0], [7, 3], [i64::MAX, i64::MAX]] {
            assert_eq!(position(&cursor_at(numbers)).unwrap(), numbers);
        }
        assert_eq!(
            cursor_at([7, 3]).to_text(List::Sprites),
            "s00000000000000070000000000000003"
        );
        for other in [Cursor::new([0; 15]), Cursor::new([0; 24]), Cursor::new([0; 32])] {
            assert!(position(&other).is_err());
        }
    }
}
