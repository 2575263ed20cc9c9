//! The component that rule packs are made of.
//!
//! It ships inside of the `mizzen` binary without rules. `mizzen pack build` starts it once, hands it a [`Configuration`]
//! as the first `evaluate`, and keeps its memory as it is then: rules parsed, patterns compiled, the session made. That memory
//! becomes the data of the pack's component, so that an evaluation of the pack parses nothing but its facts.
//!
//! An engine that was never configured describes a pack without an id, which no host loads.

#[cfg(any(test, target_family = "wasm"))]
mod arena;

use mizzen_rules::pack::{Decision, Failure, Ruleset, Source, Verdict};
use mizzen_rules::{RuleError, Session};
use mizzen_sdk::ToolError;
use mizzen_sdk::pack::bindings::exports::mizzen::plugin::pack as wit;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::RefCell;

/// What an evaluation of a few hundred facts needs beyond the arena.
const ROOM: usize = 128 * 1024;

/// Holes of one size that are looked for.
const MOST_HOLES: usize = 10_000;

/// What makes the engine a pack.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The pack's id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// What it governs.
    pub description: String,
    /// The vocabulary that it was written for.
    pub facts_version: String,
    /// When it is asked; empty for always.
    pub moments: Vec<String>,
    /// The templates that it shares.
    pub shares: Vec<String>,
    /// The host's templates.
    pub vocabulary: String,
    /// The rule file.
    pub rules: String,
}

struct Ready {
    descriptor: wit::Descriptor,
    rules: &'static Ruleset,
    /// Made when the pack was built, for the first evaluation.
    session: Session<'static>,
    answered: bool,
}

#[cfg(target_family = "wasm")]
#[global_allocator]
static ARENA: arena::Arena = arena::Arena::new();

thread_local! {
    static READY: RefCell<Option<Ready>> = const { RefCell::new(None) };
}

/// The guest.
#[derive(Debug)]
pub struct Engine;

impl wit::Guest for Engine {
    fn describe() -> wit::Descriptor {
        READY.with_borrow(|ready| {
            ready.as_ref().map_or_else(
                || describe(&Configuration::default(), None),
                |ready| ready.descriptor.clone(),
            )
        })
    }

    fn evaluate(facts: String, budget: u64) -> Result<wit::Verdict, wit::Error> {
        READY.with_borrow_mut(|ready| match ready {
            Some(ready) => evaluate(ready, &facts, budget).map_err(Into::into),
            None => {
                *ready = Some(configure(&facts)?);
                Ok(wit::Verdict {
                    decisions: Vec::new(),
                    shared: "[]".to_owned(),
                })
            }
        })
    }
}

fn configure(text: &str) -> Result<Ready, ToolError> {
    let configuration: Configuration = serde_json::from_str(text)
        .map_err(|error| ToolError::failed("NOT_CONFIGURED", format!("this is no configuration: {error}")))?;
    let rules = Ruleset::parse(Source {
        id: &configuration.id,
        rules: &configuration.rules,
        vocabulary: &configuration.vocabulary,
        shares: &configuration.shares,
    })
    .map_err(|error: RuleError| ToolError::failed("RULES", error.to_string()))?;
    // The pack is configured once and for as long as its instance lives.
    let rules: &'static Ruleset = Box::leak(Box::new(rules));
    let descriptor = describe(&configuration, Some(rules));
    fill_holes();
    let session = new_session(rules)?;
    fill_holes();
    #[cfg(target_family = "wasm")]
    ARENA.open();
    let session = session.with_room();
    Ok(Ready {
        descriptor,
        rules,
        session,
        answered: false,
    })
}

/// Takes the holes that reading the rules has left, so that the session lies side by side, and so does what an evaluation allocates
/// beyond the arena: a page that it does not touch need not be put back afterwards. Only a guest's memory is laid out so plainly.
fn fill_holes() {
    if !cfg!(target_family = "wasm") {
        return;
    }
    // Room that an evaluation finds instead of asking for it: growing a memory costs more than most evaluations. No hole is as
    // large, so this is where everything else ends.
    let room = Vec::<u8>::with_capacity(ROOM);
    let behind = room.as_ptr() as usize;
    drop(room);
    let sizes = (3..18).rev().map(|power| 1_usize << power);
    for size in sizes.flat_map(|size| [size + size / 2, size]) {
        for _ in 0..MOST_HOLES {
            let block = Vec::<u8>::with_capacity(size);
            if block.as_ptr() as usize >= behind {
                break;
            }
            std::mem::forget(block);
        }
    }
}

fn new_session(rules: &'static Ruleset) -> Result<Session<'static>, ToolError> {
    rules
        .session()
        .map_err(|error| ToolError::failed("RULES", error.to_string()))
}

fn evaluate(ready: &mut Ready, facts: &str, budget: u64) -> Result<wit::Verdict, ToolError> {
    let failed = |failure: Failure| ToolError::failed(failure.code(), failure.to_string());
    // An instance answers once. Another answer needs another session, and would only be asked for natively.
    if std::mem::replace(&mut ready.answered, true) {
        ready.session = new_session(ready.rules)?;
    }
    let session = &mut ready.session;
    let given = ready.rules.given(facts, session).map_err(failed)?;
    let Verdict { decisions, shared } = ready.rules.evaluate(session, given, budget).map_err(failed)?;
    Ok(wit::Verdict {
        decisions: decisions.into_iter().map(decision).collect(),
        shared: match shared.is_empty() {
            true => "[]".to_owned(),
            false => Value::Array(shared).to_string(),
        },
    })
}

fn decision(decision: Decision) -> wit::Decision {
    wit::Decision {
        severity: match decision.severity {
            "info" => wit::Severity::Info,
            "violation" => wit::Severity::Violation,
            _ => wit::Severity::Warning,
        },
        action: match decision.action {
            "veto" => wit::Action::Veto,
            "escalate" => wit::Action::Escalate,
            "retry" => wit::Action::Retry,
            "redact" => wit::Action::Redact,
            _ => wit::Action::Annotate,
        },
        rule: decision.rule,
        reason: decision.reason,
        details: decision.details,
        facts: decision.facts,
    }
}

fn describe(configuration: &Configuration, rules: Option<&Ruleset>) -> wit::Descriptor {
    let moment = |text: &String| match text.as_str() {
        "before-run" => Some(wit::Moment::BeforeRun),
        "before-step" => Some(wit::Moment::BeforeStep),
        "after-step" => Some(wit::Moment::AfterStep),
        "on-error" => Some(wit::Moment::OnError),
        "at-end" => Some(wit::Moment::AtEnd),
        _ => None,
    };
    wit::Descriptor {
        id: configuration.id.clone(),
        version: configuration.version.clone(),
        description: configuration.description.clone(),
        requires: wit::Requires {
            stargraph_facts_version: Some(configuration.facts_version.clone()),
            api_version: Some("1".to_owned()),
        },
        moments: configuration.moments.iter().filter_map(moment).collect(),
        reads: rules.map(Ruleset::reads).unwrap_or_default(),
        writes: rules
            .map(|rules| rules.own_templates().to_vec())
            .unwrap_or_default(),
        shares: configuration.shares.clone(),
    }
}

#[cfg(target_family = "wasm")]
mizzen_sdk::pack::bindings::export_pack_guest!(Engine with_types_in mizzen_sdk::pack::bindings);

#[cfg(test)]
mod tests {
    use super::*;
    use wit::Guest;

    #[test]
    fn the_first_evaluation_configures_and_the_next_ones_evaluate() {
        assert_eq!(Engine::describe().id, "", "no host loads it like this");
        let rules = "(defrule stop (severity ?s&:(>= ?s 4)) => (assert (decision (action veto) (reason \"too severe\"))))";
        let configuration = Configuration {
            id: "acme.stop".into(),
            version: "1.0.0".into(),
            facts_version: "1.0".into(),
            moments: vec!["after-step".into()],
            rules: rules.into(),
            ..Configuration::default()
        };
        Engine::evaluate(serde_json::to_string(&configuration).unwrap(), 0).unwrap();
        assert_eq!(Engine::describe().id, "acme.stop");
        for (facts, decisions) in [
            (r#"[{"name": "severity", "fields": [5]}]"#, 1),
            (r#"[{"name": "severity", "fields": [3]}]"#, 0),
        ] {
            let verdict = Engine::evaluate(facts.into(), 1_000).unwrap();
            assert_eq!(verdict.decisions.len(), decisions, "{facts}");
        }
        let spent = Engine::evaluate(r#"[{"name": "severity", "fields": [5]}]"#.into(), 1).unwrap_err();
        assert!(format!("{spent:?}").contains("BUDGET_EXHAUSTED"), "{spent:?}");
        assert!(Engine::evaluate("{}".into(), 1_000).is_err());
    }
}
