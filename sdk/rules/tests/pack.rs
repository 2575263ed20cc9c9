//! A rule file as a pack: what is taken from outside, what leaves, and what is an error.

#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_rules::pack::{Failure, Ruleset, Source, Verdict};
use serde_json::{Value, json};

const VOCABULARY: &str = "(deftemplate evidence (slot pointer (type STRING)) (slot text (type STRING)))";

fn parse(rules: &str, shares: &[&str]) -> Result<Ruleset, String> {
    let shares: Vec<String> = shares.iter().map(|&name| name.to_owned()).collect();
    Ruleset::parse(Source {
        id: "acme.mine",
        rules,
        vocabulary: VOCABULARY,
        shares: &shares,
    })
    .map_err(|error| error.to_string())
}

fn evaluate(rules: &Ruleset, facts: &Value, operations: u64) -> Result<Verdict, Failure> {
    let mut session = rules.session().unwrap();
    let given = rules.given(&facts.to_string(), &session)?;
    rules.evaluate(&mut session, given, operations)
}

fn decide(rules: &str, facts: Value) -> Result<Vec<Value>, &'static str> {
    let verdict = evaluate(&parse(rules, &[]).unwrap(), &facts, 100_000).map_err(|failure| failure.code())?;
    Ok(verdict
        .decisions
        .iter()
        .map(|decision| decision.to_json())
        .collect())
}

#[test]
fn a_decision_has_the_details_of_its_action_and_the_severity_that_follows_from_it() {
    let rule =
        |slots: &str| format!("(defrule r (n ?x) => (assert (decision (reason \"because\") {slots})))");
    let one = |slots: &str| decide(&rule(slots), json!(["(n 1)"])).unwrap().remove(0);
    let plain = one("");
    assert_eq!(
        (plain["action"].as_str(), plain["severity"].as_str()),
        (Some("annotate"), Some("info"))
    );
    assert_eq!(plain["rule"], "r");
    assert_eq!(plain["facts"], json!([{"index": 0, "name": "n", "fields": [1]}]));
    assert_eq!(one("(action veto)")["severity"], "violation");
    assert_eq!(one("(action veto) (severity warning)")["severity"], "warning");
    assert_eq!(
        one("(action retry) (delay-ms 20)")["details"],
        json!({"delay_ms": 20})
    );
    assert_eq!(one("(action retry)")["details"], json!({}));
    assert_eq!(
        one("(action redact) (pointer \"/a\") (pattern \"x+\")")["details"],
        json!({"pointer": "/a", "pattern": "x+"})
    );
    assert_eq!(
        one("(details kind tokens used ?x)")["details"],
        json!({"kind": "tokens", "used": 1})
    );
    assert_eq!(
        decide(&rule("(details odd)"), json!(["(n 1)"])),
        Err("BAD_DECISION")
    );
}

#[test]
fn the_text_of_evidence_does_not_get_into_a_decision() {
    let rules = "(defrule seen (evidence (text ?t&:(matches ?t \"secret\"))) => (assert (decision (reason \"seen\"))))";
    let facts = json!([{"template": "evidence", "slots": {"pointer": "/a", "text": "a secret"}}]);
    let decisions = decide(rules, facts).unwrap();
    assert_eq!(
        decisions[0]["facts"],
        json!([{"index": 0, "template": "evidence", "slots": {"pointer": "/a"}}])
    );
}

#[test]
fn what_is_not_known_for_certain_is_an_error() {
    let n = |text: &str| json!([text]);
    let rule = |test: &str| format!("(defrule r (n ?x&:{test}) => (assert (decision (reason \"x\"))))");
    assert_eq!(decide(&rule("(> ?x 1)"), n("(n 2)")).unwrap().len(), 1);
    assert_eq!(decide(&rule("(> ?x 1)"), n("(n two)")), Err("TEST_FAILED"));
    assert_eq!(
        decide("(defrule r (n ?x) => (assert (n (+ ?x 1))))", n("(n 1)")),
        Err("BUDGET_EXHAUSTED")
    );
    assert_eq!(
        decide("(defrule r (n ?x) => (assert (m (/ ?x 0))))", n("(n 1)")),
        Err("ACTION_FAILED")
    );
    assert_eq!(
        decide(
            "(defrule r (evidence (text ?t)) => (assert (m ?t)))",
            json!([{"template": "evidence", "slots": {"text": 1}}])
        ),
        Err("BAD_FACTS")
    );
    let rules = parse(&rule("(> ?x 1)"), &[]).unwrap();
    assert_eq!(
        evaluate(&rules, &n("(n 2)"), 1).unwrap_err().code(),
        "BUDGET_EXHAUSTED"
    );
}

#[test]
fn templates_are_private_unless_shared_and_a_foreign_one_can_be_read() {
    let rules = "(deftemplate hidden (slot x)) (deftemplate score (slot x)) (deftemplate other::risk (slot level))\n\
                 (defrule forged (hidden (x ?x)) => (assert (decision (reason \"forged\"))))\n\
                 (defrule read (other::risk (level ?l)) => (assert (score (x ?l)) (hidden-list ?l)))";
    let rules = parse(rules, &["score"]).unwrap();
    assert_eq!(rules.own_templates(), ["hidden", "score"]);
    assert_eq!(rules.reads(), ["other::risk"]);
    let facts = json!([
        {"template": "hidden", "slots": {"x": 1}},
        "(decision (reason \"forged\"))",
        {"template": "decision", "slots": {"reason": "forged"}},
        {"template": "nobodys", "slots": {"x": 1}},
        {"template": "other::risk", "slots": {"level": 3}},
    ]);
    let verdict = evaluate(&rules, &facts, 1_000).unwrap();
    assert!(verdict.decisions.is_empty(), "{verdict:?}");
    assert_eq!(
        verdict.shared,
        [json!({"template": "acme.mine::score", "slots": {"x": 3}})]
    );
    assert!(parse("(deftemplate acme.mine::x (slot a))", &[]).is_err());
    assert!(parse("(deftemplate evidence (slot a))", &[]).is_err());
    assert!(parse("(deftemplate decision (slot a))", &[]).is_err());
    assert!(parse("", &["nothing"]).unwrap_err().contains("nothing"));
}

#[test]
fn check_digits_are_those_of_payment_cards() {
    let holds = |expression: &str| {
        let rule = format!("(defrule r (n ?x&:{expression}) => (assert (decision (reason \"x\"))))");
        !decide(
            &rule,
            json!([{"name": "n", "fields": ["4111 1111 1111 1112, 5500-0000-0000-0004"]}]),
        )
        .unwrap()
        .is_empty()
    };
    assert!(holds("(luhn \"4111 1111 1111 1111\")"));
    assert!(holds("(luhn \"79927398713\")"));
    assert!(!holds("(luhn \"79927398710\")"));
    assert!(!holds("(luhn \"0\")"));
    assert!(!holds("(luhn \"no digits\")"));
    assert!(holds(
        "(luhn-matches ?x \"\\\\b(?:\\\\d[ -]?){12,18}\\\\d\\\\b\")"
    ));
    assert!(!holds("(luhn-matches ?x \"^(?:\\\\d[ -]?){12,18}\\\\d\\\\b\")"));
    assert!(!holds("(luhn-matches ?x \"nothing\")"));
    assert_eq!(
        decide("(defrule r (n ?x&:(luhn ?x)) => (assert (m)))", json!(["(n 1)"])),
        Err("TEST_FAILED")
    );
}
