//! "Did you mean": the known name nearest to an unknown one.

/// Longer names are no typing mistakes, and a distance costs the product of the lengths.
const LONGEST: usize = 64;

/// The known name that differs by the fewest edits without regard to case, if they are at most a third of its letters.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.is_empty() || name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let length = name.chars().count();
    let most = |candidate: &str| (candidate.len() / 3).max(1);
    known
        .into_iter()
        // A difference in length is that many edits at least; this spares most comparisons.
        .filter(|candidate| length.abs_diff(candidate.chars().count()) <= most(candidate))
        .map(|candidate| (strsim::levenshtein(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= most(candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_the_name_that_was_meant() {
        let known = ["target", "backoff_ms", "id", "kind", "output"];
        let check = |name: &str, expected: Option<&str>| assert_eq!(nearest(name, known), expected, "{name}");
        check("targt", Some("target"));
        check("Target", Some("target"));
        check("backoffms", Some("backoff_ms"));
        check("ids", Some("id"));
        check("outpt", Some("output"));
        check("deadline", None);
        check("banana", None);
        check("", None);
        check(&"o".repeat(4000), None);
    }
}
