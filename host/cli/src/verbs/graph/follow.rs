//! Follows a run of a graph to its end: shows it, answers its interrupts, and cancels it on Ctrl-C.

use crate::follow::{Ended, Interrupt, View};
use anyhow::Result;
use mizzen_json::{Json, Object, ReadLimits, parse};
use mizzen_model::execution::{self, ChainExecutionResult, ExecutionStatus};
use mizzen_ops::{Caller, Host, OpError, Refusal};
use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;
use uuid::Uuid;

/// The longest line that is read as an answer.
const LINE: usize = 64 << 10;

/// Where answers come from.
pub(super) struct Answers {
    given: std::vec::IntoIter<Object>,
}

impl Answers {
    pub(super) fn new(given: Vec<Object>) -> Self {
        Self {
            given: given.into_iter(),
        }
    }

    /// The next answer; none when there is no further one and nobody is at the terminal.
    async fn next(&mut self, asked: &execution::Interrupt, view: &mut View) -> Option<Object> {
        if let Some(given) = self.given.next() {
            return Some(given);
        }
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return None;
        }
        let mut lines = vec![format!("? {}", asked.prompt)];
        if !asked.payload.is_empty() {
            lines.push(format!("  {}", serde_json::Value::Object(asked.payload.clone())));
        }
        view.tell(&lines);
        loop {
            view.ask("answer with a JSON object (an empty line: {}): ");
            let line = tokio::task::spawn_blocking(read_line).await.ok()??;
            let text = if line.trim().is_empty() { "{}" } else { line.trim() };
            let read = parse(text, ReadLimits::default()).ok();
            match read.and_then(|tape| tape.root().to_json_unique().ok()) {
                Some(Json::Object(answer)) => return Some(answer),
                _ => view.say("that is no JSON object"),
            }
        }
    }
}

/// One line of standard input; none at its end.
fn read_line() -> Option<String> {
    use std::io::Read as _;
    let mut line = String::new();
    let input = std::io::stdin().lock();
    let read = input.take(LINE as u64).read_line(&mut line).ok()?;
    (read > 0).then_some(line)
}

/// A run and who follows it.
pub(super) struct FollowGraph<'a> {
    pub(super) host: &'a Arc<Host>,
    pub(super) caller: &'a Caller,
    pub(super) id: Uuid,
    pub(super) interrupt: &'a Interrupt,
    /// Whether the run is gone when nobody follows it.
    pub(super) is_temporary: bool,
}

impl FollowGraph<'_> {
    /// Until the run ends, or waits for a person who is not here.
    pub(super) async fn until_the_end(self, mut view: View, mut answers: Answers) -> Result<Ended> {
        let mut after = 0;
        let mut cancelled = false;
        let mut nobody_answered = false;
        loop {
            tokio::select! {
                biased;
                () = self.interrupt.requested(), if !cancelled => {
                    cancelled = true;
                    view.say("interrupted: cancelling the run");
                    self.cancel(&mut view).await;
                }
                events = self.host.next_events(self.id, after) => {
                    let Some(events) = events? else { break };
                    after = events.last().map_or(after, |event| event.seq);
                    let result = self.host.execution(self.id).await?;
                    view.show(&result);
                    let is_waiting = matches!(
                        result.status,
                        ExecutionStatus::AwaitingInput | ExecutionStatus::AwaitingApproval
                    );
                    if is_waiting && !cancelled && !nobody_answered && !self.answer(&result, &mut answers, &mut view).await? {
                        nobody_answered = true;
                        if !self.leave(&mut view).await {
                            break;
                        }
                    }
                }
            }
        }
        let result = self.host.execution(self.id).await?;
        view.end(&result);
        Ok(Ended {
            result,
            nobody_answered,
        })
    }

    /// Answers the interrupt that is open. Returns whether there was an answer.
    async fn answer(
        &self,
        result: &ChainExecutionResult,
        answers: &mut Answers,
        view: &mut View,
    ) -> Result<bool> {
        let interrupt = result.graph.as_ref().and_then(|graph| graph.interrupt.as_ref());
        let open = interrupt
            .filter(|asked| asked.answer.is_none() && result.status == ExecutionStatus::AwaitingInput);
        let Some(asked) = open else { return Ok(false) };
        loop {
            let Some(answer) = answers.next(asked, view).await else {
                return Ok(false);
            };
            let id = Some(asked.interrupt_id.as_str());
            match self.host.respond_run(self.caller, self.id, id, answer).await {
                Ok(_) => return Ok(true),
                Err(OpError::Refused(refusal @ Refusal::Invalid { .. })) => view.say(&refusal.to_string()),
                // It expired, or somebody else answered.
                Err(OpError::Refused(Refusal::NoInterrupt { .. })) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
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
        view.say(&format!("run {} waits for a person in this data folder", self.id));
        false
    }
}
