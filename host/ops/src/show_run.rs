//! A run of a graph as clients see it, and where it stood after every node.

use crate::error::{OpError, Refusal};
use crate::host::Host;
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus, StepExecution, StepStatus};
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// The name of a status as graphs have it (D30).
pub fn graph_status(status: ExecutionStatus) -> &'static str {
    match status {
        ExecutionStatus::Completed => "done",
        other => other.as_str(),
    }
}

/// A run of a graph, JSON; none for a run of something else.
pub fn graph_run(result: &ChainExecutionResult) -> Option<Value> {
    let graph = result.graph.as_ref()?;
    let mut run = Map::new();
    let mut put = |name: &str, value: Value| drop(run.insert(name.to_owned(), value));
    put("run_id", result.execution_id.to_string().into());
    put("graph_id", graph.graph_id.as_str().into());
    put("graph_hash", graph.graph_hash.as_str().into());
    put("status", graph_status(result.status).into());
    put("started_at", json!(result.started_at));
    if let Some(completed_at) = &result.completed_at {
        put("completed_at", json!(completed_at));
    }
    if let Some(duration_ms) = result.duration_ms {
        put("duration_ms", duration_ms.into());
    }
    put("state", Value::Object(graph.state.clone()));
    put("path", path(&result.steps));
    if let Some(error) = &result.error {
        put("error", json!(error));
    }
    if let Some(interrupt) = &graph.interrupt {
        put("interrupt", json!(interrupt));
    }
    if let Some(halted) = &graph.halted {
        put("halted", halted.as_str().into());
    }
    if let Some(escalation) = &result.escalation {
        put("escalation", json!(escalation));
    }
    if let Some(packs) = &result.packs {
        put("packs", json!(packs));
    }
    if let Some(erased) = &result.erased {
        put("erased", json!(erased));
    }
    Some(Value::Object(run))
}

/// The visits that have ended, in the order in which they did.
fn path(steps: &[StepExecution]) -> Value {
    let is_over = |step: &&StepExecution| matches!(step.status, StepStatus::Completed | StepStatus::Failed);
    let mut over: Vec<&StepExecution> = steps.iter().filter(is_over).collect();
    // Branches begin in the order of their targets and end in another one.
    over.sort_by_key(|step| {
        let began = step.started_at.as_ref().map_or(0, |at| at.unix_ms());
        began.saturating_add(i64::try_from(step.duration_ms.unwrap_or(0)).unwrap_or(i64::MAX))
    });
    let visit = |step: &StepExecution| {
        let node = step.node.as_ref()?;
        let mut visit = json!({"node": node.id, "iteration": node.iteration, "status": step.status});
        if let (Some(error), Some(members)) = (&step.error, visit.as_object_mut()) {
            members.insert("error".to_owned(), json!(error));
        }
        Some(visit)
    };
    over.into_iter().filter_map(visit).collect()
}

/// Where a graph stood after an entry of its journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The entry.
    pub at: u64,
    /// The nodes that ended with it, each with its iteration.
    pub nodes: Vec<(String, u32)>,
    /// The status then.
    pub status: &'static str,
}

impl Host {
    /// Where a graph stood after each entry with which nodes ended.
    ///
    /// # Errors
    /// A refusal when there is no such run of a graph.
    pub async fn run_checkpoints(&self, id: Uuid) -> Result<Vec<Checkpoint>, OpError> {
        let mut found = Vec::new();
        let mut known = 0;
        self.walk_run(id, u64::MAX, |at, result| {
            let over =
                |step: &&StepExecution| matches!(step.status, StepStatus::Completed | StepStatus::Failed);
            let ended: Vec<&StepExecution> = result.steps.iter().filter(over).collect();
            if ended.len() > known {
                let nodes = ended.iter().skip(known).filter_map(|step| step.node.as_ref());
                found.push(Checkpoint {
                    at,
                    nodes: nodes.map(|node| (node.id.clone(), node.iteration)).collect(),
                    status: graph_status(result.status),
                });
                known = ended.len();
            }
        })
        .await?;
        Ok(found)
    }

    /// The state of a graph after an entry of its journal.
    ///
    /// # Errors
    /// A refusal when there is no such run of a graph, or no such entry.
    pub async fn run_state(&self, id: Uuid, at: u64) -> Result<Map<String, Value>, OpError> {
        let mut state = None;
        let mut last = 0;
        self.walk_run(id, at, |seq, result| {
            last = seq;
            state = result.graph.as_ref().map(|graph| graph.state.clone());
        })
        .await?;
        match state {
            Some(state) if last == at => Ok(state),
            _ => Err(Refusal::BadParameter {
                name: "at",
                reason: format!("the journal of run {id} has {last} entries"),
            }
            .into()),
        }
    }
}
