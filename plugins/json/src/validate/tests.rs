use super::*;

fn run(schema: Value, document: Value) -> Result<Verdict, ToolError> {
    validate(Validate {
        document,
        schema,
        limit: 100,
    })
}

fn check(schema: &str, accepted: &[&str], refused: &[&str]) {
    let read = |text: &str| text.parse::<Value>().expect("JSON");
    for document in accepted {
        let verdict = run(read(schema), read(document)).unwrap();
        assert!(
            verdict.valid,
            "{schema} accepts {document}: {:?}",
            verdict.problems
        );
    }
    for document in refused {
        assert!(
            !run(read(schema), read(document)).unwrap().valid,
            "{schema} refuses {document}"
        );
    }
}

#[test]
fn every_keyword_accepts_and_refuses() {
    check(r#"true"#, &["1"], &[]);
    check(r#"false"#, &[], &["1"]);
    check(
        r#"{"type":"integer"}"#,
        &["1", "1.0", "-5"],
        &["1.5", "\"1\"", "null"],
    );
    check(r#"{"type":["string","null"]}"#, &["\"a\"", "null"], &["1", "[]"]);
    check(
        r#"{"const":{"a":[1]}}"#,
        &[r#"{"a":[1.0]}"#],
        &[r#"{"a":[2]}"#, "1"],
    );
    check(
        r#"{"enum":[1,"a",null]}"#,
        &["1", "\"a\"", "null"],
        &["2", "\"b\""],
    );
    check(
        r#"{"minimum":1,"maximum":2.5}"#,
        &["1", "2.5", "\"x\""],
        &["0", "2.6"],
    );
    check(
        r#"{"minimum":9007199254740993}"#,
        &["9007199254740993"],
        &["9007199254740992"],
    );
    check(
        r#"{"exclusiveMinimum":1,"exclusiveMaximum":3}"#,
        &["2"],
        &["1", "3"],
    );
    check(r#"{"multipleOf":0.1}"#, &["0.3", "1"], &["0.35"]);
    check(r#"{"multipleOf":7}"#, &["14", "0", "-7"], &["15"]);
    check(
        r#"{"minLength":2,"maxLength":3}"#,
        &["\"éé\"", "\"abc\"", "5"],
        &["\"é\"", "\"abcd\""],
    );
    check(r#"{"pattern":"^a+$"}"#, &["\"aa\"", "1"], &["\"ab\""]);
    check(r#"{"pattern":"b"}"#, &["\"abc\""], &["\"ac\""]);
    check(
        r#"{"minItems":1,"maxItems":2}"#,
        &["[1]", "{}"],
        &["[]", "[1,2,3]"],
    );
    check(
        r#"{"uniqueItems":true}"#,
        &["[1,2,\"1\"]", "[{\"a\":1},{\"a\":2}]"],
        &["[1,2,1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"],
    );
    check(
        r#"{"minProperties":1,"maxProperties":1}"#,
        &["{\"a\":1}"],
        &["{}", "{\"a\":1,\"b\":1}"],
    );
    check(r#"{"required":["a"]}"#, &["{\"a\":null}", "[]"], &["{}"]);
    check(
        r#"{"dependentRequired":{"a":["b"]}}"#,
        &["{}", "{\"a\":1,\"b\":1}"],
        &["{\"a\":1}"],
    );
    check(
        r#"{"dependentSchemas":{"a":{"required":["b"]}}}"#,
        &["{}", "{\"a\":1,\"b\":1}"],
        &["{\"a\":1}"],
    );
    check(
        r#"{"properties":{"a":{"type":"null"}},"additionalProperties":false}"#,
        &["{}", "{\"a\":null}"],
        &["{\"a\":1}", "{\"b\":1}"],
    );
    check(
        r#"{"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}"#,
        &["{\"x1\":null}"],
        &["{\"x1\":1}", "{\"y\":null}"],
    );
    check(
        r#"{"propertyNames":{"maxLength":1}}"#,
        &["{\"a\":1}"],
        &["{\"ab\":1}"],
    );
    check(
        r#"{"prefixItems":[{"type":"null"}],"items":{"type":"boolean"}}"#,
        &["[]", "[null,true]"],
        &["[1]", "[null,1]"],
    );
    check(
        r#"{"contains":{"type":"null"},"maxContains":1}"#,
        &["[null,1]"],
        &["[]", "[null,null]"],
    );
    check(
        r#"{"contains":{"type":"null"},"minContains":0}"#,
        &["[]", "[null]"],
        &[],
    );
    check(r#"{"allOf":[{"minimum":1},{"maximum":2}]}"#, &["1"], &["0", "3"]);
    check(
        r#"{"anyOf":[{"type":"null"},{"minimum":5}]}"#,
        &["null", "5", "\"x\""],
        &["1"],
    );
    check(r#"{"oneOf":[{"minimum":1},{"maximum":5}]}"#, &["0", "6"], &["3"]);
    check(r#"{"not":{"type":"null"}}"#, &["1"], &["null"]);
    check(
        r#"{"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}}"#,
        &["20", "3"],
        &["15", "7"],
    );
    check(
        r##"{"$ref":"#/$defs/a%20b","$defs":{"a b":{"type":"null"}}}"##,
        &["null"],
        &["1"],
    );
    check(
        r#"{"format":"email","title":"x","x-own":1}"#,
        &["\"nobody\""],
        &[],
    );
}

#[test]
fn a_schema_that_cannot_be_checked_is_refused_and_not_ignored() {
    for schema in [
        json!({"unevaluatedProperties": false}),
        json!({"type": "banana"}),
        json!({"properties": []}),
        json!({"items": 5}),
        json!({"$ref": "https://example.com/schema"}),
        json!({"$ref": "#/nowhere"}),
        json!({"$ref": "#anchor"}),
        json!({"pattern": "("}),
        json!({"minLength": -1}),
        json!({"multipleOf": 0}),
        json!({"required": "a"}),
    ] {
        let document = if schema.get("multipleOf").is_some() {
            json!(1)
        } else if schema.get("items").is_some() {
            json!([1])
        } else if schema.get("required").is_some() || schema.get("properties").is_some() {
            json!({})
        } else {
            json!("text")
        };
        let error = run(schema.clone(), document).unwrap_err();
        assert!(
            matches!(&error, ToolError::InvalidInput { path, .. } if path.starts_with("/schema")),
            "{schema}: {error}"
        );
    }
}

#[test]
fn a_reference_to_itself_ends() {
    let error = run(json!({"$ref": "#"}), json!(1)).unwrap_err();
    assert!(matches!(error, ToolError::Failed { code, .. } if code == "TOO_DEEP"));
}

#[test]
fn schemas_that_multiply_end() {
    let schema = json!({
        "$ref": "#/$defs/a",
        "$defs": { "a": { "anyOf": [{ "allOf": [{ "$ref": "#/$defs/b" }, false] }, { "allOf": [{ "$ref": "#/$defs/b" }, false] }] },
                   "b": { "properties": { "x": { "$ref": "#/$defs/a" } } } }
    });
    let document = (0..50).fold(json!(1), |inner, _| json!({ "x": inner }));
    let error = run(schema, document);
    assert!(matches!(error, Err(ToolError::Failed { .. })), "{error:?}");
}

#[test]
fn the_limit_cuts_and_says_so() {
    let input = Validate {
        document: json!([1, 2, 3]),
        schema: json!({"items": {"type": "null"}}),
        limit: 2,
    };
    let verdict = validate(input).unwrap();
    assert_eq!(
        (verdict.valid, verdict.problems.len(), verdict.more),
        (false, 2, true)
    );
}

/// The cases that the host's own schemas run too.
#[test]
fn patterns_mean_what_ecma_262_means() {
    let cases: Value = include_str!("../../../../sdk/rules/tests/ecma.json")
        .parse()
        .unwrap();
    for case in cases.as_array().unwrap() {
        let [pattern, text, wanted] = case.as_array().unwrap().as_slice() else {
            panic!("{case}");
        };
        // Classes of Unicode are refused here.
        let wanted = wanted
            .as_bool()
            .filter(|_| !pattern.to_string().to_lowercase().contains("p{"));
        let mut schema = mizzen_sdk::Map::new();
        schema.insert("pattern".to_owned(), pattern.clone());
        let verdict = run(Value::Object(schema), text.clone());
        match (wanted, verdict) {
            (Some(wanted), Ok(verdict)) => assert_eq!(verdict.valid, wanted, "{case}"),
            (None, Err(_)) => {}
            (wanted, verdict) => panic!("{case}: {wanted:?} {verdict:?}"),
        }
    }
}

/// A dialect whose vocabulary demands that formats are checked would be read as the usual one.
#[test]
fn a_schema_of_another_dialect_is_refused() {
    let read = |text: &str| text.parse::<Value>().expect("JSON");
    for schema in [
        r#"{"$schema":"http://localhost:1234/draft2020-12/format-assertion-true.json"}"#,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#,
        r#"{"$schema":7}"#,
        r#"{"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/format-assertion":true}}"#,
    ] {
        assert!(run(read(schema), Value::Null).is_err(), "{schema}");
    }
    check(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"null"}"#,
        &["null"],
        &["1"],
    );
}
