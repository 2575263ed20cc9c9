//! A pack's verdict, in the engine's types.

use crate::bindings::exports::mizzen::plugin::pack;
use crate::call::{Answer, Ended, tool_error};
use mizzen_engine::pack::{DecisionDraft, VerdictDraft};
use mizzen_engine::{LogLine, Outcome, Usage};
use mizzen_model::governance::PackSeverity;

/// The report of an evaluation that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluationReport {
    /// The pack's verdict, still untrusted, or how it ended without one.
    pub answer: Result<VerdictDraft, Outcome>,
    /// What it used.
    pub usage: Usage,
    /// What the guest wrote, within its bound.
    pub log: Vec<LogLine>,
    /// Lines that did not fit the bound.
    pub log_dropped: u64,
}

pub(crate) fn report(ended: Ended, output_limit: u64) -> EvaluationReport {
    let answer = match ended.answer {
        Ok(Answer::Evaluated(Ok(verdict))) => bounded(verdict, output_limit),
        Ok(Answer::Evaluated(Err(error))) => Err(Outcome::ToolError(tool_error(error))),
        Ok(_) => Err(Outcome::BadOutput {
            reason: "a description is not a verdict".into(),
        }),
        Err(outcome) => Err(outcome),
    };
    EvaluationReport {
        answer,
        usage: ended.usage,
        log: ended.log,
        log_dropped: ended.log_dropped,
    }
}

/// wasmtime's allowance for a call is at least that of a host call; the verdict's own bound may be lower.
fn bounded(verdict: pack::Verdict, limit: u64) -> Result<VerdictDraft, Outcome> {
    let size = |d: &pack::Decision| d.rule.len() + d.reason.len() + d.details.len() + d.facts.len();
    let total: usize = verdict.decisions.iter().map(size).sum::<usize>() + verdict.shared.len();
    if total as u64 > limit {
        return Err(Outcome::OutputTooLarge { limit });
    }
    Ok(VerdictDraft {
        decisions: verdict.decisions.into_iter().map(decision).collect(),
        shared: verdict.shared,
    })
}

fn decision(decision: pack::Decision) -> DecisionDraft {
    let action = match decision.action {
        pack::Action::Veto => "veto",
        pack::Action::Escalate => "escalate",
        pack::Action::Retry => "retry",
        pack::Action::Redact => "redact",
        pack::Action::Annotate => "annotate",
    };
    DecisionDraft {
        action: action.to_owned(),
        severity: match decision.severity {
            pack::Severity::Info => PackSeverity::Info,
            pack::Severity::Warning => PackSeverity::Warning,
            pack::Severity::Violation => PackSeverity::Violation,
        },
        rule: decision.rule,
        reason: decision.reason,
        details: decision.details,
        facts: decision.facts,
    }
}
