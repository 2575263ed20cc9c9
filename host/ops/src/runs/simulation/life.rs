//! One world: processes that live and die one after the other, and a client that asks for a chain and sees it to its end.

use super::checks::{self, Heard};
use super::clock::SimClock;
use super::scenes::{Stage, runtime};
use super::world::{Dice, Record, Tools};
use crate::caller::Caller;
use crate::clock::Clock as _;
use crate::entropy::Entropy;
use crate::error::Fault;
use crate::execute_chain::{PlanStart, Wait};
use crate::host::Host;
use crate::runs::resolve::Planned;
use crate::runs::seal::HostKey;
use mizzen_catalog::key::SecretKey;
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_model::governance::PackMode;
use mizzen_store::Idempotency;
use mizzen_store_sqlite::{Fate, Fates, MemoryStore};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Processes of one world; all but the last few may die.
const LIVES: u64 = 9;
/// Rounds in which everybody gets a turn before time passes.
const ROUNDS: u64 = 16;

/// Turns without anybody who waits for a time, after which nothing will happen any more.
const IDLE: u32 = 64;

/// When processes die.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deaths {
    Never,
    Random,
    /// Before the write with this number, from 0.
    Before(u64),
    /// After it.
    After(u64),
}

/// What becomes of the writes of one process.
struct Drawn {
    deaths: Deaths,
    mortal: bool,
    dice: Mutex<Dice>,
    writes: Arc<AtomicU64>,
}

impl Fates for Drawn {
    fn next(&self) -> Fate {
        let write = self.writes.fetch_add(1, Ordering::SeqCst);
        match self.deaths {
            Deaths::Before(number) if number == write => Fate::DiesBefore,
            Deaths::After(number) if number == write => Fate::DiesAfter,
            Deaths::Random if self.mortal => match self.dice.lock().unwrap().roll(16) {
                0 | 1 => Fate::DiesBefore,
                2 | 3 => Fate::DiesAfter,
                4 => Fate::NoRoom,
                _ => Fate::Done,
            },
            _ => Fate::Done,
        }
    }
}

/// Ids that follow from the seed and the process.
#[derive(Debug)]
struct Drawing {
    world: String,
    life: u64,
    count: AtomicU64,
}

impl Entropy for Drawing {
    fn bytes(&self) -> Option<[u8; 32]> {
        let count = self.count.fetch_add(1, Ordering::SeqCst);
        let text = format!("{}/{}/{count}", self.world, self.life);
        Some(*blake3::hash(text.as_bytes()).as_bytes())
    }
}

/// What the client wants, and what it has heard.
pub(super) struct Client {
    key: String,
    input: Value,
    approves: bool,
    cancels_after_ms: Option<u64>,
    /// Of a graph.
    pauses: bool,
    pub(super) heard: Heard,
}

impl Client {
    fn of(stage: &Stage, seed: u64, turn: u64) -> (Self, Arc<Planned>) {
        let mut dice = Dice::of(seed, "client");
        let scene = usize::try_from(dice.roll(stage.scenes.len() as u64)).unwrap();
        let mut input = json!({"n": seed});
        for (name, sides) in [("say", 3), ("ask", 4)] {
            if dice.roll(sides) == 0 {
                input[name] = json!(true);
            }
        }
        let client = Self {
            // A world of its own, also when a seed is played again on the same stage.
            key: format!("{seed}-{turn}"),
            input,
            approves: dice.roll(4) > 0,
            cancels_after_ms: (dice.roll(6) == 0).then(|| dice.roll(400)),
            pauses: Dice::of(seed, "pauses").roll(4) == 0,
            heard: Heard::default(),
        };
        (client, Arc::clone(&stage.scenes[scene]))
    }
}

/// What a seed met.
pub(super) struct Met {
    /// How many processes died.
    pub(super) deaths: u64,
    /// How the run ended.
    pub(super) status: String,
    /// The calls that tools made, as the result shows them: status and error.
    pub(super) calls: Vec<(String, String)>,
}

/// Plays a seed to its end, and says what it met, or what is wrong.
pub(super) fn simulate(stage: &mut Stage, seed: u64, deaths: Deaths) -> Result<Met, String> {
    let clock = SimClock::default();
    let played = play(stage, seed, deaths, &clock, 0)?;
    let calls = |of: &Value| of["calls"].as_array().cloned().unwrap_or_default();
    let (steps, gates) = (
        played.result["steps"].as_array(),
        played.result["gates"].as_array(),
    );
    let all = steps.into_iter().chain(gates).flatten().flat_map(calls);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(Met {
        deaths: played.lives - 1,
        status: text(&played.result["status"]),
        calls: all
            .map(|call| (text(&call["status"]), text(&call["error"]["code"])))
            .collect(),
    })
}

/// How many writes a seed makes when nobody dies, and whether its run had to wait for anything.
pub(super) fn count_writes(stage: &mut Stage, seed: u64) -> (u64, Waited) {
    let played = play(stage, seed, Deaths::Never, &SimClock::default(), 0);
    let played = played.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    (played.writes, played.waited)
}

/// Whether a run had to wait: for a call, a person or a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    Yes,
    No,
}

/// What came of a world.
struct Played {
    lives: u64,
    writes: u64,
    result: Value,
    waited: Waited,
}

/// What comes of a seed when the wall clock is moved while its first call is made: without ids and points in time.
pub(super) fn result_with_jump(stage: &mut Stage, seed: u64, jump_ms: i64) -> Value {
    let clock = SimClock::default();
    let played = play(stage, seed, Deaths::Never, &clock, jump_ms);
    let mut result = played.unwrap_or_else(|why| panic!("seed {seed}: {why}")).result;
    for name in ["execution_id", "started_at", "completed_at", "escalation"] {
        result.as_object_mut().unwrap().remove(name);
    }
    for step in result["steps"].as_array_mut().unwrap() {
        for name in ["started_at", "output", "error"] {
            step.as_object_mut().unwrap().remove(name);
        }
        for call in step
            .get_mut("calls")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            for name in ["started_at", "error"] {
                call.as_object_mut().unwrap().remove(name);
            }
        }
    }
    for gate in result["gates"].as_array_mut().unwrap() {
        gate.as_object_mut().unwrap().remove("calls");
    }
    result["error"] = result["error"]["code"].clone();
    result
}

fn play(
    stage: &mut Stage,
    seed: u64,
    deaths: Deaths,
    clock: &SimClock,
    jump_ms: i64,
) -> Result<Played, String> {
    let turn = stage.turn(seed);
    let (client, planned) = Client::of(stage, seed, turn);
    let client = Arc::new(tokio::sync::Mutex::new(client));
    let record = Arc::new(Mutex::new(Record::default()));
    let writes = Arc::new(AtomicU64::new(0));
    for life in 0..LIVES {
        let fates = Drawn {
            deaths,
            mortal: life < LIVES - 2,
            dice: Mutex::new(Dice::of(seed, &format!("fates {life}"))),
            writes: Arc::clone(&writes),
        };
        let store = stage.reopen(Arc::new(fates));
        let entropy = Drawing {
            world: format!("{seed}-{turn}"),
            life,
            count: AtomicU64::new(0),
        };
        let host = Arc::new(Host::with_ports(
            store.store(),
            Arc::new(clock.clone()),
            Arc::new(entropy),
        ));
        host.sign_with(HostKey::new(SecretKey::from_seed(&[7; 32])));
        host.play(Arc::new(Tools {
            seed,
            clock: clock.clone(),
            record: Arc::clone(&record),
            store: store.store(),
            governance: planned
                .plan
                .packs()
                .first()
                .map_or(PackMode::Advisory, |pack| pack.mode),
        }));
        let runtime = runtime();
        let process = Process { host, store };
        let ended = runtime.block_on(live(&process, &planned, &client, clock, jump_ms));
        drop(runtime);
        clock.forget_sleepers();
        if ended? {
            let client = Arc::into_inner(client)
                .ok_or("somebody still holds the client")?
                .into_inner();
            let result = checks::check(stage, &planned, client, &record, seed)?;
            let waited = record.lock().unwrap().waited || result.get("escalation").is_some();
            return Ok(Played {
                lives: life + 1,
                writes: writes.load(Ordering::SeqCst),
                result,
                waited: if waited { Waited::Yes } else { Waited::No },
            });
        }
        // The next process may find another time: clocks are set while nobody looks.
        let mut dice = Dice::of(seed, &format!("jump {life}"));
        if dice.roll(4) == 0 {
            clock.jump(i64::try_from(dice.roll(7_200_000)).unwrap() - 3_600_000);
        }
    }
    Err(format!("it has not ended after {LIVES} processes"))
}

/// A host, and the database that it dies with.
struct Process {
    host: Arc<Host>,
    store: MemoryStore,
}

/// Lets a process live until the client is content (true) or it dies (false).
async fn live(
    process: &Process,
    planned: &Arc<Planned>,
    client: &Arc<tokio::sync::Mutex<Client>>,
    clock: &SimClock,
    jump_ms: i64,
) -> Result<bool, String> {
    let mut task = tokio::spawn(serve(
        Arc::clone(&process.host),
        Arc::clone(planned),
        Arc::clone(client),
        clock.clone(),
    ));
    let mut idle = 0;
    for turn in 0..20_000 {
        for _ in 0..ROUNDS {
            tokio::task::yield_now().await;
        }
        if process.store.is_dead() {
            task.abort();
            return Ok(false);
        }
        if task.is_finished() {
            let ended = (&mut task)
                .await
                .map_err(|error| format!("the client gave up: {error}"))?;
            return ended.map(|()| true);
        }
        if turn == 2 {
            clock.jump(jump_ms);
        }
        // Branches that end at once hand on to each other without time passing.
        match clock.advance() {
            true => idle = 0,
            false if idle < IDLE => idle += 1,
            false => return Err("nothing will ever happen again, and the run is open".to_owned()),
        }
    }
    Err("it goes on for ever".to_owned())
}

/// What happens in one process: every open run is taken up, and the client asks, answers and waits.
async fn serve(
    host: Arc<Host>,
    planned: Arc<Planned>,
    client: Arc<tokio::sync::Mutex<Client>>,
    clock: SimClock,
) -> Result<(), String> {
    let mut client = client.lock().await;
    let fault = |error: crate::OpError| error.to_string();
    // The invariant that `mizzen doctor` looks at: every open run can go on, and after a start somebody drives it.
    for (id, state) in host.examine_runs().await.map_err(fault)? {
        state.map_err(|why| format!("run {id} is stuck: {why}"))?;
    }
    let recovered = host.resume_runs().await.map_err(fault)?;
    if !recovered.stuck.is_empty() || host.runs.stuck() != 0 {
        return Err(format!("stuck runs: {:?}", recovered.stuck));
    }
    let caller = Caller::local("req-sim");
    let id = loop {
        // Asked again after every death and every refusal, with the same key: it is the same run.
        let idempotency = Idempotency {
            scope: "sim".to_owned(),
            key: client.key.clone(),
            digest: *blake3::hash(client.key.as_bytes()).as_bytes(),
            at: host.now_ms(),
        };
        let started = host
            .run_plan(
                &caller,
                PlanStart {
                    planned: &planned,
                    input: client.input.clone(),
                    idempotency: Some(idempotency),
                    action: "execute_chain",
                },
                Wait::ForStart,
            )
            .await;
        match started {
            Ok((executed, _)) => break executed.id(),
            Err(error) if error.to_string().contains("no room") => {
                clock.sleep(Duration::from_millis(50)).await
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    client.heard.started(id)?;
    let begun = clock.steady();
    loop {
        let shown = host.execution(id).await.map_err(fault)?;
        client.heard.shown(&shown)?;
        if shown.status.is_final() {
            return Ok(());
        }
        if !host.runs.is_driven(id)
            && host
                .store
                .run(id)
                .await
                .map_err(|e| e.to_string())?
                .is_some_and(|run| run.result.is_none())
        {
            return Err("the run is open and nobody drives it".to_owned());
        }
        let passed = u64::try_from((clock.steady() - begun).as_millis()).unwrap();
        if client.cancels_after_ms.is_some_and(|after| after <= passed) {
            match host.cancel_execution(&caller, id).await {
                Ok(result) => client.heard.cancelled(&result)?,
                // It ended otherwise in the meantime, or cannot hear anybody while the store has no room.
                Err(crate::OpError::Refused(_) | crate::OpError::Fault(Fault::Unavailable(_))) => {}
                Err(error) => return Err(error.to_string()),
            }
        } else if shown.status == ExecutionStatus::AwaitingApproval {
            let decision = if client.approves { "approve" } else { "deny" };
            let escalation = shown
                .escalation
                .as_ref()
                .map(|escalation| escalation.escalation_id.clone());
            let answer = json!({"decision": decision, "reason": "sim", "escalation_id": escalation});
            let answer = super::scenes::document(&answer);
            match host.decide_execution(&caller, id, &answer).await {
                Ok(_) => client.heard.decided(decision)?,
                Err(crate::OpError::Fault(Fault::Unavailable(_))) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        if shown.graph.is_some() {
            steer(&host, &caller, &mut client, &shown).await?;
        }
        clock.sleep(Duration::from_millis(25)).await;
    }
}

/// What a client tells a graph: answers, a pause, to go on.
async fn steer(
    host: &Arc<Host>,
    caller: &Caller,
    client: &mut Client,
    shown: &ChainExecutionResult,
) -> Result<(), String> {
    let id = shown.execution_id.uuid();
    let told = match shown.status {
        ExecutionStatus::AwaitingInput => {
            let mut response = mizzen_json::Object::new();
            response.insert("ok", client.approves.into());
            response.insert("why", "sim".into());
            host.respond_run(caller, id, None, response).await
        }
        ExecutionStatus::Paused => host.resume_run(caller, id).await,
        ExecutionStatus::Running if std::mem::take(&mut client.pauses) => host.pause_run(caller, id).await,
        _ => return Ok(()),
    };
    match told {
        // It has gone on meanwhile, or cannot hear anybody while the store has no room.
        Ok(_) | Err(crate::OpError::Refused(_) | crate::OpError::Fault(Fault::Unavailable(_))) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
