//! Making a call, and what its end means for a run.

use super::resolve::StepCall;
use crate::host::Host;
use crate::metrics::Family;
use crate::toolbox::{CallError, CallRequest};
use mizzen_engine::run::{CallFailure, Event, GateQuestion, Transient};
use mizzen_sandbox::{CallContext, CallFault};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The guest's own deadline is a little later than the run's: the run stops it and says why.
const GRACE: Duration = Duration::from_millis(100);

/// A call to make.
pub(super) struct Work {
    pub(super) call: StepCall,
    pub(super) input: Value,
    pub(super) run_id: String,
    pub(super) step: Option<u32>,
    pub(super) idempotency_key: String,
    pub(super) left: Duration,
}

/// Calls a step's tool.
pub(super) async fn step(host: Arc<Host>, work: Work, order: u32, attempt: u32) -> Event {
    Event::CallEnded {
        order,
        attempt,
        result: call(&host, work).await,
    }
}

/// Asks the gate agent. It can only narrow: everything but a clear `allow` is a veto (D3).
pub(super) async fn gate(host: Arc<Host>, work: Work, asked: GateQuestion) -> Event {
    let answer = match call(&host, work).await {
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
    Event::GateAnswered {
        question: asked.question,
        answer,
    }
}

async fn call(host: &Host, work: Work) -> Result<Value, CallFailure> {
    let pin = &work.call.pin;
    let Some(callable) = work.call.callable.clone() else {
        return Err(CallFailure {
            code: "PLUGIN_GONE".to_owned(),
            message: format!(
                "{} {} ({}) was loaded when the run began and is not any more: install it again",
                pin.plugin, pin.version, pin.digest
            ),
            transient: Transient::No,
        });
    };
    let started = Instant::now();
    let request = CallRequest {
        tool: pin.tool.clone(),
        input: work.input,
        context: CallContext {
            run_id: work.run_id,
            step: work.step,
            sprite_name: work.call.sprite_name,
            system_prompt: work.call.system_prompt,
            idempotency_key: Some(work.idempotency_key),
            lineage: Vec::new(),
            deadline: started
                .checked_add(work.left)
                .and_then(|end| end.checked_add(GRACE)),
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
    host.metrics.observe(
        Family::SandboxSeconds,
        &[&pin.plugin],
        started.elapsed().as_secs_f64(),
    );
    ended.map(|result| result.output).map_err(failure)
}

fn failure(error: CallError) -> CallFailure {
    let (code, message, transient) = match error {
        CallError::BadId(message) => ("TOOL_UNKNOWN".to_owned(), message, Transient::No),
        CallError::Unknown(error) => ("TOOL_UNKNOWN".to_owned(), error.to_string(), Transient::No),
        CallError::Refused { refused, .. } => {
            let passes = matches!(refused.code, "UNAVAILABLE" | "TOOL_FAILED" | "TRAP" | "TIMEOUT");
            let transient = if passes { Transient::Yes } else { Transient::No };
            (refused.code.to_owned(), refused.reason, transient)
        }
        CallError::Fault(fault) => {
            let (code, transient) = match &fault {
                CallFault::Busy(_) => ("UNAVAILABLE", Transient::Yes),
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
    }
}
