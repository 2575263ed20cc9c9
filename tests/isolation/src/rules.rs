//! Rule packs that were made to hurt, and what each must come to.

use crate::build::key;
use anyhow::{Context, Result};
use mizzen_builder::pack::{PackProject, RULE_ENGINE, RULES_SECTION};
use mizzen_sandbox::configured_pack;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// One pack with all of these rules; which of them is meant depends on the facts.
pub const HOSTILE_RULES: &str = r#"
(defrule cross-of-four (a ?x) (a ?y) (a ?z) (a ?w) => (assert (found)))
(defrule cross-with-a-test (b ?x) (b ?y) (test (= (+ ?x ?y) -1)) => (assert (found)))
(defrule absence (c ?x) (not (c ?y&:(> ?y ?x))) => (assert (found)))
(defrule one-by-one (d ?x) => (assert (found)))
(defrule asserts-what-it-matches (n ?x) => (assert (n (+ ?x 1))))
(defrule asserts-products (m ?x) (m ?y) => (assert (m (mod (+ ?x (* 3 ?y) 1) 100003))))
(defrule doubles (s ?x) => (assert (s (str-cat ?x ?x))))
(defrule backtracks (t ?x&:(matches ?x "(a?){60}a{60}(x+x+)+y")) => (assert (found)))
(defrule begins-again (v ?x&:(luhn-matches ?x "(?:.*y|a)")) => (assert (found)))
(defrule compiles (u ?x) (p ?p&:(matches ?x ?p)) => (assert (found)))
"#;

/// Facts for [`HOSTILE_RULES`].
#[derive(Debug)]
pub struct HostileFacts {
    /// What they try.
    pub name: &'static str,
    /// A JSON array.
    pub facts: String,
    /// The code that the evaluation ends with.
    pub ends: &'static str,
    /// A part of its message.
    pub says: &'static str,
}

fn numbers(name: &str, count: i64) -> String {
    let facts = (0..count).map(|number| json!({"name": name, "fields": [number]}));
    Value::Array(facts.collect()).to_string()
}

fn texts(texts: &[(&str, &str)]) -> String {
    let facts = texts
        .iter()
        .map(|(name, text)| json!({"name": name, "fields": [text]}));
    Value::Array(facts.collect()).to_string()
}

/// Cross products, loops, nests and regular expressions.
pub fn hostile_facts() -> Vec<HostileFacts> {
    let case = |name, facts, ends, says| HostileFacts {
        name,
        facts,
        ends,
        says,
    };
    let spent = "BUDGET_EXHAUSTED";
    let long = "a".repeat(65_536);
    let patterns: Vec<String> = (0..1_000).map(|n| format!("(a|b){{{}}}c{n}", n % 50)).collect();
    let mut many: Vec<(&str, &str)> = vec![("u", "aaaa")];
    many.extend(patterns.iter().map(|pattern| ("p", pattern.as_str())));
    let operations = "match operations";
    // With a session's own fact it is 10,000 at most.
    vec![
        case(
            "cross product over 10,000 facts",
            numbers("a", 9_990),
            spent,
            "budget of",
        ),
        case(
            "cross product with a test over 10,000 facts",
            numbers("b", 9_990),
            spent,
            operations,
        ),
        case(
            "absence over 10,000 facts",
            numbers("c", 9_990),
            spent,
            operations,
        ),
        case(
            "more than 10,000 facts",
            numbers("d", 10_001),
            spent,
            "10000 facts",
        ),
        case(
            "rule that asserts what it matches",
            numbers("n", 1),
            spent,
            "64 times",
        ),
        case(
            "rule that asserts products of what it matches",
            numbers("m", 2),
            spent,
            "budget",
        ),
        case(
            "text that doubles itself",
            texts(&[("s", "aaaaaaaa")]),
            spent,
            "budget of 65536 bytes",
        ),
        case(
            "4,096 bytes of nested lists",
            format!("[{{\"name\": \"a\", \"fields\": {}", "[".repeat(4_096)),
            spent,
            "nested deeper than the budget of 128",
        ),
        case(
            "fact of 4,096 bytes of nests",
            json!([format!("(a {}", "(".repeat(4_093))]).to_string(),
            spent,
            "nested deeper than the budget of 32",
        ),
        case(
            "giant regular expression over a giant text",
            texts(&[("t", &long)]),
            spent,
            operations,
        ),
        case(
            "giant regular expression that a fact brings",
            texts(&[("u", "aaaa"), ("p", "(a{1000}){1000}")]),
            spent,
            "budget of 32768 bytes",
        ),
        case(
            "search that begins again at every byte",
            texts(&[("v", &long)]),
            spent,
            operations,
        ),
        case(
            "1,000 regular expressions that facts bring",
            texts(&many),
            spent,
            operations,
        ),
    ]
}

/// Rule files that no pack is made of.
pub fn refused_rules() -> Vec<(&'static str, String)> {
    let rule = |pattern: &str| format!("(defrule r {pattern} => (assert (b)))");
    vec![
        ("4,096 bytes of open nests", "(".repeat(4_096)),
        (
            "4,096 bytes of nested patterns",
            rule(&("(not ".repeat(512) + "(a)" + &")".repeat(512))),
        ),
        (
            "4,096 bytes of nested calls",
            rule(&format!("(a ?x&:{}?x{})", "(not ".repeat(512), ")".repeat(512))),
        ),
        (
            "a giant regular expression",
            rule("(t ?x&:(matches ?x \"(a{1000}){1000}\"))"),
        ),
        (
            "a regular expression of nests",
            rule("(t ?x&:(matches ?x \"((((a{90}){90}){90}){90})\"))"),
        ),
    ]
}

/// Makes a signed pack of a rule file, below a folder.
///
/// # Errors
/// With what is wrong with the rules.
pub fn build_rules(name: &str, rules: &str, folder: &Path) -> Result<PathBuf> {
    let source = folder.join(name);
    std::fs::create_dir_all(&source)?;
    let manifest = format!(
        "[plugin]\nname = \"{name}\"\nversion = \"0.1.0\"\napi_version = \"1\"\nnamespaces = [\"{name}\"]\n\n[pack]\ndescription = \"d\"\n"
    );
    std::fs::write(source.join("pack.toml"), manifest)?;
    std::fs::write(source.join("rules.clp"), rules)?;
    let project = PackProject::open(&source)?;
    project.ruleset()?;
    let section = (RULES_SECTION, project.rules().as_bytes());
    let component = configured_pack(RULE_ENGINE, &project.configuration(), section)
        .with_context(|| format!("{name} is not configured"))?;
    Ok(project
        .package(&component, &key(), Some(&folder.join("built")))?
        .path)
}
