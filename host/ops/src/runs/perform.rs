//! Making a call, and what its end means for a run.

use super::body::Body;
use super::entry;
use super::guest_log;
use super::resolve::StepCall;
use crate::host::Host;
use crate::metrics::Family;
use crate::toolbox::{CallError, CallRequest, ToolResult};
use crate::traces::{SpanContext, SpanKind, TraceSpan};
use mizzen_engine::CallStage;
use mizzen_engine::run::{CallFailure, Event, GateQuestion, Transient, Within};
use mizzen_model::execution::CallLog;
use mizzen_sandbox::{CallContext, CallFault, CallTool};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The guest's own deadline is a little later than the run's: the run stops it and says why.
const GRACE: Duration = Duration::from_millis(100);

/// What stops a call before its first stage: there is no such tool any more.
const LOOKUP: &str = "lookup";

/// A call to make.
pub(crate) struct Work {
    pub(crate) call: StepCall,
    pub(crate) input: Value,
    pub(crate) run_id: String,
    pub(crate) step: Option<u32>,
    pub(crate) idempotency_key: String,
    pub(crate) left: Duration,
    pub(crate) trace: Option<SpanContext>,
    /// The tools that led to the call, outermost first; empty for a step's own.
    pub(crate) lineage: Vec<String>,
    /// When the time of the tool that makes it is up.
    pub(crate) until: Option<Instant>,
    /// Who makes the calls that its tool asks for.
    pub(crate) tools: Arc<dyn CallTool>,
}

impl Work {
    /// A span of its own for a call; only for runs that are traced.
    fn span(&self, host: &Host, name: &str) -> Option<TraceSpan> {
        let mut span = host.traces.begin(name, SpanKind::Internal, Some(self.trace?))?;
        span.set("mizzen.tool", self.call.pin.tool.as_str());
        span.set("mizzen.plugin", self.call.pin.plugin.as_str());
        if let Some(step) = self.step {
            span.set("mizzen.step", step);
        }
        Some(span)
    }
}

/// How a call ended, and what its journal entry tells beside it.
pub(super) type Ended = (Event, Body);

/// Calls a step's tool.
pub(super) async fn step(host: Arc<Host>, work: Work, order: u32, attempt: u32) -> Ended {
    let mut span = work.span(&host, "chain.step");
    let Called { result, stages, log } = call(&host, work).await;
    if let Some(span) = &mut span {
        span.set("mizzen.attempt", attempt);
        if let Err(failure) = &result {
            span.fail(&failure.code);
        }
    }
    let event = Event::CallEnded {
        order,
        attempt,
        result,
        log,
    };
    (event, stages)
}

/// Makes a call that a tool asked for.
pub(super) async fn nested(host: Arc<Host>, work: Work, within: Within, path: String) -> Ended {
    let mut span = work.span(&host, "chain.nested");
    let Called { result, stages, log } = call(&host, work).await;
    if let Some(span) = &mut span {
        span.set("mizzen.path", path.as_str());
        if let Err(failure) = &result {
            span.fail(&failure.code);
        }
    }
    let event = Event::NestedEnded {
        within,
        path,
        result,
        log,
    };
    (event, stages)
}

/// Asks the gate agent. It can only narrow: everything but a clear `allow` is a veto (D3).
pub(super) async fn gate(host: Arc<Host>, work: Work, asked: GateQuestion) -> Ended {
    let mut span = work.span(&host, "gate.agent");
    let Called {
        result,
        mut stages,
        log,
    } = call(&host, work).await;
    // A gate's evaluation has no place for it: it stands in the journal.
    entry::write_log(&mut stages, &log);
    if let (Some(span), Err(failure)) = (&mut span, &result) {
        span.fail(&failure.code);
    }
    let answer = match result {
        Err(failure) => Err(format!("the gate agent did not answer: {}", failure.message)),
        Ok(output) => {
            let reason = output
                .get("reason")
                .and_then(Value::as_str)
                .unwrap_or("the gate agent vetoes");
            match output.get("decision").and_then(Value::as_str) {
                Some("allow") => Ok(()),
                Some("veto") => Err(reason.chars().take(1_024).collect()),
                Some(_) | None => Err("the gate agent's answer has no decision of allow or veto".to_owned()),
            }
        }
    };
    if let Some(span) = &mut span {
        span.set("mizzen.decision", if answer.is_ok() { "allow" } else { "veto" });
    }
    let event = Event::GateAnswered {
        question: asked.question,
        answer,
    };
    (event, stages)
}

/// The stages that a call passed, and the one that stopped it.
fn stages(passed: CallStage, stopped: Option<&'static str>) -> Body {
    let mut names = String::with_capacity(96);
    for stage in passed.passed_before() {
        names.push_str(if names.is_empty() { "[\"" } else { "\",\"" });
        // Names of stages need no escapes.
        names.push_str(stage.as_str());
    }
    names.push_str(if names.is_empty() { "[]" } else { "\"]" });
    let mut about = Body::default();
    about.written("stages", names);
    if let Some(stopped) = stopped {
        about.text("stopped_at", stopped);
    }
    about
}

fn stages_of(ended: &Result<ToolResult, CallError>) -> Body {
    match ended {
        Ok(ToolResult { report: Some(_), .. }) => stages(CallStage::Result, None),
        // Answered from a record: the guest was not asked.
        Ok(ToolResult { report: None, .. }) => stages(CallStage::Call, None),
        Err(CallError::Refused { refused, .. }) => stages(refused.stage, Some(refused.stage.as_str())),
        Err(CallError::Fault(_)) => stages(CallStage::Call, Some(CallStage::Call.as_str())),
        Err(CallError::BadId(_) | CallError::Unknown(_)) => stages(CallStage::Input, Some(LOOKUP)),
    }
}

/// Performs calls in the place of plugins: the other side of the simulation.
#[cfg(test)]
pub(crate) trait Script: Send + Sync + std::fmt::Debug {
    /// Makes a call.
    fn call(&self, work: Work) -> mizzen_sandbox::Pending<'_, Result<Value, CallFailure>>;

    /// What a tool is that another one calls.
    fn find(&self, tool: &str) -> Option<super::resolve::Pin>;

    /// Answers for the packs.
    fn judge(
        &self,
        question: mizzen_engine::run::PackQuestion,
    ) -> mizzen_sandbox::Pending<'_, Vec<mizzen_engine::run::PackAnswer>>;
}

/// What a call came to.
struct Called {
    result: Result<Value, CallFailure>,
    /// What its journal entry tells beside it.
    stages: Body,
    /// What the guest wrote.
    log: CallLog,
}

impl Called {
    fn without_log(result: Result<Value, CallFailure>, stages: Body) -> Self {
        Self {
            result,
            stages,
            log: CallLog::default(),
        }
    }
}

async fn call(host: &Host, work: Work) -> Called {
    #[cfg(test)]
    if let Some(script) = host.script.get() {
        return Called::without_log(script.call(work).await, Body::default());
    }
    let pin = &work.call.pin;
    let Some(callable) = work.call.callable.clone() else {
        let gone = CallFailure {
            code: "PLUGIN_GONE".to_owned(),
            message: format!(
                "{} {} ({}) was loaded when the run began and is not any more: install it again",
                pin.plugin, pin.version, pin.digest
            ),
            transient: Transient::No,
            tool_code: None,
        };
        return Called::without_log(Err(gone), stages(CallStage::Input, Some(LOOKUP)));
    };
    let started = Instant::now();
    let deadline = started
        .checked_add(work.left)
        .and_then(|end| end.checked_add(GRACE));
    let (run_id, step) = (work.run_id.clone(), work.step);
    let request = CallRequest {
        tool: pin.tool.clone(),
        input: work.input,
        context: CallContext {
            run_id: work.run_id,
            step: work.step,
            sprite_name: work.call.sprite_name,
            system_prompt: work.call.system_prompt,
            idempotency_key: Some(work.idempotency_key),
            lineage: work.lineage,
            deadline: work.until.into_iter().chain(deadline).min(),
            tools: Some(work.tools),
        },
        policy: host.call_policy(),
    };
    let ended = callable.call(request).await;
    let outcome = match &ended {
        Ok(_) => "output",
        Err(CallError::Refused { refused, .. }) => refused.code,
        Err(_) => "fault",
    };
    host.metrics.count(Family::SandboxCalls, &[&pin.plugin, outcome]);
    host.metrics.count(Family::ToolCalls, &[&pin.tool, outcome]);
    host.metrics.observe(
        Family::SandboxSeconds,
        &[&pin.plugin],
        started.elapsed().as_secs_f64(),
    );
    let about = stages_of(&ended);
    let report = match &ended {
        Ok(result) => result.report.as_ref(),
        Err(CallError::Refused { report, .. }) => report.as_deref(),
        Err(_) => None,
    };
    let log = report.map_or_else(CallLog::default, |report| {
        guest_log::tell(pin, &run_id, step, report);
        guest_log::kept(report)
    });
    Called {
        result: ended.map(|result| result.output).map_err(failure),
        stages: about,
        log,
    }
}

fn failure(error: CallError) -> CallFailure {
    let mut tool_code = None;
    let (code, message, transient) = match error {
        CallError::BadId(message) => ("TOOL_UNKNOWN".to_owned(), message, Transient::No),
        CallError::Unknown(error) => ("TOOL_UNKNOWN".to_owned(), error.to_string(), Transient::No),
        CallError::Refused { refused, .. } => {
            let passes = matches!(refused.code, "UNAVAILABLE" | "TOOL_FAILED" | "TRAP" | "TIMEOUT");
            let transient = if passes { Transient::Yes } else { Transient::No };
            tool_code = refused.tool_code;
            (refused.code.to_owned(), refused.reason, transient)
        }
        CallError::Fault(fault) => {
            let (code, transient) = match &fault {
                CallFault::Busy(_) | CallFault::NoMemory { .. } => ("UNAVAILABLE", Transient::Yes),
                CallFault::InputTooLarge { .. } => ("INPUT_TOO_LARGE", Transient::No),
                _ => ("CALL_FAILED", Transient::No),
            };
            (code.to_owned(), fault.to_string(), transient)
        }
    };
    CallFailure {
        code,
        message,
        transient,
        tool_code,
    }
}
