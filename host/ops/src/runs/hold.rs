//! Holding transitions back while packs are asked: what led to a question is written together with what follows from the answer,
//! so that packs cost no commit of their own.

use super::drive::{Driver, Stopped};
use mizzen_engine::run::Command;
use mizzen_model::execution::ChainExecutionResult;
use mizzen_store::{AuditEntry, RunStep};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

/// Transitions that are not written yet.
pub(super) struct Unwritten {
    first_seq: u64,
    step: RunStep,
    audit: Option<AuditEntry>,
}

impl Unwritten {
    /// With what followed.
    fn and(mut self, step: RunStep) -> Self {
        self.step.events.extend(step.events);
        self.step.deliveries.extend(step.deliveries);
        (self.step.status, self.step.sealed) = (step.status, step.sealed);
        self
    }
}

impl Driver {
    /// Makes what follows from an event durable; while packs are asked, that waits for their answer.
    pub(super) async fn write(
        &mut self,
        body: Map<String, Value>,
        audit: Option<AuditEntry>,
        commands: &[Command],
        now_ms: u64,
    ) -> Result<(), Stopped> {
        let judging = commands
            .iter()
            .any(|command| matches!(command, Command::AskPacks(_)));
        if judging && body.is_empty() {
            return Ok(());
        }
        let first_seq = self.journal.next_seq;
        let step = self.transition(body, commands, now_ms);
        let mut all = match self.unwritten.take() {
            Some(before) => before.and(step),
            None => Unwritten {
                first_seq,
                step,
                audit: None,
            },
        };
        all.audit = match (all.audit.take(), audit) {
            // Two people steered it while packs were asked: a transition has place for one.
            (Some(before), Some(now)) => {
                if let Err(error) = self.host.store.record_audit(before).await {
                    tracing::error!(execution = %self.id, %error, "an audit line is not written");
                    return Err(Stopped);
                }
                Some(now)
            }
            (before, now) => now.or(before),
        };
        if judging {
            self.unwritten = Some(all);
            return Ok(());
        }
        let hooked = !all.step.deliveries.is_empty();
        self.commit(all.first_seq, all.step, all.audit).await?;
        self.publish();
        if hooked {
            self.host.wake_deliveries();
        }
        for reply in std::mem::take(&mut self.waiting) {
            let _ = reply.send(self.run.result().clone());
        }
        Ok(())
    }

    /// Says how far the run has come, as soon as that is durable.
    pub(super) fn show(&mut self, reply: oneshot::Sender<ChainExecutionResult>) {
        if self.unwritten.is_some() {
            self.waiting.push(reply);
        } else {
            let _ = reply.send(self.run.result().clone());
        }
    }
}
