//! Generated programs beside real CLIPS (`clipspy`), unmodified: the same rules fire on the same facts in the same order, and the
//! same facts are left, with the same numbers. Programs that never end are compared as far as the oracle follows them.
//!
//! The oracle is installed into an environment of its own below the target folder when it can be; when it cannot, the
//! test says so and checks the programs against the answers that were recorded from CLIPS 6.4.2 (`MIZZEN_RECORD_CLIPS=1`).

#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "clips/generator.rs"]
mod generator;

use generator::program;
use mizzen_rules::{Budget, Program, RunError, Session};
use serde_json::{Value as Json, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// `MIZZEN_SEEDS` for more.
const PROGRAMS: u64 = 2000;
const CALLS: u64 = 4000;
/// So many of each have a recorded answer.
const RECORDED: usize = 300;

/// As many firings as the oracle makes.
const MOST_FIRINGS: usize = 60;

fn ours(constructs: &[String]) -> Json {
    let program = match Program::parse(&constructs.join("\n")) {
        Ok(program) => program,
        Err(error) => return json!({"error": error.to_string()}),
    };
    match fire(&program) {
        Ok(answer) => answer,
        Err(error) => json!({"error": error.to_string()}),
    }
}

fn fire(program: &Program) -> Result<Json, RunError> {
    let mut session = Session::new(program, Budget::default())?;
    let mut settled = false;
    for _ in 0..MOST_FIRINGS {
        settled = !session.step()?;
        if settled {
            break;
        }
    }
    let fired = session.firings().iter().map(|firing| {
        let facts: String = firing.facts.iter().map(|(id, _)| format!(" f-{id}")).collect();
        format!("{}{facts}", firing.rule)
    });
    let fired: Vec<String> = fired.collect();
    let facts: Vec<String> = session
        .facts()
        .map(|(id, fact)| format!("f-{id} {fact}"))
        .filter(|fact| fact != "f-0 (initial-fact)")
        .collect();
    match session.errors() {
        [] => Ok(json!({"fired": fired, "settled": settled, "facts": facts})),
        errors => Ok(json!({"error": errors.join("; ")})),
    }
}

/// The Python of an environment with `clipspy`, or why there is none.
fn oracle() -> &'static Result<PathBuf, String> {
    static ORACLE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    ORACLE.get_or_init(install)
}

fn install() -> Result<PathBuf, String> {
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
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clips/requirements.txt");
    let installed = Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--no-deps"])
        .args(["--timeout", "20", "--retries", "1", "--requirement"])
        .arg(requirements)
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
        .join("clips")
        .join("oracle.py");
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

/// What CLIPS says to the programs: asked, or as it was recorded.
fn answers(programs: &[Vec<String>], recorded: &str) -> Vec<Json> {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join("clips")
        .join(recorded);
    match oracle() {
        Ok(python) => {
            let answers = ask(python, programs);
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
    }
}

/// Stops the test with the shortest of the programs that differ.
fn report(mut different: Vec<String>, compared: usize) {
    if !different.is_empty() {
        different.sort_by_key(String::len);
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clips-different.clp");
        std::fs::write(&kept, different.join("\n")).unwrap();
        panic!(
            "{} of {compared} programs differ, kept in {}; the shortest:\n{}",
            different.len(),
            kept.display(),
            different[0]
        );
    }
}

fn seeds(usual: u64) -> std::ops::RangeInclusive<u64> {
    let asked = std::env::var("MIZZEN_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok());
    1..=asked.unwrap_or(usual)
}

#[test]
fn generated_programs_fire_in_the_order_of_clips() {
    let programs: Vec<Vec<String>> = seeds(PROGRAMS).map(program).collect();
    let answers = answers(&programs, "programs.json");
    let (mut different, mut refused, mut again) = (Vec::new(), 0, 0);
    for (program, clips) in programs.iter().zip(&answers) {
        // CLIPS infers types when it reads a rule and refuses what can never match; here it just never matches. It crashes on
        // some programs.
        let Some(fired) = clips["fired"].as_array() else {
            refused += 1;
            continue;
        };
        // The same rule on the same facts: it was activated again.
        again += usize::from((1..fired.len()).any(|at| fired[..at].contains(&fired[at])));
        let ours = ours(program);
        // What CLIPS reads in a way that is not meant is refused here, and says so; a fact that is gone is not modified in silence.
        let error = ours["error"].to_string();
        let is_known = [
            "CLIPS",
            "the fact to modify is no longer there",
            "more patterns than the budget",
        ];
        if is_known.iter().any(|known| error.contains(known)) {
            refused += 1;
        } else if ours != *clips {
            different.push(format!(
                "{}\n; ours:  {ours}\n; CLIPS: {clips}\n",
                program.join("\n")
            ));
        }
    }
    let compared = answers.len() - refused;
    println!("{compared} programs compared, {refused} refused here or by CLIPS, {again} fire a rule again");
    // Programs that CLIPS itself refuses would compare nothing.
    assert!(
        refused * 4 < answers.len(),
        "{refused} of {} programs are no programs",
        answers.len()
    );
    assert!(
        again * 50 > compared,
        "only {again} of {compared} programs activate a rule again"
    );
    report(different, compared);
}

/// What has a value in CLIPS and none here: numbers beyond what numbers are, and a text that CLIPS does not look at.
const STRICTER: [&str; 2] = ["does not fit into a number", "`sub-string` takes a text"];

#[test]
fn functions_have_the_values_of_clips() {
    let programs: Vec<Vec<String>> = seeds(CALLS).map(generator::call).collect();
    let answers = answers(&programs, "calls.json");
    let (mut different, mut stricter) = (Vec::new(), 0);
    for (program, clips) in programs.iter().zip(&answers) {
        let ours = ours(program);
        // An error ends the actions of a rule. Where it does not in CLIPS, a number has gone beyond what numbers are.
        let is_done = clips["facts"].to_string().contains("(done)");
        match ours.get("error") {
            Some(_) if is_done => {
                stricter += 1;
                let error = ours["error"].to_string();
                let is_known = STRICTER.iter().any(|known| error.contains(known));
                assert!(is_known, "{program:?}: {error}, in CLIPS {clips}");
            }
            Some(_) => {}
            None if ours["facts"] == clips["facts"] => {}
            None => different.push(format!(
                "{}\n; ours:  {ours}\n; CLIPS: {clips}\n",
                program.join("\n")
            )),
        }
    }
    println!(
        "{} calls compared, {stricter} are errors here only",
        answers.len()
    );
    assert!(
        stricter * 20 < answers.len(),
        "{stricter} calls have a value in CLIPS and none here"
    );
    report(different, answers.len());
}
