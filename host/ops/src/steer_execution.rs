//! What people tell a run: a decision, or to stop.

use crate::caller::Caller;
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::runs::Message;
use mizzen_model::execution::{ChainExecutionResult, DecisionRequest, ExecutionStatus};
use mizzen_model::json::Json;
use tokio::sync::oneshot;
use uuid::Uuid;

impl Host {
    /// Answers an escalation. The same answer twice is one answer; another one is refused.
    pub async fn decide_execution(
        &self,
        caller: &Caller,
        id: Uuid,
        document: &Json,
    ) -> Result<ChainExecutionResult, OpError> {
        let request = DecisionRequest::parse(document).map_err(|problems| Refusal::Invalid {
            document: "decision",
            problems,
        })?;
        let before = self.execution(id).await?;
        judge(id, &before, &request)?;
        if is_answered(&before) {
            return Ok(before);
        }
        let audit = self.audit(caller, "decide_execution", id.to_string());
        let result = self
            .tell(id, |reply| Message::Decide {
                escalation_id: request.escalation_id.clone(),
                decision: request.decision,
                reason: request.reason.clone(),
                audit,
                reply,
            })
            .await?;
        // Somebody may have been faster: then their answer is the one that counts.
        judge(id, &result, &request)?;
        Ok(result)
    }

    /// Ends a run. Ending it twice is ending it once; a run that ended otherwise cannot be cancelled.
    ///
    /// Nothing is read or written before the run's driver is told: what a person wants to stop is stopped first.
    pub async fn cancel_execution(&self, caller: &Caller, id: Uuid) -> Result<ChainExecutionResult, OpError> {
        let audit = self.audit(caller, "cancel_execution", id.to_string());
        let reason = format!("cancelled by {}", caller.actor());
        let result = self
            .tell(id, |reply| Message::Cancel { reason, audit, reply })
            .await?;
        match result.status {
            ExecutionStatus::Cancelled => Ok(result),
            status => Err(Refusal::ExecutionEnded { id, status }.into()),
        }
    }

    /// Sends a message to a run's driver; the answer is what is durable after it. A run that ends meanwhile answers itself.
    async fn tell(
        &self,
        id: Uuid,
        message: impl FnOnce(oneshot::Sender<ChainExecutionResult>) -> Message,
    ) -> Result<ChainExecutionResult, OpError> {
        if let Some(live) = self.runs.find(id) {
            let (reply, answer) = oneshot::channel();
            if live.inbox.send(message(reply)).await.is_ok()
                && let Ok(result) = answer.await
            {
                return Ok(result);
            }
        }
        let result = self.execution(id).await?;
        if result.status.is_final() {
            return Ok(result);
        }
        Err(Fault::Unavailable(format!(
            "execution {id} cannot be told anything at the moment; try again"
        ))
        .into())
    }
}

fn is_answered(result: &ChainExecutionResult) -> bool {
    result
        .escalation
        .as_ref()
        .is_some_and(|escalation| escalation.answer.is_some())
}

/// Refuses an answer to a question that was not asked, or that was answered otherwise.
fn judge(id: Uuid, result: &ChainExecutionResult, request: &DecisionRequest) -> Result<(), OpError> {
    let escalation = result
        .escalation
        .as_ref()
        .filter(|escalation| escalation.escalation_id == request.escalation_id)
        .ok_or_else(|| Refusal::EscalationNotFound {
            id,
            escalation_id: request.escalation_id.clone(),
        })?;
    match &escalation.answer {
        Some(answer) if answer.decision != request.decision => Err(Refusal::AlreadyDecided {
            id,
            decision: answer.decision,
        }
        .into()),
        None if result.status.is_final() => Err(Refusal::ExecutionEnded {
            id,
            status: result.status,
        }
        .into()),
        Some(_) | None => Ok(()),
    }
}
