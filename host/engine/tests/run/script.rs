//! A case: a chain, what its calls answer, and what must come of it.

mod guests;

use guests::{Does, Guests, ended};
use mizzen_engine::pack::{Decision, DecisionDraft};
use mizzen_engine::plan::{MountedPack, Plan, Repeatable, Target, ToolFacts, Unresolved};
use mizzen_engine::run::{Command, Event, Evidence, PackAnswer, PackQuestion, Run, Start, Within};
use mizzen_json::Json;
use mizzen_model::council::Council;
use mizzen_model::execution::{Approval, CallLog, ChainExecutionResult, ExecutionStatus, LogEntry, LogLevel};
use mizzen_model::governance::{PackMode, PackOrigin, PackSeverity};
use mizzen_model::id::ExecutionId;
use mizzen_model::pack::Moment;
use mizzen_model::tool_spec::SideEffects;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) const EXECUTION: &str = "11111111-1111-4111-8111-111111111111";
pub(crate) const START_MS: u64 = 1_777_284_000_000;
const WORKER: &str = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35";
const AGENT: &str = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c36";

/// What a guest writes: all that it answers, but not the scripts of those that it calls. Whatever must be kept nowhere stands in its
/// log, too.
pub(crate) fn written(answer: &Value) -> CallLog {
    let mut answer = answer.clone();
    if let Some(members) = answer.as_object_mut() {
        members.remove("calls");
    }
    let line = LogEntry {
        level: LogLevel::Info,
        message: answer.to_string(),
        fields: std::collections::BTreeMap::new(),
    };
    CallLog::last_of(vec![line], 0)
}

pub(crate) struct Case {
    pub(crate) name: String,
    text: Value,
}

pub(crate) struct Played {
    pub(crate) result: ChainExecutionResult,
    pub(crate) events: Vec<(Event, u64)>,
    pub(crate) commands: Vec<Command>,
    guests: Guests,
}

/// How far a case has been played.
#[derive(Default)]
struct Playing {
    now_ms: u64,
    /// How often each step was called.
    answered: HashMap<u32, usize>,
    /// How often the gate agent was asked.
    questions: usize,
    /// How often packs were, at each moment.
    asked: HashMap<&'static str, usize>,
    guests: Guests,
}

pub(crate) fn cases() -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/chains");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read = |file: &std::path::PathBuf| Case {
        name: file.file_stem().unwrap().to_string_lossy().into_owned(),
        text: serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap(),
    };
    files.iter().map(read).collect()
}

pub(crate) fn finishes(commands: &[Command]) -> usize {
    commands
        .iter()
        .filter(|command| matches!(command, Command::Finished { .. }))
        .count()
}

/// Of a denial the words must be there; everything else must be the same.
fn check_replies(name: &str, wanted: &Value, replies: &[Value]) {
    let wanted = wanted.as_array().unwrap();
    assert_eq!(wanted.len(), replies.len(), "{name}: {replies:?}");
    for (wanted, reply) in wanted.iter().zip(replies) {
        match wanted.get("denied") {
            None => assert_eq!(wanted, reply, "{name}"),
            Some(words) => {
                let said = reply["denied"].as_str().unwrap_or_default();
                assert!(
                    wanted["path"] == reply["path"] && said.contains(words.as_str().unwrap()),
                    "{name}: {reply}"
                );
            }
        }
    }
}

fn decision(said: &Value) -> Decision {
    let text = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or("r").to_owned();
    let draft = DecisionDraft {
        action: text("action"),
        severity: PackSeverity::Violation,
        rule: text("rule"),
        reason: text("reason"),
        details: said.get("details").cloned().unwrap_or(json!({})).to_string(),
        facts: "[]".to_owned(),
    };
    Decision::check(draft).unwrap()
}

fn sprite(id: &str, name: &str, protected: bool, capabilities: &[&str]) -> Value {
    let parameters = |name: &str| match name {
        "strict" => json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
        _ => json!({}),
    };
    let capabilities: Vec<Value> = capabilities
        .iter()
        .map(|name| json!({"name": name, "description": "", "parameters": parameters(name)}))
        .collect();
    json!({
        "id": id, "name": name, "version": "1.0.0", "capabilities": capabilities, "system_prompt": "", "protected": protected,
        "metadata": {"author": "a", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": []},
        "fingerprint": {"type": "blake3", "hash": "0".repeat(64)},
    })
}

impl Case {
    pub(crate) fn new(name: String, text: Value) -> Self {
        Self { name, text }
    }

    pub(crate) fn start(&self) -> Start {
        let execution_id = ExecutionId::parse(EXECUTION).unwrap();
        Start {
            execution_id,
            input: self.text["input"].clone(),
            now_ms: START_MS,
            escalation_ms: self.text.get("escalation_ms").and_then(Value::as_u64),
        }
    }

    pub(crate) fn plan(&self) -> Arc<Plan<String>> {
        let mut chain = json!({
            "id": "7f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "name": "c", "steps": self.text["steps"],
            "gates": self.text["gates"], "timeout": self.text.get("timeout").cloned().unwrap_or(json!("1h")),
        });
        for (order, step) in chain["steps"].as_array_mut().unwrap().iter_mut().enumerate() {
            step["order"] = json!(order);
            step["sprite_id"] = json!(WORKER);
            for list in ["gates_before", "gates_after"] {
                for gate in step
                    .get_mut(list)
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                {
                    gate["sprite_id"] = json!(AGENT);
                }
            }
        }
        for gate in chain["gates"].as_array_mut().unwrap() {
            gate["sprite_id"] = json!(AGENT);
        }
        let protected = self.text.get("protected").is_some();
        let agent: &[&str] = if self.text.get("agent").is_some() {
            &["evaluate_gate"]
        } else {
            &["judge"]
        };
        let council = json!({
            "id": "9f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "name": "n", "domain": "d", "gate_agents": [AGENT],
            "sprites": [
                sprite(WORKER, "WORKER", protected, &["work", "strict", "external", "unperformed"]),
                sprite(AGENT, "LEWIS-06", false, agent),
            ],
            "chains": [chain], "rules": self.text.get("rules").cloned().unwrap_or(json!([])),
        });
        let council = Council::parse(&Json::parse(&council.to_string()).unwrap())
            .unwrap_or_else(|problems| panic!("{}: {problems}", self.name));
        let plan = Plan::compile(&council, &council.chains[0], |_, capability| {
            match capability.name.as_str() {
                "unperformed" => Err(Unresolved {
                    code: "CAPABILITY_UNRESOLVED".to_owned(),
                    message: "install it".to_owned(),
                }),
                "external" => Ok(Target {
                    call: capability.name.clone(),
                    repeatable: Repeatable::No,
                }),
                other => Ok(Target {
                    call: other.to_owned(),
                    repeatable: Repeatable::Yes,
                }),
            }
        });
        let about = |call: &String| ToolFacts {
            tool: format!("test.{call}"),
            side_effects: match call.as_str() {
                "evaluate_gate" => self.text["agent_touches"]
                    .as_str()
                    .map_or(SideEffects::None, |text| SideEffects::parse(text).unwrap()),
                "external" => SideEffects::External,
                _ => SideEffects::None,
            },
            ..ToolFacts::default()
        };
        let plan = plan.unwrap().governed(self.mounts(), about);
        let governs = plan.governable();
        Arc::new(plan.governing(governs))
    }

    fn mounts(&self) -> Vec<MountedPack> {
        let packs = self.text.get("packs").and_then(Value::as_array);
        let mount = |pack: &Value| MountedPack {
            id: pack["id"].as_str().unwrap().to_owned(),
            version: "1.0.0".to_owned(),
            digest: format!("blake3:{}", pack["id"].as_str().unwrap()),
            mode: pack.get("mode").map_or(PackMode::Mandatory, |mode| {
                PackMode::parse(mode.as_str().unwrap()).unwrap()
            }),
            origin: PackOrigin::Council,
            moments: match pack.get("moments").and_then(Value::as_array) {
                None => Moment::ALL.to_vec(),
                Some(moments) => moments
                    .iter()
                    .map(|name| Moment::parse(name.as_str().unwrap()).unwrap())
                    .collect(),
            },
            reads: serde_json::from_value(pack.get("reads").cloned().unwrap_or(json!([]))).unwrap(),
        };
        packs.into_iter().flatten().map(mount).collect()
    }

    /// What the scripted packs say: under `says`, by moment, the first time, the second time, and so on; nothing after that.
    pub(crate) fn answers(
        &self,
        question: &PackQuestion,
        asked: &mut HashMap<&'static str, usize>,
    ) -> Vec<PackAnswer> {
        let turn = asked.entry(question.moment.as_str()).or_default();
        let place = *turn;
        *turn += 1;
        let answer = |mount: &usize| {
            let said = &self.text["packs"][*mount]["says"][question.moment.as_str()][place];
            let said = said.as_array().cloned().unwrap_or_default();
            let failure = said.iter().find_map(|said| said.get("fails")?.as_str());
            PackAnswer {
                mount: *mount,
                failure: failure.map(str::to_owned),
                decisions: said
                    .iter()
                    .filter(|said| said.get("fails").is_none())
                    .map(decision)
                    .collect(),
            }
        };
        let silent = |mount: &&usize| self.text["packs"][**mount].get("silent").is_none();
        question.mounts.iter().filter(silent).map(answer).collect()
    }

    /// Runs the case on a clock of its own until it ends.
    pub(crate) fn play(&self) -> Played {
        let (mut run, mut commands) = Run::start(self.plan(), self.start());
        let mut playing = Playing {
            now_ms: START_MS,
            ..Playing::default()
        };
        let mut events = Vec::new();
        let mut all = commands.clone();
        for _ in 0..1000 {
            if run.result().status.is_final() {
                return Played {
                    result: run.result().clone(),
                    events,
                    commands: all,
                    guests: playing.guests,
                };
            }
            let question = commands.iter().find_map(|command| match command {
                Command::AskPacks(question) => Some(question),
                _ => None,
            });
            playing.guests.hear(&commands);
            let event = match question {
                Some(question) => self.packs_respond(question, &mut playing),
                None => self.respond(&run, &commands, &mut playing),
            };
            events.push((event.clone(), playing.now_ms));
            commands = run.handle(event, playing.now_ms);
            all.extend(commands.clone());
        }
        panic!("{} does not end", self.name);
    }

    fn packs_respond(&self, question: &PackQuestion, playing: &mut Playing) -> Event {
        let said = &self.text["packs_do"][question.moment.as_str()];
        if let Some(reason) = said.get("cancel") {
            return Event::Cancel {
                reason: reason.as_str().unwrap().to_owned(),
                actor: "ada".to_owned(),
            };
        }
        if said.get("hang").is_some() {
            playing.now_ms = question.deadline_ms;
            return Event::Tick;
        }
        playing.now_ms += 1;
        Event::PacksAnswered {
            question: question.question,
            answers: self.answers(question, &mut playing.asked),
            shown: Evidence::Full,
        }
    }

    fn respond(&self, run: &Run<String>, commands: &[Command], playing: &mut Playing) -> Event {
        for command in commands {
            match command {
                Command::Call { order, attempt, .. } => {
                    let turn = playing.answered.entry(*order).or_default();
                    let answer = &self.text["calls"][order.to_string()][*turn];
                    assert!(
                        !answer.is_null(),
                        "{}: call {turn} of step {order} is not in the script",
                        self.name
                    );
                    *turn += 1;
                    let within = Within::Step {
                        order: *order,
                        attempt: *attempt,
                    };
                    playing.guests.begin(within, answer);
                }
                Command::AskGate(question) => {
                    let answer = self.text["agent"]
                        .get(playing.questions)
                        .expect("the agent has an answer");
                    playing.questions += 1;
                    let within = Within::Gate {
                        question: question.question,
                    };
                    playing.guests.begin(within, answer);
                }
                Command::Escalated { escalation_id } => {
                    let script = &self.text["decision"];
                    let Some(after_ms) = script["after_ms"].as_u64() else {
                        // Nobody answers.
                        playing.now_ms = run.wake_at_ms().expect("the question expires");
                        return Event::Tick;
                    };
                    playing.now_ms += after_ms;
                    if let Some(reason) = script.get("cancel").and_then(Value::as_str) {
                        return Event::Cancel {
                            reason: reason.to_owned(),
                            actor: "ada".to_owned(),
                        };
                    }
                    let decision = Approval::parse(script["decision"].as_str().unwrap()).unwrap();
                    return Event::Decided {
                        escalation_id: escalation_id.clone(),
                        decision,
                        reason: "asked".to_owned(),
                        actor: "ada".to_owned(),
                    };
                }
                Command::AskPacks(_)
                | Command::NestedCall { .. }
                | Command::NestedReply { .. }
                | Command::StopBranch { .. }
                | Command::Interrupted { .. }
                | Command::Noted
                | Command::StopNested { .. }
                | Command::WakeAt { .. }
                | Command::StopCalls
                | Command::Notify { .. }
                | Command::Finished { .. } => {}
            }
        }
        match playing.guests.next() {
            Some(Does::Event(event)) => {
                playing.now_ms += 1;
                return event;
            }
            Some(Does::Ends(within, answer)) => return self.call_ends(run, within, &answer, playing),
            None => {}
        }
        // Nothing is under way: the run waits before it calls again.
        if let Some(reason) = self.text.get("cancel_between_attempts").and_then(Value::as_str) {
            return Event::Cancel {
                reason: reason.to_owned(),
                actor: "ada".to_owned(),
            };
        }
        playing.now_ms = run.wake_at_ms().expect("something wakes the run");
        Event::Tick
    }

    /// The outermost call has made its calls, and does what its script says.
    fn call_ends(&self, run: &Run<String>, within: Within, answer: &Value, playing: &mut Playing) -> Event {
        if answer.get("hang").is_some() {
            playing.now_ms = run.wake_at_ms().expect("something wakes the run");
            return Event::Tick;
        }
        if let Some(reason) = answer.get("cancel") {
            return Event::Cancel {
                reason: reason.as_str().unwrap().to_owned(),
                actor: "ada".to_owned(),
            };
        }
        match within {
            Within::Step { order, attempt } => {
                playing.now_ms += answer.get("ms").and_then(Value::as_u64).unwrap_or(1);
                Event::CallEnded {
                    order,
                    attempt,
                    result: ended(answer),
                    log: written(answer),
                }
            }
            Within::Gate { question } => Event::GateAnswered {
                question,
                answer: match answer.as_str().or_else(|| answer.get("veto")?.as_str()) {
                    None => Ok(()),
                    Some(reason) => Err(reason.to_owned()),
                },
            },
        }
    }

    /// What must be kept nowhere.
    pub(crate) fn secret(&self) -> Option<&str> {
        self.text["expect"].get("nowhere")?.as_str()
    }

    /// The decisions of the design that the case shows.
    pub(crate) fn decides(&self) -> Vec<String> {
        let listed = self.text.get("decides").and_then(Value::as_array);
        let listed = listed.into_iter().flatten();
        listed
            .map(|decision| decision.as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn check(&self, played: &Played) {
        let expect = self.text["expect"].as_object().unwrap();
        let result = &played.result;
        let steps = |of: &dyn Fn(&mizzen_model::execution::StepExecution) -> Value| -> Value {
            result.steps.iter().map(of).collect()
        };
        for (what, wanted) in expect {
            let found = match what.as_str() {
                "status" => json!(result.status.as_str()),
                "steps" => steps(&|step| json!(step.status.as_str())),
                "inputs" => steps(&|step| step.input.clone().unwrap_or(Value::Null)),
                "outputs" => steps(&|step| step.output.clone().unwrap_or(Value::Null)),
                "attempts" => steps(&|step| json!(step.attempts)),
                "logs" => steps(&|step| json!(step.log.len())),
                "step_errors" => steps(&|step| json!(step.error.as_ref().map(|error| &error.code))),
                "step_tool_codes" => {
                    steps(&|step| json!(step.error.as_ref().and_then(|e| e.tool_code.clone())))
                }
                "error_tool_code" => json!(result.error.as_ref().and_then(|error| error.tool_code.clone())),
                "call_tool_codes" => result
                    .steps
                    .iter()
                    .flat_map(|step| &step.calls)
                    .map(|call| json!(call.error.as_ref().and_then(|error| error.tool_code.clone())))
                    .collect(),
                "step_messages" => steps(&|step| json!(step.error.as_ref().map(|error| &error.message))),
                "gates" => result
                    .gates
                    .iter()
                    .map(|gate| {
                        let step = gate.step.map_or_else(String::new, |step| format!(" @{step}"));
                        json!(format!("{} {}{step}", gate.position, gate.decision))
                    })
                    .collect(),
                "rules" => result
                    .rules
                    .iter()
                    .map(|rule| {
                        json!(format!(
                            "{} {}",
                            rule.rule_id,
                            if rule.matched { rule.action.as_str() } else { "-" }
                        ))
                    })
                    .collect(),
                "packs" => result
                    .packs
                    .iter()
                    .flatten()
                    .map(|said| {
                        let mut step = said.step.map_or_else(String::new, |step| format!(" @{step}"));
                        step.extend(said.call.iter().map(|path| format!("/{path}")));
                        let done = if said.applied { "" } else { " not done" };
                        let rule = said.rule.as_deref().unwrap_or("-");
                        json!(format!(
                            "{} {}{step}: {} {rule}{done}",
                            said.pack_id, said.moment, said.action
                        ))
                    })
                    .collect(),
                "error" => json!(result.error.as_ref().map(|error| &error.code)),
                "error_step" => json!(result.error.as_ref().and_then(|error| error.step)),
                "duration" => json!(result.duration_ms),
                // In milliseconds after the start.
                "expires" => {
                    let expires_at = result.escalation.as_ref().unwrap().expires_at.as_ref().unwrap();
                    json!(expires_at.unix_ms() - result.started_at.unix_ms())
                }
                "not_applied" => result
                    .packs
                    .iter()
                    .flatten()
                    .filter(|said| !said.applied)
                    .map(|said| json!(said.not_applied))
                    .collect(),
                "reason" => {
                    let message = &result.error.as_ref().unwrap().message;
                    assert!(
                        message.contains(wanted.as_str().unwrap()),
                        "{}: {message}",
                        self.name
                    );
                    continue;
                }
                "hooks" => played
                    .commands
                    .iter()
                    .filter_map(|command| match command {
                        Command::Notify { hook, .. } => Some(json!(hook.to_string())),
                        _ => None,
                    })
                    .collect(),
                // Of the calls that tools made: what was called, what the callers were answered, and what is shown of them.
                "made" => json!(played.guests.made),
                "replies" => {
                    check_replies(&self.name, wanted, &played.guests.replies);
                    continue;
                }
                "calls" => result
                    .steps
                    .iter()
                    .flat_map(|step| &step.calls)
                    .chain(result.gates.iter().flat_map(|gate| &gate.calls))
                    .map(|call| {
                        let code = call.error.as_ref().map_or("", |error| error.code.as_str());
                        json!(
                            format!(
                                "{}#{} {} {} {code}",
                                call.path, call.attempt, call.tool, call.status
                            )
                            .trim()
                        )
                    })
                    .collect(),
                "gate_reasons" => result.gates.iter().map(|gate| json!(gate.reason)).collect(),
                // What the gate agent was asked about, in its turn.
                "agent_saw" => played
                    .commands
                    .iter()
                    .filter_map(|command| match command {
                        Command::AskGate(question) => Some(question.input["input"].clone()),
                        _ => None,
                    })
                    .collect(),
                "stopped" => json!(played.commands.contains(&Command::StopCalls)),
                "nowhere" => {
                    let text = serde_json::to_string(result).unwrap();
                    let secret = wanted.as_str().unwrap();
                    assert!(!text.contains(secret), "{}: {text}", self.name);
                    continue;
                }
                "waited" => json!(
                    result
                        .escalation
                        .as_ref()
                        .is_some_and(|escalation| escalation.answer.is_some())
                ),
                other => panic!("{}: nobody checks {other}", self.name),
            };
            assert_eq!(
                &found,
                wanted,
                "{}: {what}\n{}",
                self.name,
                serde_json::to_string_pretty(result).unwrap()
            );
        }
        assert_eq!(finishes(&played.commands), 1, "{}", self.name);
        assert!(!expect.is_empty() && result.status != ExecutionStatus::Running);
    }
}
