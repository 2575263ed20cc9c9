//! Calls a tool, without a council around it: a run of one step, governed by the host's packs and journaled like every run.

use crate::caller::Caller;
use crate::error::{OpError, Refusal};
use crate::execute_chain::{Begun, Executed, PlanStart, Wait, exact, marked};
use crate::host::{Host, IdempotencyKey};
use crate::runs::{ToolDefinition, chain_of_tool, requirement};
use mizzen_model::duration::Duration;
use mizzen_model::execution::ToolCallRequest;
use mizzen_model::manifest::Provides;
use mizzen_model::namespace::ToolId;
use mizzen_model::problem::{Code, Problems};
use mizzen_store::Recorded;
use serde_json::Value;
use std::sync::Arc;
use uuid::Uuid;

/// How long a call may take when the request does not say.
const TIMEOUT: &str = "60s";
/// Characters of an unknown id that a refusal shows.
const SHOWN: usize = 128;

impl Host {
    /// Calls a tool. The run goes on when the caller goes away.
    pub async fn call_tool(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
        document: &mizzen_json::Json,
        key: Option<IdempotencyKey>,
        wait: Wait,
    ) -> Result<Executed, OpError> {
        let request = ToolCallRequest::parse(document).map_err(invalid)?;
        let id = tool_id(id)?;
        let operation = format!("call_tool/{id}");
        let idempotency = self.idempotency(caller, &operation, key.as_ref());
        if let Some(idempotency) = &idempotency
            && let Recorded::Answer(answer) = self.store.recorded_answer(idempotency).await??
        {
            let executed = self.wait_again(&answer, wait).await?;
            return Ok(marked((executed, Begun::Before), key.as_ref()));
        }
        let wanted = requirement(id.as_str(), request.version.as_deref()).map_err(|error| {
            let mut problems = Problems::new();
            problems.push("/version", Code::Pattern, error.to_string());
            invalid(problems)
        })?;
        // Before a run begins: what is not installed leaves no run behind.
        self.loaded()
            .registry()
            .resolve(&wanted)
            .map_err(|error| self.missing(&id, error.to_string()))?;
        let timeout = match request.timeout {
            Some(timeout) => timeout,
            None => {
                Duration::parse(TIMEOUT).map_err(|error| crate::error::Fault::Internal(error.to_string()))?
            }
        };
        let call = ToolDefinition {
            wanted,
            version: request.version,
            timeout,
        };
        let input = exact(&request.input)?;
        let definition = call.text();
        let hash = *blake3::hash(definition.as_bytes()).as_bytes();
        let planned = self.plan(&definition, hash, chain_of_tool(call.tool()))?;
        let start = PlanStart {
            planned: &planned,
            input,
            idempotency,
            action: "call_tool",
        };
        let executed = self.run_plan(caller, start, wait).await?;
        Ok(marked(executed, key.as_ref()))
    }

    /// A tool's description; of several installed versions, the highest one.
    pub fn get_tool(&self, id: &str) -> Result<Value, OpError> {
        let id = tool_id(id)?;
        let installed = self.registry.installed();
        let newest = installed
            .provided
            .iter()
            .filter(|item| item.kind == Provides::Tool && item.id == id.as_str())
            .max_by(|a, b| a.version.cmp_precedence(&b.version));
        newest
            .map(|item| item.document.clone())
            .ok_or_else(|| self.missing(&id, no_tool(id.as_str())).into())
    }

    /// What is disabled is not called missing.
    fn missing(&self, id: &ToolId, reason: String) -> Refusal {
        let disabled = self.registry.installed().disabled_reason(id.as_str());
        Refusal::ToolNotFound {
            tool: id.to_string(),
            reason: disabled.unwrap_or(reason),
        }
    }

    /// Where the executions of a tool are found: they have this in the place of a chain.
    pub fn executions_of_tool(id: &str) -> Uuid {
        chain_of_tool(id).uuid()
    }
}

/// A text that cannot be a tool's id names no tool.
fn tool_id(id: &str) -> Result<ToolId, Refusal> {
    ToolId::parse(id).map_err(|_| unknown(id))
}

fn unknown(id: &str) -> Refusal {
    let tool: String = id.chars().take(SHOWN).collect();
    Refusal::ToolNotFound {
        reason: no_tool(&tool),
        tool,
    }
}

fn no_tool(tool: &str) -> String {
    format!("there is no tool {tool:?}; GET /v1/tools and `mizzen plugins list` show what is installed")
}

fn invalid(problems: Problems) -> OpError {
    Refusal::Invalid {
        document: "request",
        problems,
    }
    .into()
}
