//! The fact vocabulary that the host owns: which facts it publishes to rules, with which slots.
//!
//! One data file says it, as `deftemplate`s of the rule language, so that what rules are compiled against and what is
//! documented (`docs/facts.md`) cannot differ from what exists. A template or slot is never removed or changed within 1.x.

mod moments;

pub use moments::{Published, carried_out_at, published_at};

use std::collections::HashSet;
use std::sync::LazyLock;

/// The version of the vocabulary, which packs name in `requires.stargraph_facts_version`.
pub const FACTS_VERSION: &str = "1.0";

/// The templates, in the rule language.
pub const VOCABULARY: &str = include_str!("facts/vocabulary-1.0.clp");

/// The names of the templates, in the order of the file.
pub fn templates() -> impl Iterator<Item = &'static str> {
    VOCABULARY
        .lines()
        .filter_map(|line| line.strip_prefix("(deftemplate "))
        .map(str::trim)
}

/// Whether the host owns a template of this name: no pack can define it. Asked of every field of an input at every moment.
pub fn is_host_template(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| templates().collect());
    NAMES.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_has_its_provenance() {
        let bodies: Vec<&str> = VOCABULARY.split("(deftemplate ").skip(1).collect();
        assert_eq!(bodies.len(), templates().count());
        for body in bodies {
            for slot in ["origin", "source", "run-id", "step", "time"] {
                assert!(body.contains(&format!("(slot {slot} ")), "{slot}: {body}");
            }
        }
        assert!(is_host_template("tool-result") && !is_host_template("tool"));
    }
}
