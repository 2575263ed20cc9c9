//! "Did you mean": the known name nearest to an unknown one.

/// The known name that differs by the fewest edits, if it differs by a third of its letters at most.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Longer names are no typing mistakes, and the distance costs the product of the lengths.
    if name.len() > 32 {
        return None;
    }
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(3) / 3)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance without regard to case.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (b, cell) in to.chars().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(!a.eq_ignore_ascii_case(&b));
            diagonal = *cell;
            left = replaced.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_far_ones_are_not() {
        let known = ["input", "output", "steps"];
        assert_eq!(nearest("outpt", known.into_iter()), Some("output"));
        assert_eq!(nearest("Input", known.into_iter()), Some("input"));
        assert_eq!(nearest("banana", known.into_iter()), None);
        assert_eq!(nearest(&"o".repeat(4000), known.into_iter()), None);
    }
}
