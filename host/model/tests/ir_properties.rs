//! Promises about every document, not only the ones somebody thought of.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use mizzen_json::{Integer, Json, Object};
use mizzen_model::ir::*;
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9_.-]{0,12}",
        any::<String>(),
        "[\u{0}-\u{1f}\"\\\\\u{7f}\u{85}\u{2028}\u{fffd}\u{1f600}]{0,8}",
        Just("all".to_owned()),
        Just("halt".to_owned()),
        Just(String::new()),
    ]
}

fn slug_text() -> impl Strategy<Value = String> {
    "[a-z0-9][a-z0-9_.-]{0,20}"
}

fn payload() -> impl Strategy<Value = Object> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "-?[1-9][0-9]{18,60}".prop_filter_map("an integer", |digits| Integer::parse(&digits).map(Json::Int)),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(Json::Float),
        Just(Json::Float(-0.0)),
        text().prop_map(Json::from),
    ];
    let value = leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    });
    prop::collection::vec((text(), value), 0..5).prop_map(|members| members.into_iter().collect())
}

fn duration() -> impl Strategy<Value = IsoDuration> {
    prop_oneof![
        any::<i64>().prop_filter_map("in range", |seconds| IsoDuration::from_seconds(
            seconds % 86_400_000_000
        )
        .ok()),
        (-1e12f64..1e12).prop_filter_map("in range", |seconds| IsoDuration::from_float_seconds(seconds)
            .ok()),
    ]
}

fn strings() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..4)
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        text().prop_map(|target| Action::Goto(GotoAction { target })),
        text().prop_map(|reason| Action::Halt(HaltAction { reason })),
        (strings(), text(), text()).prop_map(|(targets, join, strategy)| Action::Parallel(ParallelAction {
            targets,
            join,
            strategy
        })),
        (text(), any::<i64>()).prop_map(|(target, wait)| Action::Retry(RetryAction {
            target,
            backoff_ms: Integer::from(wait)
        })),
        (text(), text()).prop_map(|(fact, slots)| Action::Assert(AssertAction { fact, slots })),
        text().prop_map(|pattern| Action::Retract(RetractAction { pattern })),
        (
            text(),
            payload(),
            prop::option::of(text()),
            prop::option::of(duration()),
            text()
        )
            .prop_map(
                |(prompt, interrupt_payload, requested_capability, timeout, on_timeout)| {
                    Action::Interrupt(Box::new(InterruptAction {
                        prompt,
                        interrupt_payload,
                        requested_capability,
                        timeout,
                        on_timeout,
                    }))
                }
            ),
    ]
}

fn pack() -> impl Strategy<Value = PackMount> {
    let requires = (prop::option::of(text()), prop::option::of(text())).prop_map(
        |(stargraph_facts_version, api_version)| PackRequires {
            stargraph_facts_version,
            api_version,
        },
    );
    (slug_text(), prop::option::of(text()), prop::option::of(requires)).prop_map(|(id, version, requires)| {
        PackMount {
            id,
            version,
            requires,
        }
    })
}

fn document() -> impl Strategy<Value = IRDocument> {
    let node = (slug_text(), text()).prop_map(|(id, kind)| NodeSpec { id, kind });
    let rule = (slug_text(), text(), prop::collection::vec(action(), 0..4))
        .prop_map(|(id, when, then)| RuleSpec { id, when, then });
    let tool = (text(), prop::option::of(text())).prop_map(|(id, version)| ToolRef { id, version });
    let skill = (text(), prop::option::of(text())).prop_map(|(id, version)| SkillRef { id, version });
    let store = (text(), text()).prop_map(|(name, provider)| StoreRef { name, provider });
    let block = (strings(), text(), text()).prop_map(|(targets, join, strategy)| ParallelBlock {
        targets,
        join,
        strategy,
    });
    let migrate = (text(), text()).prop_map(|(from_hash, to_hash)| MigrateBlock { from_hash, to_hash });
    let head = (
        "1\\.[0-9]{1,3}\\.[0-9]{1,3}",
        text(),
        prop::collection::vec(node, 0..4),
        prop::collection::vec(rule, 0..3),
        prop::collection::vec(tool, 0..3),
        prop::collection::vec(skill, 0..3),
    );
    let tail = (
        prop::collection::vec(store, 0..3),
        prop::collection::vec((text(), text()), 0..4),
        prop::option::of(text()),
        prop::collection::vec(block, 0..3),
        prop::collection::vec(pack(), 0..3),
        prop::collection::vec(migrate, 0..3),
    );
    (head, tail).prop_map(
        |(
            (ir_version, id, nodes, rules, tools, skills),
            (stores, schema, state_class, parallel, governance, migrate),
        )| {
            let state_schema: StringMap = schema.into_iter().collect();
            IRDocument {
                ir_version,
                id,
                nodes,
                rules,
                tools,
                skills,
                stores,
                state_schema,
                state_class,
                parallel,
                governance,
                migrate,
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back_as_the_same_document(document in document()) {
        let wire = dumps(&document);
        prop_assert_eq!(validate(&wire), vec![]);
        let again: IRDocument = loads(&wire).unwrap();
        prop_assert_eq!(&again, &document);
        prop_assert_eq!(dumps(&again), wire);
        let canonical = dumps_canonical(&document);
        let from_canonical: IRDocument = loads(&canonical).unwrap();
        prop_assert_eq!(&from_canonical, &document);
        prop_assert_eq!(dumps_canonical(&from_canonical), canonical);
        prop_assert_eq!(graph_hash(&from_canonical), graph_hash(&document));
        prop_assert_eq!(diff(&document, &from_canonical), vec![]);
    }

    #[test]
    fn the_canonical_form_is_the_value_sorted(document in document()) {
        // The record writer sorts fields, the value writer sorts members: two ways to the same bytes.
        prop_assert_eq!(Json::parse(&dumps(&document)).unwrap().to_canonical(), dumps_canonical(&document));
    }

    #[test]
    fn defaults_are_never_written(document in document()) {
        let value = Json::parse(&dumps(&document)).unwrap();
        for key in ["rules", "tools", "skills", "stores", "parallel", "governance", "migrate"] {
            prop_assert!(value.get(key).and_then(Json::as_array).is_none_or(|items| !items.is_empty()));
        }
        for rule in value.get("rules").and_then(Json::as_array).into_iter().flat_map(|rules| rules.iter()) {
            for action in rule.get("then").and_then(Json::as_array).into_iter().flat_map(|then| then.iter()) {
                prop_assert!(action.get("kind").is_some());
                prop_assert_ne!(action.get("strategy").and_then(Json::as_str), Some("all"));
                prop_assert_ne!(action.get("on_timeout").and_then(Json::as_str), Some("halt"));
            }
        }
    }

    #[test]
    fn a_damaged_document_never_panics_and_gives_true_pointers(
        document in document(),
        at in any::<prop::sample::Index>(),
        junk in "[\\[\\]{}:,\"\\\\ 0-9a-z.+-]{0,6}",
    ) {
        let wire = dumps(&document);
        let places: Vec<usize> = wire.char_indices().map(|(at, _)| at).collect();
        let at = *at.get(&places);
        let width = wire[at..].chars().next().map_or(0, char::len_utf8);
        let damaged = format!("{}{junk}{}", &wire[..at], &wire[at + width..]);
        let inspection = inspect(&damaged, Options::default());
        prop_assert_eq!(inspection.document.is_some(), inspection.errors.is_empty());
        prop_assert_eq!(&validate(&damaged), &inspection.errors);
        let stages: std::collections::BTreeSet<&str> = inspection.errors.iter().map(|error| error.stage.as_str()).collect();
        prop_assert!(stages.len() <= 1, "{:?}", stages);
        if let Ok(value) = Json::parse(&damaged) {
            let value = value.to_serde().unwrap();
            for error in &inspection.errors {
                prop_assert_eq!(value.pointer(&error.path).is_some(), error.code != "missing", "{:?}", error);
                let span = error.span.unwrap();
                prop_assert!(damaged.get(span.start..span.end).is_some());
            }
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = inspect(&text, Options::default());
    }
}
