//! The pure half of `sprite test`: which cases run, and whether an answer is the expected one. Calling the sandbox
//! is the caller's part.

use super::{Sprite, SpriteBody, TestCase};
use mizzen_json::{Json, Object};
use mizzen_json::{field_path, item_path};

/// How many differences one case reports; the first ones are what a person reads.
const MAX_DIFFERENCES: usize = 20;

/// A case that will run: the capability to call and the input to give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case<'a> {
    /// The declared case.
    pub test: &'a TestCase,
    /// The name of the capability, or why none can be chosen.
    pub action: Result<&'a str, String>,
    /// The input: the declared one without `action` when that field chose the capability.
    pub input: Object,
}

/// The cases with one of the wanted tags (all, when none are wanted), in document order.
///
/// A sprite with one capability is tested by it. A sprite with several says in the case's input which one is meant:
/// `"action": "generate_code"`.
pub fn select_cases<'a>(body: &'a SpriteBody, wanted_tags: &[String]) -> Vec<Case<'a>> {
    let cases = body
        .tests
        .iter()
        .flatten()
        .filter(|test| test.is_selected(wanted_tags));
    cases.map(|test| select(body, test)).collect()
}

fn select<'a>(body: &'a SpriteBody, test: &'a TestCase) -> Case<'a> {
    let named = test
        .input
        .get("action")
        .and_then(Json::as_str)
        .and_then(|action| body.capability(action));
    let mut input = test.input.clone();
    let action = match (named, body.capabilities.as_slice()) {
        // `action` chooses unless the only capability has a parameter of that name itself.
        (Some(capability), [_, _, ..]) => {
            input.remove("action");
            Ok(capability.name.as_str())
        }
        (_, [only]) => Ok(only.name.as_str()),
        (_, several) => {
            let names: Vec<&str> = several
                .iter()
                .map(|capability| capability.name.as_str())
                .take(20)
                .collect();
            Err(format!(
                "set \"action\" in the test's input to one of: {}",
                names.join(", ")
            ))
        }
    };
    Case { test, action, input }
}

/// One place where an answer is not what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// An RFC 6901 pointer into the output.
    pub path: String,
    /// What was expected there.
    pub expected: Json,
    /// What was there; none when nothing was.
    pub found: Option<Json>,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The answer holds everything that was expected.
    Passed,
    /// The answer differs.
    Differs(Vec<Difference>),
    /// There was no answer: the call could not be made, was refused or failed.
    Failed(String),
}

/// A case and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOutcome {
    /// The case's name.
    pub name: String,
    /// How it ended.
    pub verdict: Verdict,
    /// How long the call took.
    pub duration_ms: u64,
}

/// All outcomes of one sprite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestReport {
    /// The sprite's name.
    pub sprite: String,
    /// The outcomes, in document order.
    pub outcomes: Vec<TestOutcome>,
}

impl Verdict {
    /// Judges an answer. Every expected field must be there and equal, at any depth; fields that are not mentioned are
    /// allowed, items of lists are not. Numbers are compared by value, so `1` equals `1.0`.
    pub fn of(expected: &Object, output: &Json) -> Verdict {
        let mut differences = Vec::new();
        let expected = Json::Object(expected.clone());
        let mut pending = vec![(String::new(), &expected, output)];
        while let Some((path, expected, found)) = pending.pop() {
            if differences.len() >= MAX_DIFFERENCES {
                break;
            }
            let mut differs = |path: String, expected: &Json, found: Option<&Json>| {
                differences.push(Difference {
                    path,
                    expected: expected.clone(),
                    found: found.cloned(),
                });
            };
            match (expected, found) {
                (Json::Object(wanted), Json::Object(members)) => {
                    let start = pending.len();
                    for (key, value) in wanted.iter() {
                        let path = field_path(&path, key);
                        match members.get(key) {
                            Some(member) => pending.push((path, value, member)),
                            None => differs(path, value, None),
                        }
                    }
                    // Popped from the end: reversed, they are judged in document order.
                    if let Some(added) = pending.get_mut(start..) {
                        added.reverse();
                    }
                }
                (Json::Array(wanted), Json::Array(items)) if wanted.len() == items.len() => {
                    let pairs = wanted.iter().zip(items.iter()).enumerate().rev();
                    pending
                        .extend(pairs.map(|(index, (value, item))| (item_path(&path, index), value, item)));
                }
                (expected, found) if same_scalar(expected, found) => {}
                (expected, found) => differs(path, expected, Some(found)),
            }
        }
        if differences.is_empty() {
            Verdict::Passed
        } else {
            Verdict::Differs(differences)
        }
    }
}

fn same_scalar(expected: &Json, found: &Json) -> bool {
    match (expected, found) {
        (Json::Int(integer), Json::Float(float)) | (Json::Float(float), Json::Int(integer)) => integer
            .as_i64()
            .is_some_and(|value| value.unsigned_abs() <= 1 << 53 && value as f64 == *float),
        (Json::Float(left), Json::Float(right)) => left == right,
        (Json::Array(_) | Json::Object(_), _) => false,
        (expected, found) => expected == found,
    }
}

impl TestReport {
    /// A report on a sprite.
    pub fn new(sprite: &Sprite, outcomes: Vec<TestOutcome>) -> Self {
        Self {
            sprite: sprite.body.name.to_string(),
            outcomes,
        }
    }

    /// How many cases passed.
    pub fn passed(&self) -> usize {
        self.outcomes
            .iter()
            .filter(|outcome| outcome.verdict == Verdict::Passed)
            .count()
    }

    /// Whether every case passed. A sprite without cases has not failed one.
    pub fn is_success(&self) -> bool {
        self.passed() == self.outcomes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(expected: &str, output: &str) -> Vec<(String, Option<String>)> {
        let expected = Json::parse(expected).unwrap();
        match Verdict::of(expected.as_object().unwrap(), &Json::parse(output).unwrap()) {
            Verdict::Passed => Vec::new(),
            Verdict::Differs(list) => list
                .into_iter()
                .map(|d| (d.path, d.found.map(|f| f.to_compact())))
                .collect(),
            Verdict::Failed(_) => unreachable!(),
        }
    }

    #[test]
    fn an_answer_holds_what_is_expected_and_may_hold_more() {
        assert!(verdict(r#"{}"#, r#"{"a":1}"#).is_empty());
        assert!(
            verdict(
                r#"{"a":{"b":[1,{"c":null}]}}"#,
                r#"{"a":{"b":[1.0,{"c":null,"d":1}]},"e":2}"#
            )
            .is_empty()
        );
    }

    #[test]
    fn every_difference_is_named_in_order() {
        assert_eq!(
            verdict(
                r#"{"a":1,"b":{"c":"x"},"d":[1,2]}"#,
                r#"{"a":2,"b":{"c":"y"},"d":[1]}"#
            ),
            [
                ("/a".to_owned(), Some("2".to_owned())),
                ("/b/c".to_owned(), Some("\"y\"".to_owned())),
                ("/d".to_owned(), Some("[1]".to_owned())),
            ]
        );
        assert_eq!(verdict(r#"{"a":1}"#, "{}"), [("/a".to_owned(), None)]);
        assert_eq!(
            verdict(r#"{"a":true}"#, r#"[]"#),
            [(String::new(), Some("[]".to_owned()))]
        );
        assert_eq!(verdict(r#"{"a":"1"}"#, r#"{"a":1}"#).len(), 1);
    }
}
