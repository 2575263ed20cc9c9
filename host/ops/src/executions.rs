//! Reads executions: one, many, and what happened in one as it happens.

use crate::document::stored;
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::runs::{Message, Progress, Reached, RunPhase, result_text};
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_model::timestamp::Timestamp;
use mizzen_store::{Cursor, List, RunFilter, RunPlace, RunRecord};
use std::sync::Arc;
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

/// Events that are given at once.
const PIECE: usize = 256;

/// A page of executions.
#[derive(Debug, Clone, Default)]
pub struct Executions {
    /// Their results, JSON, newest first.
    pub items: Vec<String>,
    /// How many there are on all pages.
    pub total: u64,
    /// Where the next page begins; none on the last one.
    pub next_cursor: Option<String>,
}

/// Where a page of executions begins, as callers say it.
#[derive(Debug, Clone)]
pub enum ExecutionPlace {
    /// After so many.
    Offset(u64),
    /// After the page that gave this.
    Cursor(String),
}

/// One event of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionEvent {
    /// Its place, from 1, without gaps.
    pub seq: u64,
    /// What kind of event it is.
    pub kind: String,
    /// The event, JSON.
    pub json: String,
}

impl Host {
    /// An execution: its result, or how far it has come.
    pub async fn execution(&self, id: Uuid) -> Result<ChainExecutionResult, OpError> {
        for _ in 0..3 {
            match self.runs.reach(id) {
                Some(Reached::Driven(live)) => {
                    let (reply, answer) = oneshot::channel();
                    if live.inbox.send(Message::Show(reply)).await.is_ok()
                        && let Ok(result) = answer.await
                    {
                        return Ok(result);
                    }
                }
                Some(Reached::Parked(Some(result), _)) => return Ok(Arc::unwrap_or_clone(result)),
                Some(Reached::Parked(None, _) | Reached::Soon(_)) | None => {}
            }
            // It has ended in between, or long ago.
            let record = self.store.run(id).await?.ok_or(Refusal::ExecutionNotFound(id))?;
            if let Some(result) = &record.result {
                return parse(result);
            }
            // Open, and nobody answers: its driver waits for the store, or is about to be replaced. The journal knows.
            if let Ok(Some(result)) = self.recall(id).await {
                return Ok(result);
            }
        }
        Err(Fault::Unavailable(format!("execution {id} is open and not driven at the moment")).into())
    }

    /// A page of executions, newest first.
    pub async fn list_executions(
        &self,
        filter: RunFilter,
        place: ExecutionPlace,
        limit: usize,
    ) -> Result<Executions, OpError> {
        let place = match place {
            ExecutionPlace::Offset(rows) => RunPlace::Offset(rows),
            ExecutionPlace::Cursor(text) => RunPlace::After(Cursor::parse(List::Executions, &text)?),
        };
        let page = self.store.list_runs(filter, place, limit).await?;
        let mut items = Vec::with_capacity(page.runs.len());
        for record in page.runs {
            items.push(self.shown(record).await?);
        }
        Ok(Executions {
            items,
            total: page.total,
            next_cursor: page.next.map(|next| next.to_text(List::Executions)),
        })
    }

    /// The executions of a chain; refused when there is no such chain and never was a run of it.
    pub async fn chain_history(
        &self,
        chain: Uuid,
        filter: RunFilter,
        place: ExecutionPlace,
        limit: usize,
    ) -> Result<Executions, OpError> {
        let known = self.store.council_of_chain(chain).await?.is_some()
            || self.store.has_runs_of_chain(chain).await?;
        if !known {
            return Err(Refusal::ChainNotFound(chain).into());
        }
        let filter = RunFilter {
            chain: Some(chain),
            ..filter
        };
        self.list_executions(filter, place, limit).await
    }

    async fn shown(&self, record: RunRecord) -> Result<String, OpError> {
        match record.result {
            Some(result) => Ok(result),
            None => match self.execution(record.id).await {
                Ok(result) => Ok(result_text(&result)),
                // One run that nobody can drive must not hide the others: what its row says is shown.
                Err(OpError::Fault(Fault::Unavailable(_))) => summary(&record),
                Err(error) => Err(error),
            },
        }
    }

    /// The next events of an execution after a place: waits for them while the run is open. None when there will be no more.
    pub async fn next_events(&self, id: Uuid, after: u64) -> Result<Option<Vec<ExecutionEvent>>, OpError> {
        loop {
            // Looked up before the store is read: what is written after the reading is seen as a change.
            let reached = self.runs.reach(id).map(|reached| match reached {
                Reached::Driven(live) => {
                    let mut progress = live.progress;
                    let ended = matches!(progress.borrow_and_update().rest, RunPhase::Ended(_));
                    Follows::Driver(progress, ended)
                }
                Reached::Parked(_, signal) | Reached::Soon(signal) => Follows::Nothing(signal),
            });
            let record = self.store.run(id).await?.ok_or(Refusal::ExecutionNotFound(id))?;
            let events = self.store.run_events(id, after, PIECE).await?;
            if !events.is_empty() {
                return events.into_iter().map(event).collect::<Result<_, _>>().map(Some);
            }
            if record.result.is_some() {
                return Ok(None);
            }
            match reached {
                Some(Follows::Driver(mut progress, false)) => {
                    // An error means that the driver is gone: the store says how it ended.
                    if progress.changed().await.is_err() && !self.runs.is_driven(id) {
                        let record = self.store.run(id).await?;
                        if record.is_some_and(|record| record.result.is_none()) {
                            return Err(
                                Fault::Unavailable(format!("execution {id} is not driven now")).into()
                            );
                        }
                    }
                }
                Some(Follows::Driver(_, true)) => {}
                // Until somebody answers. The signal says no more than that by its end.
                Some(Follows::Nothing(mut signal)) => drop(signal.changed().await),
                None => return Err(Fault::Unavailable(format!("execution {id} is not driven now")).into()),
            }
        }
    }
}

/// What is waited for until a run has come further.
enum Follows {
    /// Its driver, and whether the run has ended.
    Driver(watch::Receiver<Progress>, bool),
    /// Nobody drives it until it is answered.
    Nothing(watch::Receiver<()>),
}

/// What is known of a run without its journal.
fn summary(record: &RunRecord) -> Result<String, OpError> {
    let status = ExecutionStatus::parse(&record.status)
        .ok_or_else(|| Fault::Internal(format!("run {} has no status that is one", record.id)))?;
    Ok(result_text(&ChainExecutionResult {
        execution_id: record.id.into(),
        council_id: record.council_id.into(),
        chain_id: record.chain_id.into(),
        status,
        started_at: Timestamp::from_unix_ms(u64::try_from(record.started_at).unwrap_or(0)),
        completed_at: None,
        duration_ms: None,
        steps: Vec::new(),
        gates: Vec::new(),
        rules: Vec::new(),
        error: None,
        escalation: None,
        packs: None,
        erased: None,
        tool: None,
        graph: None,
    }))
}

fn parse(text: &str) -> Result<ChainExecutionResult, OpError> {
    let value = stored(text)?
        .to_serde()
        .map_err(|error| Fault::Internal(format!("a stored result cannot be read: {error}")))?;
    serde_json::from_value(value)
        .map_err(|error| Fault::Internal(format!("a stored result cannot be read: {error}")).into())
}

fn event(event: mizzen_store::RunEvent) -> Result<ExecutionEvent, OpError> {
    let value: serde_json::Value = serde_json::from_str(&event.bytes)
        .map_err(|error| Fault::Internal(format!("a journal entry cannot be read: {error}")))?;
    let kind = value
        .get("kind")
        .and_then(serde_json::Value::as_str)
        .unwrap_or("event");
    Ok(ExecutionEvent {
        seq: event.seq,
        kind: kind.to_owned(),
        json: event.bytes,
    })
}
