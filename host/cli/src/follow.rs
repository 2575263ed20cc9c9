//! Follows a run of a host in this process to its end: shows it, asks the person at the terminal when it escalates, and cancels it on
//! Ctrl-C. The question is also put for runs of other hosts ([`ask`]).

mod interrupt;
mod question;
mod view;

pub(crate) use interrupt::Interrupt;
pub(crate) use view::View;

use crate::output;
use anyhow::Result;
use mizzen_json::{ReadLimits, parse};
use mizzen_model::execution::{Approval, ChainExecutionResult, ExecutionStatus};
use mizzen_ops::{Caller, ExecutionEvent, Host, OpError, Refusal};
use mizzen_store::DeliveryState;
use question::{Answer, Question, Subject};
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

/// It waits for a person, and nobody was there to be asked.
pub(crate) const EXIT_WAITING: u8 = 4;
/// Ctrl-C: 128 and the number of the signal, as shells say it.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// What a person at the terminal decided about one escalation.
pub(crate) struct Decided {
    pub(crate) escalation_id: String,
    pub(crate) decision: Approval,
    pub(crate) reason: String,
}

/// Asks the person at the terminal about a run of another host; none when nobody can be asked.
pub(crate) async fn ask(result: &ChainExecutionResult, view: &mut View) -> Option<Decided> {
    let mut question = Some(Question::of(Subject::of(result, None)?, view)?);
    loop {
        let answer = question::read(&mut question).await;
        let asked = question.take()?;
        match answer {
            Answer::Decided { decision, reason } => {
                return Some(Decided {
                    escalation_id: asked.escalation_id().to_owned(),
                    decision,
                    reason,
                });
            }
            Answer::Open(stage) => question = Some(asked.next(stage, view)),
            Answer::Nobody => return None,
        }
    }
}

/// A run and who follows it.
pub(crate) struct Follow<'a> {
    pub(crate) host: &'a Arc<Host>,
    pub(crate) caller: &'a Caller,
    pub(crate) id: Uuid,
    pub(crate) interrupt: &'a Interrupt,
    /// Whether the run is gone when nobody follows it.
    pub(crate) is_temporary: bool,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) result: ChainExecutionResult,
    pub(crate) nobody_answered: bool,
}

impl Ended {
    /// One code for each cause; Ctrl-C goes before how the run ended.
    pub(crate) fn exit_code(&self, interrupt: &Interrupt) -> u8 {
        match self.result.status {
            _ if interrupt.is_requested() => EXIT_INTERRUPTED,
            ExecutionStatus::Completed => 0,
            _ if self.nobody_answered => EXIT_WAITING,
            _ => output::EXIT_REFUSED,
        }
    }
}

impl Follow<'_> {
    /// Until the run ends, or waits for a person who is not here.
    pub(crate) async fn until_the_end(self, mut view: View) -> Result<Ended> {
        let mut after = 0;
        let mut cancelled = false;
        let mut nobody_answered = false;
        let mut question: Option<Question> = None;
        let mut begun: Option<ExecutionEvent> = None;
        loop {
            tokio::select! {
                biased;
                () = self.interrupt.requested(), if !cancelled => {
                    cancelled = true;
                    question = None;
                    view.say("interrupted: cancelling the run");
                    self.cancel(&mut view).await;
                }
                answer = question::read(&mut question), if question.is_some() => {
                    let asked = question.take();
                    match (answer, asked) {
                        (Answer::Decided { decision, reason }, Some(asked)) => {
                            self.decide(&asked, decision, &reason).await?;
                        }
                        (Answer::Open(next), Some(asked)) => question = Some(asked.next(next, &mut view)),
                        (Answer::Nobody, _) | (_, None) => {
                            nobody_answered = true;
                            if !self.leave(&mut view).await {
                                break;
                            }
                        }
                    }
                }
                events = self.host.next_events(self.id, after) => {
                    let Some(events) = events? else { break };
                    after = events.last().map_or(after, |event| event.seq);
                    begun = begun.or_else(|| events.into_iter().find(|event| event.seq == 1));
                    let result = self.host.execution(self.id).await?;
                    view.show(&result);
                    let asks = result.status == ExecutionStatus::AwaitingApproval && !cancelled && !nobody_answered;
                    if asks && question.is_none() {
                        let subject = Subject::of(&result, begun.as_ref());
                        question = subject.and_then(|subject| Question::of(subject, &mut view));
                        if question.is_none() {
                            nobody_answered = true;
                            if !self.leave(&mut view).await {
                                break;
                            }
                        }
                    }
                }
            }
        }
        let result = self.host.execution(self.id).await?;
        view.end(&result);
        self.tell_of_hooks(&mut view).await?;
        Ok(Ended {
            result,
            nobody_answered,
        })
    }

    /// Cancels the run. One that has ended meanwhile has ended.
    async fn cancel(&self, view: &mut View) {
        match self.host.cancel_execution(self.caller, self.id).await {
            Ok(_) | Err(OpError::Refused(Refusal::ExecutionEnded { .. })) => {}
            Err(error) => view.say(&format!("the run cannot be cancelled: {error}")),
        }
    }

    /// Nobody is here to be asked. Whether the run is still followed: one that would be gone is cancelled, another one waits.
    async fn leave(&self, view: &mut View) -> bool {
        if self.is_temporary {
            view.say("it waits for a person, nobody is here to be asked, and this host ends with the run: cancelled");
            self.cancel(view).await;
            return true;
        }
        view.say(&format!(
            "it waits for a person: start `mizzen serve` on this data folder, then mizzen runs approve {} --reason TEXT (or deny)",
            self.id
        ));
        false
    }

    /// Hooks are delivered by a server. What a host that ends with the run leaves undone is said.
    async fn tell_of_hooks(&self, view: &mut View) -> Result<()> {
        let hooks = self.host.store.deliveries_of_run(self.id).await?;
        let waiting = hooks
            .iter()
            .filter(|hook| hook.state == DeliveryState::Pending.as_str())
            .count();
        if waiting > 0 {
            let fate = if self.is_temporary {
                "are not delivered: this host ends with the run"
            } else {
                "are delivered by the next `mizzen serve` of this data folder"
            };
            view.say(&format!("hooks: {waiting} {fate}"));
        }
        Ok(())
    }

    async fn decide(&self, asked: &Question, decision: Approval, reason: &str) -> Result<()> {
        let answer = json!({
            "decision": decision, "reason": reason, "escalation_id": asked.escalation_id(),
        });
        let answer = parse(&answer.to_string(), ReadLimits::default())?
            .root()
            .to_json();
        self.host.decide_execution(self.caller, self.id, &answer).await?;
        Ok(())
    }
}
