//! Every warning once, and where a warning would be wrong.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use mizzen_model::ir::{Options, inspect};

/// The warnings of a document with these sections, as `code path`.
fn warnings(nodes: &str, sections: &str) -> Vec<String> {
    let text = format!(r#"{{"ir_version":"1.0.0","id":"g","nodes":[{nodes}]{sections}}}"#);
    let inspection = inspect(&text, Options::default());
    assert_eq!(inspection.errors, [], "{text}");
    for warning in &inspection.warnings {
        let span = warning.span.unwrap();
        assert!(!text[span.start..span.end].is_empty());
        assert!(!warning.message.is_empty() && !warning.help.is_empty());
    }
    inspection
        .warnings
        .iter()
        .map(|warning| format!("{} {}", warning.code, warning.path))
        .collect()
}

const NODE: &str = r#"{"id":"a","kind":"echo"}"#;

fn rule_warnings(when: &str, then: &str, sections: &str) -> Vec<String> {
    warnings(
        NODE,
        &format!(r#","rules":[{{"id":"r","when":"{when}","then":[{then}]}}]{sections}"#),
    )
}

#[test]
fn targets_that_do_not_exist_are_noticed() {
    let check =
        |action: &str, expected: &[&str]| assert_eq!(rule_warnings("", action, ""), expected, "{action}");
    check(r#"{"kind":"goto","target":"a"}"#, &[]);
    check(
        r#"{"kind":"goto","target":"b"}"#,
        &["unknown_target /rules/0/then/0/target"],
    );
    check(
        r#"{"kind":"retry","target":"b"}"#,
        &["unknown_target /rules/0/then/0/target"],
    );
    check(
        r#"{"kind":"parallel","targets":["a","b"],"join":"a"}"#,
        &["unknown_target /rules/0/then/0/targets/1"],
    );
    check(
        r#"{"kind":"parallel","targets":["a"],"join":"b"}"#,
        &["unknown_join /rules/0/then/0/join"],
    );
    check(
        r#"{"kind":"interrupt","prompt":"p","on_timeout":"goto:b"}"#,
        &["unknown_target /rules/0/then/0/on_timeout"],
    );
    check(r#"{"kind":"interrupt","prompt":"p","on_timeout":"goto:a"}"#, &[]);
    check(
        r#"{"kind":"interrupt","prompt":"p","on_timeout":"later"}"#,
        &["unknown_on_timeout /rules/0/then/0/on_timeout"],
    );
    assert_eq!(
        warnings(
            NODE,
            r#","parallel":[{"targets":["b"],"join":"c","strategy":"most"}]"#
        ),
        [
            "unknown_target /parallel/0/targets/0",
            "unknown_join /parallel/0/join",
            "unknown_strategy /parallel/0/strategy"
        ]
    );
}

#[test]
fn strategies_are_those_of_d16() {
    let check = |strategy: &str, expected: Option<&str>| {
        let seen = rule_warnings(
            "",
            &format!(r#"{{"kind":"parallel","targets":["a","a"],"strategy":"{strategy}"}}"#),
            "",
        );
        let expected: Vec<String> = expected
            .iter()
            .map(|code| format!("{code} /rules/0/then/0/strategy"))
            .collect();
        assert_eq!(seen, expected, "{strategy}");
    };
    for known in ["all", "any", "race", "quorum", "quorum:1", "quorum:2"] {
        check(known, None);
    }
    check("quorum:3", Some("quorum_unreachable"));
    for unknown in ["", "ALL", "quorum:", "quorum:0", "quorum:-1", "quorum:x"] {
        check(unknown, Some("unknown_strategy"));
    }
}

#[test]
fn a_node_behind_a_halt_is_reachable_only_by_a_jump() {
    let nodes = r#"{"id":"a","kind":"echo"},{"id":"stop","kind":"halt"},{"id":"b","kind":"echo"},{"id":"c","kind":"echo"}"#;
    assert_eq!(
        warnings(nodes, ""),
        ["unreachable_node /nodes/2", "unreachable_node /nodes/3"]
    );
    // One jump to b, and c follows from it.
    assert!(
        warnings(
            nodes,
            r#","rules":[{"id":"r","then":[{"kind":"goto","target":"b"}]}]"#
        )
        .is_empty()
    );
    assert_eq!(
        warnings(
            nodes,
            r#","rules":[{"id":"r","then":[{"kind":"goto","target":"c"}]}]"#
        ),
        ["unreachable_node /nodes/2"]
    );
    assert!(warnings("", "").is_empty());
}

#[test]
fn rules_that_cannot_fire_or_do_nothing_are_noticed() {
    let halt = r#"{"kind":"halt"}"#;
    let state = r#","state_schema":{"severity":"int"}"#;
    let check = |when: &str, sections: &str, expected: &[&str]| {
        assert_eq!(rule_warnings(when, halt, sections), expected, "{when} {sections}");
    };
    check("(severity ?s&:(>= ?s 4))", state, &[]);
    check("(sevrity ?s)", state, &["rule_never_fires /rules/0/when"]);
    check(
        "(severity ?s) (colour red)",
        state,
        &["rule_never_fires /rules/0/when"],
    );
    check("(not (colour red))", state, &[]);
    check("(stargraph.node-entered ?n)", state, &[]);
    // What cannot be known is not claimed.
    check("(sevrity ?s)", "", &[]);
    check(
        "(sevrity ?s)",
        &format!(r#"{state},"governance":[{{"id":"p"}}]"#),
        &[],
    );
    check("(sevrity ?s)", &format!(r#"{state},"state_class":"m:C""#), &[]);
    check("(severity ?s", state, &["when_unparsable /rules/0/when"]);
    check("severity)", state, &["when_unparsable /rules/0/when"]);
    check("(severity \\\"open)", state, &["when_unparsable /rules/0/when"]);
    check("(severity ?s) ; comment (", state, &[]);
    assert_eq!(rule_warnings("", "", ""), ["rule_without_effect /rules/0"]);
    let assert_then_match = r#"{"kind":"assert","fact":"colour"}"#;
    assert!(rule_warnings("(colour red)", assert_then_match, state).is_empty());
}

/// What a condition's warning underlines, says and suggests.
fn condition_warning(when: &str) -> (String, String, String) {
    let text = format!(
        r#"{{"ir_version":"1.0.0","id":"g","nodes":[{NODE}],"rules":[{{"id":"r","when":"{when}","then":[{{"kind":"halt"}}]}}],"state_schema":{{"severity":"int","note":"str","ok":"bool"}}}}"#
    );
    let inspection = inspect(&text, Options::default());
    assert_eq!(inspection.errors, [], "{text}");
    let [warning] = inspection.warnings.as_slice() else {
        return (String::new(), String::new(), String::new());
    };
    let span = warning.span.unwrap();
    (
        text[span.start..span.end].to_owned(),
        warning.message.clone(),
        warning.help.to_string(),
    )
}

#[test]
fn a_condition_that_does_not_parse_is_underlined_inside_its_string() {
    let check = |when: &str, underlined: &str, message: &str, hint: &str| {
        let warning = condition_warning(when);
        assert_eq!(warning.0, underlined, "{warning:?}");
        assert!(warning.1.contains(message), "{warning:?}");
        assert!(warning.2.contains(hint), "{warning:?}");
    };
    check(
        "(severity >= 4)",
        "(severity >= 4)",
        "`>=` does not stand between operands",
        "(severity ?v&:(>= ?v 4))",
    );
    // Behind escapes the place is still exact.
    check(
        r#"(note \"\u00e9\") (severity < 3)"#,
        "(severity < 3)",
        "`<` does not stand",
        "(severity ?v&:(< ?v 3))",
    );
    check("(severity ?s))", ")", "closes nothing", "take it away");
    check("(severity ?s) (", "(", "never closed", "add the `)`");
    check("(severity ?s) => (halt)", "=>", "no right-hand side", "`then`");
    check(r"(severity ?s)\n(note ?n", "(note ?n", "never closed", "");
}

#[test]
fn a_condition_that_can_never_hold_is_noticed_where_that_can_be_told() {
    let check = |when: &str, expected: Option<(&str, &str)>| {
        let (_, message, hint) = condition_warning(when);
        match expected {
            None => assert_eq!(message, "", "{when}"),
            Some((reason, advice)) => {
                assert!(message.contains(reason), "{when}: {message}");
                assert!(hint.contains(advice), "{when}: {hint}");
            }
        }
    };
    check("(severity 4)", None);
    check(r#"(note \"x\")"#, None);
    check("(ok TRUE)", None);
    check("(severity $?)", None);
    check(
        "(sevrity 4)",
        Some(("called \"sevrity\"", "did you mean `severity`?")),
    );
    check("(severity 1 2)", Some(("has one value", "(severity ?value)")));
    check("(severity)", Some(("has one value", "(severity ?value)")));
    check(r#"(severity \"high\")"#, Some(("is of type int", "a number")));
    check("(note hello)", Some(("is of type str", "(note \"hello\")")));
    check("(note 4)", Some(("is of type str", "(note \"4\")")));
    check("(ok true)", Some(("is of type bool", "(ok TRUE)")));
    // One alternative is enough; both impossible is never.
    check("(or (severity 4) (colour red))", None);
    check("(or (severity high) (colour red))", Some(("is of type int", "")));
    check("(not (colour red))", None);
    check("(tool-call (side-effects write))", None);
    check(
        "(tool-call (side_effects write))",
        Some(("tool-call has no slot side_effects", "side-effects")),
    );
    check("{severity: 4, note: hello}", None);
}

#[test]
fn ids_shared_within_a_section_are_noticed() {
    let two = |key: &str, rest: &str| format!(r#"{{"{key}":"x"{rest}}},{{"{key}":"x"{rest}}}"#);
    assert_eq!(
        warnings(&two("id", r#","kind":"k""#), ""),
        ["duplicate_id /nodes/1/id"]
    );
    let sections = format!(
        r#","tools":[{}],"skills":[{}],"stores":[{}],"governance":[{}]"#,
        two("id", ""),
        two("id", ""),
        two("name", r#","provider":"p""#),
        two("id", "")
    );
    assert_eq!(
        warnings(NODE, &sections),
        [
            "duplicate_id /tools/1/id",
            "duplicate_id /skills/1/id",
            "duplicate_id /stores/1/name",
            "duplicate_id /governance/1/id"
        ]
    );
}
