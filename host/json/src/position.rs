//! Where something stands in a source text.

/// A range of bytes in a source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// A place as editors count it: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// The line and column of a byte offset; the end of the text when the offset is beyond it.
pub fn position_of(source: &str, offset: usize) -> Position {
    let bytes = source.as_bytes();
    let before = bytes.get(..offset).unwrap_or(bytes);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let line_start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    // Continuation bytes of UTF-8 do not begin a character.
    let column = before
        .iter()
        .skip(line_start)
        .filter(|byte| (**byte & 0xC0) != 0x80)
        .count()
        + 1;
    Position { line, column }
}
