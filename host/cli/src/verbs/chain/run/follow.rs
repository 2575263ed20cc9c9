//! Follows a run to its end: shows it, asks whoever is there when it escalates, and cancels it on Ctrl-C.

use super::interrupt::Interrupt;
use super::view::View;
use anyhow::Result;
use mizzen_model::execution::{Approval, ChainExecutionResult, ExecutionStatus};
use mizzen_model::json::{Limits, parse};
use mizzen_ops::{Caller, Host, OpError, Refusal};
use mizzen_store::DeliveryState;
use serde_json::json;
use std::io::{BufRead, Read};
use std::sync::Arc;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Bytes of an answer that are read.
const LONGEST_ANSWER: u64 = 1_024;

/// A run and who follows it.
pub(super) struct Follow<'a> {
    pub(super) host: &'a Arc<Host>,
    pub(super) caller: &'a Caller,
    pub(super) id: Uuid,
    pub(super) interrupt: &'a Interrupt,
    /// Whether the run is gone when nobody follows it.
    pub(super) is_temporary: bool,
}

/// How it ended.
pub(super) struct Ended {
    pub(super) result: ChainExecutionResult,
    pub(super) nobody_answered: bool,
}

impl Follow<'_> {
    /// Until the run ends, or waits for a person who is not here.
    pub(super) async fn until_the_end(self, mut view: View) -> Result<Ended> {
        let mut after = 0;
        let mut cancelled = false;
        let mut nobody_answered = false;
        let mut question: Option<Question> = None;
        loop {
            tokio::select! {
                biased;
                () = self.interrupt.requested(), if !cancelled => {
                    cancelled = true;
                    question = None;
                    view.say("interrupted: cancelling the run");
                    self.cancel(&mut view).await;
                }
                answer = read(&mut question), if question.is_some() => {
                    let asked = question.take();
                    match (answer, asked) {
                        (Answer::Decision(decision), Some(asked)) => self.decide(&asked, decision).await?,
                        (Answer::Unclear, Some(asked)) => question = Some(asked.again(&mut view)),
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
                    let result = self.host.execution(self.id).await?;
                    view.show(&result);
                    let asks = result.status == ExecutionStatus::AwaitingApproval && !cancelled && !nobody_answered;
                    if asks && question.is_none() {
                        question = Question::of(&result, &mut view);
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
            "it waits for a person: POST /v1/executions/{}/decision on a server of this data folder",
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

    async fn decide(&self, asked: &Question, decision: Approval) -> Result<()> {
        let answer = json!({
            "decision": decision, "reason": "answered at the terminal", "escalation_id": asked.escalation_id,
        });
        let answer = parse(&answer.to_string(), Limits::default())?.root().to_json();
        self.host.decide_execution(self.caller, self.id, &answer).await?;
        Ok(())
    }
}

/// What came of a question.
enum Answer {
    Decision(Approval),
    Unclear,
    Nobody,
}

/// A question that was put to the person at the terminal.
struct Question {
    escalation_id: String,
    text: String,
    line: oneshot::Receiver<Option<String>>,
}

impl Question {
    /// Asks, if there is somebody to be asked.
    fn of(result: &ChainExecutionResult, view: &mut View) -> Option<Self> {
        let escalation = result.escalation.as_ref().filter(|_| view.has_a_reader())?;
        let rule = result
            .rules
            .iter()
            .find(|rule| rule.rule_id == escalation.rule_id)
            .map_or(escalation.rule_id.as_str(), |rule| rule.name.as_str());
        let text = format!("the rule {rule:?} asks a person");
        Some(Self::ask(escalation.escalation_id.clone(), text, view))
    }

    fn ask(escalation_id: String, text: String, view: &mut View) -> Self {
        view.ask(&text);
        Self {
            escalation_id,
            text,
            line: line_from_stdin(),
        }
    }

    fn again(self, view: &mut View) -> Self {
        Self::ask(self.escalation_id, self.text, view)
    }
}

async fn read(question: &mut Option<Question>) -> Answer {
    let Some(question) = question else {
        return std::future::pending().await;
    };
    match (&mut question.line).await {
        Ok(Some(line)) => match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Answer::Decision(Approval::Approve),
            "n" | "no" => Answer::Decision(Approval::Deny),
            _ => Answer::Unclear,
        },
        Ok(None) | Err(_) => Answer::Nobody,
    }
}

/// One line of standard input, none at its end. Read by a thread of its own that nobody waits for: a read cannot be taken back,
/// and Ctrl-C must not wait for the return key.
fn line_from_stdin() -> oneshot::Receiver<Option<String>> {
    let (send, line) = oneshot::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(LONGEST_ANSWER).read_line(&mut text);
        let _ = send.send(matches!(read, Ok(1..)).then_some(text));
    });
    line
}
