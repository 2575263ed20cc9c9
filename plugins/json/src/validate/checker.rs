//! The walk over a document and its schema together, with its bounds.

use super::{Problem, applicators, assertions};
use crate::pointer;
use mizzen_rules::dialect::{Engine, ecma};
use mizzen_sdk::{Map, ToolError, Value};
use std::collections::BTreeMap;

/// Schemas applied to values. `anyOf` inside of `anyOf` multiplies; an honest schema on a document of 1 MiB does not come
/// near this.
const MOST_STEPS: u32 = 500_000;
/// Schemas inside of schemas, references included. A guest's stack is small.
const DEEPEST: u32 = 64;
/// A longer one would not fit into the engine either.
const LONGEST_PATTERN: usize = 16 * 1024;

/// What schemas mean here.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keywords that change the verdict and that this validator does not have.
const UNSUPPORTED: &[&str] = &[
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
    "dependencies",
    "additionalItems",
];

/// A place in the document and the schema that is applied there.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) value: &'a Value,
    pub(super) path: &'a str,
    pub(super) schema_path: &'a str,
}

impl<'a> Place<'a> {
    pub(super) fn problem(&self, keyword: &str, message: impl Into<String>) -> Problem {
        Problem {
            path: self.path.to_owned(),
            schema_path: pointer::field(self.schema_path, keyword),
            message: message.into(),
        }
    }
}

pub(super) struct Checker<'a> {
    root: &'a Value,
    found: Vec<Problem>,
    most: usize,
    steps: u32,
    depth: u32,
    patterns: BTreeMap<&'a str, regex_lite::Regex>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Checker {
            root,
            found: Vec::new(),
            most: 0,
            steps: 0,
            depth: 0,
            patterns: BTreeMap::new(),
        }
    }

    /// At most `most` problems.
    pub(super) fn problems(mut self, document: &'a Value, most: usize) -> Result<Vec<Problem>, ToolError> {
        check_dialect(self.root)?;
        self.most = most;
        self.check(
            self.root,
            Place {
                value: document,
                path: "",
                schema_path: "",
            },
        )?;
        self.found.truncate(most);
        Ok(self.found)
    }

    pub(super) fn report(&mut self, problem: Problem) {
        if self.found.len() < self.most {
            self.found.push(problem);
        }
    }

    /// Whether a schema accepts a value; its problems are forgotten.
    pub(super) fn accepts(&mut self, schema: &'a Value, place: Place<'_>) -> Result<bool, ToolError> {
        let (found, most) = (
            std::mem::take(&mut self.found),
            std::mem::replace(&mut self.most, 1),
        );
        let result = self.check(schema, place);
        let accepted = self.found.is_empty();
        self.found = found;
        self.most = most;
        result.map(|()| accepted)
    }

    /// Applies a schema to a value and reports every problem.
    pub(super) fn check(&mut self, schema: &'a Value, place: Place<'_>) -> Result<(), ToolError> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            let message = format!("checking needs more than {MOST_STEPS} steps; simplify the schema");
            return Err(ToolError::failed("TOO_MANY_STEPS", message));
        }
        if self.depth == DEEPEST {
            let message = format!("schemas apply more than {DEEPEST} deep at {}", place.schema_path);
            return Err(ToolError::failed("TOO_DEEP", message));
        }
        if self.found.len() >= self.most {
            return Ok(());
        }
        match schema {
            Value::Bool(true) => Ok(()),
            Value::Bool(false) => {
                let path = place.path.to_owned();
                let schema_path = place.schema_path.to_owned();
                self.report(Problem {
                    path,
                    schema_path,
                    message: "nothing is allowed here".to_owned(),
                });
                Ok(())
            }
            Value::Object(keywords) => {
                self.depth += 1;
                let result = self.keywords(keywords, place);
                self.depth -= 1;
                result
            }
            _ => Err(bad_schema(
                place.schema_path,
                "a schema is an object or a boolean",
            )),
        }
    }

    fn keywords(&mut self, keywords: &'a Map<String, Value>, place: Place<'_>) -> Result<(), ToolError> {
        if let Some(keyword) = UNSUPPORTED
            .iter()
            .find(|keyword| keywords.contains_key(**keyword))
        {
            return Err(bad_schema(
                place.schema_path,
                &format!("the keyword `{keyword}` is not supported"),
            ));
        }
        assertions::check(self, keywords, place)?;
        applicators::check(self, keywords, place)?;
        if let Some(reference) = keywords.get("$ref") {
            self.follow(reference, place)?;
        }
        Ok(())
    }

    fn follow(&mut self, reference: &'a Value, place: Place<'_>) -> Result<(), ToolError> {
        let at = pointer::field(place.schema_path, "$ref");
        let text = reference
            .as_str()
            .ok_or_else(|| bad_schema(&at, "expected a string"))?;
        let target = text
            .strip_prefix('#')
            .filter(|target| target.is_empty() || target.starts_with('/'));
        let target = target.ok_or_else(|| {
            bad_schema(
                &at,
                &format!("`{text}` leaves the schema; only references such as #/$defs/name are followed"),
            )
        })?;
        let target = percent_encoding::percent_decode_str(target).decode_utf8_lossy();
        let schema = pointer::find(self.root, &target)
            .ok_or_else(|| bad_schema(&at, &format!("`{text}` points at nothing")))?;
        self.check(
            schema,
            Place {
                schema_path: &target,
                ..place
            },
        )
    }

    /// Whether a text matches a pattern, which is compiled once.
    pub(super) fn matches(
        &mut self,
        pattern: &'a str,
        text: &str,
        schema_path: &str,
    ) -> Result<bool, ToolError> {
        if !self.patterns.contains_key(pattern) {
            let bad = |problem: String| bad_schema(schema_path, &format!("bad pattern: {problem}"));
            if pattern.len() > LONGEST_PATTERN {
                return Err(bad(format!("it is longer than {LONGEST_PATTERN} bytes")));
            }
            let translated = ecma(pattern, Engine::Lite).map_err(bad)?;
            let compiled = regex_lite::RegexBuilder::new(&translated)
                .size_limit(64 * 1024)
                .build()
                .map_err(|error| bad(error.to_string()))?;
            self.patterns.insert(pattern, compiled);
        }
        Ok(self
            .patterns
            .get(pattern)
            .is_some_and(|compiled| compiled.is_match(text)))
    }
}

/// Another dialect may demand what is not done here (that `format` is checked, for one) or give keywords another meaning.
fn check_dialect(schema: &Value) -> Result<(), ToolError> {
    match schema.get("$schema") {
        None => {}
        Some(Value::String(named)) if named.trim_end_matches('#') == DIALECT => {}
        Some(_) => {
            return Err(bad_schema(
                "/$schema",
                &format!("schemas are read as JSON Schema 2020-12; leave $schema out, or write {DIALECT}"),
            ));
        }
    }
    match schema.get("$vocabulary") {
        None => Ok(()),
        Some(_) => Err(bad_schema(
            "/$vocabulary",
            "a schema of its own vocabulary is not read; leave $vocabulary out",
        )),
    }
}

/// The schema itself is at fault, not the document.
pub(super) fn bad_schema(schema_path: &str, message: &str) -> ToolError {
    ToolError::invalid_input(format!("/schema{schema_path}"), message)
}
