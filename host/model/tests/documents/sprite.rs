//! Each validation of a sprite, once.

use crate::examples::{SOL_FORGE, json, sprite, summary, with};
use mizzen_json::Json;
use mizzen_model::fingerprint::{Fingerprint, FingerprintType, canonical_text};
use mizzen_model::id::SpriteId;
use mizzen_model::sprite::{Role, Sprite, SpriteDraft, Stamp, select_cases};
use mizzen_model::timestamp::Timestamp;

#[test]
fn a_sprite_with_every_field_comes_back_as_it_was_written() {
    let document = json(&sprite(SOL_FORGE, "SOL-FORGE"));
    let read = Sprite::parse(&document).unwrap();
    assert_eq!(read.to_json(), document);
    assert_eq!(read.body.role, Some(Role::TestArchitect));
    assert!(read.body.is_protected());
}

#[test]
fn every_mistake_of_the_table_is_found_where_it_is() {
    let check = |pointer: &str, value: Option<&str>, expected: &[(&str, &str)]| {
        let document = with(&sprite(SOL_FORGE, "SOL-FORGE"), pointer, value);
        let found = Sprite::parse(&document)
            .err()
            .map(|problems| summary(&problems))
            .unwrap_or_default();
        let expected: Vec<(String, &str)> = expected
            .iter()
            .map(|(path, code)| ((*path).to_owned(), *code))
            .collect();
        let found: Vec<(String, &str)> = found;
        assert_eq!(found, expected, "{pointer} = {value:?}");
    };
    for field in [
        "id",
        "name",
        "version",
        "capabilities",
        "system_prompt",
        "metadata",
        "fingerprint",
    ] {
        let pointer = format!("/{field}");
        check(&pointer, None, &[(&pointer, "missing")]);
        check(&pointer, Some("null"), &[(&pointer, "wrong_type")]);
        check(&pointer, Some("7"), &[(&pointer, "wrong_type")]);
    }
    for field in ["author", "created", "updated", "tags"] {
        let pointer = format!("/metadata/{field}");
        check(&pointer, None, &[(&pointer, "missing")]);
    }
    for field in ["chains", "tests", "role", "protected", "gate_authority"] {
        let pointer = format!("/{field}");
        check(&pointer, None, &[]);
        check(&pointer, Some("null"), &[(&pointer, "wrong_type")]);
    }
    check(
        "/id",
        Some("\"3F2C1D9E-5B7A-4C86-9E21-0A4D6F8B1C35\""),
        &[("/id", "pattern")],
    );
    check("/id", Some("\"x\""), &[("/id", "pattern")]);
    check("/name", Some("\"sol-forge\""), &[("/name", "pattern")]);
    check("/name", Some("\"S\""), &[("/name", "too_short")]);
    check(
        "/name",
        Some(&format!("\"{}\"", "S".repeat(65))),
        &[("/name", "too_long")],
    );
    check("/name", Some(&format!("\"{}\"", "S".repeat(64))), &[]);
    check("/version", Some("\"1.0.00\""), &[("/version", "pattern")]);
    check("/capabilities", Some("[]"), &[("/capabilities", "too_short")]);
    check(
        "/capabilities/1",
        Some(r#"{"name":"x","description":"","parameters":true}"#),
        &[("/capabilities/1/parameters", "wrong_type")],
    );
    check(
        "/capabilities/0/tool",
        Some("\"code\""),
        &[("/capabilities/0/tool", "pattern")],
    );
    check(
        "/capabilities/0/owner",
        Some("1"),
        &[("/capabilities/0/owner", "unknown_field")],
    );
    check("/role", Some("\"tester\""), &[("/role", "not_in_enum")]);
    check("/protected", Some("\"true\""), &[("/protected", "wrong_type")]);
    check("/chains/0", Some("\"a\""), &[("/chains/0", "pattern")]);
    check(
        "/metadata/created",
        Some("\"2026-02-30T10:00:00Z\""),
        &[("/metadata/created", "pattern")],
    );
    check(
        "/fingerprint/type",
        Some("\"md5\""),
        &[("/fingerprint/type", "not_in_enum")],
    );
    check(
        "/fingerprint/hash",
        Some("\"ABC\""),
        &[("/fingerprint/hash", "too_short")],
    );
    check("/tests/0/input", Some("[]"), &[("/tests/0/input", "wrong_type")]);
    check(
        "/created",
        Some("\"2026-04-27T10:00:00Z\""),
        &[("/created", "unknown_field")],
    );
    check("/a~1b", Some("1"), &[("/a~01b", "unknown_field")]);
}

#[test]
fn prompts_are_measured_in_characters_and_not_in_bytes() {
    let prompt = |count: usize| format!("\"{}\"", "é".repeat(count));
    let document = |count: usize| {
        with(
            &sprite(SOL_FORGE, "SOL-FORGE"),
            "/system_prompt",
            Some(&prompt(count)),
        )
    };
    assert!(Sprite::parse(&document(65_536)).is_ok());
    let problems = Sprite::parse(&document(65_537)).unwrap_err();
    assert_eq!(summary(&problems), [("/system_prompt".to_owned(), "too_long")]);
}

#[test]
fn all_mistakes_are_reported_at_once_in_table_order() {
    let document =
        json(r#"{"zzz":1,"role":"x","name":"a b","capabilities":[{"name":""}],"metadata":{"tags":[1]}}"#);
    let problems = SpriteDraft::parse(&document).unwrap_err();
    assert_eq!(
        summary(&problems)
            .iter()
            .map(|(path, code)| format!("{path} {code}"))
            .collect::<Vec<_>>(),
        [
            "/name pattern",
            "/version missing",
            "/capabilities/0/name too_short",
            "/capabilities/0/description missing",
            "/capabilities/0/parameters missing",
            "/system_prompt missing",
            "/metadata/author missing",
            "/metadata/tags/0 wrong_type",
            "/role not_in_enum",
            "/zzz unknown_field",
        ]
    );
}

#[test]
fn a_document_that_is_no_object_is_refused() {
    for text in ["null", "[]", "\"x\"", "1", "true"] {
        let problems = SpriteDraft::parse(&json(text)).unwrap_err();
        assert_eq!(summary(&problems), [(String::new(), "wrong_type")], "{text}");
    }
}

#[test]
fn equal_capabilities_are_refused_however_their_fields_are_ordered() {
    let twin =
        r#"{"parameters":{"type":"object","properties":{"n":{"default":1.0}}},"description":"d","name":"n"}"#;
    let original =
        r#"{"name":"n","description":"d","parameters":{"properties":{"n":{"default":1}},"type":"object"}}"#;
    let document = with(
        &sprite(SOL_FORGE, "SOL-FORGE"),
        "/capabilities",
        Some(&format!("[{original},{twin}]")),
    );
    let problems = Sprite::parse(&document).unwrap_err();
    assert_eq!(summary(&problems), [("/capabilities/1".to_owned(), "duplicate")]);
}

#[test]
fn two_capabilities_of_one_name_are_accepted_as_the_schema_accepts_them_and_reported() {
    let two =
        r#"[{"name":"n","description":"d","parameters":{}},{"name":"n","description":"e","parameters":{}}]"#;
    let document = with(&sprite(SOL_FORGE, "SOL-FORGE"), "/capabilities", Some(two));
    let draft = SpriteDraft::parse(&document).unwrap();
    assert_eq!(
        summary(&draft.body.structure()),
        [("/capabilities/1/name".to_owned(), "duplicate")]
    );
}

fn stamp() -> Stamp {
    Stamp {
        id: SpriteId::parse("00000000-0000-4000-8000-000000000001").unwrap(),
        created: Timestamp::from_unix_ms(0),
        now: Timestamp::from_unix_ms(1_777_284_000_000),
    }
}

#[test]
fn what_the_server_sets_may_be_absent_and_is_not_taken_over() {
    let sent = json(&sprite(SOL_FORGE, "SOL-FORGE"));
    let resolved = SpriteDraft::parse(&sent).unwrap().resolve(stamp());
    assert_eq!(resolved.id, stamp().id);
    assert_eq!(
        resolved.fingerprint,
        Fingerprint::of(&sent, FingerprintType::Blake3)
    );
    assert_eq!(resolved.computed_fingerprint(), resolved.fingerprint);

    let mut bare = sent.clone();
    let members = bare.as_object_mut().unwrap();
    members.remove("id");
    members.remove("fingerprint");
    let metadata = members.get_mut("metadata").and_then(Json::as_object_mut).unwrap();
    metadata.remove("created");
    metadata.remove("updated");
    let resolved = SpriteDraft::parse(&bare).unwrap().resolve(stamp());
    assert_eq!(resolved.metadata.created.as_str(), "1970-01-01T00:00:00Z");
    assert_eq!(resolved.metadata.updated.as_str(), "2026-04-27T10:00:00Z");
}

#[test]
fn fingerprints_agree_with_the_reference() {
    let rows = Json::parse(include_str!("../data/sprite-fingerprints.json")).unwrap();
    for row in rows.as_array().unwrap().iter() {
        let name = row.get("name").unwrap();
        let sprite = row.get("sprite").unwrap();
        assert_eq!(
            Some(canonical_text(sprite).as_str()),
            row.get("canonical").unwrap().as_str(),
            "{name:?}"
        );
        let expected = row.get("expected").unwrap();
        let fingerprint = Fingerprint::of(sprite, FingerprintType::default());
        assert_eq!(
            Some(fingerprint.to_string().as_str()),
            expected.get("text").unwrap().as_str(),
            "{name:?}"
        );
        assert_eq!(
            Some(fingerprint.hash()),
            expected.get("hash").unwrap().as_str(),
            "{name:?}"
        );
        assert_eq!(
            Some(fingerprint.algorithm()),
            expected.get("type").unwrap().as_str(),
            "{name:?}"
        );
    }
}

#[test]
fn the_fingerprint_of_a_kept_sprite_is_that_of_the_vectors() {
    let vectors = json(include_str!("../data/sprite-fingerprints.json"));
    for vector in vectors.as_array().unwrap().iter() {
        let name = vector.get("name").unwrap();
        let sent = vector.get("sprite").unwrap();
        let resolved = SpriteDraft::parse(sent)
            .unwrap_or_else(|problems| panic!("{name:?}: {problems}"))
            .resolve(stamp());
        let expected = vector
            .get("expected")
            .and_then(|expected| expected.get("text"))
            .unwrap();
        assert_eq!(
            Json::from(resolved.fingerprint.to_string()),
            *expected,
            "{name:?}"
        );
        let stored = Json::parse(&resolved.to_json().to_compact()).unwrap();
        assert_eq!(
            Sprite::parse(&stored).unwrap().computed_fingerprint(),
            resolved.fingerprint,
            "{name:?}"
        );
    }
}

#[test]
fn cases_are_selected_by_tag_and_name_their_capability() {
    let tests = r#"[
        {"name": "one", "input": {"action": "review", "x": 1}, "expected_output": {}, "tags": ["fast"]},
        {"name": "two", "input": {"x": 1}, "expected_output": {}}
    ]"#;
    let document = with(&sprite(SOL_FORGE, "SOL-FORGE"), "/tests", Some(tests));
    let sprite = Sprite::parse(&document).unwrap();
    let cases = select_cases(&sprite.body, &[]);
    assert_eq!(cases.len(), 2);
    assert_eq!(cases[0].action, Ok("review"));
    assert!(!cases[0].input.contains_key("action"));
    assert!(
        cases[1]
            .action
            .as_ref()
            .unwrap_err()
            .contains("generate_code, review")
    );
    assert_eq!(select_cases(&sprite.body, &["fast".to_owned()]).len(), 1);
    assert!(select_cases(&sprite.body, &["slow".to_owned()]).is_empty());
}
