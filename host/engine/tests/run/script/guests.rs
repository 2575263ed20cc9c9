//! Guests that call other tools: under `calls` an answer says what its tool calls first, and each of these may have `calls` again.
//!
//! ```text
//! {"ok": …, "calls": [{"tool": "t.pay", "side_effects": "external", "repeatable": false, "input": …, "ok": …}]}
//! ```
//!
//! Some never end: `stops` (the host stops, and the outermost call is made again), `hang`, `caller_ends` and `outermost_ends` (with
//! what the caller, or the outermost tool, comes to meanwhile).

use mizzen_engine::plan::{Repeatable, ToolFacts};
use mizzen_engine::run::{CallFailure, Callee, Command, Event, NestedAsked, NestedReply, Transient, Within};
use mizzen_model::tool_spec::SideEffects;
use serde_json::{Value, json};

/// What is being called now, outermost first.
#[derive(Default)]
pub(crate) struct Guests {
    stack: Vec<Guest>,
    /// The calls that were made: path and tool.
    pub(crate) made: Vec<String>,
    /// What their callers were answered.
    pub(crate) replies: Vec<Value>,
}

struct Guest {
    within: Within,
    path: String,
    script: Value,
    called: usize,
}

/// What the innermost guest does next.
pub(crate) enum Does {
    /// Asks for a call, or ends one that a tool made.
    Event(Event),
    /// The outermost call ends as its script says.
    Ends(Within, Value),
}

pub(crate) fn failure(script: &Value) -> CallFailure {
    CallFailure {
        code: script["error"].as_str().unwrap().to_owned(),
        message: script["message"].as_str().unwrap_or("as scripted").to_owned(),
        transient: if script["transient"] == json!(true) {
            Transient::Yes
        } else {
            Transient::No
        },
        tool_code: script["tool_code"].as_str().map(str::to_owned),
    }
}

pub(crate) fn ended(script: &Value) -> Result<Value, CallFailure> {
    match script.get("error") {
        Some(_) => Err(failure(script)),
        None => Ok(script["ok"].clone()),
    }
}

impl Guests {
    /// The outermost call begins.
    pub(crate) fn begin(&mut self, within: Within, script: &Value) {
        self.stack = vec![Guest {
            within,
            path: String::new(),
            script: script.clone(),
            called: 0,
        }];
    }

    /// Takes in what the run commands.
    pub(crate) fn hear(&mut self, commands: &[Command]) {
        for command in commands {
            match command {
                Command::StopCalls => self.stack.clear(),
                Command::StopNested { path, .. } => {
                    let place = self.stack.iter().position(|guest| guest.path == *path);
                    self.stack.truncate(place.unwrap() + 1);
                }
                Command::NestedCall { path, input, .. } => {
                    let caller = self.stack.last().unwrap();
                    let script = caller.script["calls"][caller.called - 1].clone();
                    self.made
                        .push(format!("{path} {} {input}", script["tool"].as_str().unwrap()));
                    let within = caller.within;
                    self.stack.push(Guest {
                        within,
                        path: path.clone(),
                        script,
                        called: 0,
                    });
                }
                Command::NestedReply { path, reply, .. } => {
                    if self.stack.last().is_some_and(|guest| guest.path == *path) {
                        self.stack.pop();
                    }
                    self.replies.push(match reply {
                        NestedReply::Answered(output) => json!({"path": path, "ok": output}),
                        NestedReply::Failed(failed) => json!({"path": path, "failed": failed.code}),
                        NestedReply::Denied(reason) => json!({"path": path, "denied": reason}),
                    });
                }
                _ => {}
            }
        }
    }

    /// What the innermost guest does; none when nothing is called.
    pub(crate) fn next(&mut self) -> Option<Does> {
        let guest = self.stack.last_mut()?;
        let within = guest.within;
        if guest.script.get("stops").is_some() {
            return Some(Does::Event(Event::Interrupted { within }));
        }
        if let Some(script) = guest.script.get("outermost_ends").cloned() {
            self.stack.clear();
            return Some(Does::Ends(within, script));
        }
        if let Some(script) = guest.script.get("caller_ends") {
            let (caller, _) = guest.path.rsplit_once('.').unwrap();
            return Some(Does::Event(Event::NestedEnded {
                within,
                path: caller.to_owned(),
                log: super::written(script),
                result: ended(script),
            }));
        }
        let call = &guest.script["calls"][guest.called];
        if !call.is_null() {
            guest.called += 1;
            let dot = if guest.path.is_empty() { "" } else { "." };
            let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
            let caller = guest.script["tool"].as_str().unwrap_or("t.outermost").to_owned();
            return Some(Does::Event(Event::NestedAsked(Box::new(NestedAsked {
                within,
                path: format!("{}{dot}{}", guest.path, guest.called),
                caller,
                callee: Callee {
                    tool: ToolFacts {
                        tool: text("tool"),
                        version: "1.0.0".to_owned(),
                        plugin: "t".to_owned(),
                        side_effects: call["side_effects"]
                            .as_str()
                            .map_or(SideEffects::None, |text| SideEffects::parse(text).unwrap()),
                    },
                    digest: "blake3:t".to_owned(),
                    repeatable: match call["repeatable"] == json!(false) {
                        true => Repeatable::No,
                        false => Repeatable::Yes,
                    },
                },
                input: call["input"].clone(),
            }))));
        }
        if guest.path.is_empty() || guest.script.get("hang").is_some() {
            let script = guest.script.clone();
            self.stack.clear();
            return Some(Does::Ends(within, script));
        }
        Some(Does::Event(Event::NestedEnded {
            within,
            path: guest.path.clone(),
            log: super::written(&guest.script),
            result: ended(&guest.script),
        }))
    }
}
