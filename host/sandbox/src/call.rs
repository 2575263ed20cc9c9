//! One call: a fresh store and instance, limits, a deadline, and a typed outcome.

use crate::bindings::exports::mizzen::plugin::{pack, tool};
use crate::bindings::mizzen::plugin::types;
use crate::describe;
use crate::guest_log::Log;
use crate::limiter::Denied;
use crate::machine::Machine;
use crate::memory::Exhausted;
use crate::meter;
use crate::plugin::PreparedPlugin;
use crate::services::CallTool;
use crate::state::{CallState, HostCallsExhausted, Terms};
use crate::threads::Yield;
use mizzen_catalog::register::ItemDraft;
use mizzen_engine::{CallReport, Deadline, LogLine, Outcome, Permit, ToolError, Trap, Usage};
use mizzen_model::manifest::Provides;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::SemaphorePermit;
use wasmtime::component::TypedFunc;
use wasmtime::{PoolConcurrencyLimitError, Store, UpdateDeadline, WasmBacktrace};
use wasmtime_wasi::I32Exit;

/// The most that a guest may pass to the host in one host call, whatever its output limit.
const HOST_ARGUMENT_LIMIT: u64 = 4 << 20;
/// Error texts come from the guest: cut to what a person reads.
pub(crate) const MAX_MESSAGE: usize = 4096;

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool's name inside of its plugin.
    pub tool: String,
    /// The input, JSON text.
    pub input: String,
    /// The caller and its terms.
    pub context: CallContext,
}

/// On whose behalf and under what terms a call is made. The deadline comes from the permit.
#[derive(Debug, Clone, Default)]
pub struct CallContext {
    /// The run this call belongs to; empty when it belongs to none.
    pub run_id: String,
    /// The step's order in its chain.
    pub step: Option<u32>,
    /// The sprite on whose behalf the call is made.
    pub sprite_name: String,
    /// The sprite's system prompt.
    pub system_prompt: String,
    /// Stable over retries of the same step.
    pub idempotency_key: Option<String>,
    /// The tools that led to this call, outermost first; empty for a call that no tool made.
    pub lineage: Vec<String>,
    /// The caller's own deadline; the permit's wall-clock limit applies as well.
    pub deadline: Option<Instant>,
    /// Makes the guest's calls of other tools; the plugin's own service when it is absent.
    pub tools: Option<Arc<dyn CallTool>>,
}

/// An evaluation of a pack.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The facts, a JSON array.
    pub facts: String,
    /// Match operations that the rules may use.
    pub budget: u64,
    /// The caller's own deadline; the permit's wall-clock limit applies as well.
    pub deadline: Option<Instant>,
    /// How many sandboxes wait for the verdict: its slot is taken from those that none of them can hold.
    pub level: usize,
}

/// The call could not be made or finished, and not because of the guest. Except for [`CallFault::NoMemory`], none of its code ran.
#[derive(Debug, thiserror::Error)]
pub enum CallFault {
    /// Every slot was taken for as long as the call was allowed to take.
    #[error("no sandbox slot became free within {0:?}; raise sandbox.slots or send fewer calls at once")]
    Busy(Duration),
    /// All guests together hold too much memory.
    #[error(
        "all guests together may hold {total} bytes of memory, one plugin three quarters of it, and there are no {wanted} bytes left for this call; try again, send fewer calls at once or raise sandbox.total_memory"
    )]
    NoMemory {
        /// The bytes that the guest requested beside those that it had.
        wanted: u64,
        /// What all guests may hold.
        total: u64,
    },
    /// The input is larger than the plugin accepts.
    #[error(
        "the input has {size} bytes, more than the limit of {limit}; send less or raise limits.input in plugin.toml"
    )]
    InputTooLarge {
        /// The input's size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The permit was made for another plugin.
    #[error("the permit was made for {permitted}, not for {plugin}")]
    WrongPermit {
        /// The plugin that the permit names.
        permitted: String,
        /// The plugin that was called.
        plugin: String,
    },
    /// The plugin does not export the interface.
    #[error("{plugin} exports no `{interface}`")]
    NotProvided {
        /// The plugin.
        plugin: String,
        /// The interface.
        interface: &'static str,
    },
    /// The sandbox is shutting down, or failed in a way that is not the guest's doing.
    #[error("the sandbox failed: {0}")]
    Host(String),
}

/// The export to call, with its arguments.
pub(crate) enum Request {
    /// Describe everything of this kind.
    Describe(Provides),
    Invoke(ToolCall),
    Evaluate(Evaluation),
}

impl Request {
    /// The call's deadline: its limit, or its caller's own deadline if that is earlier.
    pub(crate) fn end(&self, wall_clock: Duration, started: Instant) -> Instant {
        let end = started + wall_clock;
        let callers = match self {
            Self::Invoke(call) => call.context.deadline,
            Self::Evaluate(evaluation) => evaluation.deadline,
            Self::Describe(_) => None,
        };
        callers.map_or(end, |callers| callers.min(end))
    }
}

/// When a call begins, and its deadline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallWindow {
    pub(crate) started: Instant,
    pub(crate) end: Instant,
}

/// What the guest returned.
pub(crate) enum Answer {
    Tools(Vec<tool::Descriptor>),
    Items(Vec<ItemDraft>),
    Invoked(Invoked),
    Evaluated(Evaluated),
}

/// A tool's output or error.
pub(crate) type Invoked = Result<String, types::Error>;
/// A pack's verdict or error.
pub(crate) type Evaluated = Result<pack::Verdict, types::Error>;

/// The return value, or a typed outcome without one, and what the call used.
pub(crate) struct Ended {
    pub(crate) answer: Result<Answer, Outcome>,
    pub(crate) usage: Usage,
    pub(crate) log: Vec<LogLine>,
    pub(crate) log_dropped: u64,
}

impl Ended {
    /// The report of an `invoke`.
    pub(crate) fn into_report(self, output_limit: u64) -> CallReport {
        let outcome = match self.answer {
            Ok(Answer::Invoked(Ok(text))) if text.len() as u64 > output_limit => {
                Outcome::OutputTooLarge { limit: output_limit }
            }
            Ok(Answer::Invoked(Ok(text))) => Outcome::Output(text),
            Ok(Answer::Invoked(Err(error))) => Outcome::ToolError(tool_error(error)),
            Ok(Answer::Tools(_) | Answer::Items(_) | Answer::Evaluated(_)) => Outcome::BadOutput {
                reason: "a description is not an output".into(),
            },
            Err(outcome) => outcome,
        };
        CallReport {
            outcome,
            usage: self.usage,
            log: self.log,
            log_dropped: self.log_dropped,
        }
    }
}

/// Runs one request. Polled on guests' threads only, and metered: see [`crate::threads`].
pub(crate) async fn execute(
    machine: Arc<Machine>,
    plugin: Arc<PreparedPlugin>,
    permit: Permit,
    mut request: Request,
    span: CallWindow,
) -> Result<Ended, CallFault> {
    let CallWindow { started, end } = span;
    let limits = *permit.limits();
    let mut callers = Vec::new();
    let (mut tools, mut level) = (None, 0);
    match &mut request {
        Request::Invoke(call) => {
            callers = std::mem::take(&mut call.context.lineage);
            tools = call.context.tools.take();
            level = callers.len();
        }
        Request::Evaluate(evaluation) => level = evaluation.level,
        Request::Describe(_) => {}
    }
    let wall_clock = end.saturating_duration_since(started);
    let turn = take_turn(&machine, &plugin, level, end, started).await?;
    let left = end.saturating_duration_since(turn.since);

    let terms = Terms {
        permit,
        callers,
        tools,
        end,
        wall_clock,
    };
    let mut store = Store::new(&machine.engine, CallState::new(terms, Arc::clone(&plugin)));
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(
        usize::try_from(limits.output.get().max(HOST_ARGUMENT_LIMIT)).unwrap_or(usize::MAX),
    );
    arm(&mut store);

    // The epoch stops a guest that runs; this stops one that waits inside a host call.
    let finished = tokio::time::timeout_at(end.into(), perform(&mut store, &plugin, request, left)).await;

    let state = store.into_data();
    let now = Instant::now();
    let usage = Usage {
        duration: now.saturating_duration_since(started),
        cpu: meter::used(now),
        peak_memory: state.limiter.peak(),
        host_calls: state.host_calls,
    };
    let (log, log_dropped) = state.log.finish();
    let answer = match finished {
        Ok(Ok(Answer::Invoked(Err(error)))) => Ok(Answer::Invoked(Err(clean(error, &state.log)))),
        Ok(Ok(Answer::Invoked(Ok(text)))) => match state.log.leak(&text) {
            Some(name) => Err(Outcome::BadOutput {
                reason: format!("it holds the value of the secret `{name}`, which must not be journaled"),
            }),
            None => Ok(Answer::Invoked(Ok(text))),
        },
        Ok(Ok(answer)) => Ok(answer),
        Err(_elapsed) => Err(Outcome::Deadline(Deadline::WallClock(wall_clock))),
        Ok(Err(error)) => Err(classify(&error, &state, &log)?),
    };
    Ok(Ended {
        answer,
        usage,
        log,
        log_dropped,
    })
}

struct Turn<'a> {
    _slot: SemaphorePermit<'a>,
    _share: Option<SemaphorePermit<'a>>,
    /// When the call arrived.
    since: Instant,
}

/// A slot of the call's level, and for outermost calls a place in the plugin's share of them.
async fn take_turn<'a>(
    machine: &'a Machine,
    plugin: &'a PreparedPlugin,
    level: usize,
    end: Instant,
    now: Instant,
) -> Result<Turn<'a>, CallFault> {
    let slots = machine
        .slots
        .get(level)
        .ok_or_else(|| CallFault::Host("tools call tools too deep".into()))?;
    // Nearly always a slot is free and no call is queued: that takes no timer and no second read of the clock. A semaphore
    // hands its permits to waiting calls first, so this cannot overtake them.
    let share = if level == 0 {
        Some(plugin.share.try_acquire())
    } else {
        None
    };
    if let Some(share) = share.transpose().ok()
        && let Ok(slot) = slots.try_acquire()
    {
        return Ok(Turn {
            _slot: slot,
            _share: share,
            since: now,
        });
    }
    let closed = |_| CallFault::Host("it is shutting down".into());
    let wait = async {
        let share = if level == 0 {
            Some(plugin.share.acquire().await.map_err(closed)?)
        } else {
            None
        };
        let slot = slots.acquire().await.map_err(closed)?;
        Ok(Turn {
            _slot: slot,
            _share: share,
            since: Instant::now(),
        })
    };
    tokio::time::timeout_at(end.into(), wait)
        .await
        .map_err(|_| CallFault::Busy(now.elapsed()))?
}

/// At every tick that finds the guest running: stop it when its CPU limit or deadline is reached, otherwise yield.
/// wasmtime checks before each bulk operation as well, so a guest overruns by at most one of them.
fn arm(store: &mut Store<CallState>) {
    // Its state is in the store's data: a closure that captures nothing is not allocated.
    store.epoch_deadline_callback(|mut context| {
        let state = context.data_mut();
        let cpu = state.permit.limits().cpu.get();
        let now = Instant::now();
        if meter::used(now) > cpu {
            state.stopped = Some(Deadline::Cpu(cpu));
            return Ok(UpdateDeadline::Interrupt);
        }
        if now >= state.end {
            state.stopped = Some(Deadline::WallClock(state.wall_clock));
            return Ok(UpdateDeadline::Interrupt);
        }
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(Yield::until(state.end))))
    });
    store.set_epoch_deadline(1);
}

async fn perform(
    store: &mut Store<CallState>,
    plugin: &PreparedPlugin,
    request: Request,
    left: Duration,
) -> wasmtime::Result<Answer> {
    let instance = plugin.pre.instantiate_async(&mut *store).await?;
    Ok(match request {
        Request::Describe(Provides::Tool) => {
            let guest = require_export(&plugin.tool)?.load(&mut *store, &instance)?;
            Answer::Tools(guest.call_describe(&mut *store).await?)
        }
        Request::Describe(Provides::Skill) => {
            let guest = require_export(&plugin.skill)?.load(&mut *store, &instance)?;
            let skills = guest.call_describe(&mut *store).await?;
            Answer::Items(skills.into_iter().map(describe::skill).collect())
        }
        Request::Describe(Provides::Store) => {
            let guest = require_export(&plugin.store)?.load(&mut *store, &instance)?;
            let stores = guest.call_describe(&mut *store).await?;
            Answer::Items(stores.into_iter().map(describe::store).collect())
        }
        Request::Describe(Provides::Pack) => {
            let guest = require_export(&plugin.pack)?.load(&mut *store, &instance)?;
            let pack = guest.call_describe(&mut *store).await?;
            Answer::Items(vec![describe::pack(pack)])
        }
        Request::Evaluate(evaluation) => {
            let evaluate = require_export(&plugin.evaluate)?;
            let evaluate: TypedFunc<(&str, u64), (Evaluated,)> =
                instance.get_typed_func(&mut *store, evaluate)?;
            let question = (evaluation.facts.as_str(), evaluation.budget);
            Answer::Evaluated(evaluate.call_async(&mut *store, question).await?.0)
        }
        Request::Invoke(call) => {
            let invoke = require_export(&plugin.invoke)?;
            let invoke: TypedFunc<(&str, &str, &types::CallContext), (Invoked,)> =
                instance.get_typed_func(&mut *store, invoke)?;
            let context = types::CallContext {
                run_id: call.context.run_id,
                step: call.context.step,
                sprite_name: call.context.sprite_name,
                system_prompt: call.context.system_prompt,
                idempotency_key: call.context.idempotency_key,
                deadline_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            };
            let input = (call.tool.as_str(), call.input.as_str(), &context);
            Answer::Invoked(invoke.call_async(&mut *store, input).await?.0)
        }
    })
}

/// Checked before the call was made.
fn require_export<T>(indices: &Option<T>) -> wasmtime::Result<&T> {
    indices
        .as_ref()
        .ok_or_else(|| wasmtime::format_err!("the plugin does not export the called interface"))
}

/// The outcome of a call that returned nothing. Errors that the guest did not cause are faults.
fn classify(error: &wasmtime::Error, state: &CallState, log: &[LogLine]) -> Result<Outcome, CallFault> {
    let limits = state.permit.limits();
    if let Some(deadline) = state.stopped {
        return Ok(Outcome::Deadline(deadline));
    }
    if error.downcast_ref::<HostCallsExhausted>().is_some() {
        return Ok(Outcome::HostCallsExhausted {
            limit: u64::from(limits.host_calls),
        });
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return Err(CallFault::Busy(limits.wall_clock.get()));
    }
    match state.limiter.denied() {
        Some(Denied::Own) => {
            return Ok(Outcome::OutOfMemory {
                limit: limits.memory.get(),
            });
        }
        Some(Denied::All(Exhausted { wanted, total })) => return Err(CallFault::NoMemory { wanted, total }),
        None => {}
    }
    let backtrace = error.downcast_ref::<WasmBacktrace>();
    let frames = backtrace.map(frames).unwrap_or_default();
    if let Some(trap) = error.downcast_ref::<wasmtime::Trap>() {
        return Ok(Outcome::Trap(Trap {
            kind: trap.to_string(),
            message: panic_message(log),
            frames,
        }));
    }
    if let Some(I32Exit(code)) = error.downcast_ref::<I32Exit>() {
        let kind = format!("the plugin called exit({code})");
        return Ok(Outcome::Trap(Trap {
            kind,
            message: panic_message(log),
            frames,
        }));
    }
    let cause = bounded(error.root_cause().to_string());
    if backtrace.is_some() {
        // The guest was running: a host call refused its arguments.
        return Ok(Outcome::Trap(Trap {
            kind: cause,
            message: panic_message(log),
            frames,
        }));
    }
    // The guest had returned: its return value could not be read. wasmtime's error for "more than the allowance" is
    // private, so its text has to be matched; a test with a real guest checks it.
    if cause.contains("fuel allocated for hostcalls") {
        return Ok(Outcome::OutputTooLarge {
            limit: limits.output.get(),
        });
    }
    Ok(Outcome::BadOutput { reason: cause })
}

fn frames(backtrace: &WasmBacktrace) -> Vec<String> {
    let name = |frame: &wasmtime::FrameInfo| match frame.func_name() {
        Some(name) => format!("{:#}", rustc_demangle::demangle(name)),
        None => format!("function {}", frame.func_index()),
    };
    backtrace.frames().iter().map(name).map(bounded).collect()
}

/// Rust prints `thread … panicked at FILE:LINE:COLUMN:` and the message on the lines below.
fn panic_message(log: &[LogLine]) -> Option<String> {
    let at = log
        .iter()
        .rposition(|line| line.message.contains("panicked at "))?;
    let (_, place) = log.get(at)?.message.split_once("panicked at ")?;
    let place = place.trim_end_matches(':');
    let message = log.get(at + 1).map_or("", |line| line.message.as_str());
    Some(bounded(format!("{message} at {place}")))
}

/// The guest's error without the secrets that it has read.
fn clean(error: types::Error, log: &Log) -> types::Error {
    match error {
        types::Error::InvalidInput(types::InvalidInput { path, message }) => {
            types::Error::InvalidInput(types::InvalidInput {
                path: log.clean(path),
                message: log.clean(message),
            })
        }
        types::Error::Denied(reason) => types::Error::Denied(log.clean(reason)),
        types::Error::Unavailable(reason) => types::Error::Unavailable(log.clean(reason)),
        types::Error::Failed(types::Failure { code, message }) => types::Error::Failed(types::Failure {
            code: log.clean(code),
            message: log.clean(message),
        }),
    }
}

/// The guest's error, its texts cut to what a person reads.
pub(crate) fn tool_error(error: types::Error) -> ToolError {
    match error {
        types::Error::InvalidInput(types::InvalidInput { path, message }) => ToolError::InvalidInput {
            path: bounded(path),
            message: bounded(message),
        },
        types::Error::Denied(reason) => ToolError::Denied(bounded(reason)),
        types::Error::Unavailable(reason) => ToolError::Unavailable(bounded(reason)),
        types::Error::Failed(types::Failure { code, message }) => ToolError::Failed {
            code: bounded(code),
            message: bounded(message),
        },
    }
}

pub(crate) fn bounded(mut text: String) -> String {
    if text.len() > MAX_MESSAGE {
        let end = (0..=MAX_MESSAGE)
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}
