//! A call that a running server makes, over the host's own outgoing client.

use super::Call;
use crate::account::{self, Names, PLAIN};
use crate::follow::EXIT_WAITING;
use crate::output::{self, EXIT_REFUSED};
use anyhow::{Context, Result, bail};
use mizzen_engine::WebUrl;
use mizzen_json::Json;
use mizzen_model::duration::Duration as Timeout;
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_ops::outgoing::{Outgoing, OutgoingLimits, Purpose};
use mizzen_sandbox::{HostNamed, Http, HttpRequest, HttpResponse};
use serde_json::Value;
use std::time::Duration;

/// The variable with the API key: on the command line every user of the machine could read it.
const KEY: &str = "MIZZEN_API_KEY";
/// How long the server may take beyond the call's own timeout.
const GRACE: Duration = Duration::from_secs(30);
/// How long a call may take when the request does not say, as the server has it.
const USUAL: Duration = Duration::from_secs(60);
/// The largest answer that is read: an output with everything around it.
const LARGEST: usize = 64 << 20;

/// Sends the call and prints what came of it; the exit code.
pub(super) async fn call(call: &Call, host: &str, request: &Json) -> Result<u8> {
    let response = send(call, host, request).await?;
    let body: Value = serde_json::from_slice(&response.body).with_context(|| {
        format!(
            "the server answered {} with a body that is not JSON; is {host} a Mizzen host?",
            response.status
        )
    })?;
    // Also of a run that a pack stopped: that is answered as an error, without the run.
    let Ok(result) = serde_json::from_value::<ChainExecutionResult>(body.clone()) else {
        if call.json {
            output::json(&body)?;
        } else {
            eprintln!("error: {}", output::harmless(&refusal(response.status, &body)));
        }
        return Ok(EXIT_REFUSED);
    };
    if !call.json {
        for line in account::lines(&account::rows(&result, &Names::new()), PLAIN) {
            eprintln!("{line}");
        }
        for line in account::lines(&[account::end(&result)], PLAIN) {
            eprintln!("{line}");
        }
    }
    call.print(&result)?;
    if result.status == ExecutionStatus::AwaitingApproval {
        if !call.json {
            eprintln!(
                "it waits for a person: POST {}/v1/executions/{}/decision",
                host.trim_end_matches('/'),
                result.execution_id
            );
        }
        return Ok(EXIT_WAITING);
    }
    Ok(match result.status {
        ExecutionStatus::Completed => 0,
        _ => EXIT_REFUSED,
    })
}

async fn send(call: &Call, host: &str, request: &Json) -> Result<HttpResponse> {
    // An id is a path segment; the server knows which texts are ids, this keeps one from being a path or a query.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if call.id.is_empty() || !call.id.chars().all(plain) {
        bail!("{:?} is not a tool's id; write namespace.name", call.id);
    }
    let url = format!("{}/v1/tools/{}/call", host.trim_end_matches('/'), call.id);
    let url =
        WebUrl::parse(&url).with_context(|| format!("--host {host:?} is not an address of a server"))?;
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    match std::env::var(KEY) {
        Ok(key) => headers.push(("authorization".to_owned(), format!("Bearer {}", key.trim()))),
        Err(std::env::VarError::NotPresent) => {}
        Err(std::env::VarError::NotUnicode(_)) => bail!("{KEY} is not UTF-8"),
    }
    if let Some(key) = &call.idempotency_key {
        headers.push(("idempotency-key".to_owned(), key.clone()));
    }
    // A timeout that is not one is refused by the server.
    let timeout = call.timeout.as_deref().and_then(|text| Timeout::parse(text).ok());
    let time = timeout.map_or(USUAL, |timeout| Duration::from_millis(timeout.milliseconds()));
    let limits = OutgoingLimits {
        time: time.saturating_add(GRACE),
        response: LARGEST,
    };
    let outgoing = Outgoing::system(limits).serving(Purpose::Operator);
    let request = HttpRequest {
        method: "POST".to_owned(),
        url,
        headers,
        body: request.to_compact().into_bytes(),
        timeout: None,
        host_named: HostNamed::Exactly,
    };
    Ok(outgoing.fetch(request).await?)
}

/// An error envelope as a person reads it.
fn refusal(status: u16, body: &Value) -> String {
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let details = body.get("details");
    let detail = |name: &str| {
        details
            .and_then(|details| details.get(name))
            .and_then(Value::as_str)
    };
    let mut said = format!("{} (HTTP {status}): {}", text("code"), text("message"));
    for name in ["reason", "rule", "execution_id"] {
        if let Some(value) = detail(name) {
            said.push_str(&format!("\n  {name}: {value}"));
        }
    }
    said
}
