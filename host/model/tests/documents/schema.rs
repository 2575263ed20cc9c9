//! `iris.schema.json`: a golden file, and that it accepts exactly what the types accept.

use crate::examples::{LEWIS, chain, council, json, sprite};
use mizzen_json::Json;
use mizzen_model::document::{Document, iris_schema};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;

static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    jsonschema::draft202012::new(&iris_schema().to_serde().unwrap()).expect("the schema is a schema")
});

/// `MIZZEN_UPDATE_GOLDEN=1 cargo test -p mizzen-model` writes the file anew, and fails: a person reads the difference.
#[test]
fn the_schema_is_the_golden_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/iris.schema.json");
    if std::env::var_os("MIZZEN_UPDATE_GOLDEN").is_some() {
        let text = serde_json::to_string_pretty(&iris_schema().to_serde().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
        panic!("{path} is written; read its difference, and run the test without MIZZEN_UPDATE_GOLDEN");
    }
    // By value: how serde_json orders members depends on what else is in the build.
    assert_eq!(json(&std::fs::read_to_string(path).unwrap()), iris_schema());
}

#[test]
fn the_schema_is_valid_by_the_draft_it_names() {
    assert!(jsonschema::meta::is_valid(&iris_schema().to_serde().unwrap()));
}

fn agree(document: &Value) {
    let exact = json(&document.to_string());
    let types = Document::parse(&exact);
    let schema = VALIDATOR.is_valid(document);
    assert_eq!(
        types.is_ok(),
        schema,
        "types: {:?}\ndocument: {document}",
        types.err()
    );
}

#[test]
fn types_and_schema_accept_the_whole_documents() {
    for text in [sprite(LEWIS, "LEWIS-06"), chain(), council()] {
        let document: Value = serde_json::from_str(&text).unwrap();
        assert!(VALIDATOR.is_valid(&document));
        agree(&document);
    }
}

/// Every place in a document, as pointers.
fn places(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut pending = vec![(String::new(), value)];
    while let Some((path, value)) = pending.pop() {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (format!("{path}/{key}"), value))
                .collect(),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(i, value)| (format!("{path}/{i}"), value))
                .collect(),
            _ => Vec::new(),
        };
        found.extend(children.iter().map(|(path, _)| path.clone()));
        pending.extend(children);
    }
    found
}

/// Values that sit on one side or the other of some limit.
fn odd_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        prop::sample::select(vec![
            "",
            " ",
            "\t\n",
            "A",
            "AB",
            "A-B",
            "A--B",
            "a",
            "1.0.0",
            "1.0.0-01",
            "01.0.0",
            "1.0.0+a.b-c",
            "0s",
            "1s",
            "12ms",
            "999999999999h",
            "99999999999h",
            "5 m",
            "١s",
            "00000000-0000-0000-0000-000000000000",
            "0000000g-0000-0000-0000-000000000000",
            "3F2C1D9E-5B7A-4C86-9E21-0A4D6F8B1C35",
            "before",
            "after",
            "on_error",
            "step",
            "allow",
            "deny",
            "mandatory",
            "planner",
            "blake3",
            "acme.x",
            "acme.x@^1",
            "acme.x@1.2.3.4",
            "Acme.x",
            "webhook:https://a",
            "webhook:https://",
            "notify:slack:#a",
            "notify:slack:",
            "notify:s:\u{7f}",
            "notify:s:é",
            "2026-04-27T10:00:00Z",
            "2024-02-29t23:59:60z",
            "2023-02-29T10:00:00Z",
            "2026-04-27T10:00:00",
            "\u{0}",
            "2026-04-27T10:00:00Z\n",
            "1.0.0\n",
            "AB\n",
            "\u{feff}",
        ])
        .prop_map(str::to_owned),
        "[A-Z0-9-]{0,6}",
        "[0-9.a-z+-]{0,12}",
        "[0-9]{1,13}(ms|s|m|h|d)?",
        "[a-z._@^~=0-9]{0,14}",
        "(webhook|notify):[a-z]{0,3}:?/{0,2}[ -~]{0,4}",
        "[0-9]{4}-[0-1][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{0,3})?([Zz]|[+-][0-2][0-9]:[0-6][0-9])",
        ".{0,4}",
        (1usize..5).prop_map(|n| "é".repeat([64, 65, 256, 257, 1025][n])),
        prop::sample::select(vec![1024usize, 1025, 2048, 2049, 4096, 4097, 65_536, 65_537])
            .prop_map(|n| "é".repeat(n)),
    ];
    prop_oneof![
        6 => text.prop_map(Value::String),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => (-2i64..1001).prop_map(Value::from),
        1 => prop::sample::select(vec![0.0, 1.0, 0.5, -1.0, 999.0, 1000.0, 1e16, 1e300]).prop_map(Value::from),
        1 => Just(serde_json::json!([])),
        1 => Just(serde_json::json!({})),
    ]
}

#[derive(Debug, Clone)]
enum Change {
    Set(Value),
    Remove,
    AddField(String, Value),
    Repeat,
    SwapIntegerForFloat,
}

fn change() -> impl Strategy<Value = Change> {
    let field = prop::sample::select(vec![
        "x",
        "id",
        "role",
        "protected",
        "tool",
        "scope",
        "position",
        "timeout",
        "retries",
        "hook",
        "enforcement",
        "created_at",
        "steps",
        "sprites",
        "system_prompt",
        "veto_message",
        "gates_before",
        "current",
        "tags",
    ]);
    prop_oneof![
        6 => odd_value().prop_map(Change::Set),
        2 => Just(Change::Remove),
        2 => (field, odd_value()).prop_map(|(field, value)| Change::AddField(field.to_owned(), value)),
        1 => Just(Change::Repeat),
        1 => Just(Change::SwapIntegerForFloat),
    ]
}

fn apply(document: &mut Value, place: &str, change: Change) {
    if let Change::Remove = change {
        let Some((parent, key)) = place.rsplit_once('/') else {
            return;
        };
        match document.pointer_mut(parent) {
            Some(Value::Object(members)) => drop(members.remove(key)),
            Some(Value::Array(items)) => drop(items.remove(key.parse().unwrap())),
            _ => {}
        }
        return;
    }
    let Some(target) = document.pointer_mut(place) else {
        return;
    };
    match (change, target) {
        (Change::Set(value), target) => *target = value,
        (Change::AddField(field, value), Value::Object(members)) => drop(members.insert(field, value)),
        (Change::Repeat, Value::Array(items)) => items.extend(items.first().cloned()),
        (Change::SwapIntegerForFloat, target) => {
            if let Some(number) = target.as_i64() {
                *target = Value::from(number as f64);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_the_types_accept_the_schema_accepts_and_the_reverse(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..3),
    ) {
        let text = [sprite(LEWIS, "LEWIS-06"), chain(), council()][which].clone();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        for (place, change) in changes {
            let places: Vec<String> = places(&document);
            apply(&mut document, place.get(&places).as_str(), change);
        }
        agree(&document);
    }

    /// The same, aimed at the texts that have a form.
    #[test]
    fn the_forms_of_texts_agree(
        (which, place) in prop::sample::select(vec![
            (0, "/id"), (0, "/name"), (0, "/version"), (0, "/metadata/created"), (0, "/capabilities/0/tool"),
            (0, "/fingerprint/hash"), (1, "/name"), (1, "/timeout"), (2, "/rules/0/hook"), (2, "/domain"),
        ]),
        value in odd_value(),
    ) {
        let text = [sprite(LEWIS, "LEWIS-06"), chain(), council()][which].clone();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        apply(&mut document, place, Change::Set(value));
        agree(&document);
    }

    #[test]
    fn whatever_is_accepted_comes_back_and_is_accepted_again(
        which in 0usize..3,
        place in any::<prop::sample::Index>(),
        change in change(),
    ) {
        let text = [sprite(LEWIS, "LEWIS-06"), chain(), council()][which].clone();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let places: Vec<String> = places(&document);
        apply(&mut document, place.get(&places).as_str(), change);
        if let Ok(accepted) = Document::parse(&json(&document.to_string())) {
            let written = accepted.to_json().to_compact();
            let again = Document::parse(&Json::parse(&written).unwrap());
            prop_assert_eq!(again.as_ref(), Ok(&accepted));
        }
    }

    #[test]
    fn no_json_makes_the_validator_panic(text in "[\\[\\]{}\",:a-z0-9 ]{0,64}") {
        if let Ok(document) = Json::parse(&text) {
            let _ = Document::parse(&document);
        }
    }
}
