//! JSON against what Python's reader and writer do, and against hostile input.

use mizzen_json::{Json, ParseCode, ReadLimits, View, parse, parse_bytes, serde_to_canonical};
use proptest::prelude::*;

fn code(text: &str) -> Option<ParseCode> {
    parse(text, ReadLimits::default()).err().map(|error| error.code)
}

#[test]
fn texts_print_compact_as_python_prints_them() {
    let check =
        |text: &str, expected: &str| assert_eq!(Json::parse(text).unwrap().to_compact(), expected, "{text}");
    check(" [ 1 , -0 , -0.0 , 1E5 , 1e-7 ] ", "[1,0,-0.0,100000.0,1e-07]");
    check("12345678901234567890123456789", "12345678901234567890123456789");
    check(
        r#""\u0041\/\b\f\n\r\t\u001f\u007f\"\\é😀""#,
        "\"A/\\b\\f\\n\\r\\t\\u001f\u{7f}\\\"\\\\é😀\"",
    );
    check(r#"{"b":1,"a":2,"b":3}"#, r#"{"b":3,"a":2}"#);
    check(
        r#"{"a":{},"b":[],"c":[[],{}],"d":null,"e":true,"f":false}"#,
        r#"{"a":{},"b":[],"c":[[],{}],"d":null,"e":true,"f":false}"#,
    );
}

#[test]
fn canonical_order_is_by_code_point_at_every_depth() {
    let value = Json::parse(r#"{"\uffee":1,"\ud83d\ude00":2,"z":{"b":[{"y":1,"x":2}],"a":1}}"#).unwrap();
    assert_eq!(
        value.to_canonical(),
        "{\"z\":{\"a\":1,\"b\":[{\"x\":2,\"y\":1}]},\"\u{ffee}\":1,\"😀\":2}"
    );
    assert_eq!(
        value.to_canonical_ascii(),
        r#"{"z":{"a":1,"b":[{"x":2,"y":1}]},"\uffee":1,"\ud83d\ude00":2}"#
    );
}

#[test]
fn what_is_not_json_is_refused_with_its_reason() {
    let check = |text: &str, expected: ParseCode| assert_eq!(code(text), Some(expected), "{text:?}");
    check("", ParseCode::UnexpectedEnd);
    check("   ", ParseCode::UnexpectedEnd);
    check("[", ParseCode::UnexpectedEnd);
    check("{\"a\":", ParseCode::UnexpectedEnd);
    check("{\"a\"", ParseCode::UnexpectedEnd);
    check("[1", ParseCode::UnexpectedEnd);
    check("[1,", ParseCode::UnexpectedEnd);
    check("{} x", ParseCode::TrailingData);
    check("01", ParseCode::InvalidNumber);
    check("-", ParseCode::InvalidNumber);
    check("1.", ParseCode::InvalidNumber);
    check("1e", ParseCode::InvalidNumber);
    check(".5", ParseCode::UnexpectedCharacter);
    check("+1", ParseCode::UnexpectedCharacter);
    check("1e400", ParseCode::NumberOutOfRange);
    check("NaN", ParseCode::NotANumber);
    check("[Infinity]", ParseCode::NotANumber);
    check("[-Infinity]", ParseCode::NotANumber);
    check("[1,]", ParseCode::TrailingComma);
    check("{\"a\":1,}", ParseCode::TrailingComma);
    check("[1 2]", ParseCode::ExpectedComma);
    check("[1}", ParseCode::ExpectedComma);
    check("{a:1}", ParseCode::ExpectedKey);
    check("{1:1}", ParseCode::ExpectedKey);
    check("{'a':1}", ParseCode::ExpectedKey);
    check("{\"a\" 1}", ParseCode::ExpectedColon);
    check("'a'", ParseCode::UnexpectedCharacter);
    check("tru", ParseCode::UnexpectedCharacter);
    check("// c\n1", ParseCode::UnexpectedCharacter);
    check("\"abc", ParseCode::UnterminatedString);
    check("\"abc\\", ParseCode::UnterminatedString);
    check("\"a\nb\"", ParseCode::ControlCharacter);
    check("\"aaaaaaaaaaaa\u{0}\"", ParseCode::ControlCharacter);
    check(r#""\x41""#, ParseCode::InvalidEscape);
    check(r#""\u12g4""#, ParseCode::InvalidEscape);
    check(r#""\u12"#, ParseCode::InvalidEscape);
    check(r#""\ud800""#, ParseCode::LoneSurrogate);
    check(r#""\udc00""#, ParseCode::LoneSurrogate);
    check(r#""\ud800\u0041""#, ParseCode::LoneSurrogate);
    check(r#""\udc00\ud800""#, ParseCode::LoneSurrogate);
    check("\u{feff}{}", ParseCode::ByteOrderMark);
    check("\u{a0}1", ParseCode::UnexpectedCharacter);
}

#[test]
fn bytes_that_are_not_utf8_are_refused_where_they_stand() {
    let error = parse_bytes(b"[\"a\xFF\"]", ReadLimits::default()).unwrap_err();
    assert_eq!((error.code, error.span.start), (ParseCode::InvalidUtf8, 3));
}

#[test]
fn every_value_and_key_knows_its_bytes() {
    let text = r#" {"a" : [ 1 , "x\n" ], "b":{} } "#;
    let tape = parse(text, ReadLimits::default()).unwrap();
    let View::Object(members) = tape.root().view() else {
        panic!("not an object")
    };
    let seen: Vec<(&str, &str)> = members
        .map(|member| {
            (
                &text[member.key_span().start..member.key_span().end],
                member.value.source_text(),
            )
        })
        .collect();
    assert_eq!(seen, [("\"a\"", r#"[ 1 , "x\n" ]"#), ("\"b\"", "{}")]);
    assert_eq!(tape.root().source_text(), text.trim());
}

#[test]
fn the_limits_answer_with_an_error() {
    let limits = ReadLimits {
        bytes: 10,
        depth: 3,
        values: 5,
    };
    let check = |text: &str, expected: Option<ParseCode>| {
        assert_eq!(
            parse(text, limits).err().map(|error| error.code),
            expected,
            "{text}"
        );
    };
    check("[[[1]]]", None);
    check("[[[[]]]]", Some(ParseCode::TooDeep));
    check("[1,1,1,1]", None);
    check("[1,1,1,1,]", Some(ParseCode::TrailingComma));
    check("[1,1,[],1]", None);
    check("[[],1,1,1]", None);
    check("\"123456789\"", Some(ParseCode::TooLarge));
    let limits = ReadLimits { values: 3, ..limits };
    assert_eq!(
        parse("[1,1,1]", limits).unwrap_err().code,
        ParseCode::TooManyValues
    );
}

#[test]
fn nesting_a_hundred_thousand_deep_is_an_error_and_not_a_crash() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(code(&text), Some(ParseCode::TooDeep));
        // Raised limits: parsing, copying, comparing, writing and dropping still need no stack.
        let limits = ReadLimits {
            depth: 200_000,
            ..ReadLimits::default()
        };
        let tape = parse(&text, limits).unwrap();
        let value = tape.root().to_json();
        let copy = value.clone();
        assert!(copy == value);
        assert!(value.to_canonical() == text && value.to_compact() == text);
        assert!(value.to_serde().is_err());
    }
}

#[test]
fn large_inputs_take_linear_time() {
    let long = format!("\"{}\"", "é".repeat(5_000_000));
    assert_eq!(Json::parse(&long).unwrap().as_str().unwrap().len(), 10_000_000);
    let escaped = format!("\"{}\"", "\\n".repeat(2_000_000));
    assert_eq!(Json::parse(&escaped).unwrap().as_str().unwrap().len(), 2_000_000);
    let repeated = format!("{{{}\"k\":0}}", "\"k\":1,".repeat(500_000));
    assert_eq!(Json::parse(&repeated).unwrap().to_compact(), "{\"k\":0}");
    let distinct: Vec<String> = (0..300_000).map(|n| format!("\"{n}\":{n}")).collect();
    let value = Json::parse(&format!("{{{}}}", distinct.join(","))).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 300_000);
    let digits = "9".repeat(1_000_000);
    assert_eq!(Json::parse(&digits).unwrap().to_compact(), digits);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "-?[1-9][0-9]{18,40}".prop_filter_map("an integer", |text| Json::parse(&text).ok()),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(Json::Float),
        any::<String>().prop_map(Json::from),
        "[\u{0}-\u{7f}\u{80}\u{ffff}\u{10000}\u{10ffff}]{0,40}".prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Json::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_form_reads_back_as_the_same_value(value in any_json()) {
        for text in [value.to_compact(), value.to_canonical(), value.to_canonical_ascii()] {
            prop_assert_eq!(&Json::parse(&text).unwrap(), &value);
        }
        prop_assert!(value.to_canonical_ascii().bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        prop_assert_eq!(value.clone(), value);
    }

    #[test]
    fn what_serde_json_accepts_is_accepted_and_means_the_same(text in "[\\[\\]{}:,\"\\\\ 0-9a-fu.eE+\\-tn\\n]{0,40}") {
        let ours = Json::parse(&text);
        // That library reads a number beyond a float's range as an error too, and knows no big integers.
        let theirs: Result<serde_json::Value, _> = serde_json::from_str(&text);
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(&ours.to_serde().unwrap(), theirs),
            (Err(_), Err(_)) => {}
            (ours, theirs) => prop_assert!(text.contains(|c: char| c.is_ascii_digit()), "{:?}: {:?} {:?}", text, ours, theirs),
        }
    }

    #[test]
    fn a_serde_value_has_the_canonical_bytes_of_ours(value in any_json()) {
        let theirs = value.to_serde().unwrap();
        prop_assert_eq!(serde_to_canonical(&theirs), Json::from_serde(&theirs).to_canonical());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_bytes(&bytes, ReadLimits::default()).map(|tape| tape.root().to_json());
    }
}
