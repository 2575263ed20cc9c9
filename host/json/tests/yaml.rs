//! YAML is read onto the same tape as JSON: same meaning, places in the YAML, same bounds.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use mizzen_json::yaml;
use mizzen_json::{ParseCode, ReadLimits};
use proptest::prelude::*;

fn json(text: &str) -> String {
    yaml::parse(text, ReadLimits::default())
        .unwrap()
        .root()
        .to_json()
        .to_compact()
}

fn code(text: &str) -> Option<ParseCode> {
    yaml::parse(text, ReadLimits::default())
        .err()
        .map(|error| error.code)
}

#[test]
fn scalars_and_collections_become_json() {
    assert_eq!(
        json("a: 1\nb: [1.5, ~, yes, 'x', \"\\u00e9\", 0x10]\nc:\n  - d\n  - {}\n1: one\ntrue: t\n"),
        r#"{"a":1,"b":[1.5,null,"yes","x","é",16],"c":["d",{}],"1":"one","true":"t"}"#
    );
    assert_eq!(json("|\n two\n lines\n"), "\"two\\nlines\\n\"");
    assert_eq!(json("!!str 12"), "\"12\"");
    assert_eq!(json("!!float 12"), "12.0");
    assert_eq!(
        json("{\"json\": [1, {\"is\": \"yaml\"}]}"),
        r#"{"json":[1,{"is":"yaml"}]}"#
    );
    assert_eq!(
        json("a: &x {k: [1, 2]}\nb: *x\nc: [*x, *x]\n"),
        r#"{"a":{"k":[1,2]},"b":{"k":[1,2]},"c":[{"k":[1,2]},{"k":[1,2]}]}"#
    );
    assert_eq!(json("&k a: 1\nb: {*k : 2}\n"), r#"{"a":1,"b":{"a":2}}"#);
}

#[test]
fn what_json_cannot_mean_is_refused() {
    let check = |text: &str, expected: ParseCode| assert_eq!(code(text), Some(expected), "{text:?}");
    check("", ParseCode::UnexpectedEnd);
    check("# only a comment\n", ParseCode::UnexpectedEnd);
    check("a: 1\n---\nb: 2\n", ParseCode::TrailingData);
    check("{[1]: 2}", ParseCode::ExpectedKey);
    check("? {a: 1}\n: 2\n", ParseCode::ExpectedKey);
    check("a: &x [*x]\n", ParseCode::InvalidYaml);
    check("a: *nothing\n", ParseCode::InvalidYaml);
    check("a: .nan\n", ParseCode::InvalidYaml);
    check("a: !custom 1\n", ParseCode::InvalidYaml);
    check("a: [1, 2\n", ParseCode::InvalidYaml);
    check("a: 1\n\tb: 2\n", ParseCode::InvalidYaml);
}

/// `levels` lists of ten aliases, each of the list before.
fn alias_bomb(levels: usize) -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..=levels {
        let items = vec![format!("*a{}", level - 1); 10].join(",");
        text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    text
}

/// R12: the limits of a whole text let these few hundred bytes become eight million values.
#[test]
fn an_alias_bomb_is_refused_long_before_the_limits_of_a_text() {
    assert!(alias_bomb(2).len() < 200 && yaml::parse(&alias_bomb(2), ReadLimits::default()).is_ok());
    for levels in [4, 9, 12] {
        let error = yaml::parse(&alias_bomb(levels), ReadLimits::default()).unwrap_err();
        assert_eq!(error.code, ParseCode::TooManyAliases, "{levels}");
        assert_eq!(error.code.as_str(), "too_many_aliases");
    }
    // What is read before the refusal is what is allowed: the limit of values is not reached first.
    let limits = ReadLimits {
        values: 11_000,
        ..ReadLimits::default()
    };
    let error = yaml::parse(&alias_bomb(9), limits).unwrap_err();
    assert_eq!(error.code, ParseCode::TooManyAliases);
    let limits = ReadLimits {
        values: 5_000,
        ..limits
    };
    let error = yaml::parse(&alias_bomb(9), limits).unwrap_err();
    assert_eq!(error.code, ParseCode::TooManyValues);
}

#[test]
fn what_aliases_may_stand_for_grows_with_the_text() {
    let list = |values: usize| format!("a: &a [{}x]\nb: [*a]\n", "x, ".repeat(values - 1));
    // A list that is repeated once is not out of proportion, however long it is.
    assert!(yaml::parse(&list(200_000), ReadLimits::default()).is_ok());
    let twice = list(200_000).replace("[*a]", "[*a, *a]");
    assert_eq!(code(&twice), Some(ParseCode::TooManyAliases));
    // A person's anchors: one template, many uses.
    let uses: String = (0..400)
        .map(|number| format!("- {{<<: *base, name: n{number}, retry: *retry}}\n"))
        .collect();
    let text = format!("base: &base {{timeout: 30s, tags: [a, b, c]}}\nretry: &retry [1, 2]\nsteps:\n{uses}");
    assert!(yaml::parse(&text, ReadLimits::default()).is_ok());
}

#[test]
fn aliases_cannot_nest_deeper_than_the_limit() {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for level in 1..50 {
        text.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    let limits = ReadLimits {
        depth: 20,
        ..ReadLimits::default()
    };
    assert_eq!(yaml::parse(&text, limits).unwrap_err().code, ParseCode::TooDeep);
    assert!(yaml::parse(&text, ReadLimits::default()).is_ok());
}

/// Few entries, but each stands for a long text: whoever copies the document out would copy terabytes.
#[test]
fn aliases_of_a_long_text_are_counted_with_the_text() {
    let text = format!("a: &a {}\nb: [{}*a]\n", "x".repeat(1000), "*a, ".repeat(200));
    let limits = ReadLimits {
        bytes: 100_000,
        ..ReadLimits::default()
    };
    assert_eq!(
        yaml::parse(&text, limits).unwrap_err().code,
        ParseCode::TooManyAliases
    );
    assert!(yaml::parse(&text, ReadLimits::default()).is_ok());
    let more = text.replace("[*a", &format!("[{}*a", "*a, ".repeat(200)));
    assert_eq!(code(&more), Some(ParseCode::TooManyAliases));
}

#[test]
fn deep_and_large_texts_are_answered_and_take_no_stack() {
    assert_eq!(code(&"[".repeat(100_000)), Some(ParseCode::TooDeep));
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(20_000),
        "? ".repeat(20_000),
    ] {
        assert!(yaml::parse(&text, ReadLimits::default()).is_err());
    }
    let nested: String = (0..1_500)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    assert_eq!(code(&nested), Some(ParseCode::TooDeep));
    let long = format!("a: \"{}\"\n", "é".repeat(500_000));
    assert!(yaml::parse(&long, ReadLimits::default()).is_ok());
    let wide: String = (0..50_000).map(|n| format!("k{n}: {n}\n")).collect();
    assert!(yaml::parse(&wide, ReadLimits::default()).is_ok());
    let flow = format!("[{}1]", "ü, ".repeat(100_000));
    assert!(yaml::parse(&flow, ReadLimits::default()).is_ok());
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "[\\[\\]{}:,\"'&*!|>%@#?\\- \\n\\ta-cé0-9.~]{0,60}") {
        let _ = yaml::parse(&text, ReadLimits::default()).map(|tape| tape.root().to_json());
    }

    #[test]
    fn any_text_never_panics(text in any::<String>()) {
        let _ = yaml::parse(&text, ReadLimits::default());
    }
}
