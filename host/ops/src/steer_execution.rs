//! What people tell a run: a decision, or to stop.

use crate::caller::Caller;
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::runs::{Message, Reached};
use mizzen_json::Json;
use mizzen_model::execution::{Approval, ChainExecutionResult, DecisionRequest, ExecutionStatus};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Entries of a journal that are read at once.
const PIECE: usize = 256;
/// How often somebody is told something who may be gone in that moment.
const TRIES: usize = 4;

impl Host {
    /// Answers an escalation. The same answer twice is one answer; another one is refused.
    pub async fn decide_execution(
        self: &Arc<Self>,
        caller: &Caller,
        id: Uuid,
        document: &Json,
    ) -> Result<ChainExecutionResult, OpError> {
        let request = DecisionRequest::parse(document).map_err(|problems| Refusal::Invalid {
            document: "decision",
            problems,
        })?;
        let before = self.execution(id).await?;
        if self.judge(id, &before, &request).await? == Judged::Answered {
            return Ok(before);
        }
        let audit = self.audit(caller, "decide_execution", id.to_string());
        let result = self
            .tell(id, |reply| Message::Decide {
                escalation_id: request.escalation_id.clone(),
                decision: request.decision,
                reason: request.reason.clone(),
                audit: audit.clone(),
                reply,
            })
            .await?;
        // Somebody may have been faster: then their answer is the one that counts.
        self.judge(id, &result, &request).await?;
        Ok(result)
    }

    /// Refuses an answer to a question that was not asked, or that was answered otherwise.
    async fn judge(
        &self,
        id: Uuid,
        result: &ChainExecutionResult,
        request: &DecisionRequest,
    ) -> Result<Judged, OpError> {
        let asked = result
            .escalation
            .as_ref()
            .filter(|escalation| escalation.escalation_id == request.escalation_id);
        let answer = match asked {
            Some(escalation) => escalation.answer.as_ref().map(|answer| answer.decision),
            // A run that asks the next question does not hold the one before it any more; its journal does.
            None => {
                let answer = self.answer_before(id, &request.escalation_id).await?;
                Some(answer.ok_or_else(|| Refusal::EscalationNotFound {
                    id,
                    escalation_id: request.escalation_id.clone(),
                })?)
            }
        };
        match answer {
            Some(decision) if decision != request.decision => {
                Err(Refusal::AlreadyDecided { id, decision }.into())
            }
            Some(_) => Ok(Judged::Answered),
            None if result.status.is_final() => Err(Refusal::ExecutionEnded {
                id,
                status: result.status,
            }
            .into()),
            None => Ok(Judged::Open),
        }
    }

    /// What was answered to a question of a run, whatever it has asked since.
    async fn answer_before(&self, id: Uuid, escalation_id: &str) -> Result<Option<Approval>, OpError> {
        let mut after = 0;
        loop {
            let piece = self.store.run_events(id, after, PIECE).await?;
            let Some(last) = piece.last().map(|event| event.seq) else {
                return Ok(None);
            };
            after = last;
            for event in piece {
                let Ok(entry) = serde_json::from_str::<Value>(&event.bytes) else {
                    continue;
                };
                let text = |name: &str| entry.get(name).and_then(Value::as_str);
                if text("kind") == Some("decided") && text("escalation_id") == Some(escalation_id) {
                    return Ok(text("decision").and_then(Approval::parse));
                }
            }
        }
    }

    /// Ends a run. Ending it twice is ending it once; a run that ended otherwise cannot be cancelled.
    ///
    /// Nothing is read or written before the run's driver is told: what a person wants to stop is stopped first.
    pub async fn cancel_execution(
        self: &Arc<Self>,
        caller: &Caller,
        id: Uuid,
    ) -> Result<ChainExecutionResult, OpError> {
        let audit = self.audit(caller, "cancel_execution", id.to_string());
        let reason = format!("cancelled by {}", caller.actor());
        let result = self
            .tell(id, |reply| Message::Cancel {
                reason: reason.clone(),
                audit: audit.clone(),
                reply,
            })
            .await?;
        match result.status {
            ExecutionStatus::Cancelled => Ok(result),
            status => Err(Refusal::ExecutionEnded { id, status }.into()),
        }
    }

    /// Sends a message to a run's driver; the answer is what is durable after it. A run that ends meanwhile answers itself.
    pub(crate) async fn tell(
        self: &Arc<Self>,
        id: Uuid,
        message: impl Fn(oneshot::Sender<ChainExecutionResult>) -> Message,
    ) -> Result<ChainExecutionResult, OpError> {
        for _ in 0..TRIES {
            let (reply, answer) = oneshot::channel();
            if self.hand_over(id, message(reply)).await?.is_none()
                && let Ok(result) = answer.await
            {
                return Ok(result);
            }
            let result = self.execution(id).await?;
            if result.status.is_final() {
                return Ok(result);
            }
            // A driver that was about to park its run has heard nothing.
            if !matches!(self.runs.reach(id), Some(Reached::Parked(..) | Reached::Soon(_))) {
                break;
            }
        }
        Err(Fault::Unavailable(format!(
            "execution {id} cannot be told anything at the moment; try again"
        ))
        .into())
    }
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judged {
    /// It was answered so before.
    Answered,
    /// Nobody has answered.
    Open,
}
