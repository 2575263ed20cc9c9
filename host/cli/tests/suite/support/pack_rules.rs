//! The rules of the packs that the tests of governance mount.

/// What the tests' own pack concludes. Fields of the input are facts (D13), so each test says what it wants by its input.
pub(crate) const RULES: &str = r#"
(defrule severe (moment (name before-run)) (severity ?s&:(>= ?s 4))
  => (assert (decision (action veto) (reason (str-cat "severity " ?s " is too high")))))
(defrule ask (moment (name after-step)) (ask TRUE)
  => (assert (decision (action escalate) (reason "a person must look"))))
(defrule again (moment (name after-step)) (again TRUE) (step (attempt 1))
  => (assert (decision (action retry) (delay-ms 1) (reason "not good enough"))))
(defrule hide (moment (name after-step))
  (evidence (subject output) (pointer ?p) (text ?t&:(matches ?t "XK-[A-Z]+-[0-9]+")))
  => (assert (decision (action redact) (pointer ?p) (pattern "XK-[A-Z]+-[0-9]+") (reason (str-cat "found in " ?t)))))
(defrule nonsense (moment (name after-step)) (nonsense TRUE)
  => (assert (decision (action redact) (pointer "/nowhere") (reason "nobody is there"))))
(defrule stop-after (moment (name after-step)) (stop TRUE)
  => (assert (decision (action veto) (reason "not this answer"))))
(defrule endless (endless TRUE) (moment (name ?m))
  => (assert (counted 0)))
(defrule endless-more (endless TRUE) (counted ?n)
  => (assert (counted (+ ?n 1))))
(defrule note (moment (name at-end)) (run (status ?s))
  => (assert (decision (action annotate) (reason (str-cat "ended as " ?s)))))
"#;

/// Two packs with private templates of the same names and other slots; one of them shares its `score`, the other one reads it.
pub(crate) const FIRST_RULES: &str = r#"
(deftemplate score (slot value (type INTEGER)))
(deftemplate hidden (slot value (type INTEGER)))
(defrule rate (moment (name after-step)) (rate ?n) => (assert (score (value ?n)) (hidden (value ?n))))
(defrule seen (score (value ?v)) (hidden (value ?w))
  => (assert (decision (reason (str-cat "first: " ?v " and " ?w)))))
"#;
pub(crate) const SECOND_RULES: &str = r#"
(deftemplate first::score (slot value (type INTEGER)))
(deftemplate first::hidden (slot value (type INTEGER)))
(deftemplate score (slot name (type STRING)))
(deftemplate hidden (slot name (type STRING)))
(defrule own (moment (name after-step)) => (assert (score (name "mine")) (hidden (name "mine too"))))
(defrule seen (score (name ?a)) (hidden (name ?b))
  => (assert (decision (reason (str-cat "second: " ?a " and " ?b)))))
(defrule shared (first::score (value ?v))
  => (assert (decision (action veto) (reason (str-cat "the first one gave " ?v)))))
(defrule leaked (first::hidden (value ?v))
  => (assert (decision (action veto) (reason "what was not shared"))))
"#;

/// A pack that asks a person before the second step and counts what the step answered. It reads no evidence.
pub(crate) const READER_RULES: &str = r#"
(defrule ask (moment (name before-step)) (step (name ?name) (step 1))
  => (assert (decision (action escalate) (reason (str-cat "before " ?name)))))
(defrule answered (moment (name after-step)) (tool-result (tool ?tool) (outcome ?outcome) (step 1)) (respond (actor ?actor) (answer ?answer))
  => (assert (decision (action annotate) (reason (str-cat ?tool " ended with " ?outcome ", " ?actor ": " ?answer)))))
"#;

/// Takes secrets out of what a tool is called with, and asks a person when the run's input says so.
pub(crate) const HIDER_RULES: &str = r#"
(defrule hide (moment (name before-step))
  (evidence (subject input) (pointer ?p) (text ?t&:(matches ?t "TOPSECRET[0-9]+")))
  => (assert (decision (action redact) (pointer ?p) (pattern "TOPSECRET[0-9]+") (reason (str-cat "found in " ?t)))))
(defrule ask (moment (name before-step)) (ask TRUE)
  => (assert (decision (action escalate) (reason "a person must know"))))
"#;
