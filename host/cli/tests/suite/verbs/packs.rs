//! `mizzen pack …` on the real binary, the real sandbox and the reference packs.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder of its own for everything that a test writes, keys included.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn mizzen(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_mizzen"))
            .args(arguments)
            .env("MIZZEN_HOME", self.path().join("home"))
            // Kept between test runs, so that only the first one compiles the dependencies of guests.
            .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"))
            .current_dir(self.path())
            .output()
            .unwrap()
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.mizzen(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(arguments)).unwrap()
    }

    fn write(&self, path: &str, text: &str) -> String {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// A pack of these rules, asked always.
    fn pack(&self, rules: &str) -> String {
        self.write(
            "mine/pack.toml",
            "[plugin]\nname = \"mine\"\nversion = \"0.1.0\"\napi_version = \"1\"\nnamespaces = [\"mine\"]\n\n[pack]\ndescription = \"d\"\n",
        );
        self.write("mine/rules.clp", rules);
        self.path().join("mine").display().to_string()
    }
}

/// Every case of every reference pack, through the real sandbox.
#[test]
fn the_reference_packs_conclude_what_their_cases_say() {
    let desk = Desk::new();
    for (pack, least) in [("budgets", 7), ("retries", 10), ("safety-pii", 17), ("audit", 4)] {
        let built = desk.json(&[
            "pack",
            "build",
            root().join("plugins").join(pack).to_str().unwrap(),
            "--output",
            desk.path().to_str().unwrap(),
            "--json",
        ]);
        // Types are named, and nothing that does anything is imported.
        assert_eq!(built["imports"], json!(["mizzen:plugin/types@1.0.0"]), "{pack}");
        let file = built["file"].as_str().unwrap();
        let folder = root().join("plugins").join(pack);
        let tested = desk.json(&[
            "pack",
            "test",
            file,
            "--cases",
            folder.to_str().unwrap(),
            "--json",
        ]);
        assert_eq!(tested["ok"], json!(true), "{tested:#}");
        assert!(tested["passed"].as_u64().unwrap() >= least, "{tested:#}");
        // The engine that is committed and the rule language of this source say the same, to the last slot.
        let cases: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(folder.join("cases/cases.json")).unwrap()).unwrap();
        let every: Vec<&Value> = cases
            .iter()
            .flat_map(|case| case["facts"].as_array().unwrap())
            .collect();
        let facts = desk.write("every.json", &json!(every).to_string());
        let sandboxed = desk.json(&["pack", "run", file, "--facts", &facts, "--json"]);
        let native = desk.json(&[
            "pack",
            "explain",
            folder.to_str().unwrap(),
            "--facts",
            &facts,
            "--json",
        ]);
        assert!(!sandboxed["decisions"].as_array().unwrap().is_empty());
        assert_eq!(
            sandboxed["decisions"], native["decisions"],
            "{pack}: run plugins/rule-engine/renew and commit what it writes"
        );
    }
}

#[test]
fn a_pack_in_rust_is_the_same_to_the_host() {
    let desk = Desk::new();
    desk.ok(&["pack", "new", "dawn", "--rust"]);
    let tested = desk.ok(&["pack", "test", "dawn"]);
    assert!(tested.contains("2 passed, 0 failed"), "{tested}");
    desk.ok(&["pack", "build", "dawn"]);
    let facts = desk.write(
        "facts.json",
        r#"[{"template": "step", "slots": {"side-effects": "write", "attempt": 9}}]"#,
    );
    let run = desk.json(&[
        "pack",
        "run",
        "dawn/dist/dawn-0.1.0.wasm",
        "--facts",
        &facts,
        "--json",
    ]);
    assert_eq!(run["decisions"][0]["rule"], "too-many-attempts", "{run:#}");
    assert_eq!(run["decisions"][0]["facts"][0]["template"], "step", "{run:#}");

    // The same pack in Rust and in rules concludes the same, word for word.
    desk.write("dawn/src/lib.rs", DAWN_IN_RUST);
    let rules = desk.pack(DAWN_IN_RULES);
    desk.write("mine/pack.toml", DAWN_TOML);
    let facts = desk.write(
        "facts.json",
        r#"[{"name": "severity", "fields": [5]}, {"template": "step", "slots": {"tool": "a.b", "attempt": 2, "time": 7, "run-id": "r"}},
            {"template": "evidence", "slots": {"pointer": "/a", "text": "secret"}}, {"template": "gate", "slots": {"reason": "unread"}}]"#,
    );
    let conclude = |folder: &str| {
        let mut run = desk.json(&["pack", "run", folder, "--facts", &facts, "--json"]);
        for decision in run["decisions"].as_array_mut().unwrap() {
            for fact in decision["facts"].as_array_mut().unwrap() {
                // Rules know the defaults of slots that were left out; the place and the name are the same.
                if let Some(slots) = fact.get_mut("slots").and_then(Value::as_object_mut) {
                    slots.retain(|name, _| ["tool", "text", "time", "run-id"].contains(&name.as_str()));
                }
            }
        }
        run
    };
    let (rust, rules) = (conclude("dawn"), conclude(&rules));
    assert_eq!(rust, rules);
    assert_eq!(rust["decisions"].as_array().unwrap().len(), 5, "{rust:#}");
    assert_eq!(
        rust["decisions"][0]["facts"],
        json!([{"index": 0, "name": "severity", "fields": [5]}])
    );
    assert_eq!(
        rust["decisions"][1]["facts"],
        json!([{"index": 1, "template": "step", "slots": {"tool": "a.b"}}])
    );
}

const DAWN_TOML: &str = "[plugin]\nname = \"mine\"\nversion = \"0.1.0\"\napi_version = \"1\"\nnamespaces = [\"dawn\"]\n\n\
    [pack]\ndescription = \"d\"\nid = \"dawn\"\nshares = [\"seen\"]\n";

const DAWN_IN_RULES: &str = r#"
(deftemplate seen (slot tool (type STRING)))
(defrule severe (declare (salience 5)) (severity ?s&:(>= ?s 4))
  => (assert (decision (action veto) (reason (str-cat "severity " ?s)) (details severity ?s))))
(defrule ask (declare (salience 4)) (step (tool ?t))
  => (assert (seen (tool ?t)) (decision (action escalate) (reason ?t))))
(defrule again (declare (salience 3)) (step (attempt 2))
  => (assert (decision (action retry) (delay-ms 20) (reason "again"))))
(defrule hide (declare (salience 2)) (evidence (pointer ?p) (text "secret"))
  => (assert (decision (action redact) (pointer ?p) (pattern "sec") (reason "hidden"))))
(defrule note (declare (salience 1)) (severity ?s)
  => (assert (decision (severity warning) (reason "noted"))))
"#;

const DAWN_IN_RUST: &str = r#"
use mizzen_sdk::ToolError;
use mizzen_sdk::pack::{Descriptor, Evaluation, Pack, Severity, Verdict};
use std::time::Duration;

pub struct Dawn;

impl Pack for Dawn {
    fn describe() -> Descriptor {
        Descriptor::new("dawn", env!("CARGO_PKG_VERSION"), "d").reads(&["evidence", "step"]).shares(&["seen"])
    }

    fn evaluate(evaluation: &Evaluation, verdict: &mut Verdict) -> Result<(), ToolError> {
        for fact in evaluation.facts("severity") {
            let severity = fact.fields().first().and_then(|field| field.as_i64()).unwrap_or(0);
            if severity >= 4 {
                verdict.veto("severe", format!("severity {severity}")).because(fact).detail("severity", severity);
            }
        }
        for step in evaluation.facts("step") {
            let tool = step.text("tool").unwrap_or_default();
            let mut slots = mizzen_sdk::Map::new();
            slots.insert("tool".to_owned(), tool.into());
            verdict.share("seen", slots);
            verdict.escalate("ask", tool).because(step);
            if step.integer("attempt") == Some(2) {
                verdict.retry("again", "again", Some(Duration::from_millis(20))).because(step);
            }
        }
        for evidence in evaluation.facts("evidence").filter(|fact| fact.text("text") == Some("secret")) {
            let pointer = evidence.text("pointer").unwrap_or_default();
            verdict.redact("hide", "hidden", pointer, Some("sec")).because(evidence);
        }
        for fact in evaluation.facts("severity") {
            verdict.annotate("note", "noted").severity(Severity::Warning).because(fact);
        }
        Ok(())
    }
}

mizzen_sdk::export_pack!(Dawn);
"#;

#[test]
fn a_new_pack_passes_its_cases_and_a_wrong_case_fails() {
    let desk = Desk::new();
    desk.ok(&["pack", "new", "night"]);
    let checked = desk.json(&["pack", "check", "night", "--json"]);
    assert_eq!(checked["id"], "night");
    assert_eq!(checked["reads"], json!(["moment", "setting", "step"]));
    // W4: a release stays as it was signed, whatever is tried.
    desk.ok(&["key", "new", "release"]);
    desk.ok(&["pack", "build", "night", "--key", "release"]);
    let package = desk.path().join("night/dist/night-0.1.0.wasm");
    let released = std::fs::read(&package).unwrap();
    let tested = desk.ok(&["pack", "test", "night"]);
    assert!(tested.contains("2 passed, 0 failed"), "{tested}");
    let facts = desk.write("facts.json", "[]");
    desk.ok(&["pack", "run", "night", "--facts", &facts]);
    assert!(
        std::fs::read(&package).unwrap() == released,
        "the release's signature is gone"
    );
    desk.write(
        "night/cases/wrong.json",
        r#"{"name": "wrong", "facts": [], "decisions": [{"action": "veto"}]}"#,
    );
    let output = desk.mizzen(&["pack", "test", "night", "--filter", "wrong"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("expected 1 decisions, found 0"), "{text}");
    assert!(text.contains("0 passed, 1 failed"), "{text}");
}

/// The seed's example rule.
#[test]
fn the_example_rule_fires_on_severity_5_and_not_on_3() {
    let desk = Desk::new();
    let folder = desk.pack(
        "(defrule severe (severity ?s&:(>= ?s 4)) => (assert (decision (action escalate) (reason \"severe\"))))",
    );
    for (severity, count) in [(5, 1), (3, 0)] {
        let facts = desk.write("facts.json", &format!("{{\"severity\": {severity}}}"));
        let run = desk.json(&["pack", "run", &folder, "--facts", &facts, "--json"]);
        assert_eq!(run["decisions"].as_array().unwrap().len(), count, "{run:#}");
    }
}

#[test]
fn explain_says_what_fired_on_what_and_why_others_did_not() {
    let desk = Desk::new();
    let facts = desk.write(
        "facts.json",
        r#"[{"template": "budget", "slots": {"kind": "tokens", "limit": 100, "used": 95}}]"#,
    );
    let folder = root().join("plugins/budgets");
    let folder = folder.to_str().unwrap();
    let text = desk.ok(&["pack", "explain", folder, "--facts", &facts]);
    assert!(text.contains("fired nearly-spent on"), "{text}");
    assert!(text.contains("did not fire: steps-spent:"), "{text}");
    assert!(
        text.contains("decides annotate (warning) by nearly-spent"),
        "{text}"
    );
    let document = desk.json(&["pack", "explain", folder, "--facts", &facts, "--json"]);
    assert_eq!(document["decisions"][0]["rule"], "nearly-spent");
    assert!(
        document["not_fired"].as_array().unwrap().len() >= 2,
        "{document:#}"
    );
}

#[test]
fn a_mistake_in_the_rules_is_shown_with_its_line() {
    let desk = Desk::new();
    let folder = desk.pack("; one\n(defrule a (attempts < 3) => (assert (decision (reason \"x\"))))");
    let output = desk.mizzen(&["pack", "build", &folder]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("rules.clp:2:"), "{text}");
    assert!(text.contains("| (defrule a (attempts < 3)"), "{text}");
    assert!(text.contains("hint:"), "{text}");
    assert!(!Path::new(&folder).join("dist").exists());
}

/// S3: every mistake is reported, not only the first.
#[test]
fn every_mistake_in_the_rules_is_shown() {
    let desk = Desk::new();
    let folder = desk.pack(
        "(defrule a (attempts < 3) => (assert (decision (reason \"x\"))))\n\
         (defrule b (step) => (printout t x))\n\
         (defrule c (step) => (assert (decision (action veto) (reason ?r))))",
    );
    let output = desk.mizzen(&["pack", "check", &folder]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    for line in 1..=3 {
        assert!(text.contains(&format!("rules.clp:{line}:")), "{text}");
    }
    let output = desk.mizzen(&["pack", "check", &folder, "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["errors"].as_array().unwrap().len(), 3, "{answer:#}");
    assert_eq!(answer["error"]["line"], 1);
    let output = desk.mizzen(&["rules", "check", "mine/rules.clp", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["errors"].as_array().unwrap().len(), 3, "{answer:#}");
}

/// T3: a redaction asked for at after-step, in a pack that is asked before steps, was built and did nothing.
#[test]
fn a_pack_whose_rule_can_never_act_at_its_moments_is_neither_checked_nor_built() {
    let desk = Desk::new();
    let folder = desk.pack(
        "(defrule hide (moment (name after-step)) (evidence (pointer ?p) (text ?t&:(matches ?t \"secret\")))\n\
         => (assert (decision (action redact) (pointer ?p) (pattern \"secret\") (reason \"r\"))))",
    );
    let toml = Path::new(&folder).join("pack.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(&toml, format!("{text}moments = [\"before-step\"]\n")).unwrap();
    for verb in ["check", "build", "test"] {
        let output = desk.mizzen(&["pack", verb, &folder]);
        assert_eq!(output.status.code(), Some(1), "{verb}");
        let text = String::from_utf8_lossy(&output.stderr);
        for part in [
            "rule hide can never fire",
            "after-step",
            "asked at before-step",
            "rules.clp:1:10",
        ] {
            assert!(text.contains(part), "{verb}, {part}: {text}");
        }
    }
    assert!(!Path::new(&folder).join("dist").exists());
    std::fs::write(
        &toml,
        format!("{text}moments = [\"before-step\", \"after-step\"]\n"),
    )
    .unwrap();
    desk.ok(&["pack", "check", &folder]);
}

/// Hostile rules end in a budget error in the sandbox, within its 64 MiB.
#[test]
fn hostile_rules_end_in_a_budget_error() {
    let desk = Desk::new();
    let many: Vec<Value> = (0..9_000)
        .map(|number| json!({"name": "n", "fields": [number]}))
        .collect();
    let many = desk.write("many.json", &Value::Array(many).to_string());
    let one = desk.write("one.json", r#"["(n 1)"]"#);
    let fails = |rules: &str, facts: &str, part: &str| {
        let folder = desk.pack(rules);
        let output = desk.mizzen(&["pack", "run", &folder, "--facts", facts, "--json"]);
        assert_eq!(output.status.code(), Some(1), "{rules}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["error"]["name"], "tool-error", "{answer:#}");
        assert_eq!(answer["error"]["code"], "BUDGET_EXHAUSTED", "{answer:#}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("BUDGET_EXHAUSTED"), "{message}");
        assert!(message.contains(part), "{message}");
    };
    // A cross product over thousands of facts.
    fails(
        "(defrule cross (n ?a) (n ?b) (n ?c) (test (> (+ ?a ?b) (* 3 ?c))) => (assert (decision (reason \"x\"))))",
        &many,
        "match operations",
    );
    // A rule that asserts what it matches.
    fails(
        "(defrule again (n ?a) => (assert (n (+ ?a 1))))",
        &one,
        "led to each other",
    );
    // A text that doubles itself, and an expression that a fact brings.
    fails(
        "(defrule doubles (n ?a) => (assert (s \"aaaaaaaa\"))) (defrule more (s ?a) => (assert (s (str-cat ?a ?a))))",
        &one,
        "budget of 65536 bytes",
    );
    let giant = desk.write(
        "giant.json",
        r#"[{"name": "n", "fields": ["a"]}, {"name": "p", "fields": ["(a{1000}){1000}"]}]"#,
    );
    fails(
        "(defrule searches (n ?a) (p ?p&:(matches ?a ?p)) => (assert (decision (reason \"x\"))))",
        &giant,
        "budget of 32768 bytes",
    );
}

#[test]
fn rules_that_are_too_deep_or_patterns_that_are_too_large_end_in_a_budget_error_when_the_pack_is_built() {
    let desk = Desk::new();
    let refused = |rules: &str, part: &str| {
        let folder = desk.pack(rules);
        let output = desk.mizzen(&["pack", "build", &folder, "--json"]);
        assert_eq!(output.status.code(), Some(1));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["error"]["code"], "BUDGET_EXHAUSTED", "{answer:#}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{message}");
    };
    let nest = format!(
        "(defrule deep (n ?a) => (bind ?b {}1{}))",
        "(+ 1 ".repeat(800),
        ")".repeat(800)
    );
    refused(&nest, "nested deeper than the budget of 32");
    refused(
        "(defrule giant (n ?a&:(matches ?a \"((((a{99}){99}){99}){99})\")) => (assert (decision (reason \"x\"))))",
        "the budget of 32768 bytes",
    );
}

/// What was signed is what runs: the rules are data of the component, under its signature.
#[test]
fn a_pack_whose_rules_were_tampered_with_is_refused() {
    let desk = Desk::new();
    let folder = desk.pack(
        "(defrule stop (severity ?s) => (assert (decision (action veto) (reason \"a reason that can be found\"))))",
    );
    let built = desk.json(&["pack", "build", &folder, "--json"]);
    let file = built["file"].as_str().unwrap();
    let bytes = std::fs::read(file).unwrap();
    let word = b"a reason that can be found";
    let places: Vec<usize> = bytes
        .windows(word.len())
        .enumerate()
        .filter(|(_, window)| window == word)
        .map(|(at, _)| at)
        .collect();
    assert!(places.len() >= 2, "in the memory and in the rules that are shown");
    for place in places {
        let mut tampered = bytes.clone();
        tampered[place + 2] = b'R';
        let path = desk.path().join("tampered.wasm");
        std::fs::write(&path, tampered).unwrap();
        let facts = desk.write("facts.json", r#"{"severity": 5}"#);
        let output = desk.mizzen(&["pack", "run", path.to_str().unwrap(), "--facts", &facts]);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("signature"), "{text}");
    }
}

#[test]
fn a_template_is_private_unless_it_is_shared_and_nobody_else_can_assert_it() {
    let desk = Desk::new();
    let folder = desk.pack(
        "(deftemplate secret (slot x)) (deftemplate open (slot y))\n\
         (defrule seen (secret (x ?x)) => (assert (decision (reason \"seen\"))))\n\
         (defrule keep (never-said ?s) => (assert (secret (x ?s))))\n\
         (defrule tell (severity ?s) => (assert (open (y ?s)) (secret-list ?s)))",
    );
    let toml = Path::new(&folder).join("pack.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    std::fs::write(&toml, format!("{text}shares = [\"open\"]\n")).unwrap();
    let facts = desk.write(
        "facts.json",
        r#"[{"template": "secret", "slots": {"x": 1}}, {"template": "nobodys", "slots": {"z": 1}}, {"name": "severity", "fields": [2]}]"#,
    );
    let run = desk.json(&["pack", "run", &folder, "--facts", &facts, "--json"]);
    assert_eq!(run["decisions"], json!([]), "{run:#}");
    assert_eq!(
        run["shared"],
        json!([{"template": "mine::open", "slots": {"y": 2}}])
    );
}

/// What a host would refuse later, and what would go unnoticed, is said where it can be mended.
#[test]
fn check_says_what_a_host_would_refuse() {
    let desk = Desk::new();
    let rules = "(defrule r (step (tool ?t)) => (assert (decision (reason ?t))))";
    let folder = desk.pack(rules);
    let toml = Path::new(&folder).join("pack.toml");
    let good = std::fs::read_to_string(&toml).unwrap();
    let refused = |arguments: &[&str], part: &str| {
        let output = desk.mizzen(arguments);
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?}: {said}");
    };
    desk.ok(&["pack", "check", &folder]);
    let many: String = (0..10_001).map(|n| format!("(n {n})")).collect();
    desk.pack(&format!("{rules} (deffacts d {many})"));
    refused(&["pack", "check", &folder], "budget of 10000 facts");
    refused(&["pack", "build", &folder], "budget of 10000 facts");
    let redacts = |pattern: &str| {
        format!(
            "(defrule r (step) => (assert (decision (action redact) (pointer \"/x\") (pattern \"{pattern}\") (reason \"x\"))))"
        )
    };
    desk.pack(&redacts("[a-z]+"));
    desk.ok(&["pack", "check", &folder]);
    for pattern in ["(", &"x".repeat(2_000)] {
        desk.pack(&redacts(pattern));
        for verb in ["check", "build"] {
            refused(&["pack", verb, &folder], "rule r redacts by");
        }
    }
    desk.pack("(defrule r (step) => (assert (decison (action veto) (reason \"x\"))))");
    refused(&["pack", "check", &folder], "there is no deftemplate decison");
    refused(
        &["pack", "check", &folder],
        "if that is meant, write (decision …)",
    );
    desk.pack(rules);
    for (line, part) in [
        ("facts_version = \"2.0\"", "the facts \"1.0\" of this mizzen"),
        ("id = \"other\"", "outside of the namespaces"),
        ("id = \"../x\"", "pack id"),
    ] {
        std::fs::write(&toml, format!("{good}{line}\n")).unwrap();
        for verb in ["check", "build", "test"] {
            refused(&["pack", verb, &folder], part);
        }
    }
    std::fs::write(&toml, format!("{good}[config]\nadditionalProperties = false\n")).unwrap();
    let case = |text: &str| desk.write("mine/cases/cases.json", text);
    for (text, part) in [
        (
            r#"{"name": "a", "facts": [{"template": "stp"}]}"#,
            "no template stp",
        ),
        (
            r#"{"name": "a", "facts": [{"template": "gate", "slots": {"tol": 1}}]}"#,
            "no slot tol",
        ),
        (
            r#"{"name": "a", "facts": [], "settings": {"moost": 5}}"#,
            "by [config] of the pack",
        ),
    ] {
        case(text);
        refused(&["pack", "check", &folder], part);
        refused(&["pack", "test", &folder], part);
    }
    case(r#"{"name": "a", "facts": []}"#);
    desk.ok(&["pack", "check", &folder]);
    let said = desk.ok(&["pack", "test", &folder, "--filter", "nobody"]);
    assert!(
        said.contains("none of 1 cases has \"nobody\" in its name"),
        "{said}"
    );
    // A fact that nobody says is noticed by the others too; they go on.
    let facts = desk.write("facts.json", r#"[{"template": "stp"}]"#);
    for verb in ["run", "explain"] {
        let output = desk.mizzen(&["pack", verb, &folder, "--facts", &facts]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && said.contains("note: fact 0: there is no template stp"),
            "{said}"
        );
    }
    let output = desk.mizzen(&["rules", "check", "mine/rules.clp"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`mizzen pack check mine` reads them"), "{said}");
    // The pack's own verb has the host's templates, and names them instead of itself.
    let misspelt = desk.pack("(defrule a (stepp (tool ?t)) => (assert (decision (reason \"x\"))))");
    let check = |folder: &str| {
        let output = desk.mizzen(&["pack", "check", folder]);
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    let (code, said) = check(&misspelt);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("the host's templates are moment, run, step, "),
        "{said}"
    );
    assert!(!said.contains("mizzen pack check"), "{said}");
    let (code, said) = check(&desk.pack(""));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("never says anything"), "{said}");
    // What is no folder of rules is told from one that is missing.
    desk.ok(&["pack", "build", &folder]);
    let package = Path::new(&folder)
        .join("dist/mine-0.1.0.wasm")
        .display()
        .to_string();
    refused(&["pack", "explain", &package, "--facts", &facts], "is a file");
    refused(&["pack", "check", &package], "is a file");
    desk.ok(&["pack", "new", "rusty", "--rust"]);
    refused(
        &["pack", "explain", "rusty", "--facts", &facts],
        "is a pack in Rust",
    );
    refused(&["pack", "check", "rusty"], "is a pack in Rust");
    refused(
        &["pack", "explain", "nobody", "--facts", &facts],
        "mizzen pack new NAME",
    );
}
