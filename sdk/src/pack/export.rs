//! From the contract's exports to a [`Pack`](super::Pack). Authors reach it through `export_pack!` only.

use super::bindings::exports::mizzen::plugin::pack as wit;
use super::{Action, Decision, Descriptor, Moment, Pack, Severity, Verdict, evaluate};
use serde_json::{Value, json};
use std::marker::PhantomData;

/// Exports a pack.
#[derive(Debug)]
pub struct Exported<P>(PhantomData<P>);

impl<P: Pack> wit::Guest for Exported<P> {
    fn describe() -> wit::Descriptor {
        let Descriptor {
            id,
            version,
            description,
            facts_version,
            moments,
            reads,
            writes,
            shares,
        } = P::describe();
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        wit::Descriptor {
            id: id.to_owned(),
            version: version.to_owned(),
            description: description.to_owned(),
            requires: wit::Requires {
                stargraph_facts_version: Some(facts_version.to_owned()),
                api_version: Some("1".to_owned()),
            },
            moments: moments.iter().copied().map(moment).collect(),
            reads: owned(reads),
            writes: owned(writes),
            shares: owned(shares),
        }
    }

    fn evaluate(facts: String, budget: u64) -> Result<wit::Verdict, wit::Error> {
        let Verdict { decisions, shared } = evaluate::<P>(&facts, budget)?;
        let id = P::describe().id;
        let shared: Vec<Value> = shared
            .into_iter()
            .map(|(template, slots)| json!({"template": format!("{id}::{template}"), "slots": slots}))
            .collect();
        Ok(wit::Verdict {
            decisions: decisions.into_iter().map(decision).collect(),
            shared: Value::Array(shared).to_string(),
        })
    }
}

fn moment(moment: Moment) -> wit::Moment {
    match moment {
        Moment::BeforeRun => wit::Moment::BeforeRun,
        Moment::BeforeStep => wit::Moment::BeforeStep,
        Moment::AfterStep => wit::Moment::AfterStep,
        Moment::OnError => wit::Moment::OnError,
        Moment::AtEnd => wit::Moment::AtEnd,
    }
}

fn decision(decision: Decision) -> wit::Decision {
    wit::Decision {
        severity: match decision.severity {
            Severity::Info => wit::Severity::Info,
            Severity::Warning => wit::Severity::Warning,
            Severity::Violation => wit::Severity::Violation,
        },
        action: match decision.action {
            Action::Veto => wit::Action::Veto,
            Action::Escalate => wit::Action::Escalate,
            Action::Retry => wit::Action::Retry,
            Action::Redact => wit::Action::Redact,
            Action::Annotate => wit::Action::Annotate,
        },
        rule: decision.rule,
        reason: decision.reason,
        details: Value::Object(decision.details).to_string(),
        facts: Value::Array(decision.facts).to_string(),
    }
}

/// Exports a pack: `mizzen_sdk::export_pack!(Night);`
#[macro_export]
macro_rules! export_pack {
    ($pack:ty) => {
        #[cfg(target_family = "wasm")]
        type MizzenPack = $crate::pack::Exported<$pack>;
        #[cfg(target_family = "wasm")]
        $crate::pack::bindings::export_pack_guest!(MizzenPack with_types_in $crate::pack::bindings);
    };
}
