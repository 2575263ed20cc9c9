//! JSON Schemas (2020-12) of tools and capabilities: refused when they could explode, compiled once, used per call.

mod ecma;
mod guard;

pub use guard::SchemaRefusal;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// A violation's text comes from the schema and the input; more than this helps nobody.
const MAX_VIOLATIONS: usize = 8;
const MAX_TEXT: usize = 300;
/// Most problems of a schema that are reported together.
const MAX_PROBLEMS: usize = 50;

/// A schema that is safe to run on hostile input, compiled.
#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
    /// Patterns as they were written.
    written: ecma::Written,
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
    /// With the first problem: it is not a schema, refers outside of itself, or could take more than linear time.
    pub fn compile(schema: &Value) -> Result<Self, SchemaRefusal> {
        Self::compile_all(schema).map_err(|problems| {
            let unknown = || SchemaRefusal {
                path: String::new(),
                reason: "it does not compile".to_owned(),
            };
            problems.into_iter().next().unwrap_or_else(unknown)
        })
    }

    /// The same, with every problem of the schema.
    ///
    /// # Errors
    /// With at least one problem.
    pub fn compile_all(schema: &Value) -> Result<Self, Vec<SchemaRefusal>> {
        guard::check(schema).map_err(|refusal| vec![refusal])?;
        let mut rewritten = schema.clone();
        let (written, refused) = match ecma::rewrite(&mut rewritten) {
            Ok(written) => (written, Vec::new()),
            Err(refused) => (ecma::Written::new(), refused),
        };
        let built = jsonschema::draft202012::options()
            // Linear-time patterns; look-around and back-references do not compile.
            .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(1 << 20))
            .build(&rewritten);
        match built {
            Ok(validator) if refused.is_empty() => Ok(Self { validator, written }),
            built => {
                // The build stops at the first problem: here are all of them.
                let mut problems: Vec<SchemaRefusal> = jsonschema::draft202012::meta::validator()
                    .iter_errors(schema)
                    .take(MAX_PROBLEMS)
                    .map(|error| refusal(&error))
                    .collect();
                problems.extend(refused);
                if let (true, Err(error)) = (problems.is_empty(), &built) {
                    problems.push(refusal(error));
                }
                Err(problems)
            }
        }
    }

    /// Checks a value. The first few violations are reported, in document order.
    ///
    /// # Errors
    /// When the value does not fit.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let violation = |error: ValidationError<'_>| Violation {
            path: error.instance_path().to_string(),
            message: cut(self.message(&error)),
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

    /// What is wrong with a value, in the words of its author's schema.
    fn message(&self, error: &ValidationError<'_>) -> String {
        let pattern = match error.kind() {
            ValidationErrorKind::Pattern { pattern } => self.written.get(pattern),
            _ => None,
        };
        match pattern {
            Some(pattern) => format!("{} does not match \"{pattern}\"", error.instance()),
            None => error.to_string(),
        }
    }
}

/// What is wrong with a schema, in words: the schema of schemas speaks of its own keywords.
fn refusal(error: &ValidationError<'_>) -> SchemaRefusal {
    let path = error.instance_path().to_string();
    let keyword = path.rsplit('/').next().unwrap_or_default();
    let reason = match error.kind() {
        ValidationErrorKind::AnyOf { .. } if keyword == "type" => format!(
            "type {} is not one of array, boolean, integer, null, number, object and string, or a list of them",
            error.instance()
        ),
        _ => error.to_string(),
    };
    SchemaRefusal {
        path,
        reason: cut(reason),
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
    fn every_problem_of_a_schema_is_reported_in_words() {
        let problems = Schema::compile_all(&json!({
            "type": "objet",
            "properties": {"n": {"type": "int"}, "m": {"minimum": "3"}, "p": {"pattern": "\\A"}}
        }))
        .unwrap_err();
        let found = |path: &str, part: &str| {
            assert!(
                problems
                    .iter()
                    .any(|problem| problem.path == path && problem.reason.contains(part)),
                "{path}: {problems:?}"
            );
        };
        found("/type", "type \"objet\" is not one of array, boolean");
        found("/properties/n/type", "type \"int\" is not one of");
        found("/properties/m/minimum", "\"number\"");
        found("/properties/p/pattern", "ECMA-262");
        assert!(
            !problems.iter().any(|problem| problem.reason.contains("anyOf")),
            "{problems:?}"
        );
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
