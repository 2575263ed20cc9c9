//! Calls that tools make in a run (D23): a guest's request on its way to the driver, and the answer on its way back.
//!
//! ```text
//! guest → import `tools` → Broker → driver → engine → journal → packs, or the call → engine → Broker → guest
//! ```
//!
//! The guest waits inside of its import and keeps its sandbox and its clock, so a request always has an end: an answer, or the end
//! of the call that made it. Then the broker's future is dropped, and what it asked for is stopped.

use super::resolve::{Pin, StepCall};
use crate::host::Host;
use crate::toolbox::told_to_caller;
use mizzen_engine::ToolError;
use mizzen_engine::plan::{Repeatable, ToolFacts};
use mizzen_engine::run::{Callee, NestedAsked, NestedReply, Within};
use mizzen_sandbox::{CallTool, NestedCall, Pending};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// Requests that may wait for the driver. A run has one guest that runs, so there is one, or one that nobody waits for any more.
pub(super) const REQUESTS: usize = 4;

/// What a guest is answered.
type Answer = Result<String, ToolError>;

/// A guest asks for a call.
pub(super) struct Request {
    within: Within,
    path: String,
    asked: NestedCall,
    reply: oneshot::Sender<Answer>,
}

/// A call that a guest waits for.
pub(super) struct Awaited {
    pub(super) path: String,
    pub(super) call: StepCall,
    /// The tools that led to it, outermost first.
    pub(super) lineage: Vec<String>,
    /// When the guest's own time is up.
    pub(super) deadline: Instant,
    reply: oneshot::Sender<Answer>,
}

impl Request {
    /// Finds what is called. Nobody is left to hear of it when the guest has ended meanwhile; what cannot be called is answered here.
    pub(super) fn resolve(self, host: &Host) -> Option<(NestedAsked, Awaited)> {
        let Self {
            within,
            path,
            asked,
            reply,
        } = self;
        if reply.is_closed() {
            return None;
        }
        let found = host.callee(&asked.tool).and_then(|call| {
            let input = serde_json::from_str(&asked.input).map_err(|error| ToolError::InvalidInput {
                path: String::new(),
                message: error.to_string(),
            })?;
            Ok((call, input))
        });
        let (call, input) = match found {
            Ok(found) => found,
            Err(error) => {
                let _ = reply.send(Err(error));
                return None;
            }
        };
        let event = NestedAsked {
            within,
            path: path.clone(),
            caller: asked.lineage.last().cloned().unwrap_or_default(),
            callee: callee(&call.pin),
            input,
        };
        let awaited = Awaited {
            path,
            call,
            lineage: asked.lineage,
            deadline: asked.deadline,
            reply,
        };
        Some((event, awaited))
    }

    /// The outermost call that it is a part of.
    pub(super) fn within(&self) -> Within {
        self.within
    }

    /// Denies it.
    pub(super) fn deny(self, reason: String) {
        let _ = self.reply.send(Err(ToolError::Denied(reason)));
    }
}

impl Awaited {
    /// The run has an answer.
    pub(super) fn answer(self, reply: NestedReply) {
        let _ = self.reply.send(match reply {
            NestedReply::Answered(output) => Ok(output.to_string()),
            NestedReply::Denied(reason) => Err(ToolError::Denied(reason)),
            NestedReply::Failed(failed) => Err(match failed.code.as_str() {
                // As outside of runs: these are the host's words, and not the callee's.
                "TOOL_UNKNOWN" | "PLUGIN_GONE" | "CALL_FAILED" => ToolError::Unavailable(failed.message),
                _ => ToolError::Failed {
                    code: failed.code,
                    message: failed.message,
                },
            }),
        });
    }

    /// The run does not take the call.
    pub(super) fn give_up(self) {
        let _ = self
            .reply
            .send(Err(ToolError::Unavailable("the run has gone on".to_owned())));
    }
}

/// What the engine knows of a tool that another one calls.
pub(super) fn callee(pin: &Pin) -> Callee {
    Callee {
        tool: ToolFacts {
            tool: pin.tool.clone(),
            version: pin.version.clone(),
            plugin: pin.plugin.clone(),
            side_effects: pin.side_effects,
        },
        digest: pin.digest.clone(),
        repeatable: if pin.repeatable {
            Repeatable::Yes
        } else {
            Repeatable::No
        },
    }
}

impl Host {
    /// What a tool means that calls another by its id: of the set that runs now.
    fn callee(&self, tool: &str) -> Result<StepCall, ToolError> {
        let called = |pin: Pin, callable| StepCall {
            pin,
            callable,
            sprite_name: String::new(),
            system_prompt: String::new(),
        };
        #[cfg(test)]
        if let Some(script) = self.script.get() {
            let pin = script.find(tool);
            let pin = pin.ok_or_else(|| ToolError::Unavailable(format!("no tool {tool}")))?;
            return Ok(called(pin, None));
        }
        let toolbox = self
            .toolbox()
            .ok_or_else(|| ToolError::Unavailable("no plugins are loaded".to_owned()))?;
        let callable = toolbox.find(tool).map_err(told_to_caller)?;
        let pin = Pin::of(callable.spec(), callable.plugin());
        Ok(called(pin, Some(callable)))
    }
}

/// Sends the calls that one guest makes to the driver of its run, numbered in their order.
#[derive(Debug)]
pub(super) struct Broker {
    within: Within,
    /// The path of the call that the guest is; empty for the outermost one.
    path: String,
    calls: AtomicU32,
    requests: mpsc::Sender<Request>,
}

impl Broker {
    pub(super) fn new(within: Within, path: String, requests: mpsc::Sender<Request>) -> Self {
        Self {
            within,
            path,
            calls: AtomicU32::new(0),
            requests,
        }
    }
}

impl CallTool for Broker {
    fn call(&self, asked: NestedCall) -> Pending<'_, Answer> {
        Box::pin(async move {
            let number = self.calls.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            let path = match self.path.as_str() {
                "" => number.to_string(),
                path => format!("{path}.{number}"),
            };
            let over = || ToolError::Unavailable("the run is over".to_owned());
            let (reply, answer) = oneshot::channel();
            let request = Request {
                within: self.within,
                path,
                asked,
                reply,
            };
            self.requests.send(request).await.map_err(|_| over())?;
            answer.await.unwrap_or_else(|_| Err(over()))
        })
    }
}
