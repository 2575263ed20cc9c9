//! From the parser's lines and columns to bytes.

use saphyr_parser::Marker;

/// Lines and columns (in characters) as byte offsets. Remembers the last answer: places come almost in order, and a line may be
/// megabytes long.
pub(super) struct Offsets<'s> {
    source: &'s str,
    lines: Vec<usize>,
    line: usize,
    column: usize,
    offset: usize,
}

impl<'s> Offsets<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let bytes = source.as_bytes();
        let mut lines = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            // YAML also breaks lines at a lone carriage return.
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                lines.push(at + 1);
            }
        }
        Offsets {
            source,
            lines,
            line: 0,
            column: 0,
            offset: 0,
        }
    }

    pub(super) fn of(&mut self, marker: &Marker) -> usize {
        let (line, column) = (marker.line().saturating_sub(1), marker.col());
        if line != self.line || column < self.column {
            self.line = line;
            self.column = 0;
            self.offset = self.lines.get(line).copied().unwrap_or(self.source.len());
        }
        let rest = self.source.get(self.offset..).unwrap_or_default();
        let mut width = 0;
        for character in rest.chars().take(column - self.column).take_while(|c| *c != '\n') {
            width += character.len_utf8();
        }
        self.offset += width;
        self.column = column;
        self.offset
    }
}
