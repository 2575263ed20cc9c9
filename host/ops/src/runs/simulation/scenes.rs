//! The chains that are run: a few dozen, made by dice, with everything that a run can meet.

use super::clock::SimClock;
use super::graphs;
use super::world::{Dice, GATE};
use crate::caller::Caller;
use crate::entropy::CountingEntropy;
use crate::host::Host;
use crate::runs::packs::{PackPin, PackSet};
use crate::runs::resolve::{Found, MadeOf, Pin, Pinned, Planned, Resolution};
use mizzen_json::{Json, ReadLimits, parse};
use mizzen_model::id::ChainId;
use mizzen_model::pack::Moment;
use mizzen_model::tool_spec::SideEffects;
use mizzen_store_sqlite::{Fate, Fates, MemoryStore};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// How many chains there are.
const SCENES: u64 = 32;

/// Tools by name: side effects, and whether a second call does no harm.
pub(super) const TOOLS: [(&str, SideEffects, bool); 4] = [
    ("think", SideEffects::None, true),
    ("look", SideEffects::Read, true),
    ("keep", SideEffects::Write, true),
    ("pay", SideEffects::External, false),
];

/// Every write is done.
struct Always;

impl Fates for Always {
    fn next(&self) -> Fate {
        Fate::Done
    }
}

/// A database with the chains in it.
pub(super) struct Stage {
    pub(super) store: MemoryStore,
    pub(super) scenes: Vec<Arc<Planned>>,
    played: HashMap<u64, u64>,
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    // No clock and no IO of its own: time is the simulation's.
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

pub(super) fn document(value: &Value) -> Json {
    parse(&value.to_string(), ReadLimits::default())
        .unwrap()
        .root()
        .to_json()
}

impl Stage {
    pub(super) fn set() -> Self {
        let store = MemoryStore::new(Arc::new(Always)).unwrap();
        let entropy = Arc::new(CountingEntropy::default());
        let host = Host::with_ports(store.store(), Arc::new(SimClock::default()), entropy);
        let scenes = runtime().block_on(async {
            let mut scenes = Vec::new();
            for number in 0..SCENES {
                scenes.push(Arc::new(scene(&host, number).await));
            }
            scenes
        });
        Self {
            store,
            scenes,
            played: HashMap::new(),
        }
    }

    /// The same with graphs.
    pub(super) fn set_graphs() -> Self {
        let store = MemoryStore::new(Arc::new(Always)).unwrap();
        let entropy = Arc::new(CountingEntropy::default());
        let host = Host::with_ports(store.store(), Arc::new(SimClock::default()), entropy);
        Self {
            store,
            scenes: (0..SCENES)
                .map(|number| Arc::new(graphs::scene(&host, number)))
                .collect(),
            played: HashMap::new(),
        }
    }

    /// How often a seed was played here before: every time its runs need ids of their own.
    pub(super) fn turn(&mut self, seed: u64) -> u64 {
        let played = self.played.entry(seed).or_default();
        *played += 1;
        *played - 1
    }

    /// The database as the next process finds it.
    pub(super) fn reopen(&mut self, fates: Arc<dyn Fates>) -> MemoryStore {
        self.store = self.store.after_death(fates);
        self.store.clone()
    }

    /// The database as somebody finds it to whom nothing happens.
    pub(super) fn inspect(&mut self) -> MemoryStore {
        self.reopen(Arc::new(Always))
    }
}

/// The pack that governs a graph: every other one has one.
pub(super) fn graph_pins(number: u64) -> Vec<PackPin> {
    pins(number.saturating_add(64))
}

/// The pack that governs a chain: every other one has one, at moments of its own. Not the fifth, on which a seed of
/// `regressions.txt` plays that found something without one.
fn pins(number: u64) -> Vec<PackPin> {
    let mut dice = Dice::of(number, "packs");
    let mut moments = Moment::ALL.to_vec();
    moments.retain(|_| dice.roll(3) > 0);
    let mode = if dice.roll(4) == 0 {
        "advisory"
    } else {
        "mandatory"
    };
    let pin = json!({
        "id": "sim.pack", "version": "1.0.0", "digest": "blake3:01", "mode": mode, "origin": "council",
        "moments": moments.iter().map(|moment| moment.as_str()).collect::<Vec<_>>(), "reads": ["evidence", "error"],
    });
    let pin = (number % 2 == 1 && number != 5).then(|| serde_json::from_value(pin).unwrap());
    pin.into_iter().collect()
}

pub(super) fn pin(tool: &str, side_effects: SideEffects, repeatable: bool) -> Pin {
    Pin {
        tool: tool.to_owned(),
        version: "1.0.0".to_owned(),
        plugin: "sim".to_owned(),
        digest: "blake3:00".to_owned(),
        side_effects,
        repeatable,
    }
}

async fn scene(host: &Host, number: u64) -> Planned {
    let caller = Caller::local("req-sim");
    let mut dice = Dice::of(number, "scene");
    let asked = dice.roll(2) == 0;
    let capability = |name: &str| json!({"name": name, "description": "", "parameters": {}});
    let sprite = |name: String, capabilities: Vec<Value>| {
        json!({
            "name": name, "version": "1.0.0", "system_prompt": "p", "capabilities": capabilities,
            "metadata": {
                "author": "a", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["x"],
            },
        })
    };
    let all = TOOLS.iter().map(|(name, ..)| capability(name)).collect();
    let agent = if asked { "evaluate_gate" } else { "watch" };
    let mut made = Vec::new();
    for sprite in [
        sprite(format!("WORKER-{number}"), all),
        sprite(format!("AGENT-{number}"), vec![capability(agent)]),
    ] {
        let sprite = host
            .create_sprite(&caller, &document(&sprite), None)
            .await
            .unwrap();
        made.push(sprite.id.to_string());
    }
    let (worker, agent_id) = (made[0].clone(), made[1].clone());
    let gate = |position: &str, condition: &str| json!({"position": position, "sprite_id": agent_id, "condition": condition});
    let steps: Vec<Value> = (0..=dice.roll(3))
        .map(|order| {
            let (tool, ..) = TOOLS[usize::try_from(dice.roll(4)).unwrap()];
            let mut step =
                json!({"order": order, "sprite_id": worker, "action": tool, "input_map": {"n": "$input.n"}});
            if dice.roll(2) == 0 {
                step["retries"] = json!(dice.roll(3));
                step["retry_backoff"] = json!("20ms");
            }
            if dice.roll(3) == 0 {
                step["timeout"] = json!("150ms");
            }
            step
        })
        .collect();
    let mut gates = Vec::new();
    if dice.roll(2) == 0 {
        gates.push(gate("before", "true"));
    }
    if dice.roll(2) == 0 {
        gates.push(gate("after", "size(steps) > 0"));
    }
    match dice.roll(3) {
        0 => gates.push(gate("on_error", "true")),
        1 => gates.push(gate("on_error", "error.code != 'IN_DOUBT'")),
        _ => {}
    }
    let timeout = if dice.roll(4) == 0 { "200ms" } else { "5s" };
    let council = json!({
        "domain": format!("d{number}"), "sprites": [worker, agent_id], "gate_agents": [agent_id],
        "chains": [{"name": "c", "timeout": timeout, "steps": steps, "gates": gates}],
        "rules": [
            {"id": "say", "name": "say", "condition": "has(input.say)", "action": "deny", "enforcement": "advisory",
             "hook": "notify:slack:#sim"},
            {"id": "ask", "name": "ask", "condition": "has(input.ask)", "action": "escalate", "hook": "notify:slack:#sim"},
        ],
    });
    let council = host
        .create_council(&caller, &document(&council), None)
        .await
        .unwrap();
    let chain = serde_json::from_str::<Value>(&council.json).unwrap()["chains"][0]["id"].clone();
    let chain = ChainId::parse(chain.as_str().unwrap()).unwrap();
    let mut resolutions: Vec<Resolution> = TOOLS
        .iter()
        .map(|(name, side_effects, repeatable)| Resolution {
            sprite_id: worker.clone(),
            capability: (*name).to_owned(),
            fields: None,
            found: Found::Tool(pin(name, *side_effects, *repeatable)),
        })
        .collect();
    // Some gate agents read what others have written: packs are asked about these.
    let effects = if number % 4 == 3 {
        SideEffects::Read
    } else {
        SideEffects::None
    };
    resolutions.push(Resolution {
        sprite_id: agent_id,
        capability: "evaluate_gate".to_owned(),
        fields: None,
        // Some gate agents read what others have written: packs are asked about these.
        found: Found::Tool(pin(GATE, effects, true)),
    });
    let pins = pins(number);
    let of = MadeOf {
        resolutions,
        pins,
        ..MadeOf::default()
    };
    let pinned = Pinned {
        definition: &council.json,
        load_plan: "",
        resolutions: &of.resolutions,
        pins: &of.pins,
    };
    let plan = host.plan_again(&council.json, chain, &of).unwrap();
    Planned::new(plan, PackSet::default(), &pinned)
}
