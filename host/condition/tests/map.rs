//! Maps: the grammar, what they read, their errors and their bounds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use mizzen_condition::map::{
    MAX_PATH_CHARS, MAX_SEGMENTS, Map, MapFault, Path, PathErrorKind, Root, Scope, Segment, Side, Tree,
};
use mizzen_json::{Json, Object};
use proptest::prelude::*;
use serde_json::Value;

const LIMIT: usize = 1 << 20;

fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Applies a map to the same values as both types, which must agree, and gives its compact text.
fn apply(map: &str, side: Side) -> Result<String, MapFault> {
    let input = r#"{"user": {"name": "ada", "odd name": 1, "it's": 2}, "list": [10, [20, 21]], "big": 123456789012345678901, "nothing": null}"#;
    let steps = [Some(r#"{"code": "x = 1"}"#), None];
    let output = r#"{"code": "y", "deep": {"er": [true]}}"#;
    let entries = json(map);
    let exact = {
        let steps: Vec<Option<Json>> = steps.iter().map(|text| text.map(json)).collect();
        let (input, output) = (json(input), json(output));
        let scope = Scope {
            input: &input,
            steps: &steps,
            output: (side == Side::Output).then_some(&output),
        };
        Map::<Json>::parse(entries.as_object().unwrap(), side)
            .expect("the map parses")
            .apply(scope, LIMIT)
    };
    let plain = {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let steps: Vec<Option<Value>> = steps.iter().map(|text| text.map(value)).collect();
        let (input, output) = (value(input), value(output));
        let scope = Scope {
            input: &input,
            steps: &steps,
            output: (side == Side::Output).then_some(&output),
        };
        Map::<Value>::parse(entries.as_object().unwrap(), side)
            .expect("the map parses")
            .apply(scope, LIMIT)
    };
    assert_eq!(plain.as_ref().err(), exact.as_ref().err());
    if let (Ok(exact), Ok(plain)) = (&exact, &plain) {
        assert_eq!(exact.to_serde().unwrap(), *plain);
    }
    exact.map(|value| value.to_compact())
}

#[test]
fn paths_and_literals_are_read() {
    let check = |map: &str, side: Side, expected: &str| {
        assert_eq!(apply(map, side).as_deref(), Ok(expected), "{map}")
    };
    check("{}", Side::Input, "{}");
    check(r#"{"a": "$input.user.name"}"#, Side::Input, r#"{"a":"ada"}"#);
    check(
        r#"{"a": "$input['user'][\"odd name\"]"}"#,
        Side::Input,
        r#"{"a":1}"#,
    );
    check(r#"{"a": "$input.user['it\\'s']"}"#, Side::Input, r#"{"a":2}"#);
    check(r#"{"a": "$input.list[1][0]"}"#, Side::Input, r#"{"a":20}"#);
    check(r#"{"a": "$input.nothing"}"#, Side::Input, r#"{"a":null}"#);
    check(r#"{"a": "$input.list"}"#, Side::Input, r#"{"a":[10,[20,21]]}"#);
    check(
        r#"{"a": "$steps[0].output.code", "b": "$steps[0].output"}"#,
        Side::Input,
        r#"{"a":"x = 1","b":{"code":"x = 1"}}"#,
    );
    check(
        r#"{"a": 1, "b": "text", "c": {"d": "$input"}, "e": null, "f": [1.5]}"#,
        Side::Input,
        r#"{"a":1,"b":"text","c":{"d":"$input"},"e":null,"f":[1.5]}"#,
    );
    check(
        r#"{"a": "$$input.user", "b": "$$", "c": "$$$"}"#,
        Side::Input,
        r#"{"a":"$input.user","b":"$","c":"$$"}"#,
    );
    check(
        r#"{"a": "$output.code", "b": "$.deep.er[0]", "c": "$['code']", "d": "$"}"#,
        Side::Output,
        r#"{"a":"y","b":true,"c":"y","d":{"code":"y","deep":{"er":[true]}}}"#,
    );
    check(
        r#"{"a": "$input.user.name", "b": "$steps[0].output.code"}"#,
        Side::Output,
        r#"{"a":"ada","b":"x = 1"}"#,
    );
}

#[test]
fn integers_of_any_size_survive_in_exact_values() {
    let entries = json(r#"{"a": "$input", "b": 123456789012345678901234567890}"#);
    let input = json("98765432109876543210");
    let map = Map::<Json>::parse(entries.as_object().unwrap(), Side::Input).unwrap();
    let built = map
        .apply(
            Scope {
                input: &input,
                steps: &[],
                output: None,
            },
            LIMIT,
        )
        .unwrap();
    assert_eq!(
        built.to_compact(),
        r#"{"a":98765432109876543210,"b":123456789012345678901234567890}"#
    );
}

#[test]
fn what_is_missing_is_named_with_its_place() {
    let check = |path: &str, position: usize, reason: &str| {
        let map = format!(r#"{{"k": {}}}"#, Value::from(path));
        let fault = apply(&map, Side::Output).unwrap_err();
        let expected = MapFault::Missing {
            key: "k".to_owned(),
            path: path.to_owned(),
            position,
            reason: reason.to_owned(),
        };
        assert_eq!(fault, expected);
        let optional = format!(r#"{{"k": {}}}"#, Value::from(format!("{path}?")));
        assert_eq!(
            apply(&optional, Side::Output).as_deref(),
            Ok(r#"{"k":null}"#),
            "{path}"
        );
    };
    check("$input.user.age", 11, "there is no field \"age\"");
    check("$input.age.years", 6, "there is no field \"age\"");
    check(
        "$input.user.name.first",
        16,
        "there is no field \"first\" in string",
    );
    check("$input.list[2]", 11, "the list has no item 2");
    check("$input.user[0]", 11, "there is no item 0 in object");
    check("$input.list.length", 11, "there is no field \"length\" in array");
    check("$input.nothing.x", 14, "there is no field \"x\" in null");
    check("$steps[1].output.code", 0, "step 1 has no output");
    check("$steps[7].output", 0, "step 7 has not run");
    check("$.nope", 1, "there is no field \"nope\"");
}

#[test]
fn what_is_not_a_path_is_refused_with_its_place() {
    let check = |text: &str, side: Side, position: usize, kind: PathErrorKind| {
        let error = Path::parse(text, side).expect_err(text);
        assert_eq!((error.position, error.kind), (position, kind), "{text}");
    };
    use PathErrorKind as Kind;
    check("$foo", Side::Input, 1, Kind::UnknownRoot);
    check("$inputs.a", Side::Input, 1, Kind::UnknownRoot);
    check("$Input", Side::Input, 1, Kind::UnknownRoot);
    check("$", Side::Input, 1, Kind::UnknownRoot);
    check("$ input", Side::Output, 1, Kind::Unexpected);
    check("$output.a", Side::Input, 1, Kind::NoOutputYet);
    check("$.a", Side::Input, 1, Kind::NoOutputYet);
    check("$steps", Side::Input, 6, Kind::BadStep);
    check("$steps[0]", Side::Input, 6, Kind::BadStep);
    check("$steps[0].input", Side::Input, 6, Kind::BadStep);
    check("$steps[0].outputs", Side::Input, 6, Kind::BadStep);
    check("$steps[-1].output", Side::Input, 6, Kind::BadStep);
    check("$steps[01].output", Side::Input, 6, Kind::BadStep);
    check("$steps[1234567890].output", Side::Input, 6, Kind::BadStep);
    check("$steps[*].output", Side::Input, 6, Kind::BadStep);
    check("$input.", Side::Input, 7, Kind::ExpectedName);
    check("$input..a", Side::Input, 7, Kind::ExpectedName);
    check("$input.*", Side::Input, 7, Kind::ExpectedName);
    check("$input.a b", Side::Input, 8, Kind::Unexpected);
    check("$input.a?.b", Side::Input, 9, Kind::Unexpected);
    check("$input.a??", Side::Input, 9, Kind::Unexpected);
    check("$input[", Side::Input, 7, Kind::BadBracket);
    check("$input[]", Side::Input, 7, Kind::BadBracket);
    check("$input[*]", Side::Input, 7, Kind::BadBracket);
    check("$input[00]", Side::Input, 7, Kind::BadBracket);
    check("$input[-1]", Side::Input, 7, Kind::BadBracket);
    check("$input[1:2]", Side::Input, 8, Kind::BadBracket);
    check("$input[?(@.a)]", Side::Input, 7, Kind::BadBracket);
    check("$input['a", Side::Input, 9, Kind::BadQuote);
    check("$input['a\\n']", Side::Input, 10, Kind::BadQuote);
    check("$input['a\"]", Side::Input, 11, Kind::BadQuote);
    check("$input['a'x]", Side::Input, 10, Kind::BadBracket);
    check("input.a", Side::Input, 0, Kind::UnknownRoot);
}

#[test]
fn every_entry_that_does_not_parse_is_reported() {
    let entries = json(r#"{"a": "$x", "b": "$input", "c": "$input["}"#);
    let errors = Map::<Json>::parse(entries.as_object().unwrap(), Side::Input).unwrap_err();
    assert_eq!(
        errors.iter().map(|error| error.key.as_str()).collect::<Vec<_>>(),
        ["a", "c"]
    );
}

#[test]
fn paths_are_bounded_in_characters_and_segments() {
    let named = |count: usize| format!("$input.{}", "é".repeat(count - "$input.".len()));
    assert!(Path::parse(&named(MAX_PATH_CHARS), Side::Input).is_ok());
    let error = Path::parse(&named(MAX_PATH_CHARS + 1), Side::Input).unwrap_err();
    assert_eq!(error.kind, PathErrorKind::TooLong(MAX_PATH_CHARS + 1));
    let deep = |count: usize| format!("$input{}", ".a".repeat(count));
    assert!(Path::parse(&deep(MAX_SEGMENTS), Side::Input).is_ok());
    let error = Path::parse(&deep(MAX_SEGMENTS + 1), Side::Input).unwrap_err();
    assert_eq!(error.kind, PathErrorKind::TooManySegments);
}

#[test]
fn a_map_that_multiplies_its_input_is_stopped_by_the_limit() {
    let entries: Object = (0..256)
        .map(|index| (format!("k{index}"), Json::from("$input")))
        .collect();
    let input = Json::from("x".repeat(100_000));
    let map = Map::<Json>::parse(&entries, Side::Input).unwrap();
    let scope = Scope {
        input: &input,
        steps: &[],
        output: None,
    };
    assert!(matches!(map.apply(scope, LIMIT), Err(MapFault::TooLarge { limit: LIMIT, key }) if key == "k10"));
    assert!(map.apply(scope, 100_000_000).is_ok());
}

#[test]
fn a_literal_that_the_values_cannot_hold_is_refused_when_it_is_parsed() {
    let deep = json(&format!("{{\"a\": {}{}}}", "[".repeat(500), "]".repeat(500)));
    assert!(Map::<Json>::parse(deep.as_object().unwrap(), Side::Input).is_ok());
    let errors = Map::<Value>::parse(deep.as_object().unwrap(), Side::Input).unwrap_err();
    assert!(matches!(
        errors[0].error.kind,
        PathErrorKind::LiteralTooDeep { .. }
    ));
}

fn segment() -> impl Strategy<Value = Segment> {
    prop_oneof![
        "[\\PC]{0,6}".prop_map(Segment::Field),
        (0usize..5).prop_map(Segment::Item)
    ]
}

fn spell(segments: &[Segment]) -> String {
    segments
        .iter()
        .map(|segment| match segment {
            Segment::Item(index) => format!("[{index}]"),
            Segment::Field(name) => format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'")),
        })
        .collect()
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
        let _ = Path::parse(&text, Side::Input);
        let _ = Path::parse(&format!("${text}"), Side::Output);
        let _ = Path::parse(&format!("$input{text}"), Side::Input);
    }

    #[test]
    fn text_like_a_path_is_a_path_or_an_error_inside_of_it(text in "\\$(input|steps|output|)[\\[\\].'\"?\\\\a0-2-]{0,20}") {
        if let Err(error) = Path::parse(&text, Side::Output) {
            prop_assert!(error.position <= text.chars().count());
        }
    }

    #[test]
    fn any_segments_can_be_spelled_and_are_read_back(segments in prop::collection::vec(segment(), 0..8)) {
        let text = format!("$input{}", spell(&segments));
        let path = Path::parse(&text, Side::Input).unwrap();
        prop_assert_eq!(path.root(), Root::Input);
        prop_assert!(path.segments().eq(segments.iter()));
    }

    #[test]
    fn a_path_finds_what_was_put_at_its_end(segments in prop::collection::vec(segment(), 0..8)) {
        let mut value = Json::from("found");
        for segment in segments.iter().rev() {
            value = match segment {
                Segment::Field(name) => Json::object(vec![(name.clone(), value)]),
                Segment::Item(index) => {
                    let mut items = vec![Json::Null; *index];
                    items.push(value);
                    items.into()
                }
            };
        }
        let text = format!("$input{}", spell(&segments));
        let entries: Object = [("k".to_owned(), Json::from(text))].into_iter().collect();
        let map = Map::<Json>::parse(&entries, Side::Input).unwrap();
        let built = map.apply(Scope { input: &value, steps: &[], output: None }, LIMIT).unwrap();
        prop_assert_eq!(built.get("k"), Some(&Json::from("found")));
    }

    #[test]
    fn a_text_that_begins_with_a_dollar_can_be_written_as_a_literal(text in "\\PC{0,20}") {
        let entries: Object = [("k".to_owned(), Json::from(format!("$${text}")))].into_iter().collect();
        let map = Map::<Json>::parse(&entries, Side::Input).unwrap();
        let built = map.apply(Scope { input: &Json::Null, steps: &[], output: None }, LIMIT).unwrap();
        prop_assert_eq!(built.get("k"), Some(&Json::from(format!("${text}"))));
    }
}
