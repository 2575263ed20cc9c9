//! Changes written as a unified diff.

use super::script::Change;
use std::fmt::Write;

/// The hunks, with `context` kept lines around every change. Empty when nothing changed.
pub(crate) fn unified(changes: &[Change<'_>], context: usize) -> String {
    let mut text = String::new();
    let (mut old_line, mut new_line) = (1, 1);
    let mut position = 0;
    for (start, end) in ranges(changes, context) {
        for change in changes.get(position..start).unwrap_or_default() {
            let (old, new) = lines_of(change);
            old_line += old;
            new_line += new;
        }
        let hunk = changes.get(start..end).unwrap_or_default();
        let (old_count, new_count) = hunk
            .iter()
            .map(lines_of)
            .fold((0, 0), |(old, new), (o, n)| (old + o, new + n));
        let _ = writeln!(
            text,
            "@@ -{} +{} @@",
            side(old_line, old_count),
            side(new_line, new_count)
        );
        for change in hunk {
            let (mark, line) = match change {
                Change::Kept(line) => (' ', line),
                Change::Removed(line) => ('-', line),
                Change::Added(line) => ('+', line),
            };
            text.push(mark);
            text.push_str(line);
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
        old_line += old_count;
        new_line += new_count;
        position = end;
    }
    text
}

fn lines_of(change: &Change<'_>) -> (usize, usize) {
    match change {
        Change::Kept(_) => (1, 1),
        Change::Removed(_) => (1, 0),
        Change::Added(_) => (0, 1),
    }
}

/// `line,count` as diff writes it: a count of one is left out, an empty side names the line before it.
fn side(line: usize, count: usize) -> String {
    match count {
        0 => format!("{},0", line - 1),
        1 => line.to_string(),
        _ => format!("{line},{count}"),
    }
}

/// The stretches to show: every change with its context, those that touch joined.
fn ranges(changes: &[Change<'_>], context: usize) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (index, _) in changes
        .iter()
        .enumerate()
        .filter(|(_, change)| !matches!(change, Change::Kept(_)))
    {
        let start = index.saturating_sub(context);
        let end = (index + 1).saturating_add(context).min(changes.len());
        match ranges.last_mut() {
            Some((_, last_end)) if start <= *last_end => *last_end = end,
            _ => ranges.push((start, end)),
        }
    }
    ranges
}
