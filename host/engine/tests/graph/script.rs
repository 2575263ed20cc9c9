//! A case: a document, what its calls answer and what people say, and what must come of it.

use super::host::Host;
use mizzen_engine::graph::{GraphLimits, GraphProblem, Lowered, lower};
use mizzen_engine::pack::{Decision, DecisionDraft};
use mizzen_engine::plan::{MountedPack, Plan, ToolFacts};
use mizzen_engine::run::{
    CallFailure, Command, Event, Evidence, PackAnswer, PackQuestion, Run, Start, Transient,
};
use mizzen_model::execution::{CallLog, ChainExecutionResult, StepStatus};
use mizzen_model::governance::{PackMode, PackOrigin, PackSeverity};
use mizzen_model::id::{ChainId, CouncilId, ExecutionId, SpriteId};
use mizzen_model::ir::{IRDocument, loads};
use mizzen_model::pack::Moment;
use mizzen_model::tool_spec::SideEffects;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

const START_MS: u64 = 1_777_284_000_000;
const ID: &str = "11111111-1111-4111-8111-111111111111";

pub(crate) struct Case {
    pub(crate) name: String,
    text: Value,
}

pub(crate) struct Played {
    pub(crate) result: ChainExecutionResult,
    pub(crate) events: Vec<(Event, u64)>,
    /// The inputs of calls, by node.
    inputs: BTreeMap<String, Vec<Value>>,
    /// Branches that were stopped.
    stopped: Vec<u32>,
    asserted: Vec<String>,
}

/// A call that is under way.
struct Open {
    order: u32,
    attempt: u32,
    ends_ms: u64,
    answer: Value,
}

pub(crate) fn cases() -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphs");
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

impl Case {
    pub(crate) fn is_refused(&self) -> bool {
        self.text.get("refused").is_some()
    }

    /// The decisions, actions and strategies that the case is about.
    pub(crate) fn shows(&self) -> Vec<String> {
        let document = &self.text["document"];
        let actions = document["rules"].as_array().into_iter().flatten();
        let actions = actions.flat_map(|rule| rule["then"].as_array().cloned().unwrap_or_default());
        let blocks = document["parallel"].as_array().cloned().unwrap_or_default();
        let mut shows: Vec<String> = actions
            .clone()
            .map(|action| action["kind"].as_str().unwrap().to_owned())
            .collect();
        for block in actions
            .filter(|action| action["kind"] == "parallel")
            .chain(blocks)
        {
            let strategy = block.get("strategy").and_then(Value::as_str).unwrap_or("all");
            shows.push(format!("strategy {strategy}"));
        }
        let decides = self.text["decides"].as_array().into_iter().flatten();
        shows.extend(decides.map(|one| one.as_str().unwrap().to_owned()));
        shows
    }

    pub(crate) fn start(&self) -> Start {
        Start {
            execution_id: ExecutionId::parse(ID).unwrap(),
            input: self.text.get("params").cloned().unwrap_or(json!({})),
            now_ms: START_MS,
            escalation_ms: None,
        }
    }

    pub(crate) fn plan(&self) -> Result<Arc<Plan<String>>, Vec<GraphProblem>> {
        let mut document = self.text["document"].clone();
        let members = document.as_object_mut().unwrap();
        members.entry("ir_version").or_insert(json!("1.0.0"));
        members.entry("id").or_insert(json!("graph:case"));
        let document: IRDocument =
            loads(&document.to_string()).unwrap_or_else(|errors| panic!("{}: {errors:?}", self.name));
        let number = |name: &str, usual: u64| self.text.get(name).and_then(Value::as_u64).unwrap_or(usual);
        let lowered = Lowered {
            council_id: CouncilId::parse(ID).unwrap(),
            chain_id: ChainId::parse(ID).unwrap(),
            sprite_id: SpriteId::parse(ID).unwrap(),
            limits: GraphLimits {
                step_limit: u32::try_from(number("step_limit", 100)).unwrap(),
                timeout_ms: number("timeout_ms", 3_600_000),
            },
        };
        let plan = lower(&document, lowered, &mut Host)?;
        let about = |call: &String| ToolFacts {
            tool: call.clone(),
            side_effects: if call == "t.pay" {
                SideEffects::External
            } else {
                SideEffects::None
            },
            ..ToolFacts::default()
        };
        let plan = plan.governed(self.mounts(), about);
        let governs = plan.governable();
        Ok(Arc::new(plan.governing(governs)))
    }

    fn mounts(&self) -> Vec<MountedPack> {
        let packs = self.text.get("packs").and_then(Value::as_array);
        let mount = |pack: &Value| MountedPack {
            id: pack["id"].as_str().unwrap().to_owned(),
            version: "1.0.0".to_owned(),
            digest: "blake3:x".to_owned(),
            mode: PackMode::Mandatory,
            origin: PackOrigin::Graph,
            moments: Moment::ALL.to_vec(),
            reads: Vec::new(),
        };
        packs.into_iter().flatten().map(mount).collect()
    }

    fn judge(&self, question: &PackQuestion, asked: &mut HashMap<String, usize>) -> Event {
        let turn = asked.entry(question.moment.as_str().to_owned()).or_default();
        let place = *turn;
        *turn += 1;
        let answer = |mount: &usize| {
            let said = &self.text["packs"][*mount]["says"][question.moment.as_str()][place];
            PackAnswer {
                mount: *mount,
                decisions: said.as_array().into_iter().flatten().map(decision).collect(),
                failure: None,
            }
        };
        Event::PacksAnswered {
            question: question.question,
            answers: question.mounts.iter().map(answer).collect(),
            shown: Evidence::Full,
        }
    }

    /// Runs the case on a clock of its own until it ends, or waits for somebody who does not come.
    pub(crate) fn play(&self) -> Played {
        let (mut run, mut commands) = Run::start(self.plan().unwrap(), self.start());
        let mut now_ms = START_MS;
        let (mut events, mut open): (Vec<(Event, u64)>, Vec<Open>) = (Vec::new(), Vec::new());
        let mut turns: HashMap<String, usize> = HashMap::new();
        let mut asked = HashMap::new();
        let mut people = self.text["people"]
            .as_array()
            .cloned()
            .unwrap_or_default()
            .into_iter();
        let mut inputs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let mut stopped = Vec::new();
        for _ in 0..5_000 {
            let mut question = None;
            for command in &commands {
                match command {
                    Command::Call {
                        order,
                        attempt,
                        input,
                        ..
                    } => {
                        let node = run.result().steps[*order as usize].action.clone();
                        let turn = turns.entry(node.clone()).or_default();
                        let answers = self.text["calls"][&node].as_array();
                        let answers =
                            answers.unwrap_or_else(|| panic!("{}: {node} has no script", self.name));
                        // The last answer is given again and again.
                        let answer = answers.get(*turn).or(answers.last()).unwrap().clone();
                        *turn += 1;
                        inputs.entry(node).or_default().push(input.clone());
                        open.push(Open {
                            order: *order,
                            attempt: *attempt,
                            ends_ms: now_ms + answer.get("takes").and_then(Value::as_u64).unwrap_or(1),
                            answer,
                        });
                    }
                    Command::AskPacks(asks) => question = Some(asks.clone()),
                    Command::StopCalls => open.clear(),
                    Command::StopBranch { order } => {
                        stopped.push(*order);
                        open.retain(|call| call.order != *order);
                    }
                    _ => {}
                }
            }
            if run.result().status.is_final() {
                break;
            }
            let next = open.iter().map(|call| call.ends_ms).min();
            let event = if let Some(question) = question {
                self.judge(&question, &mut asked)
            } else if let Some(person) = people.next_if_due(&run) {
                now_ms += person.get("after").and_then(Value::as_u64).unwrap_or(1);
                person_says(&person, &run)
            } else {
                match (next, run.wake_at_ms()) {
                    (Some(ends_ms), wake) if wake.is_none_or(|wake| ends_ms < wake) => {
                        now_ms = ends_ms;
                        let place = open.iter().position(|call| call.ends_ms == ends_ms).unwrap();
                        ended(open.remove(place))
                    }
                    (_, Some(wake)) => {
                        now_ms = wake;
                        Event::Tick
                    }
                    (_, None) => break,
                }
            };
            events.push((event.clone(), now_ms));
            commands = run.handle(event, now_ms);
        }
        let is_settled = run.result().status.is_final() || run.wake_at_ms().is_none();
        assert!(is_settled, "{} does not end: {:?}", self.name, run.result());
        Played {
            asserted: run.asserted(),
            result: run.into_result(),
            events,
            inputs,
            stopped,
        }
    }

    pub(crate) fn check(&self) {
        let name = &self.name;
        if let Some(refused) = self.text.get("refused") {
            let Err(problems) = self.plan() else {
                panic!("{name} is not refused");
            };
            let found: Vec<Value> = problems.iter().map(|one| json!([one.path, one.code])).collect();
            assert_eq!(json!(found), *refused, "{name}: {problems:?}");
            assert!(
                problems
                    .iter()
                    .all(|one| !one.message.is_empty() && !one.hint.is_empty()),
                "{name}"
            );
            return;
        }
        let played = self.play();
        let result = &played.result;
        let graph = result.graph.as_ref().unwrap();
        let expect = self.text["expect"].as_object().unwrap();
        assert!(
            expect.contains_key("status") && expect.contains_key("path"),
            "{name}"
        );
        for (what, expected) in expect {
            let found = match what.as_str() {
                "status" => json!(result.status),
                "path" => path(result),
                "state" => json!(graph.state),
                "error" => json!(result.error.as_ref().map(|error| error.code.as_str())),
                "says" => {
                    let said = result
                        .error
                        .as_ref()
                        .map(|error| error.message.clone())
                        .unwrap_or_default();
                    let words = expected.as_str().unwrap();
                    assert!(said.contains(words), "{name}: {said:?} does not say {words:?}");
                    expected.clone()
                }
                "halted" => json!(graph.halted),
                "prompt" => json!(graph.interrupt.as_ref().map(|asked| asked.prompt.as_str())),
                "inputs" => json!(played.inputs),
                "stopped" => json!(played.stopped),
                "asserted" => json!(played.asserted),
                "duration_ms" => json!(result.duration_ms),
                other => panic!("{name}: nothing is known of {other}"),
            };
            assert_eq!(found, *expected, "{name}, {what}: {result:?}");
        }
    }
}

/// The visits with how they ended, in the order in which they began.
fn path(result: &ChainExecutionResult) -> Value {
    let visit = |step: &mizzen_model::execution::StepExecution| {
        let node = step.node.as_ref().unwrap();
        let times = if node.iteration > 1 {
            format!("#{}", node.iteration)
        } else {
            String::new()
        };
        match (step.status, &step.error) {
            (StepStatus::Completed, _) => format!("{}{times}", node.id),
            (_, Some(error)) => format!("{}{times} {}", node.id, error.code),
            (status, None) => format!("{}{times} {status}", node.id),
        }
    };
    result.steps.iter().map(visit).collect()
}

fn ended(call: Open) -> Event {
    let text = |name: &str| call.answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let large = call.answer.get("large").and_then(Value::as_u64);
    let large = large.map(|bytes| json!({"s": "x".repeat(usize::try_from(bytes).unwrap())}));
    Event::CallEnded {
        order: call.order,
        attempt: call.attempt,
        result: match call.answer.get("ok").or(large.as_ref()) {
            Some(output) => Ok(output.clone()),
            None => Err(CallFailure {
                code: text("fails").unwrap_or_else(|| "TOOL_FAILED".to_owned()),
                message: "scripted".to_owned(),
                transient: Transient::No,
                tool_code: None,
            }),
        },
        log: CallLog::default(),
    }
}

fn person_says(person: &Value, run: &Run<String>) -> Event {
    let actor = "ada".to_owned();
    let interrupt = run
        .result()
        .graph
        .as_ref()
        .and_then(|graph| graph.interrupt.clone());
    match person["does"].as_str().unwrap() {
        "respond" => Event::Responded {
            interrupt_id: interrupt.unwrap().interrupt_id,
            response: person["response"].as_object().unwrap().clone(),
            actor,
        },
        "answer_another" => Event::Responded {
            interrupt_id: "another".to_owned(),
            response: serde_json::Map::new(),
            actor,
        },
        "pause" => Event::Pause { actor },
        "resume" => Event::Resume { actor },
        "cancel" => Event::Cancel {
            reason: "enough".to_owned(),
            actor,
        },
        "wait" => Event::Tick,
        other => panic!("people do not {other}"),
    }
}

trait Due {
    fn next_if_due(&mut self, run: &Run<String>) -> Option<Value>;
}

impl Due for std::vec::IntoIter<Value> {
    /// The next thing that a person does, when the run stands where they do it.
    fn next_if_due(&mut self, run: &Run<String>) -> Option<Value> {
        let wanted = self.as_slice().first()?["when"].as_str().unwrap();
        (run.result().status.as_str() == wanted)
            .then(|| self.next())
            .flatten()
    }
}
