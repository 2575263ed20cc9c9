//! Lines of JSON in, lines of JSON out, in the same order and as many.

use mizzen_json::{Json, ParseCode, ParseError, ReadLimits, parse_bytes};
use std::io::{BufRead, Write};

/// One line of input: an object, or why it is none.
pub(crate) type Row = Result<Json, ParseError>;

/// What half a surrogate pair in a line is. Languages with 16-bit strings send it as `\ud800`, and no text can hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halves {
    /// An error of the line.
    Refused,
    /// Kept as the escape it is, for lines that carry documents as text: inside a string of such a document the escape means the
    /// same, so the answer is about the document and not about the line.
    InTexts,
}

/// Answers every line that is not blank; true when all of them could be read.
pub(crate) fn answer_lines(
    mut input: impl BufRead,
    mut output: impl Write,
    halves: Halves,
    mut answer: impl FnMut(&Row) -> Json,
) -> std::io::Result<bool> {
    let limits = ReadLimits::default();
    let mut all_read = true;
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line is read no further than the limit allows, then skipped to its end.
        let most = limits.bytes as u64 + 2;
        let read = std::io::Read::take(&mut input, most).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if read as u64 == most && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let row = read_row(&mut line, limits, halves);
        all_read &= row.is_ok();
        // ASCII: many readers take U+2028 and the like for the end of a line.
        let mut text = answer(&row).to_compact_ascii();
        text.push('\n');
        output.write_all(text.as_bytes())?;
        // An editor that asks line by line waits for this.
        output.flush()?;
    }
    Ok(all_read)
}

/// How many halves of surrogate pairs are kept in a line; each is one more reading of it.
const HALVES: usize = 16;

fn read_row(line: &mut Vec<u8>, limits: ReadLimits, halves: Halves) -> Row {
    if halves == Halves::InTexts {
        for _ in 0..HALVES {
            match parse_bytes(line, limits) {
                Err(error) if error.code == ParseCode::LoneSurrogate => line.insert(error.span.start, b'\\'),
                row => return row.map(|tape| tape.root().to_json()),
            }
        }
    }
    parse_bytes(line, limits).map(|tape| tape.root().to_json())
}
