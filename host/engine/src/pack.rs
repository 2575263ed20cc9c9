//! What a pack may answer, and how an evaluation can fail. The sandbox asks; everything it brings back is hostile until it
//! has been through [`Verdict::check`].
//!
//! Deliberately not here: where packs are mounted and what a run does with a decision.

pub(crate) mod decision;
mod redaction;

pub use decision::{Decision, DecisionDraft, PackAction};
pub use redaction::{REDACTED, Redaction, RedactionError, Replaced};

use crate::outcome::Outcome;
use mizzen_model::pack::PackDescriptor;
use serde_json::Value;

/// More decisions than this of one evaluation are nonsense.
pub const MAX_DECISIONS: usize = 256;
/// Shared facts of one evaluation, in bytes of JSON.
const MAX_SHARED: usize = 64 * 1024;

/// What a pack answered; everything still hostile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerdictDraft {
    /// What it concluded.
    pub decisions: Vec<DecisionDraft>,
    /// The facts that it shares, JSON text.
    pub shared: String,
}

/// What an evaluation came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// What the rules concluded, in order.
    pub decisions: Vec<Decision>,
    /// Facts for packs that are asked later at the same moment: append them to the facts, as they are.
    pub shared: Vec<Value>,
}

/// Why an evaluation has no verdict. A mandatory mount takes it for a veto, an advisory one for a warning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackFailure {
    /// The guest trapped, was stopped, ran out of memory, or said itself that it failed (its budget was spent, for one).
    #[error("pack {pack}: {}", .outcome.explain())]
    Ended {
        /// The pack.
        pack: String,
        /// How it ended.
        outcome: Outcome,
    },
    /// The guest answered what the contract does not allow.
    #[error("pack {pack} answered nonsense: {problem}")]
    Nonsense {
        /// The pack.
        pack: String,
        /// What is wrong with the answer.
        problem: String,
    },
    /// The call could not be made: no slot was free in time, or the facts are larger than the pack accepts.
    #[error("pack {pack} could not be asked: {problem}")]
    NotAsked {
        /// The pack.
        pack: String,
        /// Why not.
        problem: String,
    },
}

impl PackFailure {
    /// A stable name for journals and metrics: an outcome's name, `nonsense` or `not-asked`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ended { outcome, .. } => outcome.name(),
            Self::Nonsense { .. } => "nonsense",
            Self::NotAsked { .. } => "not-asked",
        }
    }
}

impl Verdict {
    /// Checks what a pack answered.
    ///
    /// # Errors
    /// With the first thing that is wrong, in words.
    pub fn check(draft: VerdictDraft, pack: &PackDescriptor) -> Result<Self, String> {
        if draft.decisions.len() > MAX_DECISIONS {
            return Err(format!(
                "{} decisions are more than {MAX_DECISIONS}",
                draft.decisions.len()
            ));
        }
        let decisions = draft
            .decisions
            .into_iter()
            .enumerate()
            .map(|(at, decision)| {
                Decision::check(decision).map_err(|problem| format!("decision {at}: {problem}"))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            decisions,
            shared: shared(&draft.shared, pack)?,
        })
    }
}

/// Nobody can speak in another's name: a shared fact carries the id of the pack that says it.
fn shared(text: &str, pack: &PackDescriptor) -> Result<Vec<Value>, String> {
    if text == "[]" {
        return Ok(Vec::new());
    }
    if text.len() > MAX_SHARED {
        return Err(format!("its shared facts have more than {MAX_SHARED} bytes"));
    }
    let facts: Vec<Value> = serde_json::from_str(text)
        .map_err(|error| format!("its shared facts are not a JSON array of facts: {error}"))?;
    for fact in &facts {
        let object = fact.as_object().filter(|object| object.len() == 2);
        let slots = object.and_then(|object| object.get("slots")?.as_object());
        let name = object.and_then(|object| object.get("template")?.as_str());
        let (Some(_), Some((owner, name))) = (slots, name.and_then(|name| name.split_once("::"))) else {
            return Err("a shared fact is {\"template\": \"ID::TEMPLATE\", \"slots\": {…}}".to_owned());
        };
        if owner != pack.id() || !pack.shares().iter().any(|shared| shared == name) {
            return Err(
                "it shares a fact of a template that it did not declare as its own and shared".to_owned(),
            );
        }
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_model::pack::PackDraft;

    fn check(shared: &str, wanted: Result<usize, &str>) {
        let pack = PackDescriptor::check(PackDraft {
            id: "acme.risk".into(),
            version: "1.0.0".into(),
            writes: vec!["score".into(), "hidden".into()],
            shares: vec!["score".into()],
            ..PackDraft::default()
        })
        .unwrap();
        let draft = VerdictDraft {
            decisions: Vec::new(),
            shared: shared.into(),
        };
        match (Verdict::check(draft, &pack), wanted) {
            (Ok(verdict), Ok(count)) => assert_eq!(verdict.shared.len(), count),
            (Err(problem), Err(part)) => assert!(problem.contains(part), "{problem}"),
            (verdict, wanted) => panic!("{shared}: {verdict:?}, wanted {wanted:?}"),
        }
    }

    #[test]
    fn a_pack_shares_only_what_it_declared_and_only_in_its_own_name() {
        check("[]", Ok(0));
        check(
            r#"[{"template": "acme.risk::score", "slots": {"value": 1}}]"#,
            Ok(1),
        );
        check(
            r#"[{"template": "acme.risk::hidden", "slots": {}}]"#,
            Err("did not declare"),
        );
        check(
            r#"[{"template": "other::score", "slots": {}}]"#,
            Err("did not declare"),
        );
        check(r#"[{"template": "budget", "slots": {}}]"#, Err("ID::TEMPLATE"));
        check(
            r#"[{"template": "acme.risk::score", "slots": {}, "x": 1}]"#,
            Err("ID::TEMPLATE"),
        );
        check("nothing", Err("not a JSON array"));
        check(&format!("[{}]", " ".repeat(MAX_SHARED)), Err("more than"));
    }

    #[test]
    fn too_many_decisions_are_nonsense() {
        let pack = PackDescriptor::check(PackDraft {
            id: "a".into(),
            version: "1.0.0".into(),
            ..PackDraft::default()
        })
        .unwrap();
        let draft = VerdictDraft {
            decisions: vec![DecisionDraft::default(); MAX_DECISIONS + 1],
            shared: "[]".into(),
        };
        assert!(
            Verdict::check(draft, &pack)
                .unwrap_err()
                .contains("more than 256")
        );
    }
}
