//! The shortest list of removals and additions between two lists of lines (Myers, "An O(ND) Difference Algorithm").

use std::collections::BTreeMap;

/// The trace of the search grows with the square of this; past it the changed middle is shown as replaced as a whole,
/// which is still a correct diff, only not the shortest.
const MOST_CHANGES: usize = 1_000;

/// What happened to one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// Every line of both texts, in order, with what happened to it.
pub(crate) fn changes<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Change<'a>> {
    let same_start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (start, before) = before.split_at(same_start);
    let after = after.get(same_start..).unwrap_or_default();
    let same_end = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (before, end) = before.split_at(before.len() - same_end);
    let after = after.get(..after.len() - same_end).unwrap_or_default();

    let mut all: Vec<Change<'a>> = start.iter().map(|line| Change::Kept(line)).collect();
    all.extend(middle(before, after));
    all.extend(end.iter().map(|line| Change::Kept(line)));
    all
}

fn middle<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Change<'a>> {
    // Numbers instead of lines: comparing two long lines again and again would cost their length each time.
    let mut numbers = BTreeMap::new();
    let mut number = |line: &&'a str| {
        let next = numbers.len();
        *numbers.entry(*line).or_insert(next)
    };
    let old: Vec<usize> = before.iter().map(&mut number).collect();
    let new: Vec<usize> = after.iter().map(&mut number).collect();
    match search(&old, &new) {
        Some(trace) => walk_back(&trace, before, after),
        None => before
            .iter()
            .map(|line| Change::Removed(line))
            .chain(after.iter().map(|line| Change::Added(line)))
            .collect(),
    }
}

/// For every number of changes, how far each diagonal was reached. `None` past the bound.
fn search(old: &[usize], new: &[usize]) -> Option<Vec<Vec<usize>>> {
    let most = (old.len() + new.len()).min(MOST_CHANGES);
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for changes in 0..=most {
        let mut reached = Vec::with_capacity(changes + 1);
        for step in 0..=changes {
            let mut x = furthest_start(trace.last(), changes, step);
            // On this diagonal, y = x + changes - 2 * step.
            let mut y = (x + changes).wrapping_sub(2 * step);
            while let (Some(a), Some(b)) = (old.get(x), new.get(y)) {
                if a != b {
                    break;
                }
                x += 1;
                y += 1;
            }
            reached.push(x);
            if x >= old.len() && y >= new.len() {
                trace.push(reached);
                return Some(trace);
            }
        }
        trace.push(reached);
    }
    None
}

/// Where diagonal `step` of this round begins: the better of adding a line from the diagonal above or removing one from
/// the diagonal below in the round before. Diagonals are numbered by how many of the changes are removals.
fn furthest_start(before: Option<&Vec<usize>>, changes: usize, step: usize) -> usize {
    let Some(before) = before else { return 0 };
    let by_adding = if step < changes {
        before.get(step).copied()
    } else {
        None
    };
    let by_removing = step
        .checked_sub(1)
        .and_then(|below| before.get(below))
        .map(|x| x + 1);
    by_adding.into_iter().chain(by_removing).max().unwrap_or(0)
}

fn walk_back<'a>(trace: &[Vec<usize>], before: &[&'a str], after: &[&'a str]) -> Vec<Change<'a>> {
    let mut all = Vec::with_capacity(before.len() + after.len());
    let (mut x, mut y) = (before.len(), after.len());
    for changes in (0..trace.len()).rev() {
        // x - y = 2 * step - changes, kept without negative numbers.
        let step = (x + changes - y) / 2;
        let round_before = changes.checked_sub(1).and_then(|round| trace.get(round));
        let start = furthest_start(round_before, changes, step);
        while x > start {
            x -= 1;
            y -= 1;
            all.extend(before.get(x).map(|line| Change::Kept(line)));
        }
        let Some(round_before) = round_before else { break };
        let added = step < changes && round_before.get(step).copied() == Some(start);
        if added {
            y -= 1;
            all.extend(after.get(y).map(|line| Change::Added(line)));
        } else {
            x -= 1;
            all.extend(before.get(x).map(|line| Change::Removed(line)));
        }
    }
    all.reverse();
    all
}

#[cfg(test)]
mod tests {
    use super::{Change, changes};

    fn lines(text: &str) -> Vec<&str> {
        text.split_inclusive(' ').collect()
    }

    /// Both texts can be read back out of the changes.
    fn check(before: &str, after: &str, fewest: Option<usize>) {
        let found = changes(&lines(before), &lines(after));
        let old: String = found
            .iter()
            .filter_map(|c| {
                if let Change::Kept(l) | Change::Removed(l) = c {
                    Some(*l)
                } else {
                    None
                }
            })
            .collect();
        let new: String = found
            .iter()
            .filter_map(|c| {
                if let Change::Kept(l) | Change::Added(l) = c {
                    Some(*l)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!((old.as_str(), new.as_str()), (before, after), "{found:?}");
        if let Some(fewest) = fewest {
            assert_eq!(
                found.iter().filter(|c| !matches!(c, Change::Kept(_))).count(),
                fewest,
                "{found:?}"
            );
        }
    }

    #[test]
    fn the_changes_are_the_fewest_possible() {
        check("", "", Some(0));
        check("a b c a b b a ", "c b a b a c ", Some(5));
        check("a b c ", "a c ", Some(1));
        check("a c ", "a b c ", Some(1));
        check("a b ", "c d ", Some(4));
        check("x a b y ", "x b a y ", Some(2));
    }

    #[test]
    fn every_pair_of_short_texts_can_be_rebuilt() {
        let texts: Vec<String> = (0..3_usize.pow(5))
            .map(|n| {
                (0..5)
                    .map(|place| ["a ", "b ", ""][n / 3_usize.pow(place) % 3])
                    .collect()
            })
            .collect();
        for before in texts.iter().step_by(7) {
            for after in &texts {
                check(before, after, None);
            }
        }
    }

    #[test]
    fn texts_without_a_common_line_are_replaced_as_a_whole() {
        let before: String = (0..3_000).map(|n| format!("a{n} ")).collect();
        let after: String = (0..3_000).map(|n| format!("b{n} ")).collect();
        check(&before, &after, Some(6_000));
    }
}
