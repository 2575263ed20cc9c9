//! The reference answers, row by row. The files are copies of the project's shared vectors.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test may fail the test"
)]

use mizzen_json::{Json, ReadLimits, parse};
use mizzen_model::ir::{
    IRDocument, Options, dumps, dumps_canonical, fact_content_hash, graph_hash, inspect, loads, validate,
    validate_value,
};

fn rows(text: &str) -> impl Iterator<Item = Json> {
    text.lines().map(|line| Json::parse(line).unwrap())
}

fn text<'j>(row: &'j Json, key: &str) -> &'j str {
    row.get(key)
        .and_then(Json::as_str)
        .unwrap_or_else(|| panic!("{row:?} has no {key}"))
}

#[test]
fn documents_agree_with_the_reference() {
    let mut count = 0;
    for row in rows(include_str!("data/ir-documents.jsonl")) {
        count += 1;
        let name = text(&row, "name");
        let source = text(&row, "text");
        let inspection = inspect(source, Options::default());
        let seen: Vec<(&str, &str)> = inspection
            .errors
            .iter()
            .map(|error| (error.stage.as_str(), error.path.as_str()))
            .collect();
        let expected: Vec<(&str, &str)> = row
            .get("errors")
            .and_then(Json::as_array)
            .unwrap()
            .iter()
            .map(|error| (text(error, "stage"), text(error, "path")))
            .collect();
        assert_eq!(seen, expected, "{name}");
        assert_eq!(
            row.get("valid").and_then(Json::as_bool),
            Some(seen.is_empty()),
            "{name}"
        );
        assert_eq!(validate(source), inspection.errors, "{name}");
        if let Some(document) = inspection.document {
            assert_eq!(dumps(&document), text(&row, "dumps"), "{name}");
            assert_eq!(dumps_canonical(&document), text(&row, "canonical"), "{name}");
            assert_eq!(
                graph_hash(&document),
                blake3::hash(text(&row, "canonical").as_bytes()).to_hex().as_str()
            );
            assert_eq!(
                loads::<IRDocument>(&dumps(&document)).as_ref(),
                Ok(&document),
                "{name}"
            );
            assert_eq!(
                loads::<IRDocument>(&dumps_canonical(&document)).as_ref(),
                Ok(&document),
                "{name}"
            );
        }
        // The decoded value gets the same answer, without places.
        if let Ok(value) = Json::parse(source) {
            let again: Vec<(&str, String)> = validate_value(&value)
                .into_iter()
                .map(|error| (error.stage.as_str(), error.path))
                .collect();
            assert!(
                again
                    .iter()
                    .map(|(stage, path)| (*stage, path.as_str()))
                    .eq(expected),
                "{name}"
            );
        }
    }
    assert_eq!(count, 55);
}

#[test]
fn every_path_is_a_true_pointer_into_the_document() {
    for row in rows(include_str!("data/ir-documents.jsonl")) {
        let source = text(&row, "text");
        for error in validate(source)
            .iter()
            .filter(|error| error.stage.as_str() != "json_parse")
        {
            let tape = parse(source, ReadLimits::default()).unwrap();
            let value = tape.root().to_json().to_serde().unwrap();
            let exists = value.pointer(&error.path).is_some();
            assert_eq!(exists, error.code != "missing", "{error:?}");
            if error.code == "missing" {
                let (parent, _) = error.path.rsplit_once('/').unwrap();
                assert!(value.pointer(parent).is_some(), "{error:?}");
            }
        }
    }
}

#[test]
fn fact_hashes_agree_with_the_reference() {
    for row in rows(include_str!("data/fact-hashes.jsonl")) {
        let fact = Json::parse(text(&row, "text")).unwrap();
        assert_eq!(fact_content_hash(&fact), text(&row, "hash"), "{row:?}");
    }
}
