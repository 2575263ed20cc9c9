//! What one evaluation of a reference pack costs, counted: instructions of the guest, and pages that it writes to. Both are the
//! same at every run and on every machine, so this test detects a change that makes packs slower before a benchmark does.

use super::{EVALUATE, MODULE, configured_pack, read};
use mizzen_model::facts::{FACTS_VERSION, VOCABULARY};
use serde_json::{Value, json};
use wasmtime::{Config, Engine, Instance, Module, Store};

const ENGINE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../plugins/rule-engine/rule-engine.wasm"
);
const FUEL: u64 = 1 << 40;
const PAGE: usize = 4096;

/// The facts that a pack is sent after a step, with some text.
fn facts(templates: &[&str], text: &str) -> String {
    let fact = |template: &str, slots: Value| {
        let mut fact = json!({"template": template, "slots": {
            "source": "chain", "run-id": "019372f0-7f6e-7cc0-b5a5-3f3bd2e8a8f1", "time": 1_763_357_000_123_u64, "step": 3}});
        for (slot, value) in slots.as_object().unwrap() {
            fact["slots"][slot] = value.clone();
        }
        fact
    };
    let mut all = vec![
        fact("moment", json!({"name": "after-step"})),
        fact("budget", json!({"kind": "latency", "used": 12, "limit": 60_000})),
        fact("budget", json!({"kind": "steps", "used": 3})),
        fact("budget", json!({"kind": "tokens", "used": 0})),
        fact("budget", json!({"kind": "cost", "used": 0.0})),
        fact(
            "tool-call",
            json!({"tool": "a.b.c", "version": "0.1.0", "plugin": "a"}),
        ),
        fact(
            "tool-result",
            json!({"tool": "a.b.c", "outcome": "output", "bytes": 100}),
        ),
        fact(
            "evidence",
            json!({"subject": "output", "pointer": "/text", "text": text}),
        ),
    ];
    all.retain(|fact| templates.contains(&fact["template"].as_str().unwrap()));
    all.push(json!({"name": "text", "fields": [text]}));
    Value::Array(all).to_string()
}

/// Instructions, pages written, and the size of the memory in the end.
fn cost(rules: &str, facts: &str) -> (u64, usize, usize) {
    let configuration = json!({
        "id": "acme.pack", "version": "1.0.0", "description": "", "facts_version": FACTS_VERSION, "moments": [], "shares": [],
        "vocabulary": VOCABULARY, "rules": rules,
    });
    let pack = configured_pack(
        &std::fs::read(ENGINE).unwrap(),
        &configuration.to_string(),
        ("rules", b""),
    )
    .unwrap();
    let sections = read(&pack).unwrap();
    let module = sections.iter().find(|section| section.id == MODULE).unwrap();
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .cranelift_opt_level(wasmtime::OptLevel::None);
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, module.payload).unwrap();
    let mut store = Store::new(&engine, ());
    store.set_fuel(FUEL).unwrap();
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let memory = instance.get_memory(&mut store, "memory").unwrap();
    let before = memory.data(&store).to_vec();
    let allocate = instance
        .get_typed_func::<(u32, u32, u32, u32), u32>(&mut store, "cabi_realloc")
        .unwrap();
    let length = u32::try_from(facts.len()).unwrap();
    let at = allocate.call(&mut store, (0, 0, 1, length)).unwrap();
    memory.write(&mut store, at as usize, facts.as_bytes()).unwrap();
    let evaluate = instance
        .get_typed_func::<(u32, u32, u64), u32>(&mut store, EVALUATE)
        .unwrap();
    let answer = evaluate.call(&mut store, (at, length, 1_000_000)).unwrap();
    assert_eq!(memory.data(&store)[answer as usize], 0, "it has a verdict");
    let after = instance
        .get_typed_func::<u32, ()>(&mut store, &format!("cabi_post_{EVALUATE}"))
        .unwrap();
    after.call(&mut store, answer).unwrap();
    let written = before
        .chunks(PAGE)
        .zip(memory.data(&store).chunks(PAGE))
        .filter(|(before, after)| before != after)
        .count();
    (
        FUEL - store.get_fuel().unwrap(),
        written,
        memory.data_size(&store),
    )
}

#[test]
fn an_evaluation_of_a_reference_pack_is_small() {
    let text = "a".repeat(89);
    for (pack, rules, templates) in [
        (
            "budgets",
            include_str!("../../../../plugins/budgets/rules.clp"),
            &["moment", "budget"][..],
        ),
        (
            "safety-pii",
            include_str!("../../../../plugins/safety-pii/rules.clp"),
            &["evidence"],
        ),
        (
            "audit",
            include_str!("../../../../plugins/audit/rules.clp"),
            &["moment", "tool-call", "tool-result"],
        ),
    ] {
        let (instructions, pages, memory) = cost(rules, &facts(templates, &text));
        println!(
            "{pack}: {instructions} instructions, {pages} pages written, {} KiB",
            memory / 1024
        );
        assert!(instructions < 400_000, "{pack}: {instructions} instructions");
        assert!(pages < 40, "{pack}: {pages} pages");
    }
}
