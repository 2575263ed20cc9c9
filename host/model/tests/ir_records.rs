//! What the records promise beyond their shape.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use mizzen_model::ir::*;

#[test]
fn stores_name_their_capabilities() {
    let reference: StoreRef = loads(r#"{"name":"notes","provider":"p"}"#).unwrap();
    assert_eq!(reference.to_capabilities(), ["db.notes:read", "db.notes:write"]);
    let spec = |capabilities: &str| -> StoreSpec {
        loads(&format!(
            r#"{{"name":"notes","provider":"p","protocol":"doc","config_schema":{{}},"capabilities":[{capabilities}]}}"#
        ))
        .unwrap()
    };
    assert_eq!(spec("").effective_capabilities(), reference.to_capabilities());
    assert_eq!(
        spec("\"db.notes:read\"").effective_capabilities(),
        ["db.notes:read"]
    );
}

#[test]
fn defaults_are_those_of_the_tables() {
    let document: IRDocument = loads(r#"{"ir_version":"1.0.0","id":"g","nodes":[]}"#).unwrap();
    assert!(document.rules.is_empty() && document.tools.is_empty() && document.skills.is_empty());
    assert!(document.stores.is_empty() && document.state_schema.is_empty() && document.state_class.is_none());
    assert!(document.parallel.is_empty() && document.governance.is_empty() && document.migrate.is_empty());
    let parallel: ParallelAction = loads(r#"{"kind":"parallel","targets":[]}"#).unwrap();
    assert_eq!((parallel.join.as_str(), parallel.strategy.as_str()), ("", "all"));
    let retry: RetryAction = loads(r#"{"kind":"retry","target":"a"}"#).unwrap();
    assert_eq!(retry.backoff_ms.as_i64(), Some(0));
    let interrupt: InterruptAction = loads(r#"{"kind":"interrupt","prompt":"p"}"#).unwrap();
    assert_eq!(
        (
            interrupt.on_timeout.as_str(),
            interrupt.timeout,
            interrupt.requested_capability
        ),
        ("halt", None, None)
    );
    assert!(interrupt.interrupt_payload.is_empty());
    let tool: ToolSpec = loads(
        r#"{"name":"n","namespace":"a","version":"1","description":"","input_schema":{},"output_schema":{},"side_effects":"read"}"#,
    )
    .unwrap();
    assert_eq!(
        (tool.replay_policy, tool.deprecated, tool.cost_estimate),
        (ReplayPolicy::MustStub, false, None)
    );
    let manifest: PluginManifest =
        loads(r#"{"name":"n","version":"1","api_version":"1","namespaces":[],"provides":[]}"#).unwrap();
    assert_eq!(manifest.order.get(), 5000);
}

#[test]
fn an_explicit_default_is_not_written_but_an_empty_requirement_is() {
    let check = |name: &str, text: &str, expected: &str| {
        assert_eq!(
            RecordName::parse(name).unwrap().loads(text).unwrap().dumps(),
            expected
        );
    };
    check(
        "ParallelAction",
        r#"{"strategy":"all","join":"","targets":["a"],"kind":"parallel"}"#,
        r#"{"kind":"parallel","targets":["a"]}"#,
    );
    check(
        "PackMount",
        r#"{"requires":{},"version":null,"id":"p"}"#,
        r#"{"id":"p","requires":{}}"#,
    );
    check(
        "InterruptAction",
        r#"{"kind":"interrupt","prompt":"p","timeout":0,"on_timeout":"halt"}"#,
        r#"{"kind":"interrupt","prompt":"p","timeout":"PT0S"}"#,
    );
    check(
        "PluginManifest",
        r#"{"order":5000,"provides":["pack"],"namespaces":["a"],"api_version":"1","version":"1","name":"n"}"#,
        r#"{"name":"n","version":"1","api_version":"1","namespaces":["a"],"provides":["pack"]}"#,
    );
    check(
        "SlotDef",
        r#"{"type":"int","name":"s"}"#,
        r#"{"name":"s","type":"int"}"#,
    );
}

#[test]
fn money_is_exact_and_replay_policies_have_one_spelling_on_the_wire() {
    let tool = |extra: &str| {
        let text = format!(
            r#"{{"name":"n","namespace":"a","version":"1","description":"","input_schema":{{}},"output_schema":{{}},"side_effects":"read",{extra}}}"#
        );
        dumps(&loads::<ToolSpec>(&text).unwrap())
    };
    assert!(tool(r#""cost_estimate":"0.10""#).ends_with(r#""side_effects":"read","cost_estimate":"0.10"}"#));
    assert!(tool(r#""cost_estimate":0.1"#).ends_with(r#""cost_estimate":"0.1"}"#));
    assert!(
        tool(r#""cost_estimate":12345678901234567890123"#)
            .ends_with(r#""cost_estimate":"12345678901234567890123"}"#)
    );
    assert!(tool(r#""replay_policy":"recorded_result""#).ends_with(r#""replay_policy":"recorded-result"}"#));
    assert!(tool(r#""replay_policy":"must_stub""#).ends_with(r#""side_effects":"read"}"#));
}

#[test]
fn a_legacy_tool_spec_is_readable_after_its_migration() {
    let text = r#"{"name":"n","namespace":"a","version":"1","description":"","input_schema":{},"output_schema":{},"side_effects":true}"#;
    assert!(loads::<ToolSpec>(text).is_err());
    let coerced = coerce_legacy_tool_spec(mizzen_json::Json::parse(text).unwrap());
    assert!(coerced.deprecation.is_some());
    assert_eq!(
        loads::<ToolSpec>(&coerced.spec.to_compact())
            .unwrap()
            .side_effects,
        SideEffects::Write
    );
}

#[test]
fn errors_say_what_was_expected_what_was_there_and_what_to_do() {
    let errors = validate(
        r#"{"ir_version":"1.0.0","id":"g","nodes":[],"rules":[{"id":"r","then":[{"kind":"gotoo"},{},7,{"kind":"retry","target":"a","backoff_ms":"5"}]}],"rule":[]}"#,
    );
    let seen: Vec<(&str, &str, Option<&str>, &str)> = errors
        .iter()
        .map(|error| {
            (
                error.code,
                error.path.as_str(),
                error.actual.as_deref(),
                error.hint.as_ref(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (
                "union_tag_invalid",
                "/rules/0/then/0",
                Some("\"gotoo\""),
                "did you mean kind `goto`?"
            ),
            (
                "union_tag_not_found",
                "/rules/0/then/1",
                Some("object of 0"),
                "add the discriminator `kind`: one of goto, halt, parallel, retry, assert, retract, interrupt"
            ),
            (
                "model_type",
                "/rules/0/then/2",
                Some("7"),
                "replace it by an object with the record's fields"
            ),
            (
                "int_type",
                "/rules/0/then/3/backoff_ms",
                Some("\"5\""),
                "remove the quotes: strings are not read as numbers"
            ),
            (
                "extra_forbidden",
                "/rule",
                Some("array of 0"),
                "did you mean `rules`? unknown keys are forbidden"
            ),
        ]
    );
}
