//! Runs a chain.

use crate::caller::Caller;
use crate::error::{Fault, OpError, Refusal};
use crate::host::{Host, IdempotencyKey};
use crate::runs::{Beginning, EndedRun, Planned, Progress, Rejected, RunPhase, begin};
use mizzen_json::{Json, NotExact, Object};
use mizzen_model::execution::{ChainExecuteRequest, ChainExecutionResult, parse_execute_all};
use mizzen_model::id::{ChainId, ExecutionId};
use mizzen_model::problem::{Code, Problems};
use mizzen_store::{Idempotency, Recorded, RunRefused, WriteError};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;
use uuid::Uuid;

/// Whether a caller waits for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Until it ends, or waits for a person.
    ForEnd,
    /// Until it is durable that it will be run.
    ForStart,
}

/// What came of a request to run a chain.
#[derive(Debug, Clone)]
pub enum Executed {
    /// It has ended, one way or another.
    Ended(Arc<EndedRun>),
    /// It waits for a person.
    Waiting(Arc<ChainExecutionResult>),
    /// It is durable that it will be run.
    Accepted(Uuid),
}

impl Executed {
    /// The execution.
    pub fn id(&self) -> Uuid {
        match self {
            Self::Ended(ended) => ended.execution_id.uuid(),
            Self::Waiting(result) => result.execution_id.uuid(),
            Self::Accepted(id) => *id,
        }
    }
}

/// A run of a plan to begin.
pub(crate) struct PlanStart<'a> {
    pub(crate) planned: &'a Planned,
    pub(crate) input: Value,
    pub(crate) idempotency: Option<Idempotency>,
    /// What the audit log calls it.
    pub(crate) action: &'static str,
}

/// When a run was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    /// By this request.
    Now,
    /// By the same request, earlier.
    Before,
}

/// Tells the key's owner about a run that was begun before.
pub(crate) fn marked((executed, begun): (Executed, Begun), key: Option<&IdempotencyKey>) -> Executed {
    if let (Begun::Before, Some(key)) = (begun, key) {
        key.replayed.set();
    }
    executed
}

impl Host {
    /// Runs a chain of a council. The run goes on when the caller goes away.
    pub async fn execute_chain(
        self: &Arc<Self>,
        caller: &Caller,
        document: &Json,
        key: Option<IdempotencyKey>,
        wait: Wait,
    ) -> Result<Executed, OpError> {
        let request = ChainExecuteRequest::parse(document).map_err(|problems| Refusal::Invalid {
            document: "request",
            problems,
        })?;
        let idempotency = self.idempotency(caller, "execute_chain", key.as_ref());
        if let Some(idempotency) = &idempotency
            && let Recorded::Answer(answer) = self.store.recorded_answer(idempotency).await??
        {
            let executed = self.wait_again(&answer, wait).await?;
            return Ok(marked((executed, Begun::Before), key.as_ref()));
        }
        let council = self.find_council(&request.council).await?;
        let record = self
            .store
            .kept_council(council)
            .await?
            .ok_or(Refusal::CouncilNotFound(council))?;
        let chain = Self::chain_named(&record, &request.chain)?;
        let planned = self.plan(&record.record.document, record.hash, chain)?;
        let input = to_value(request.input)?;
        let start = PlanStart {
            planned: &planned,
            input,
            idempotency,
            action: "execute_chain",
        };
        let executed = self.run_plan(caller, start, wait).await?;
        Ok(marked(executed, key.as_ref()))
    }

    /// Runs every chain of a council, in the order in which it lists them. With a key, each of them once: a caller that asks
    /// again after a crash in the middle gets the runs that there were, and those that were missing.
    pub async fn execute_all(
        self: &Arc<Self>,
        caller: &Caller,
        council: Uuid,
        document: &Json,
        key: Option<IdempotencyKey>,
        wait: Wait,
    ) -> Result<Vec<Executed>, OpError> {
        let input = parse_execute_all(document).map_err(|problems| Refusal::Invalid {
            document: "request",
            problems,
        })?;
        let input = to_value(input)?;
        let record = self
            .store
            .council(council)
            .await?
            .ok_or(Refusal::CouncilNotFound(council))?;
        let chains: Vec<ChainId> = crate::council::from_record(&record)?
            .chains
            .iter()
            .map(|chain| chain.id)
            .collect();
        let idempotency = self.idempotency(caller, &format!("execute_all/{council}"), key.as_ref());
        let hash = *blake3::hash(record.document.as_bytes()).as_bytes();
        let mut executed = Vec::with_capacity(chains.len());
        for chain in chains {
            let planned = self.plan(&record.document, hash, chain)?;
            let once = idempotency.clone().map(|once| Idempotency {
                key: format!("{} {chain}", once.key),
                ..once
            });
            let start = PlanStart {
                planned: &planned,
                input: input.clone(),
                idempotency: once,
                action: "execute_chain",
            };
            let one = self.run_plan(caller, start, wait).await?;
            executed.push(marked(one, key.as_ref()));
        }
        Ok(executed)
    }

    /// Begins a run of a plan, unless the same request has begun one before.
    pub(crate) async fn run_plan(
        self: &Arc<Self>,
        caller: &Caller,
        start: PlanStart<'_>,
        wait: Wait,
    ) -> Result<(Executed, Begun), OpError> {
        let PlanStart {
            planned,
            input,
            idempotency,
            action,
        } = start;
        let share = self
            .runs
            .admit(caller, planned.plan.council_id(), planned.plan.chain_id())
            .map_err(|(limit, most)| Refusal::TooManyRuns { limit, most })?;
        let id = ExecutionId::from(self.new_run_id()?);
        let mut driver = begin(
            self,
            Beginning {
                id,
                planned,
                input,
                actor: caller.actor(),
                idempotency,
                audit: self.audit(caller, action, id.to_string()),
            },
        );
        self.runs.keep(id.uuid(), share);
        driver.trace_below(caller.trace());
        let progress = driver.watch();
        driver.launch();
        match self.wait_for(id.uuid(), progress, wait).await? {
            Ok(executed) => Ok((executed, Begun::Now)),
            Err(unbegun) => match &*unbegun {
                Rejected::Duplicate(answer) => Ok((self.wait_again(answer, wait).await?, Begun::Before)),
                Rejected::Failed(error) => Err(match error.clone() {
                    WriteError::Store(error) => error.into(),
                    WriteError::Refused(RunRefused::Mismatch(mismatch)) => mismatch.into(),
                    WriteError::Refused(RunRefused::Superseded) => {
                        Fault::Internal(format!("the new run {id} was written by somebody else")).into()
                    }
                }),
            },
        }
    }

    /// The same request again: the same run, wherever it has come to.
    pub(crate) async fn wait_again(&self, answer: &str, wait: Wait) -> Result<Executed, OpError> {
        let id = Uuid::try_parse(answer)
            .map_err(|_| Fault::Internal("a recorded answer cannot be read".to_owned()))?;
        if let Some(live) = self.runs.find(id)
            && let Ok(executed) = self.wait_for(id, live.progress, wait).await?
        {
            return Ok(executed);
        }
        let result = self.execution(id).await?;
        Ok(if result.status.is_final() {
            Executed::Ended(Arc::new(EndedRun::new(result)))
        } else {
            Executed::Accepted(id)
        })
    }

    /// Waits until a run is where its caller wants it, or is not begun at all.
    async fn wait_for(
        &self,
        id: Uuid,
        mut progress: watch::Receiver<Progress>,
        wait: Wait,
    ) -> Result<Result<Executed, Arc<Rejected>>, OpError> {
        let mut stored = false;
        loop {
            match &progress.borrow_and_update().rest {
                RunPhase::NotStored => {}
                RunPhase::Rejected(why) => return Ok(Err(Arc::clone(why))),
                _ if wait == Wait::ForStart => return Ok(Ok(Executed::Accepted(id))),
                RunPhase::Ended(result) => return Ok(Ok(Executed::Ended(Arc::clone(result)))),
                RunPhase::Waiting(result) => return Ok(Ok(Executed::Waiting(Arc::clone(result)))),
                RunPhase::Running => stored = true,
            }
            if progress.changed().await.is_err() {
                let what = if stored {
                    format!("execution {id} goes on after a restart")
                } else {
                    "the host stops: nobody knows whether the execution was begun; look at the history"
                        .to_owned()
                };
                return Err(Fault::Unavailable(what).into());
            }
        }
    }
}

fn to_value(input: Object) -> Result<Value, OpError> {
    exact(&Json::Object(input))
}

/// The `input` of a request, with every number as it was sent.
pub(crate) fn exact(input: &Json) -> Result<Value, OpError> {
    input.to_serde_exact().map_err(|error| {
        let (pointer, message) = match error {
            NotExact::Number { pointer, message } => (pointer, message),
            NotExact::TooDeep(error) => (String::new(), error.to_string()),
        };
        let mut problems = Problems::new();
        problems.push(format!("/input{pointer}"), Code::OutOfRange, message);
        Refusal::Invalid {
            document: "request",
            problems,
        }
        .into()
    })
}
