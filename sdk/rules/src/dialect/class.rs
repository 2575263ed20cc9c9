//! Sets of characters, as the classes of a pattern name them.

/// Inclusive ranges.
pub(super) type Ranges = Vec<(char, char)>;

pub(super) const DIGIT: &[(char, char)] = &[('0', '9')];
pub(super) const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// The letters beyond ASCII that differ from one of ASCII by their case alone: the long s and the sign of the kelvin.
const ALIKE: [(char, char); 2] = [('s', '\u{17f}'), ('k', '\u{212a}')];

/// Characters of which it is known that they have no cases: the engine for guests folds none but those of ASCII, and its tables
/// have no place in a guest.
const CASELESS: [(char, char); 3] = [
    ('\u{80}', '\u{b4}'),
    ('\u{2000}', '\u{206f}'),
    ('\u{3000}', '\u{9fff}'),
];

/// A range with the other cases of its letters, as far as ASCII has them.
pub(super) fn folded(low: char, high: char) -> Ranges {
    let mut ranges = vec![(low, high)];
    let shared = |from: char, to: char| {
        let (from, to) = (low.max(from), high.min(to));
        (from <= to).then_some((from, to))
    };
    let lower = shared('A', 'Z').map(|(a, z)| (a.to_ascii_lowercase(), z.to_ascii_lowercase()));
    let upper = shared('a', 'z').map(|(a, z)| (a.to_ascii_uppercase(), z.to_ascii_uppercase()));
    ranges.extend(lower);
    ranges.extend(upper);
    let has = |c: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
    let alike: Vec<char> = ALIKE
        .into_iter()
        .filter(|(letter, _)| has(*letter))
        .map(|(_, other)| other)
        .collect();
    ranges.extend(alike.into_iter().map(|c| (c, c)));
    ranges
}

/// A set that `folded` adds nothing to, apart from letters alike.
pub(super) fn all_folded(ranges: &[(char, char)]) -> Ranges {
    ranges
        .iter()
        .flat_map(|(low, high)| folded(*low, *high))
        .collect()
}

/// Whether every character of a range has the cases that [`folded`] gives it.
pub(super) fn has_known_cases(low: char, high: char) -> bool {
    let low = low.max('\u{80}');
    low > high || CASELESS.iter().any(|(from, to)| *from <= low && high <= *to)
}

/// Every other character.
pub(super) fn complement(ranges: &[(char, char)]) -> Ranges {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut others = Vec::new();
    let mut from = Some('\0');
    for (low, high) in sorted {
        let Some(start) = from else { break };
        if start < low
            && let Some(before) = before(low)
        {
            others.push((start, before));
        }
        from = match high < start {
            true => from,
            false => after(high),
        };
    }
    others.extend(from.map(|start| (start, char::MAX)));
    others
}

fn before(c: char) -> Option<char> {
    match c {
        '\u{e000}' => Some('\u{d7ff}'),
        c => char::from_u32(u32::from(c).checked_sub(1)?),
    }
}

fn after(c: char) -> Option<char> {
    match c {
        '\u{d7ff}' => Some('\u{e000}'),
        c => char::from_u32(u32::from(c) + 1),
    }
}

/// The classes that POSIX names.
pub(super) fn posix(name: &str) -> Option<&'static [(char, char)]> {
    Some(match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => DIGIT,
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => WORD,
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complement_of_a_set_is_every_other_character() {
        assert_eq!(complement(&[]), [('\0', char::MAX)]);
        assert_eq!(complement(&[('\0', char::MAX)]), []);
        assert_eq!(complement(DIGIT), [('\0', '/'), (':', char::MAX)]);
        assert_eq!(complement(&[('b', 'd'), ('\0', 'c')]), [('e', char::MAX)]);
        assert_eq!(
            complement(&[('a', 'z'), ('c', 'd')]),
            [('\0', '`'), ('{', char::MAX)]
        );
        assert_eq!(complement(&[('\u{e000}', char::MAX)]), [('\0', '\u{d7ff}')]);
    }
}
