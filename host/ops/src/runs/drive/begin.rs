//! How drivers come to be: with a new run, or with one that was made again from its journal.

use super::super::entry::Journal;
use super::super::ledger::{Ledger, Starting};
use super::super::nested::REQUESTS;
use super::super::packs::PackSet;
use super::super::resolve::{Planned, StepCall};
use super::super::{Live, Progress};
use super::lanes::Lane;
use super::{Driver, INBOX, RunClock};
use crate::host::Host;
use crate::traces::{SpanContext, SpanKind, TraceSpan};
use mizzen_engine::run::{CallFailure, Command, Event, Run, Start, Transient, Within};
use mizzen_json::serde_to_canonical;
use mizzen_model::execution::CallLog;
use mizzen_model::id::ExecutionId;
use mizzen_store::{AuditEntry, Idempotency, NewRun};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A run to begin.
pub(crate) struct Beginning<'a> {
    pub(crate) id: ExecutionId,
    pub(crate) planned: &'a Planned,
    pub(crate) input: Value,
    pub(crate) actor: &'a str,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) audit: AuditEntry,
}

/// What a journal says of the time before.
pub(in crate::runs) struct Past {
    pub(in crate::runs) journal: Journal,
    pub(in crate::runs) last_ms: u64,
    pub(in crate::runs) load_plan: Arc<str>,
    pub(in crate::runs) actor: String,
}

impl Past {
    /// The time of the run from now on: it does not go back.
    pub(in crate::runs) fn clock(&self, host: &Host) -> RunClock {
        let now_ms = u64::try_from(host.now_ms()).unwrap_or(0);
        RunClock::at(now_ms.max(self.last_ms), host)
    }
}

/// What there was before a driver; nothing after a restart.
#[derive(Debug, Default)]
pub(in crate::runs) struct Kept {
    /// The time of the run, which goes on while it has no driver.
    pub(in crate::runs) clock: Option<RunClock>,
    pub(in crate::runs) packs: Option<Arc<PackSet>>,
    pub(in crate::runs) span: Option<TraceSpan>,
}

/// Begins a run: everything that needs nothing from outside happens here, and nothing of it is durable yet.
pub(crate) fn begin(host: &Arc<Host>, beginning: Beginning<'_>) -> Driver {
    let Beginning {
        id,
        planned,
        input,
        actor,
        idempotency,
        audit,
    } = beginning;
    let now_ms = u64::try_from(host.now_ms()).unwrap_or(0);
    let journaled_input = serde_to_canonical(&input);
    let start = Start {
        execution_id: id,
        input,
        now_ms,
        escalation_ms: host.runs.escalation_ms(),
    };
    let escalation_ms = start.escalation_ms;
    let (run, commands) = Run::start(Arc::clone(&planned.plan), start);
    let mut driver = Driver::new(host, id, run, now_ms, Arc::clone(&planned.load_plan));
    driver.packs = Arc::clone(&planned.packs);
    if planned.plan.may_redact_input() {
        driver.journal.keep_whole(Vec::new());
    }
    let result = driver.run.result();
    let (council_id, chain_id) = (result.council_id, result.chain_id);
    let mut body = planned.entry.clone();
    body.text("actor", actor);
    body.written("input", journaled_input);
    if let Some(escalation_ms) = escalation_ms {
        body.number("escalation_ms", escalation_ms);
    }
    driver.ledger.start_with(Starting {
        run: NewRun {
            id: id.uuid(),
            council_id: council_id.uuid(),
            chain_id: chain_id.uuid(),
            started_at: i64::try_from(now_ms).unwrap_or(i64::MAX),
            definition_hash: planned.definition_hash,
            definition: Arc::clone(&planned.definition),
        },
        idempotency,
        audit,
    });
    driver.record(body, None, &commands, now_ms);
    driver.commands = commands;
    driver
}

impl Driver {
    fn new(host: &Arc<Host>, id: ExecutionId, run: Run<StepCall>, now_ms: u64, load_plan: Arc<str>) -> Self {
        let (sender, inbox) = mpsc::channel(INBOX);
        let (requests, asked) = mpsc::channel(REQUESTS);
        let (progress, watched) = watch::channel(Progress::default());
        host.runs.enter(
            id.uuid(),
            Live {
                inbox: sender,
                progress: watched,
            },
        );
        Self {
            host: Arc::clone(host),
            id,
            run,
            journal: Journal::new(id),
            ledger: Ledger::new(&host.store, id.uuid()),
            clock: RunClock::at(now_ms, host),
            load_plan,
            packs: Arc::default(),
            held: Vec::new(),
            commands: Vec::new(),
            barred: Vec::new(),
            lanes: vec![Lane::default()],
            nowhere: Lane::default(),
            asked,
            requests,
            first: VecDeque::new(),
            inbox,
            postponed: VecDeque::new(),
            progress,
            span: None,
            sealed: None,
            rewrote: false,
        }
    }

    /// Traces the run below the request that started it, or by itself.
    pub(crate) fn trace_below(&mut self, parent: Option<SpanContext>) {
        let result = self.run.result();
        self.span = self
            .host
            .traces
            .begin("chain.execution", SpanKind::Internal, parent)
            .map(|mut span| {
                span.set("mizzen.execution_id", self.id.to_string());
                span.set("mizzen.council_id", result.council_id.to_string());
                span.set("mizzen.chain_id", result.chain_id.to_string());
                span
            });
    }

    /// A driver for a run that was made again from its journal.
    pub(in crate::runs) fn resumed(host: &Arc<Host>, run: Run<StepCall>, past: Past, kept: Kept) -> Self {
        let id = run.result().execution_id;
        let clock = kept.clock.unwrap_or_else(|| past.clock(host));
        let mut driver = Self::new(host, id, run, clock.now_ms(host), past.load_plan);
        driver.journal = past.journal;
        driver.packs = kept
            .packs
            .unwrap_or_else(|| Arc::new(PackSet::again(&host.loaded(), driver.run.plan().packs())));
        driver.span = kept.span;
        if driver.span.is_none() {
            driver.trace_below(None);
            if let Some(span) = &mut driver.span {
                span.set("mizzen.resumed", "true");
            }
        }
        let nested = driver.run.has_nested();
        for command in driver.run.pending() {
            // What may have been done is not done again. A call that had made calls comes to them again: the run has to know that, and
            // commands the call itself.
            let again = || {
                let within = within(&command).filter(|within| nested.contains(within))?;
                Some(Event::Interrupted { within })
            };
            match driver.in_doubt(&command).or_else(again) {
                Some(event) => driver.first.push_back((event, past.last_ms)),
                None => driver.commands.push(command),
            }
        }
        // What it has become is in the store already.
        driver.publish();
        driver
    }

    /// What a call comes to that may have been made before the host stopped, and must not be made twice.
    fn in_doubt(&self, command: &Command) -> Option<Event> {
        match command {
            Command::Call { order, attempt, .. } => {
                let pin = &self.run.call_of(*order)?.pin;
                (!pin.repeatable).then(|| Event::CallEnded {
                    order: *order,
                    attempt: *attempt,
                    result: Err(CallFailure {
                        code: "IN_DOUBT".to_owned(),
                        message: format!(
                            "the host stopped while {} ({}) was called: nobody knows whether it happened, and the tool names no \
                             idempotency key; look, and start the {} again if it did not",
                            pin.tool,
                            pin.side_effects,
                            if self.run.plan().graph().is_some() { "graph" } else { "chain" }
                        ),
                        transient: Transient::No,
                        tool_code: None,
                    }),
                    log: CallLog::default(),
                })
            }
            Command::AskGate(question) => {
                let pin = &self.run.plan().gate_call()?.pin;
                (!pin.repeatable).then(|| Event::GateAnswered {
                    question: question.question,
                    answer: Err("the host stopped while the gate agent was asked".to_owned()),
                })
            }
            _ => None,
        }
    }
}

/// The outermost call that a command makes.
fn within(command: &Command) -> Option<Within> {
    match command {
        Command::Call { order, attempt, .. } => Some(Within::Step {
            order: *order,
            attempt: *attempt,
        }),
        Command::AskGate(question) => Some(Within::Gate {
            question: question.question,
        }),
        _ => None,
    }
}
