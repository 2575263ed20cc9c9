//! At which moments the host publishes which facts, and carries out which decisions: what `docs/facts.md` says in words. It follows
//! `host/engine/src/run/knowledge.rs`, which writes the facts, and `host/engine/src/run/packs.rs`, which carries decisions out.

use crate::pack::Moment;

const ALWAYS: &[Moment] = &Moment::ALL;
const AROUND_CALLS: &[Moment] = &[Moment::BeforeStep, Moment::AfterStep, Moment::OnError];
const AFTER_CALLS: &[Moment] = &[Moment::AfterStep, Moment::OnError];
const FROM_STEPS_ON: &[Moment] = &[
    Moment::BeforeStep,
    Moment::AfterStep,
    Moment::OnError,
    Moment::AtEnd,
];

/// A fact that can be there: its template, and a slot with the symbol that it has then.
pub type Published = (&'static str, Option<(&'static str, &'static str)>);

const TABLE: &[(Published, &[Moment])] = &[
    (("moment", Some(("name", "before-run"))), &[Moment::BeforeRun]),
    (("moment", Some(("name", "before-step"))), &[Moment::BeforeStep]),
    (("moment", Some(("name", "after-step"))), &[Moment::AfterStep]),
    (("moment", Some(("name", "on-error"))), &[Moment::OnError]),
    (("moment", Some(("name", "at-end"))), &[Moment::AtEnd]),
    (("run", None), ALWAYS),
    (("step", None), FROM_STEPS_ON),
    (("tool-call", None), FROM_STEPS_ON),
    (("nested-call", None), AROUND_CALLS),
    (("tool-result", None), AFTER_CALLS),
    (("transition", None), FROM_STEPS_ON),
    (("error", None), &[Moment::OnError, Moment::AtEnd]),
    (("evidence", Some(("subject", "input"))), &[Moment::BeforeStep]),
    (("evidence", Some(("subject", "output"))), AFTER_CALLS),
    (("respond", None), ALWAYS),
    (("cancel", None), &[Moment::AtEnd]),
    (("gate", None), &[Moment::AtEnd]),
    (("tokens-used", None), &[Moment::AfterStep]),
    (("cost", None), &[Moment::AfterStep]),
    (("budget", None), ALWAYS),
    (("artifact", None), &[Moment::AfterStep]),
    (("setting", None), ALWAYS),
    (("visit", None), FROM_STEPS_ON),
];

/// The facts that can be there at a moment.
pub fn published_at(moment: Moment) -> impl Iterator<Item = Published> {
    TABLE
        .iter()
        .filter(move |(_, moments)| moments.contains(&moment))
        .map(|(published, _)| *published)
}

/// The decisions of packs that something comes of at a moment.
pub const fn carried_out_at(moment: Moment) -> &'static [&'static str] {
    match moment {
        // There is no input and no output yet, or no longer.
        Moment::BeforeRun | Moment::AtEnd => &["veto", "escalate", "annotate"],
        Moment::BeforeStep => &["veto", "escalate", "redact", "annotate"],
        Moment::AfterStep | Moment::OnError => &["veto", "escalate", "retry", "redact", "annotate"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::templates;
    use std::collections::BTreeSet;

    #[test]
    fn every_template_is_there_at_some_moment() {
        let known: BTreeSet<&str> = TABLE.iter().map(|((template, _), _)| *template).collect();
        let there: BTreeSet<&str> = templates().collect();
        assert_eq!(known, there);
        for moment in Moment::ALL {
            let named = published_at(moment).filter(|(template, _)| *template == "moment");
            let names: Vec<_> = named.filter_map(|(_, slot)| Some(slot?.1)).collect();
            assert_eq!(names, [moment.as_str()]);
        }
    }
}
