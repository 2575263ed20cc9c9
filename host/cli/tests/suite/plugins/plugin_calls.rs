//! Calls of plugins on a real server: what their journal entries tell, and that what a plugin keeps survives the host.

use crate::support::host::Host;
use crate::support::http::Served;
use serde_json::{Value, json};

const PLUGINS: [&str; 5] = [
    "plugins/text",
    "tests/guests/breaks-its-schema",
    "tests/guests/keeps-keys",
    "tests/guests/panics",
    "tests/guests/returns-too-much",
];

fn host() -> Host {
    let host = Host::new().config("[grants.plugin]\nkeeps-keys = [\"kv:read\", \"kv:write\"]\n");
    PLUGINS.iter().fold(host, |host, plugin| host.plugin(plugin))
}

/// The journal of an execution, as its export shows it.
fn journal(host: &Host, execution: &str) -> Vec<Value> {
    let (_, export, _) = host.export(execution);
    let entries = export["entries"].as_array().unwrap().iter();
    entries
        .map(|entry| serde_json::from_str(entry["bytes"].as_str().unwrap()).unwrap())
        .collect()
}

/// A council with one sprite that has one chain of one step for every tool.
struct Council {
    id: String,
    chains: Vec<(String, String)>,
}

impl Council {
    fn create(server: &Served, tools: &[&str]) -> Self {
        let action = |tool: &str| tool.replace(['.', '-'], "_");
        let capabilities: Vec<Value> = tools
            .iter()
            .map(|tool| json!({"name": action(tool), "description": "A capability.", "parameters": {"type": "object"}, "tool": tool}))
            .collect();
        let sprite = json!({
            "name": "CALLER-01", "version": "1.0.0", "capabilities": capabilities, "system_prompt": "Be brief.",
            "metadata": {"author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": []},
        });
        let sprite = server.call_json("POST", "/v1/sprites", &sprite).expect(201, "")["id"].clone();
        let chains: Vec<Value> = tools
            .iter()
            .map(|tool| {
                // The guests take no input.
                let input = if tool.starts_with("text.") {
                    json!({"text": "$input.text"})
                } else {
                    json!({})
                };
                let step =
                    json!({"order": 0, "sprite_id": sprite, "action": action(tool), "input_map": input});
                json!({"name": tool, "timeout": "30s", "steps": [step], "gates": []})
            })
            .collect();
        let council =
            json!({"domain": "calls", "sprites": [sprite], "gate_agents": [sprite], "chains": chains});
        let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let chains = council["chains"].as_array().unwrap();
        Self {
            id: text(&council["id"]),
            chains: chains
                .iter()
                .map(|chain| (text(&chain["name"]), text(&chain["id"])))
                .collect(),
        }
    }

    fn execute(&self, server: &Served, tool: &str, text: &Value) -> Value {
        let (_, chain) = self.chains.iter().find(|(name, _)| name == tool).unwrap();
        let body = json!({"council_id": self.id, "chain_id": chain, "input": {"text": text}});
        let answer = server.call_json("POST", "/v1/chains/execute", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }
}

#[test]
fn a_calls_journal_entry_names_every_stage_it_passed_and_the_one_that_stopped_it() {
    let host = host();
    let server = host.serve();
    let before = ["input", "permission", "profile", "replay-policy", "call"];
    let all = [
        "input",
        "permission",
        "profile",
        "replay-policy",
        "call",
        "output",
        "size",
    ];
    let cases = [
        ("text.word_count", json!("one two"), &all[..], None),
        ("text.word_count", json!(7), &[], Some("input")),
        ("hostile.panics.attack", json!("x"), &before[..4], Some("call")),
        (
            "hostile.breaks-its-schema.attack",
            json!("x"),
            &before,
            Some("output"),
        ),
        (
            "hostile.returns-too-much.attack",
            json!("x"),
            &before,
            Some("size"),
        ),
    ];
    let mut tools: Vec<&str> = cases.iter().map(|(tool, ..)| *tool).collect();
    tools.dedup();
    let council = Council::create(&server, &tools);
    for (tool, input, passed, stopped) in cases {
        let result = council.execute(&server, tool, &input);
        let journal = journal(&host, result["execution_id"].as_str().unwrap());
        let ended: Vec<&Value> = journal
            .iter()
            .filter(|entry| entry["kind"] == "call_ended")
            .collect();
        assert!(!ended.is_empty(), "{tool}: {journal:?}");
        for entry in ended {
            assert_eq!(entry["stages"], json!(passed), "{tool}: {entry}");
            assert_eq!(entry["stopped_at"], json!(stopped), "{tool}: {entry}");
            assert_eq!(
                entry.get("failure").is_some(),
                stopped.is_some(),
                "{tool}: {entry}"
            );
        }
    }
}

/// S3: the guest answered, and the call has no output.
#[test]
fn an_answer_that_breaks_its_schema_is_a_bad_output_to_people_and_scripts() {
    let host = host();
    let run = |package: &str, input: &str, option: &str| {
        let tool = match package.starts_with("text") {
            true => "word_count",
            false => "attack",
        };
        let package = format!("plugins/{package}");
        let output = host.run(&["plugin", "run", &package, tool, "--input", input, option]);
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let broken = "breaks-its-schema-0.1.0.wasm";
    let (code, out, err) = run(broken, "{}", "--stats");
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(
        err.lines()
            .any(|line| line.starts_with("bad-output: ") && line.contains(" ms, ")),
        "{err}"
    );
    let (code, out, _) = run(broken, "{}", "--json");
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &result["outcome"]),
        (Some(1), &json!("bad-output")),
        "{result}"
    );
    let (code, _, err) = run("text-0.1.0.wasm", r#"{"text": "one two"}"#, "--stats");
    assert_eq!(code, Some(0), "{err}");
    assert!(err.lines().any(|line| line.starts_with("output: ")), "{err}");
}

#[test]
fn what_a_plugin_keeps_survives_a_stop_and_kill_9() {
    const TOOL: &str = "hostile.keeps-keys.attack";
    let host = host();
    let server = host.serve();
    let council = Council::create(&server, &[TOOL]);
    let kept = |server: &Served| council.execute(server, TOOL, &json!("x"))["steps"][0]["output"].clone();
    assert_eq!(kept(&server), json!({"before": false, "kept": true}));
    assert!(server.terminate().success());
    let server = host.serve();
    assert_eq!(
        kept(&server),
        json!({"before": true, "kept": true}),
        "after a stop"
    );
    server.kill();

    // What was kept for the first time a moment before the kill is there too.
    std::fs::remove_dir_all(host.data()).unwrap();
    let server = host.serve();
    let council = Council::create(&server, &[TOOL]);
    let kept = |server: &Served| council.execute(server, TOOL, &json!("x"))["steps"][0]["output"].clone();
    assert_eq!(kept(&server), json!({"before": false, "kept": true}));
    server.kill();
    let server = host.serve();
    assert_eq!(
        kept(&server),
        json!({"before": true, "kept": true}),
        "after kill -9"
    );
}
