//! Generated programs against real CLIPS (`clipspy`): the same final facts, the same number of firings, the same rules
//! fired (every rule asserts its name). The programs are confluent, because the order of firing is ours: negation looks
//! only at what higher salience has finished with, and nothing that is retracted is negated.
//!
//! The oracle is installed into an environment of its own below the target folder when it can be; when it cannot, the
//! test says so and checks the programs against the answers that were recorded from CLIPS 6.40 (`clips_recorded.json`).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_rules::{Budget, Program, Session};
use serde_json::{Value as Json, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAMS: u64 = 2000;
/// So many of them have a recorded answer.
const RECORDED: usize = 300;

/// A generator of its own, so that a seed means the same program for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn one<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const VALUES: [&str; 11] = ["0", "1", "2", "3", "4", "0.5", "1.0", "x", "y", "z", "\"x\""];

struct Generator {
    random: Random,
    /// Variables that have a value at this place of a rule.
    bound: Vec<String>,
    fresh: usize,
}

impl Generator {
    fn value(&mut self) -> &'static str {
        self.random.one(&VALUES)
    }

    fn variable(&mut self) -> String {
        self.fresh += 1;
        format!("?v{}", self.fresh)
    }

    /// A test that is true or false for every value: CLIPS would only print an error for the others.
    fn test(&mut self, variable: &str) -> String {
        let other = if self.bound.is_empty() || self.random.chance(50) {
            self.value().to_owned()
        } else {
            self.bound[self.random.below(self.bound.len())].clone()
        };
        // CLIPS refuses a constant of the wrong type when it reads the rule.
        let number = if other.starts_with('?') {
            other.clone()
        } else {
            self.random.one(&VALUES[..7]).to_owned()
        };
        match self.random.below(8) {
            0 => format!("(eq {variable} {other})"),
            1 => format!("(neq {variable} {other})"),
            2 => format!("(and (numberp {variable}) (numberp {number}) (< {variable} {number}))"),
            3 => format!("(and (numberp {variable}) (numberp {number}) (= {variable} {number}))"),
            4 => format!("(and (integerp {variable}) (= (mod {variable} 2) 0))"),
            5 => format!("(or (symbolp {variable}) (floatp {variable}))"),
            6 => format!("(and (lexemep {variable}) (eq (upcase {variable}) X))"),
            _ => format!("(and (numberp {variable}) (>= (+ {variable} 1) (* 2 {variable})))"),
        }
    }

    fn field(&mut self) -> String {
        match self.random.below(14) {
            0..=3 => {
                let variable = self.variable();
                self.bound.push(variable.clone());
                variable
            }
            4 | 5 if !self.bound.is_empty() => self.bound[self.random.below(self.bound.len())].clone(),
            6 => self.value().to_owned(),
            7 => format!("~{}", self.value()),
            8 => format!("{}|{}", self.value(), self.value()),
            9 => {
                let variable = self.variable();
                let text = format!("{variable}&~{}", self.value());
                self.bound.push(variable);
                text
            }
            10 => {
                let variable = self.variable();
                let text = format!("{variable}&:{}", self.test(&variable));
                self.bound.push(variable);
                text
            }
            11 => {
                let variable = self.variable();
                let text = format!("{variable}&{}|{}|{}", self.value(), self.value(), self.value());
                self.bound.push(variable);
                text
            }
            12 if !self.bound.is_empty() => {
                format!("~{}", self.bound[self.random.below(self.bound.len())].clone())
            }
            _ => "?".to_owned(),
        }
    }

    /// A pattern over something that is finished at this layer (below `layer`), or base facts.
    fn pattern(&mut self, layer: usize) -> String {
        match self.random.below(10) {
            0 | 1 if layer > 0 => {
                let derived = self.random.below(layer);
                format!("(d{derived} {})", self.field())
            }
            2 => format!("(t (n {}) (s {}))", self.field(), self.field()),
            3 => format!("(t (m $? {} $?))", self.field()),
            4 => format!("(b2 {} $?)", self.field()),
            5 => format!("(b2 $? {})", self.field()),
            6 | 7 => format!("(b0 {})", self.field()),
            _ => format!("(b1 {} {})", self.field(), self.field()),
        }
    }

    /// Something after which the same variables have values as before.
    fn closed(&mut self, layer: usize) -> String {
        let before = self.bound.len();
        let text = match self.random.below(6) {
            0 | 1 => format!("(not {})", self.pattern(layer)),
            2 => format!("(not (and {} {}))", self.pattern(layer), self.pattern(layer)),
            3 => format!("(exists {})", self.pattern(layer)),
            4 => format!("(forall {} {})", self.pattern(layer), self.pattern(layer)),
            _ => format!("(exists {} {})", self.pattern(layer), self.pattern(layer)),
        };
        self.bound.truncate(before);
        text
    }

    fn rule(&mut self, number: usize, layer: usize) -> String {
        self.bound.clear();
        let mut left = Vec::new();
        for at in 0..=self.random.below(3) {
            left.push(match self.random.below(12) {
                0 if at > 0 && !self.bound.is_empty() => {
                    let variable = self.bound[self.random.below(self.bound.len())].clone();
                    format!("(test {})", self.test(&variable))
                }
                1..=3 if at > 0 => self.closed(layer),
                4 => {
                    let before = self.bound.len();
                    let first = self.pattern(layer);
                    self.bound.truncate(before);
                    let second = self.pattern(layer);
                    self.bound.truncate(before);
                    format!("(or {first} {second})")
                }
                // Its own layer too: recursion over values that exist already.
                5 => format!("(d{layer} {})", self.field()),
                _ => self.pattern(layer),
            });
        }
        let made = if self.bound.is_empty() || self.random.chance(20) {
            self.value().to_owned()
        } else {
            self.bound[self.random.below(self.bound.len())].clone()
        };
        let salience = 100 - 10 * layer as i64;
        format!(
            "(defrule r{number} (declare (salience {salience})) {} => (assert (d{layer} {made}) (fired r{number})))",
            left.join(" ")
        )
    }
}

fn program(seed: u64) -> Vec<String> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        random.below(2);
    }
    let mut generator = Generator {
        random,
        bound: Vec::new(),
        fresh: 0,
    };
    let mut facts = vec!["(go)".to_owned()];
    for _ in 0..3 + generator.random.below(10) {
        let fact = match generator.random.below(5) {
            0 => format!("(b0 {})", generator.value()),
            1 | 2 => format!("(b1 {} {})", generator.value(), generator.value()),
            3 => {
                let fields: Vec<_> = (0..generator.random.below(4))
                    .map(|_| generator.value())
                    .collect();
                format!("(b2 {})", fields.join(" "))
            }
            _ => {
                let many: Vec<_> = (0..generator.random.below(3))
                    .map(|_| generator.value())
                    .collect();
                let number = generator.random.below(4);
                format!(
                    "(t (n {number}) (s {}) (m {}))",
                    generator.random.one(&["x", "y", "z"]),
                    many.join(" ")
                )
            }
        };
        facts.push(fact);
    }
    let mut constructs = vec![
        "(deftemplate t (slot n) (slot s (default y)) (multislot m))".to_owned(),
        "(deftemplate work (slot state (default new)) (slot id))".to_owned(),
        format!(
            "(deffacts start {} (work (id 1)) (work (id 2) (state old)) (spare 1) (spare 2))",
            facts.join(" ")
        ),
    ];
    let rules = 2 + generator.random.below(5);
    for number in 0..rules {
        let layer = generator.random.below(3);
        constructs.push(generator.rule(number, layer));
    }
    constructs.push("(defrule move (declare (salience -10)) ?f <- (work (state new) (id ?i)) => (modify ?f (state done)) (assert (moved ?i)))".to_owned());
    constructs.push("(defrule spare (declare (salience -20)) ?f <- (spare ?x) (d0 ?x) => (retract ?f) (assert (taken ?x)))".to_owned());
    constructs.push("(defrule done (declare (salience -30)) (work (state done) (id ?i)) => (bind ?j (+ ?i 1)) (assert (done ?j (str-cat \"n\" ?i))))".to_owned());
    constructs
}

fn ours(constructs: &[String]) -> Json {
    let program = match Program::parse(&constructs.join("\n")) {
        Ok(program) => program,
        Err(error) => return json!({"error": error.to_string()}),
    };
    match Session::new(&program, Budget::default()).and_then(Session::run) {
        Ok(report) => {
            let mut facts: Vec<String> = report
                .facts
                .iter()
                .map(|(_, fact)| fact.to_string())
                .filter(|fact| fact != "(initial-fact)")
                .collect();
            facts.sort();
            json!({"fired": report.firings.len(), "facts": facts})
        }
        Err(error) => json!({"error": error.to_string()}),
    }
}

/// The Python of an environment with `clipspy`, or why there is none.
fn oracle() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clipspy-environment");
    let python = folder.join("bin").join("python");
    let works = |python: &Path| {
        let output = Command::new(python).args(["-c", "import clips"]).output();
        output.is_ok_and(|output| output.status.success())
    };
    if works(&python) {
        return Ok(python);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return Err("python3 -m venv does not work here".to_owned());
    }
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--timeout",
        "20",
        "--retries",
        "1",
        "clipspy==1.0.6",
    ];
    let installed = Command::new(&python)
        .args(install)
        .output()
        .map_err(|error| error.to_string())?;
    if works(&python) {
        Ok(python)
    } else {
        Err(String::from_utf8_lossy(&installed.stderr).into_owned())
    }
}

fn ask(python: &Path, programs: &[Vec<String>]) -> Vec<Json> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join("clips_oracle.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines: Vec<String> = programs
        .iter()
        .map(|program| serde_json::to_string(program).unwrap())
        .collect();
    let writer = std::thread::spawn(move || {
        for line in lines {
            if writeln!(stdin, "{line}").is_err() {
                return;
            }
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // CLIPS itself prints its complaints to the same place.
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(Json::is_object)
        .collect()
}

#[test]
fn generated_programs_end_as_in_clips() {
    let programs: Vec<Vec<String>> = (1..=PROGRAMS).map(program).collect();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join("clips_recorded.json");
    let answers = match oracle() {
        Ok(python) => {
            let answers = ask(&python, &programs);
            assert_eq!(answers.len(), programs.len(), "the oracle answered a part only");
            if std::env::var_os("MIZZEN_RECORD_CLIPS").is_some() {
                let kept = serde_json::to_string(&answers[..RECORDED])
                    .unwrap()
                    .replace("},{", "},\n{");
                std::fs::write(&recorded, kept + "\n").unwrap();
            }
            answers
        }
        Err(reason) => {
            eprintln!("clipspy could not be installed, so recorded answers are compared instead: {reason}");
            serde_json::from_str(&std::fs::read_to_string(&recorded).unwrap()).unwrap()
        }
    };
    let mut different = Vec::new();
    let mut refused = 0;
    for (program, clips) in programs.iter().zip(&answers) {
        // CLIPS infers types when it reads a rule and refuses what can never match; here it just never matches.
        if clips.get("error").is_some() {
            refused += 1;
            continue;
        }
        let ours = ours(program);
        if ours != *clips {
            different.push(format!(
                "{}\n; ours:  {ours}\n; CLIPS: {clips}\n",
                program.join("\n")
            ));
        }
    }
    // Programs that CLIPS itself refuses would compare nothing.
    assert!(
        refused * 10 < answers.len(),
        "{refused} of {} programs are no programs",
        answers.len()
    );
    if !different.is_empty() {
        different.sort_by_key(String::len);
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clips-different.clp");
        std::fs::write(&kept, different.join("\n")).unwrap();
        panic!(
            "{} of {} programs differ, kept in {}; the shortest:\n{}",
            different.len(),
            answers.len(),
            kept.display(),
            different[0]
        );
    }
}
