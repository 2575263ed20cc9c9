//! A call that a running host makes.

use super::Call;
use crate::account::{self, Names, PLAIN};
use crate::follow::{Decided, EXIT_WAITING, View, ask};
use crate::output::{self, EXIT_REFUSED};
use crate::remote_host::{HostClient, Post, USUAL_TIME};
use anyhow::{Context, Result, bail};
use mizzen_json::Json;
use mizzen_model::duration::Duration as Timeout;
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a call may take when the request does not say, as the host has it.
const CALL_TIME: Duration = Duration::from_secs(60);
/// How often the host is asked for a call that goes on after a person decided.
const EVERY: Duration = Duration::from_millis(200);

/// Sends the call and prints what came of it; the exit code.
pub(super) async fn call(call: &Call, host: &str, request: &Json) -> Result<u8> {
    // An id is a path segment; the host knows which texts are ids, this keeps one from being a path or a query.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if call.id.is_empty() || !call.id.chars().all(plain) {
        bail!("{:?} is not a tool's id; write namespace.name", call.id);
    }
    // A timeout that is not one is refused by the host.
    let timeout = call.timeout.as_deref().and_then(|text| Timeout::parse(text).ok());
    let time = timeout.map_or(CALL_TIME, |timeout| Duration::from_millis(timeout.milliseconds()));
    let client = HostClient::new(host, time.saturating_add(USUAL_TIME))?;
    let post = Post {
        body: Some(request.to_compact()),
        idempotency_key: call.idempotency_key.clone(),
    };
    let answer = client
        .answer_to(&format!("/v1/tools/{}/call", call.id), post)
        .await?;
    // Also of a run that a pack stopped: that is answered as an error, without the run.
    let Ok(mut result) = serde_json::from_value::<ChainExecutionResult>(answer.document.clone()) else {
        if call.local.json {
            output::json(&answer.document)?;
        } else {
            eprintln!("error: {}", output::harmless(&answer.refusal()));
        }
        return Ok(EXIT_REFUSED);
    };
    let mut view = View::beside_output(call.local.json);
    while result.status == ExecutionStatus::AwaitingApproval
        && let Some(decided) = ask(&result, &mut view).await
    {
        match decide(&client, &result, &decided).await {
            Ok(later) => result = later,
            // The key may not decide: the refusal is shown, and the run still waits.
            Err(error) => {
                output::error(&error);
                break;
            }
        }
    }
    if !call.local.json {
        let mut rows = account::rows(&result, &Names::new());
        rows.push(account::end(&result));
        for line in account::lines(&rows, PLAIN) {
            eprintln!("{line}");
        }
    }
    call.print(&result)?;
    if result.status == ExecutionStatus::AwaitingApproval {
        if !call.local.json {
            let address = client.address();
            let run = result.execution_id;
            eprintln!(
                "it waits for a person: mizzen runs approve {run} --host {address} --reason TEXT (or deny)"
            );
        }
        return Ok(EXIT_WAITING);
    }
    Ok(match result.status {
        ExecutionStatus::Completed => 0,
        _ => EXIT_REFUSED,
    })
}

/// Sends the decision, and waits until the run has ended or waits again.
async fn decide(
    client: &HostClient,
    waiting: &ChainExecutionResult,
    decided: &Decided,
) -> Result<ChainExecutionResult> {
    let path = format!("/v1/executions/{}", waiting.execution_id);
    let body = json!({
        "decision": decided.decision.as_str(), "reason": decided.reason, "escalation_id": decided.escalation_id,
    });
    let read = |document: Value| {
        serde_json::from_value::<ChainExecutionResult>(document)
            .context("the host answered with something that is not an execution")
    };
    let mut result = read(client.post(&format!("{path}/decision"), Some(&body)).await?)?;
    while !result.status.is_final() && result.status != ExecutionStatus::AwaitingApproval {
        tokio::time::sleep(EVERY).await;
        result = read(client.get(&path).await?)?;
    }
    Ok(result)
}
