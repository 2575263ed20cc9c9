//! Packs: every moment, action and mode (`tests/packs.json`), the facts that they get, and runs made again from a journal.

use crate::script::{Case, START_MS, cases};
use mizzen_engine::pack::{Decision, DecisionDraft};
use mizzen_engine::plan::MountedPack;
use mizzen_engine::run::{Command, Event, Evidence, KeptLog, PackAnswer, PackQuestion, Released, Run};
use mizzen_model::execution::{CallLog, PackEvaluation};
use mizzen_model::governance::PackSeverity;
use mizzen_model::pack::Moment;
use serde_json::{Value, json};

/// A chain of one step that has every moment in it: its call fails once when errors are looked at.
fn case(mode: &str, moment: &str, says: &str) -> Case {
    let said = match says {
        "fails" => json!({"fails": "it trapped"}),
        "redact" => {
            let pointer = if moment == "on-error" {
                "/error/message"
            } else {
                "/text"
            };
            json!({"action": "redact", "rule": "r", "details": {"pointer": pointer}})
        }
        action => json!({"action": action, "rule": "r"}),
    };
    let mut calls = vec![json!({"ok": {"text": "answer"}}); 2];
    if moment == "on-error" {
        calls.insert(0, json!({"error": "BROKEN"}));
    }
    Case::new(
        format!("{mode} {moment} {says}"),
        json!({
            "input": {"text": "question"}, "gates": [],
            "steps": [{"action": "work", "retries": 1, "input_map": {"text": "$input.text"}}],
            "calls": {"0": calls}, "decision": {"decision": "approve", "after_ms": 3},
            "packs": [{"id": "p", "mode": mode, "says": {moment: [[said]]}}], "expect": {},
        }),
    )
}

#[test]
fn every_moment_action_and_mode_does_what_the_table_says() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../packs.json")).unwrap();
    assert_eq!(rows.len(), 2 * 5 * 6);
    for row in rows {
        let text = |name: &str| row[name].as_str().unwrap();
        let case = case(text("mode"), text("moment"), text("says"));
        let played = case.play();
        let packs = played.result.packs.clone().unwrap();
        let said: Vec<&PackEvaluation> = packs
            .iter()
            .filter(|said| said.moment.as_str() == text("moment"))
            .collect();
        let found = json!({
            "mode": text("mode"), "moment": text("moment"), "says": text("says"),
            "status": played.result.status.as_str(), "done": said[0].applied,
        });
        assert_eq!(found, row, "{packs:#?}");
        assert_eq!(said[0].digest, "blake3:p");
        assert_eq!(said[0].rule.is_none(), text("says") == "fails");
        let waited = played.result.escalation.is_some();
        assert_eq!(
            waited,
            text("says") == "escalate" && text("mode") == "mandatory",
            "{row}"
        );
    }
}

/// What a journal keeps of an answer of packs: what the run has recorded of it.
fn kept(question: u32, mounted: &[MountedPack], said: &[PackEvaluation]) -> Event {
    let mut answers: Vec<PackAnswer> = (0..mounted.len())
        .map(|mount| PackAnswer {
            mount,
            decisions: Vec::new(),
            failure: None,
        })
        .collect();
    for said in said {
        let mount = mounted.iter().position(|pack| pack.id == said.pack_id).unwrap();
        match &said.rule {
            None => answers[mount].failure = Some(said.reason.clone()),
            Some(rule) => answers[mount].decisions.push(
                Decision::check(DecisionDraft {
                    action: said.action.as_str().to_owned(),
                    severity: PackSeverity::Violation,
                    rule: rule.clone(),
                    reason: said.reason.clone(),
                    details: Value::Object(said.details.clone()).to_string(),
                    facts: "[]".to_owned(),
                })
                .unwrap(),
            ),
        }
    }
    Event::PacksAnswered {
        question,
        answers,
        shown: Evidence::Redacted,
    }
}

#[test]
fn a_run_made_again_from_what_a_journal_keeps_is_the_same_run() {
    let table: Vec<Value> = serde_json::from_str(include_str!("../packs.json")).unwrap();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let matrix = table
        .iter()
        .map(|row| case(&text(row, "mode"), &text(row, "moment"), &text(row, "says")));
    for case in cases().into_iter().chain(matrix) {
        let played = case.play();
        let plan = case.plan();
        let (mut run, _) = Run::start(case.plan(), case.start());
        // As a driver keeps it: of the end of a call that packs look at, only what they let through.
        let mut journal: Vec<(Event, u64)> = Vec::new();
        let mut held: Option<usize> = None;
        for (event, now_ms) in &played.events {
            let mut entry = event.clone();
            if run.holds(event) {
                match &mut entry {
                    Event::CallEnded { result, log, .. } | Event::NestedEnded { result, log, .. } => {
                        *log = CallLog::default();
                        *result = match result {
                            Ok(_) => Ok(Value::Null),
                            Err(failed) => Err(failed.withheld()),
                        };
                    }
                    Event::NestedAsked(asked) => asked.input = Value::Null,
                    Event::GateAnswered { answer, .. } => *answer = Ok(()),
                    _ => {}
                }
                held = Some(journal.len());
            }
            let before = run.result().packs.as_ref().map_or(0, Vec::len);
            run.handle(event.clone(), *now_ms);
            if let Event::PacksAnswered { question, .. } = event {
                let said = &run.result().packs.as_ref().unwrap()[before..];
                entry = kept(*question, plan.packs(), said);
            }
            journal.push((entry, *now_ms));
            if let Some(place) = held
                && let Some(released) = run.take_released()
            {
                let written = match &played.events[place].0 {
                    Event::CallEnded { log, .. } | Event::NestedEnded { log, .. } => log.clone(),
                    _ => CallLog::default(),
                };
                match (&mut journal[place].0, released) {
                    (
                        Event::CallEnded { result, log, .. } | Event::NestedEnded { result, log, .. },
                        Released::Ended(ended),
                    ) => {
                        *result = ended;
                        if run.kept_log() == KeptLog::Yes {
                            *log = written;
                        }
                    }
                    (Event::NestedAsked(asked), Released::Input(input)) => asked.input = input,
                    (Event::GateAnswered { answer, .. }, Released::Gate(released)) => *answer = released,
                    (event, released) => panic!("{}: {released:?} of {event:?}", case.name),
                }
            }
        }
        assert_eq!(run.result(), &played.result);
        if let Some(secret) = case.secret() {
            let text = format!("{journal:?}");
            assert!(!text.contains(secret), "{}: {secret} in {text}", case.name);
        }
        let (mut again, _) = Run::start(case.plan(), case.start());
        for (event, now_ms) in journal {
            again.handle(event, now_ms);
        }
        assert_eq!(again.result(), run.result(), "{}", case.name);
    }
}

fn questions(case: &Case) -> Vec<PackQuestion> {
    case.play()
        .commands
        .into_iter()
        .filter_map(|command| match command {
            Command::AskPacks(question) => Some(question),
            _ => None,
        })
        .collect()
}

fn facts(question: &PackQuestion) -> Vec<Value> {
    serde_json::from_str(&question.facts.as_ref().unwrap().all()).unwrap()
}

/// The slots of the facts of a template.
fn named(facts: &[Value], template: &str) -> Vec<Value> {
    let of = |fact: &&Value| fact["template"] == template;
    let found = facts.iter().filter(of);
    found.map(|fact| fact["slots"].clone()).collect()
}

#[test]
fn packs_are_told_of_a_tools_call_as_of_a_steps_and_that_it_is_none() {
    let call = |tool: &str, more: Value| {
        let mut call =
            json!({"tool": tool, "side_effects": "external", "repeatable": false, "input": {"to": "ada"}});
        let members = more.as_object().unwrap().clone();
        call.as_object_mut().unwrap().extend(members);
        call
    };
    let inner = call("t.inner", json!({"error": "UNAVAILABLE", "transient": true}));
    let outer = call("t.outer", json!({"ok": {"t": "x", "cost": 2}, "calls": [inner]}));
    let case = Case::new(
        "nested facts".to_owned(),
        json!({
            "input": {}, "gates": [], "steps": [{"action": "work"}],
            "calls": {"0": [{"ok": {}, "calls": [outer]}]},
            "packs": [{"id": "p", "says": {}}], "expect": {},
        }),
    );
    let asked = questions(&case);
    let places: Vec<String> = asked
        .iter()
        .map(|question| format!("{} {:?} {}", question.moment, question.call, question.level))
        .collect();
    assert_eq!(
        places,
        [
            "before-run None 0",
            "before-step None 0",
            r#"before-step Some("1") 1"#,
            r#"before-step Some("1.1") 2"#,
            r#"on-error Some("1.1") 2"#,
            r#"after-step Some("1") 1"#,
            "after-step None 0",
            "at-end None 0",
        ]
    );
    let vocabulary = mizzen_rules::Program::parse(mizzen_model::facts::VOCABULARY).unwrap();
    for question in &asked {
        for fact in facts(question)
            .iter()
            .filter(|fact| fact.get("template").is_some())
        {
            mizzen_rules::json::fact(fact, &vocabulary).unwrap_or_else(|error| panic!("{fact}: {error}"));
        }
    }
    for (place, tool, caller, path, depth) in [
        (2, "t.outer", "t.outermost", "1", 1),
        (3, "t.inner", "t.outer", "1.1", 2),
    ] {
        let facts = facts(&asked[place]);
        // What a rule says of a step's tool holds for it as it is.
        for template in ["tool-call", "step"] {
            let told = &named(&facts, template);
            assert_eq!(told.len(), 1, "{template}");
            assert_eq!(
                (&told[0]["tool"], &told[0]["side-effects"], &told[0]["step"]),
                (&json!(tool), &json!("external"), &json!(0)),
            );
        }
        let told = &named(&facts, "nested-call")[0];
        assert_eq!(
            (
                &told["tool"],
                &told["caller"],
                &told["path"],
                &told["depth"],
                &told["within"]
            ),
            (
                &json!(tool),
                &json!(caller),
                &json!(path),
                &json!(depth),
                &json!("step")
            ),
        );
        let evidence = &named(&facts, "evidence")[0];
        assert_eq!(
            (
                &evidence["subject"],
                &evidence["text"],
                &evidence["source"],
                evidence.get("origin")
            ),
            (&json!("input"), &json!("ada"), &json!(caller), None),
        );
        // The run has not come to another step.
        assert!(named(&facts, "transition").is_empty());
    }
    assert!(named(&facts(&asked[1]), "nested-call").is_empty());
    let failed = facts(&asked[4]);
    let (error, result) = (&named(&failed, "error")[0], &named(&failed, "tool-result")[0]);
    assert_eq!(
        (
            &error["code"],
            &error["retries-left"],
            &result["tool"],
            &result["outcome"]
        ),
        (
            &json!("UNAVAILABLE"),
            &json!(0),
            &json!("t.inner"),
            &json!("tool-error")
        ),
    );
    let after = facts(&asked[5]);
    assert_eq!(named(&after, "tool-result")[0]["tool"], "t.outer");
    assert_eq!(named(&after, "cost")[0]["amount"], json!(2.0));
    // What it used up counts for the run.
    let cost = |question: &PackQuestion| {
        let budgets = named(&facts(question), "budget");
        let of_cost = budgets.iter().find(|budget| budget["kind"] == "cost");
        of_cost.unwrap()["used"].clone()
    };
    assert_eq!((cost(&asked[4]), cost(&asked[5])), (json!(0.0), json!(2.0)));
}

#[test]
fn packs_are_asked_at_every_moment_with_the_facts_of_the_vocabulary() {
    let case = Case::new(
        "facts".to_owned(),
        json!({
            "input": {"severity": 5, "who": {"name": "ada"}, "tags": ["a", 2], "step": 7, "odd name": 1}, "gates": [],
            "steps": [{"action": "work", "retries": 1, "retry_backoff": "1s", "input_map": {"t": "$input.who.name"}}],
            "calls": {"0": [{"error": "BUSY", "transient": true}, {"ok": {
                "a/b": ["x", {"~": "y"}], "model": "m", "card": 4_111_111_111_111_111_u64, "year": 2026, "usage": {"input_tokens": 3, "output_tokens": 4}, "cost": 0.5,
                "artifacts": [{"name": "f", "bytes": 9}]}}]},
            "packs": [{"id": "p", "says": {}}], "expect": {},
        }),
    );
    let asked = questions(&case);
    let moments: Vec<Moment> = asked.iter().map(|question| question.moment).collect();
    use Moment::{AfterStep, AtEnd, BeforeRun, BeforeStep, OnError};
    assert_eq!(moments, [BeforeRun, BeforeStep, OnError, AfterStep, AtEnd]);
    let vocabulary = mizzen_rules::Program::parse(mizzen_model::facts::VOCABULARY).unwrap();
    for question in &asked {
        let facts = facts(question);
        let state: Vec<&Value> = facts.iter().filter(|fact| fact.get("name").is_some()).collect();
        // D13; a field that is called like one of the host's templates, or that no rule could name, is not among them.
        assert_eq!(
            state,
            [
                &json!({"name": "severity", "fields": [5]}),
                &json!({"name": "state.step", "fields": [7]}),
                &json!({"name": "tags", "fields": ["a", 2]}),
                &json!({"name": "who.name", "fields": ["ada"]}),
            ]
        );
        assert_eq!(named(&facts, "moment")[0]["name"], question.moment.as_str());
        for fact in facts.iter().filter_map(|fact| fact.get("slots")) {
            assert_eq!(fact["run-id"], crate::script::EXECUTION);
            assert!(fact["time"].as_u64().unwrap() >= START_MS);
            assert!(fact["source"].is_string(), "{fact}");
        }
        // Every fact fits its template, and has who says it: the slot, or the template's default.
        for fact in facts.iter().filter(|fact| fact.get("template").is_some()) {
            let made =
                mizzen_rules::json::fact(fact, &vocabulary).unwrap_or_else(|error| panic!("{fact}: {error}"));
            let origin = made.slot("origin").unwrap().to_string();
            assert!(["host", "tool", "person"].contains(&origin.as_str()), "{made}");
        }
    }
    let shown = &named(&facts(&asked[2]), "evidence")[0];
    assert_eq!(
        (&shown["subject"], &shown["pointer"], &shown["text"]),
        (&json!("output"), &json!("/error/message"), &json!("as scripted"))
    );
    let error = named(&facts(&asked[2]), "error");
    assert_eq!(error[0]["code"], "BUSY");
    assert_eq!(
        (&error[0]["transient"], &error[0]["retries-left"]),
        (&json!(true), &json!(1))
    );
    let result = &named(&facts(&asked[2]), "tool-result")[0];
    assert_eq!(
        (&result["outcome"], &result["attempt"]),
        (&json!("tool-error"), &json!(1))
    );
    assert_eq!(named(&facts(&asked[1]), "evidence")[0]["origin"], "host");
    let after = facts(&asked[3]);
    let result = &named(&after, "tool-result")[0];
    assert_eq!(
        (&result["outcome"], &result["attempt"]),
        (&json!("output"), &json!(2))
    );
    assert!(
        result["duration-ms"].is_u64() && result["bytes"].as_u64().unwrap() > 100,
        "{result}"
    );
    let evidence: Vec<(Value, Value)> = named(&after, "evidence")
        .into_iter()
        .map(|slots| (slots["pointer"].clone(), slots["text"].clone()))
        .collect();
    assert_eq!(
        evidence,
        [
            // Keys that are no plain names are at their objects; numbers that are long enough are texts.
            (json!(""), json!("a/b")),
            (json!("/a~1b/0"), json!("x")),
            (json!("/a~1b/1"), json!("~")),
            (json!("/a~1b/1/~0"), json!("y")),
            (json!("/artifacts/0/name"), json!("f")),
            (json!("/card"), json!("4111111111111111")),
            (json!("/model"), json!("m")),
        ]
    );
    assert_eq!(named(&after, "tokens-used")[0]["total"], 7);
    assert_eq!(named(&after, "cost")[0]["amount"], 0.5);
    assert_eq!(named(&after, "artifact")[0]["bytes"], 9);
    assert_eq!(named(&after, "step")[0]["attempt"], 2);
    assert_eq!(named(&after, "transition")[0]["from"], "start");
    let end = facts(&asked[4]);
    assert!(named(&end, "tool-call").is_empty(), "all have ended");
    assert_eq!(named(&end, "transition")[0]["to"], "completed");
    assert_eq!(named(&end, "run")[0]["status"], "completed");
}

#[test]
fn packs_are_told_of_no_call_that_was_not_made() {
    let case = Case::new(
        "no call".to_owned(),
        json!({
            "input": {}, "gates": [], "steps": [{"action": "unperformed"}], "calls": {},
            "packs": [{"id": "p", "says": {}}], "expect": {},
        }),
    );
    let asked = questions(&case);
    let failed = asked.iter().find(|asked| asked.moment == Moment::OnError);
    let failed = facts(failed.expect("the step fails before its call"));
    assert_eq!(named(&failed, "error").len(), 1);
    assert_eq!(named(&failed, "step").len(), 1);
    for question in &asked {
        for template in ["tool-call", "tool-result"] {
            assert!(named(&facts(question), template).is_empty(), "{template}");
        }
    }
}

#[test]
fn packs_hear_who_answered_and_who_cancelled() {
    // Escalated before the run by one pack, approved; then cancelled in the middle of the step.
    let case = Case::new(
        "people".to_owned(),
        json!({
            "input": {}, "gates": [], "steps": [{"action": "work"}], "calls": {"0": [{"cancel": "enough"}]},
            "decision": {"decision": "approve", "after_ms": 3},
            "packs": [{"id": "p", "says": {"before-run": [[{"action": "escalate", "rule": "r"}]]}}], "expect": {},
        }),
    );
    let asked = questions(&case);
    let slots = |question: &PackQuestion, template: &str| {
        let facts = facts(question);
        let found = facts.iter().find(|fact| fact["template"] == template);
        found.map(|fact| fact["slots"].clone())
    };
    assert!(slots(&asked[0], "respond").is_none());
    let end = asked.last().unwrap();
    let answered = slots(end, "respond").unwrap();
    assert_eq!(
        (&answered["actor"], &answered["answer"]),
        (&json!("ada"), &json!("approve"))
    );
    let interrupted = slots(end, "tool-call").expect("no other moment tells of the call that was under way");
    assert_eq!(
        (&interrupted["step"], &interrupted["attempt"]),
        (&json!(0), &json!(1))
    );
    let cancelled = slots(end, "cancel").unwrap();
    assert_eq!(
        (&cancelled["actor"], &cancelled["reason"]),
        (&json!("ada"), &json!("enough"))
    );
}

#[test]
fn more_texts_than_can_be_judged_are_not_let_through() {
    let many: Vec<Value> = (0..3_000).map(|n| json!(format!("text {n}"))).collect();
    let case = Case::new(
        "many".to_owned(),
        json!({
            "input": {}, "gates": [], "steps": [{"action": "work"}], "calls": {"0": [{"ok": many}]},
            "packs": [{"id": "p", "says": {}}], "expect": {},
        }),
    );
    let asked = questions(&case);
    let refused = asked.iter().find_map(|question| question.facts.as_ref().err());
    assert!(refused.unwrap().contains("more than 2000 texts"));
}
