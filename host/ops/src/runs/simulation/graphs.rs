//! Graphs in the simulation: branches, interrupts, retries and pauses, in the same world as chains.

use super::life::{Deaths, simulate};
use super::scenes::{Stage, TOOLS, graph_pins, pin};
use super::world::Dice;
use crate::host::Host;
use crate::runs::definition::{GraphDefinition, chain_of_graph};
use crate::runs::packs::PackSet;
use crate::runs::resolve::{Found, MadeOf, Pinned, Planned, Resolution};
use mizzen_engine::graph::GraphLimits;
use mizzen_model::ir::loads;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Seeds that are tried, unless `MIZZEN_SEEDS` says how many.
const SEEDS: u64 = 2_000;
/// Seeds that share a database.
const SHARED: u64 = 1_250;

/// A graph, made by dice.
pub(super) fn scene(host: &Host, number: u64) -> Planned {
    let mut dice = Dice::of(number, "graph");
    let mut tool = || {
        let (name, ..) = TOOLS[usize::try_from(dice.roll(4)).unwrap()];
        format!("sim.{name}")
    };
    let mut nodes = vec![json!({"id": "start", "kind": "echo"})];
    for id in ["a", "b", "c", "d"] {
        nodes.push(json!({"id": id, "kind": tool()}));
    }
    nodes.push(json!({"id": "join", "kind": "echo"}));
    nodes.push(json!({"id": "last", "kind": tool()}));
    let mut rules = Vec::new();
    if dice.roll(2) == 0 {
        rules.push(json!({
            "id": "again", "when": "(visit (node ?n) (outcome failed) (iteration ?i&:(< ?i 3)))",
            "then": [{"kind": "retry", "target": if dice.roll(2) == 0 { "start" } else { "join" }, "backoff_ms": dice.roll(40)}],
        }));
    }
    if dice.roll(2) == 0 {
        let mut ask = json!({"kind": "interrupt", "prompt": "go on?"});
        if dice.roll(3) == 0 {
            ask["timeout"] = json!("PT0.02S");
            ask["on_timeout"] = json!(if dice.roll(2) == 0 { "halt" } else { "goto:last" });
        }
        rules.push(json!({"id": "ask", "when": "(visit (node \"join\") (iteration 1))", "then": [ask]}));
    }
    let mut blocks = Vec::new();
    if dice.roll(4) > 0 {
        let strategies = ["all", "any", "race", "quorum", "quorum:1"];
        let strategy = strategies[usize::try_from(dice.roll(5)).unwrap()];
        let targets: &[&str] = if dice.roll(2) == 0 {
            &["a", "b", "c", "d"]
        } else {
            &["b", "c"]
        };
        blocks.push(json!({"targets": targets, "join": "join", "strategy": strategy}));
    }
    // Branches that both say something are in conflict, unless it is a list.
    let document = json!({
        "ir_version": "1.0.0", "id": format!("graph:{number}"), "nodes": nodes, "rules": rules, "parallel": blocks,
        "state_schema": {"n": "any", "say": "bool", "ask": "bool", "call": "any", "ok": "bool"},
    });
    let definition = GraphDefinition {
        document: loads(&document.to_string()).unwrap(),
        limits: GraphLimits {
            step_limit: 40,
            timeout_ms: if dice.roll(4) == 0 { 200 } else { 5_000 },
        },
    };
    let sprite_id = definition.lowered().sprite_id.to_string();
    let resolutions = TOOLS.iter().map(|(name, side_effects, repeatable)| Resolution {
        sprite_id: sprite_id.clone(),
        capability: format!("sim.{name}"),
        fields: None,
        found: Found::Tool(pin(name, *side_effects, *repeatable)),
    });
    let of = MadeOf {
        resolutions: resolutions.collect(),
        pins: graph_pins(number),
        ..MadeOf::default()
    };
    let text = definition.text();
    let pinned = Pinned {
        definition: &text,
        load_plan: "",
        resolutions: &of.resolutions,
        pins: &of.pins,
    };
    let plan = host
        .plan_again(&text, chain_of_graph(&definition.document.id), &of)
        .unwrap();
    Planned::new(plan, PackSet::default(), &pinned)
}

/// The key of a visit's calls, by its order, as the journal tells them.
pub(super) fn keys(entries: &[Value]) -> BTreeMap<u64, String> {
    let nodes = entries
        .iter()
        .filter_map(|entry| entry["nodes"].as_array())
        .flatten();
    let key = |node: &Value| {
        let place = format!("{}/{}", node["node"].as_str()?, node["iteration"]);
        Some((node["order"].as_u64()?, place))
    };
    nodes.filter_map(key).collect()
}

#[test]
fn graphs_lose_nothing_and_record_nothing_twice() {
    let seeds = std::env::var("MIZZEN_SEEDS").map_or(SEEDS, |text| text.parse().unwrap());
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    let next = std::sync::atomic::AtomicU64::new(0);
    let statuses = std::sync::Mutex::new(BTreeMap::<String, u64>::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(SHARED, std::sync::atomic::Ordering::SeqCst);
                    if first >= seeds {
                        return;
                    }
                    let mut stage = Stage::set_graphs();
                    for seed in first..(first + SHARED).min(seeds) {
                        let met = simulate(&mut stage, seed, Deaths::Random)
                            .unwrap_or_else(|why| panic!("graph seed {seed}: {why}"));
                        *statuses.lock().unwrap().entry(met.status).or_default() += 1;
                    }
                }
            });
        }
    });
    // A simulation in which nothing happens shows nothing.
    let statuses = statuses.into_inner().unwrap();
    for status in ["completed", "failed", "vetoed", "cancelled"] {
        let found = statuses.get(status).copied().unwrap_or_default();
        assert!(found > seeds / 100, "{status}: {statuses:?}");
    }
}

#[test]
fn a_death_before_and_after_every_single_write_of_a_graph_is_survived() {
    let mut stage = Stage::set_graphs();
    for seed in 0..24 {
        let (writes, _) = super::life::count_writes(&mut stage, seed);
        for write in 0..writes {
            for deaths in [Deaths::Before(write), Deaths::After(write)] {
                simulate(&mut stage, seed, deaths)
                    .unwrap_or_else(|why| panic!("graph seed {seed}, {deaths:?}: {why}"));
            }
        }
    }
}
