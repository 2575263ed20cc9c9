//! One decision of a pack.

use super::redaction::Redaction;
use mizzen_model::duration::Duration;
use mizzen_model::governance::{self, PackSeverity};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::fmt;

const MAX_RULE: usize = 256;
const MAX_REASON: usize = 4_096;
const MAX_DETAILS: usize = 64 * 1024;
const MAX_FACTS: usize = 64 * 1024;
/// How deep facts may be nested: less than what a reader of JSON takes.
const MAX_DEPTH: usize = 100;
/// As many digits together are a number that every machine can hold, if roughly.
const MAX_DIGITS: usize = 300;
/// The longest wait that a pack can ask for: an hour.
const MAX_DELAY_MS: u64 = 3_600_000;

/// What a pack wants to happen, with what that takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackAction {
    /// The run stops.
    Veto,
    /// The run waits for a person.
    Escalate,
    /// The failed step is tried again, if its own policy allows that.
    Retry {
        /// How long to wait first; the step's own policy says when it is not said.
        delay_ms: Option<u64>,
    },
    /// A text of the step's output is replaced.
    Redact(Redaction),
    /// It is written into the journal.
    Annotate,
}

impl PackAction {
    /// What it is called in documents and in the journal.
    pub const fn kind(&self) -> governance::PackAction {
        match self {
            Self::Veto => governance::PackAction::Veto,
            Self::Escalate => governance::PackAction::Escalate,
            Self::Retry { .. } => governance::PackAction::Retry,
            Self::Redact(_) => governance::PackAction::Redact,
            Self::Annotate => governance::PackAction::Annotate,
        }
    }
}

impl fmt::Display for PackAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind(), f)
    }
}

/// A decision as a guest returned it, or as it stands in a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecisionDraft {
    /// `veto`, `escalate`, `retry`, `redact` or `annotate`.
    pub action: String,
    /// How much it matters.
    pub severity: PackSeverity,
    /// The rule that concluded it.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// A JSON object.
    pub details: String,
    /// A JSON array.
    pub facts: String,
}

/// A checked decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What should happen.
    pub action: PackAction,
    /// How much it matters.
    pub severity: PackSeverity,
    /// The rule that concluded it.
    pub rule: String,
    /// Why, for a person.
    pub reason: String,
    /// What the pack records with it; for `retry` and `redact` what [`PackAction`] holds.
    pub details: Map<String, Value>,
    /// The facts that led to it: the text of a JSON array, as the pack wrote it. Few look at them.
    facts: String,
}

impl Decision {
    /// Checks a decision.
    ///
    /// # Errors
    /// With what is wrong, in words.
    pub fn check(draft: DecisionDraft) -> Result<Self, String> {
        for (field, text, most) in [
            ("rule", &draft.rule, MAX_RULE),
            ("reason", &draft.reason, MAX_REASON),
            ("details", &draft.details, MAX_DETAILS),
            ("facts", &draft.facts, MAX_FACTS),
        ] {
            if text.len() > most {
                return Err(format!("its {field} has more than {most} bytes"));
            }
        }
        if draft.rule.is_empty() {
            return Err("it names no rule".to_owned());
        }
        let details: Map<String, Value> = serde_json::from_str(&draft.details)
            .map_err(|error| format!("its details are not a JSON object: {error}"))?;
        check_facts(&draft.facts)?;
        let action = match draft.action.as_str() {
            "veto" => PackAction::Veto,
            "escalate" => {
                expires_ms(&details)?;
                PackAction::Escalate
            }
            "retry" => retry(&details)?,
            "redact" => PackAction::Redact(Redaction::read(&details)?),
            "annotate" => PackAction::Annotate,
            other => return Err(format!("there is no action `{}`", other.escape_debug())),
        };
        Ok(Self {
            action,
            severity: draft.severity,
            rule: draft.rule,
            reason: draft.reason,
            details,
            facts: draft.facts,
        })
    }

    /// The facts that led to it.
    pub fn facts(&self) -> Vec<Value> {
        // It has been checked that this can be read.
        serde_json::from_str(&self.facts).unwrap_or_default()
    }

    /// For people and for the API.
    pub fn to_json(&self) -> Value {
        serde_json::json!({
            "action": self.action.kind().as_str(),
            "severity": self.severity.as_str(),
            "rule": self.rule,
            "reason": self.reason,
            "details": self.details,
            "facts": self.facts(),
        })
    }
}

/// Whether this is a JSON array that can be read, without making one of it where that is certain.
fn check_facts(text: &str) -> Result<(), String> {
    let wrong = |error: serde_json::Error| format!("its facts are not a JSON array: {error}");
    let read: Result<Vec<IgnoredAny>, _> = serde_json::from_str(text);
    read.map_err(wrong)?;
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    // What is skipped is not converted: a number may be one that no machine can hold, and an escape may be half of a character.
    let (mut digits, mut doubtful) = (0_usize, false);
    for byte in text.bytes() {
        doubtful |= match byte {
            b'u' => escaped,
            b'e' | b'E' => !in_text && digits > 0,
            _ => digits > MAX_DIGITS,
        };
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if deepest > MAX_DEPTH {
        return Err(format!("its facts are nested deeper than {MAX_DEPTH} levels"));
    }
    if doubtful {
        let read: Result<Vec<Value>, _> = serde_json::from_str(text);
        read.map_err(wrong)?;
    }
    Ok(())
}

/// How long a person has to answer, of an escalation's detail `expires`: a duration such as `30m`.
pub(crate) fn expires_ms(details: &Map<String, Value>) -> Result<Option<u64>, String> {
    let Some(expires) = details.get("expires") else {
        return Ok(None);
    };
    let time = expires.as_str().and_then(|text| Duration::parse(text).ok());
    match time {
        Some(time) => Ok(Some(time.milliseconds())),
        None => Err("the detail expires of an escalation is a duration such as 30m or 24h".to_owned()),
    }
}

fn retry(details: &Map<String, Value>) -> Result<PackAction, String> {
    if let Some(unknown) = details.keys().find(|key| *key != "delay_ms") {
        return Err(format!("a retry has no detail {unknown:?}, only delay_ms"));
    }
    let delay_ms = match details.get("delay_ms") {
        None => None,
        Some(value) => Some(
            value
                .as_u64()
                .filter(|delay| *delay <= MAX_DELAY_MS)
                .ok_or_else(|| format!("delay_ms is a whole number up to {MAX_DELAY_MS}"))?,
        ),
    };
    Ok(PackAction::Retry { delay_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(action: &str, details: &str, wanted: Result<PackAction, &str>) {
        let draft = DecisionDraft {
            action: action.into(),
            rule: "r".into(),
            details: details.into(),
            facts: "[]".into(),
            ..DecisionDraft::default()
        };
        match (Decision::check(draft), wanted) {
            (Ok(decision), Ok(wanted)) => {
                assert_eq!(decision.action, wanted);
                assert_eq!(decision.action.to_string(), action);
            }
            (Err(problem), Err(part)) => assert!(problem.contains(part), "{problem}"),
            (decision, wanted) => panic!("{action} {details}: {decision:?}, wanted {wanted:?}"),
        }
    }

    #[test]
    fn an_action_has_the_details_that_it_takes_and_no_others() {
        check("veto", r#"{"anything": 1}"#, Ok(PackAction::Veto));
        check("escalate", "{}", Ok(PackAction::Escalate));
        check("annotate", r#"{"a": [1]}"#, Ok(PackAction::Annotate));
        check(
            "escalate",
            r#"{"expires": "30m", "n": 1}"#,
            Ok(PackAction::Escalate),
        );
        check("escalate", r#"{"expires": "soon"}"#, Err("a duration"));
        check("escalate", r#"{"expires": 30}"#, Err("a duration"));
        check("retry", "{}", Ok(PackAction::Retry { delay_ms: None }));
        check(
            "retry",
            r#"{"delay_ms": 200}"#,
            Ok(PackAction::Retry { delay_ms: Some(200) }),
        );
        check("retry", r#"{"delay_ms": -1}"#, Err("whole number"));
        check("retry", r#"{"delay_ms": 3600001}"#, Err("whole number"));
        check("retry", r#"{"times": 3}"#, Err("no detail"));
        check("redact", "{}", Err("pointer"));
        check("allow", "{}", Err("no action `allow`"));
        check("veto", "[]", Err("not a JSON object"));
    }

    /// Facts that could not be shown would be a decision without a ground that anybody can see.
    #[test]
    fn facts_that_cannot_be_shown_are_nonsense() {
        let check = |facts: &str, wanted: Option<Value>| {
            let draft = DecisionDraft {
                action: "veto".into(),
                rule: "r".into(),
                details: "{}".into(),
                facts: format!("[{facts}]"),
                ..DecisionDraft::default()
            };
            match (Decision::check(draft), wanted) {
                (Ok(decision), Some(wanted)) => assert_eq!(decision.to_json()["facts"][0], wanted),
                (Err(problem), None) => assert!(problem.contains("facts are not"), "{problem}"),
                (decision, wanted) => panic!("{facts}: {decision:?}, wanted {wanted:?}"),
            }
        };
        let long = |digits: usize| "9".repeat(digits);
        for facts in [
            r#"{"name":"x","fields":[1e999]}"#,
            "-1E+999",
            "1.5e999",
            &long(310),
            &format!("[{}.5]", long(400)),
            r#""\ud800""#,
            r#""\uDC00 x""#,
        ] {
            check(facts, None);
        }
        check("1e30", Some(1e30.into()));
        check("1e-999", Some(0.0.into()));
        check(r#""\u00e9 \ud83d\ude00 1e999""#, Some("é 😀 1e999".into()));
        check(&format!("\"{}\"", long(400)), Some(long(400).into()));
        check(r#""\\ud800""#, Some("\\ud800".into()));
        check("true", Some(true.into()));
    }

    #[test]
    fn every_text_is_bounded() {
        let draft = |change: &dyn Fn(&mut DecisionDraft)| {
            let mut draft = DecisionDraft {
                action: "veto".into(),
                rule: "r".into(),
                details: "{}".into(),
                facts: "[]".into(),
                ..DecisionDraft::default()
            };
            change(&mut draft);
            Decision::check(draft)
        };
        assert!(draft(&|_| {}).is_ok());
        assert!(draft(&|d| d.rule = "r".repeat(300)).is_err());
        assert!(draft(&|d| d.rule.clear()).is_err());
        assert!(draft(&|d| d.reason = "r".repeat(5_000)).is_err());
        assert!(draft(&|d| d.facts = "{}".into()).is_err());
        assert!(draft(&|d| d.details = format!("{{{}}}", " ".repeat(70_000))).is_err());
        assert!(
            draft(&|d| d.facts = "[".repeat(10_000) + &"]".repeat(10_000)).is_err(),
            "nested too deep"
        );
    }
}
