//! JSON Schemas (2020-12) of tools and capabilities: refused when they could explode, compiled once, used per call.

mod guard;

pub use guard::SchemaRefusal;

use serde_json::Value;

/// A violation's text comes from the schema and the input; more than this helps nobody.
const MAX_VIOLATIONS: usize = 8;
const MAX_TEXT: usize = 300;

/// A schema that is safe to run on hostile input, compiled.
#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
}

/// Where and how a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// An RFC 6901 pointer into the value.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl Schema {
    /// Checks that evaluating the schema stays cheap whatever the value, and compiles it.
    ///
    /// # Errors
    /// When it is not a schema, refers outside of itself, or could take more than linear time.
    pub fn compile(schema: &Value) -> Result<Self, SchemaRefusal> {
        guard::check(schema)?;
        let validator = jsonschema::draft202012::options()
            // Linear-time patterns; look-around and back-references do not compile.
            .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(1 << 20))
            .build(schema)
            .map_err(|error| SchemaRefusal {
                path: error.instance_path().to_string(),
                reason: cut(error.to_string()),
            })?;
        Ok(Self { validator })
    }

    /// Checks a value. The first few violations are reported, in document order.
    ///
    /// # Errors
    /// When the value does not fit.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let violation = |error: jsonschema::ValidationError<'_>| Violation {
            path: error.instance_path().to_string(),
            message: cut(error.to_string()),
        };
        let found: Vec<_> = self
            .validator
            .iter_errors(value)
            .take(MAX_VIOLATIONS)
            .map(violation)
            .collect();
        if found.is_empty() {
            return Err(vec![Violation {
                path: String::new(),
                message: "does not fit the schema".into(),
            }]);
        }
        Err(found)
    }
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_that_does_not_fit_is_reported_with_its_place() {
        let schema = Schema::compile(&json!({
            "type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]
        }))
        .unwrap();
        assert!(schema.check(&json!({"n": 1})).is_ok());
        let found = schema.check(&json!({"n": 0})).unwrap_err();
        assert_eq!(found[0].path, "/n");
        assert!(schema.check(&json!({})).is_err());
    }

    /// T5: a dialect whose vocabulary demands that formats are checked was read as the usual one.
    #[test]
    fn a_schema_of_another_dialect_is_refused() {
        for dialect in [
            json!("http://localhost:1234/draft2020-12/format-assertion-true.json"),
            json!("http://json-schema.org/draft-07/schema#"),
            json!(7),
        ] {
            let refused = Schema::compile(&json!({"$schema": dialect, "format": "ipv4"})).unwrap_err();
            assert_eq!(refused.path, "/$schema");
        }
        let vocabulary =
            json!({"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/format-assertion": true}});
        assert!(Schema::compile(&vocabulary).is_err());
        let usual = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"});
        assert!(Schema::compile(&usual).is_ok());
    }

    #[test]
    fn patterns_run_in_linear_time_or_do_not_compile() {
        let slow = Schema::compile(&json!({"pattern": "^(a+)+$"})).unwrap();
        assert!(slow.check(&json!(format!("{}b", "a".repeat(50_000)))).is_err());
        for pattern in ["(a)\\1", "(?=a)b", "(", "a{1000}{1000}{1000}"] {
            assert!(
                Schema::compile(&json!({"pattern": pattern})).is_err(),
                "{pattern}"
            );
        }
    }
}
