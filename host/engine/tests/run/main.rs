//! Chains against a scripted sandbox: one file per case in `tests/chains`, and properties over all of them.
#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod diagram;
mod packs;
mod script;

use mizzen_engine::run::{Event, Run, Start};
use mizzen_model::execution::{ExecutionStatus, StepStatus};
use proptest::prelude::*;
use script::{Case, cases};
use serde_json::Value;

#[test]
fn every_case_ends_as_it_says() {
    let cases = cases();
    assert!(cases.len() >= 35, "only {} cases were found", cases.len());
    for case in &cases {
        let played = case.play();
        case.check(&played);
    }
}

#[test]
fn the_cases_take_every_transition_of_the_seeds_diagram_and_show_every_decision() {
    let mut taken = std::collections::BTreeSet::new();
    let mut decided = std::collections::BTreeSet::new();
    for case in cases() {
        taken.extend(diagram::transitions(&case.play().result));
        decided.extend(case.decides());
    }
    let missing: Vec<_> = diagram::ALL.iter().filter(|one| !taken.contains(*one)).collect();
    assert!(missing.is_empty(), "no case goes {missing:?}");
    // D7 is not the run's: a council has its snapshots before a run begins (host/cli/tests/suite/http/registry_api.rs).
    for decision in ["D1", "D2", "D3", "D4", "D5", "D6", "D21", "D23"] {
        assert!(decided.contains(decision), "no case shows {decision}");
    }
}

#[test]
fn a_run_made_again_from_its_events_is_the_same_run() {
    for case in cases() {
        let played = case.play();
        for kept in 0..=played.events.len() {
            let (mut run, _) = Run::start(case.plan(), case.start());
            for (event, now_ms) in &played.events[..kept] {
                run.handle(event.clone(), *now_ms);
            }
            let (mut other, _) = Run::start(case.plan(), case.start());
            for (event, now_ms) in &played.events[..kept] {
                other.handle(event.clone(), *now_ms);
                // An event that comes twice, or late, changes nothing.
                assert_eq!(
                    other.handle(event.clone(), *now_ms),
                    [],
                    "{}: {event:?}",
                    case.name
                );
            }
            assert_eq!(run.result(), other.result(), "{}", case.name);
            assert_eq!(run.pending(), other.pending(), "{}", case.name);
        }
    }
}

/// Every open run is waiting for a call, a time or a person; every ended one has nothing open.
fn check_invariant(case: &Case, run: &Run<String>) {
    let result = run.result();
    let open: Vec<_> = result
        .steps
        .iter()
        .filter(|s| matches!(s.status, StepStatus::Pending | StepStatus::Running))
        .collect();
    match result.status {
        ExecutionStatus::AwaitingApproval => {
            assert!(result.escalation.is_some());
            let expires = case.start().escalation_ms.is_some();
            assert_eq!(run.wake_at_ms().is_some(), expires, "{}", case.name);
        }
        ExecutionStatus::Running => assert!(run.wake_at_ms().is_some(), "{}: nobody will wake it", case.name),
        ExecutionStatus::Pending => panic!("a started run is never pending"),
        _ => {
            assert!(open.is_empty(), "{}: {open:?}", case.name);
            assert!(run.pending().is_empty() && run.wake_at_ms().is_none());
            assert!(result.completed_at.is_some() && result.duration_ms.is_some());
        }
    }
    assert_eq!(
        result.error.is_none(),
        !result.status.is_final() || result.status == ExecutionStatus::Completed
    );
    let text = serde_json::to_string(result).unwrap();
    assert_eq!(
        serde_json::from_str::<mizzen_model::execution::ChainExecutionResult>(&text).unwrap(),
        *result
    );
}

/// What a guest wrote.
fn written(message: &str) -> mizzen_model::execution::CallLog {
    use mizzen_model::execution::{CallLog, LogEntry, LogLevel};
    let line = LogEntry {
        level: LogLevel::Info,
        message: message.to_owned(),
        fields: std::collections::BTreeMap::new(),
    };
    CallLog::last_of(vec![line], 0)
}

/// A call that some tool makes, or its end, or a host that stopped: mostly at a time when nobody waits for it.
fn nested() -> impl Strategy<Value = Event> {
    use mizzen_engine::plan::{Repeatable, ToolFacts};
    use mizzen_engine::run::{Callee, NestedAsked, Within};
    use mizzen_model::tool_spec::SideEffects;
    let within = prop_oneof![
        (0u32..2, 1u32..3).prop_map(|(order, attempt)| Within::Step { order, attempt }),
        (1u32..4).prop_map(|question| Within::Gate { question }),
    ];
    let path = prop_oneof![Just("1"), Just("2"), Just("1.1"), Just("gate")];
    (within, path, 0..3, any::<bool>()).prop_map(|(within, path, kind, answers)| match kind {
        0 => Event::NestedAsked(Box::new(NestedAsked {
            within,
            path: path.to_owned(),
            caller: "t.caller".to_owned(),
            callee: Callee {
                tool: ToolFacts {
                    tool: "t.callee".to_owned(),
                    side_effects: SideEffects::External,
                    ..ToolFacts::default()
                },
                digest: String::new(),
                repeatable: Repeatable::No,
            },
            input: serde_json::json!({"x": 1}),
        })),
        1 => Event::NestedEnded {
            within,
            path: path.to_owned(),
            result: Ok(serde_json::json!({"answers": answers})),
            log: written("nested"),
        },
        _ => Event::Interrupted { within },
    })
}

fn event() -> impl Strategy<Value = Event> {
    use mizzen_engine::run::{CallFailure, Evidence, PackAnswer, Transient};
    use mizzen_model::execution::Approval;
    let transient = prop_oneof![Just(Transient::Yes), Just(Transient::No)];
    let failure = transient.prop_map(|transient| CallFailure {
        code: "X".to_owned(),
        message: String::new(),
        transient,
        tool_code: None,
    });
    let result = prop_oneof![
        Just(Ok(serde_json::json!({"y": 1}))),
        Just(Ok(Value::Null)),
        failure.prop_map(Err)
    ];
    prop_oneof![
        4 => (0u32..3, 1u32..4, result).prop_map(|(order, attempt, result)| Event::CallEnded { order, attempt, result, log: written("step") }),
        2 => (1u32..4, any::<bool>()).prop_map(|(question, allow)| Event::GateAnswered {
            question,
            answer: if allow { Ok(()) } else { Err("no".to_owned()) },
        }),
        4 => nested(),
        2 => (1u32..6).prop_map(|question| Event::PacksAnswered {
            question,
            answers: vec![PackAnswer { mount: 0, decisions: Vec::new(), failure: None }],
            shown: Evidence::Full,
        }),
        2 => Just(Event::Tick),
        1 => any::<bool>().prop_map(|approve| Event::Decided {
            escalation_id: format!("{}:ask", script::EXECUTION),
            decision: if approve { Approval::Approve } else { Approval::Deny },
            reason: String::new(),
            actor: "ada".to_owned(),
        }),
        1 => Just(Event::Cancel { reason: "stop".to_owned(), actor: "ada".to_owned() }),
    ]
}

proptest! {
    #[test]
    fn no_order_of_events_breaks_a_run(
        which in any::<prop::sample::Index>(),
        events in prop::collection::vec((event(), 0u64..60), 0..24),
    ) {
        let cases = cases();
        let case = which.get(&cases);
        let (mut run, commands) = Run::start(case.plan(), case.start());
        check_invariant(case, &run);
        let mut finished = script::finishes(&commands);
        let mut now_ms = script::START_MS;
        for (event, later) in events {
            now_ms += later;
            let before = run.result().clone();
            let commands = run.handle(event, now_ms);
            if before.status.is_final() {
                prop_assert_eq!(run.result(), &before);
                prop_assert!(commands.is_empty());
            }
            finished += script::finishes(&commands);
            check_invariant(case, &run);
        }
        prop_assert_eq!(finished, usize::from(run.result().status.is_final()));
    }
}

/// R9: a question that nobody answers is denied when its time is up, and an answer that comes then is too late.
#[test]
fn an_escalation_that_has_expired_is_never_approved() {
    use mizzen_model::execution::Approval;
    let cases = cases();
    let case = cases
        .iter()
        .find(|case| case.name == "escalation_expires")
        .unwrap();
    let start = case.start();
    let expires_ms = start.now_ms + start.escalation_ms.unwrap();
    let answer = |now_ms: u64| {
        let (mut run, _) = Run::start(case.plan(), case.start());
        assert_eq!(run.wake_at_ms(), Some(expires_ms));
        // A moment before is not the end of it.
        assert_eq!(run.handle(Event::Tick, expires_ms - 1), []);
        let event = Event::Decided {
            escalation_id: format!("{}:ask", script::EXECUTION),
            decision: Approval::Approve,
            reason: String::new(),
            actor: "ada".to_owned(),
        };
        run.handle(event, now_ms);
        run.result().clone()
    };
    assert_eq!(answer(expires_ms - 1).status, ExecutionStatus::Running);
    for late in [0, 1, u64::MAX - expires_ms] {
        let late = answer(expires_ms + late);
        assert_eq!(late.status, ExecutionStatus::Vetoed);
        assert_eq!(late.error.unwrap().code, "ESCALATION_EXPIRED");
        let denied = late.escalation.unwrap().answer.unwrap();
        assert_eq!(denied.decision, Approval::Deny);
    }
    // A run of a host that knew no such time waits for as long as it takes.
    let (mut old, _) = Run::start(
        case.plan(),
        Start {
            escalation_ms: None,
            ..case.start()
        },
    );
    assert_eq!(old.wake_at_ms(), None);
    assert_eq!(old.handle(Event::Tick, u64::MAX), []);
    assert_eq!(old.result().status, ExecutionStatus::AwaitingApproval);
}

#[test]
fn a_call_of_a_tool_is_a_run_of_one_step_with_the_whole_input() {
    use mizzen_engine::plan::{Plan, Repeatable, Target, ToolPlan, Unresolved};
    use mizzen_engine::run::Command;
    let tool = || ToolPlan {
        council_id: "11111111-1111-4111-8111-111111111111".parse().unwrap(),
        chain_id: "21111111-1111-4111-8111-111111111111".parse().unwrap(),
        sprite_id: "31111111-1111-4111-8111-111111111111".parse().unwrap(),
        tool: "acme.text.case".to_owned(),
        timeout_ms: 5_000,
    };
    let start = |input: Value| Start {
        execution_id: script::EXECUTION.parse().unwrap(),
        input,
        now_ms: script::START_MS,
        escalation_ms: None,
    };
    for input in [
        serde_json::json!({"text": "a"}),
        serde_json::json!([1]),
        Value::Null,
    ] {
        let target = Target {
            call: "case".to_owned(),
            repeatable: Repeatable::Yes,
        };
        let plan = std::sync::Arc::new(Plan::of_tool(tool(), Ok(target)));
        let (mut run, commands) = Run::start(plan, start(input.clone()));
        let called = Command::Call {
            order: 0,
            attempt: 1,
            input,
            deadline_ms: script::START_MS + 5_000,
        };
        assert!(commands.contains(&called), "{commands:?}");
        let ended = Event::CallEnded {
            order: 0,
            attempt: 1,
            result: Ok(serde_json::json!("A")),
            log: written("done"),
        };
        run.handle(ended, script::START_MS + 1);
        let result = run.result();
        assert_eq!(result.status, ExecutionStatus::Completed);
        assert_eq!(result.tool.as_deref(), Some("acme.text.case"));
        assert_eq!(result.steps[0].output, Some(serde_json::json!("A")));
        assert_eq!(result.steps[0].log[0].message, "done");
    }
    let missing = Unresolved {
        code: "TOOL_UNKNOWN".to_owned(),
        message: "install it".to_owned(),
    };
    let plan = std::sync::Arc::new(Plan::<String>::of_tool(tool(), Err(missing)));
    let (run, _) = Run::start(plan, start(Value::Null));
    assert_eq!(run.result().error.as_ref().unwrap().code, "TOOL_UNKNOWN");
}

#[test]
fn a_start_is_a_start_whatever_the_clock_says() {
    for case in cases() {
        for now_ms in [0, u64::MAX] {
            let (run, _) = Run::start(
                case.plan(),
                Start {
                    now_ms,
                    ..case.start()
                },
            );
            check_invariant(&case, &run);
        }
    }
}
