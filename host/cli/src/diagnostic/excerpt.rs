//! One source line, made safe and short enough to show.

use mizzen_json::steers_a_terminal;
use std::ops::Range;

/// The columns of a line that are shown at most; a terminal is rarely wider, a hostile line often is.
const COLUMNS: usize = 100;
/// How much of them stands before the place.
const BEFORE: usize = 40;

pub(super) struct Excerpt {
    /// The visible part of the line.
    pub(super) text: String,
    /// Columns before the underlined place.
    pub(super) indent: usize,
    /// Columns that are underlined, at least one.
    pub(super) width: usize,
}

impl Excerpt {
    /// The part of `line` around the bytes `place`.
    pub(super) fn new(line: &str, place: Range<usize>) -> Self {
        let start = floor_boundary(line, place.start);
        let end = floor_boundary(line, place.end).max(start);
        let (before, rest) = line.split_at(start);
        let (marked, after) = rest.split_at(end - start);
        // Characters are at least one column wide, so these cuts bound the work on a line of any length.
        let fits = line.chars().nth(COLUMNS).is_none();
        let before_part = if fits { before } else { tail(before, BEFORE) };
        let shown_before: String = before_part.chars().map(visible).collect();
        let cut_before = before_part.len() < before.len();
        let indent = columns(&shown_before) + usize::from(cut_before);
        let most = if fits { COLUMNS } else { COLUMNS - BEFORE };
        let shown_marked: String = marked.chars().take(most).map(visible).collect();
        let room = if fits {
            COLUMNS
        } else {
            COLUMNS.saturating_sub(indent + columns(&shown_marked))
        };
        let cut_marked = marked.chars().nth(most).is_some();
        let shown_after: String = if cut_marked {
            String::new()
        } else {
            after.chars().take(room).map(visible).collect()
        };
        let cut_after = cut_marked || after.chars().nth(room).is_some();
        let mut text = String::new();
        text.extend(cut_before.then_some('…'));
        text.push_str(&shown_before);
        text.push_str(&shown_marked);
        text.push_str(&shown_after);
        text.extend(cut_after.then_some('…'));
        Excerpt {
            text,
            indent,
            width: columns(&shown_marked).max(1),
        }
    }
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn tail(text: &str, characters: usize) -> &str {
    match text.char_indices().rev().nth(characters.saturating_sub(1)) {
        Some((at, _)) => text.get(at..).unwrap_or_default(),
        None => text,
    }
}

/// A text without anything that could steer a terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// A character that is safe to show: tabs are a space, what controls the terminal or the text's direction is replaced.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        _ if steers_a_terminal(character) => '\u{fffd}',
        _ => character,
    }
}

fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// Columns a terminal gives a character: close enough to underline East Asian text and emoji.
fn width(character: char) -> usize {
    match character as u32 {
        0x300..=0x36F | 0x200B..=0x200D | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}
