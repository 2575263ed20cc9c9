//! Patterns of JSON Schemas mean what ECMA-262 says (D28): they are written again for the engine that runs them, at every place of a
//! schema that is one. What stands under `enum`, `const`, `default` or `examples` is data.

use super::SchemaRefusal;
use super::guard::{Holds, escaped, holds};
use mizzen_rules::dialect::{self, Engine};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The patterns of a schema as its author wrote them, by what was made of them.
pub(super) type Written = BTreeMap<String, String>;

/// Writes the patterns of a schema again. The guard has bounded how deep it nests.
///
/// # Errors
/// With every pattern that is refused.
pub(super) fn rewrite(schema: &mut Value) -> Result<Written, Vec<SchemaRefusal>> {
    let (mut written, mut refused) = (Written::new(), Vec::new());
    let mut waiting = vec![(String::new(), schema)];
    while let Some((path, schema)) = waiting.pop() {
        let Value::Object(object) = schema else { continue };
        let mut translated = |path: &str, pattern: &str| match dialect::ecma(pattern, Engine::Full) {
            Ok(text) => {
                written.insert(text.clone(), pattern.to_owned());
                Some(text)
            }
            Err(problem) => {
                refused.push(SchemaRefusal {
                    path: path.to_owned(),
                    reason: format!("the pattern {pattern:?} is refused: {problem}"),
                });
                None
            }
        };
        if let Some(Value::String(pattern)) = object.get_mut("pattern")
            && let Some(text) = translated(&format!("{path}/pattern"), pattern)
        {
            *pattern = text;
        }
        if let Some(Value::Object(properties)) = object.get_mut("patternProperties") {
            let path = format!("{path}/patternProperties");
            let mut renamed = Map::new();
            let mut alike = Vec::new();
            for (pattern, sub) in std::mem::take(properties) {
                let Some(text) = translated(&path, &pattern) else {
                    continue;
                };
                if renamed.insert(text, sub).is_some() {
                    alike.push(pattern);
                }
            }
            *properties = renamed;
            refused.extend(alike.into_iter().map(|pattern| SchemaRefusal {
                path: path.clone(),
                reason: format!(
                    "{pattern:?} means the same as another pattern here; put both into one schema"
                ),
            }));
        }
        for (keyword, value) in object {
            let path = format!("{path}/{keyword}");
            match (holds(keyword), value) {
                (Some(Holds::Keyed), Value::Object(map)) => {
                    waiting.extend(
                        map.iter_mut()
                            .map(|(key, sub)| (format!("{path}/{}", escaped(key)), sub)),
                    );
                }
                (Some(_), Value::Array(list)) => waiting.extend(
                    list.iter_mut()
                        .enumerate()
                        .map(|(index, sub)| (format!("{path}/{index}"), sub)),
                ),
                (Some(_), sub) => waiting.push((path, sub)),
                (None, _) => {}
            }
        }
    }
    match refused.is_empty() {
        true => Ok(written),
        false => Err(refused),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Schema;
    use serde_json::json;

    /// T2: the cases that the validator of the first-party plugin runs too.
    #[test]
    fn patterns_mean_what_ecma_262_means() {
        let cases = include_str!("../../../../sdk/rules/tests/ecma.json");
        let cases: Vec<(String, String, Option<bool>)> = serde_json::from_str(cases).unwrap();
        for (pattern, text, wanted) in cases {
            let by_value = Schema::compile(&json!({"pattern": pattern}));
            let by_name = Schema::compile(&json!({"patternProperties": {pattern.clone(): false}}));
            match (wanted, by_value, by_name) {
                (Some(wanted), Ok(by_value), Ok(by_name)) => {
                    assert_eq!(
                        by_value.check(&json!(text)).is_ok(),
                        wanted,
                        "{pattern} on {text:?}"
                    );
                    assert_eq!(
                        by_name.check(&json!({text.clone(): 1})).is_err(),
                        wanted,
                        "{pattern} on {text:?}"
                    );
                }
                (None, Err(refused), Err(_)) => assert_eq!(refused.path, "/pattern", "{refused}"),
                (wanted, by_value, _) => panic!("{pattern}: {wanted:?}, {by_value:?}"),
            }
        }
    }

    #[test]
    fn only_schemas_have_patterns() {
        let data = json!({"pattern": "\\A"});
        let schema = json!({
            "enum": [data, 1], "const": data, "default": data, "examples": [data],
            "properties": {"pattern": {"type": "string"}}
        });
        assert!(Schema::compile(&schema).unwrap().check(&data).is_ok());
        for place in [
            json!({"$defs": {"a": data}}),
            json!({"items": data}),
            json!({"prefixItems": [data]}),
            json!({"properties": {"enum": data}}),
            json!({"not": {"anyOf": [true, data]}}),
            json!({"if": true, "then": data}),
            json!({"propertyNames": data}),
            json!({"patternProperties": {"a": data}}),
            json!({"dependentSchemas": {"a": data}}),
        ] {
            let refused = Schema::compile(&place).unwrap_err();
            assert!(refused.path.ends_with("/pattern"), "{place}: {refused}");
        }
    }

    #[test]
    fn patterns_that_become_the_same_are_refused_and_violations_name_what_was_written() {
        let twice = json!({"patternProperties": {"^\\d$": {"minimum": 1}, "^[0-9]$": {"maximum": 3}}});
        assert!(
            Schema::compile(&twice)
                .unwrap_err()
                .reason
                .contains("means the same")
        );
        let schema = Schema::compile(&json!({"pattern": "^\\d.$"})).unwrap();
        let violations = schema.check(&json!("x")).unwrap_err();
        assert_eq!(violations[0].message, "\"x\" does not match \"^\\d.$\"");
    }
}
