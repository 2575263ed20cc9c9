//! `mizzen chain run`: council files, exit codes, what a person sees on a terminal, Ctrl-C.

use crate::support::commands;
use crate::support::delivery::{example, workshop};
use crate::support::packages::checkout;
use crate::support::terminal::{CTRL_C, CTRL_D, Terminal};
use crate::support::verb::mizzen_in;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `mizzen chain run` on the example's council.
fn run(chain: &str, input: &str) -> Command {
    let mut command = mizzen_in(workshop());
    command
        .args(["chain", "run"])
        .arg(example("council.json"))
        .args(["--chain", chain, "--input"])
        .arg(format!("@{}", example("inputs").join(input).display()));
    command
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_council_file_runs_on_a_host_of_its_own_that_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("deliver", "staging.json")
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let (code, out, err) = said(&output);
    assert_eq!(code, Some(0), "{out}{err}");
    let lines: Vec<String> = out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let first = [
        "rule no credentials in specifications not matched",
        "rule ask before production not matched",
        "gate before, LEWIS-06 allow the condition is true",
    ];
    assert_eq!(lines[..3], first, "{out}");
    assert!(out.contains("step  2 MARTINEZ-04.deploy"), "{out}");
    assert!(out.contains("delivery://staging/area/1"), "{out}");
    assert!(lines.last().unwrap().starts_with("end completed"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn every_command_of_the_page_about_councils_works_in_order() {
    // A copy: the commands leave files behind.
    let folder = tempfile::tempdir().unwrap();
    for name in ["dist", "home/keys"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
        for file in std::fs::read_dir(workshop().join(name)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path().join(name).join(file.file_name())).unwrap();
        }
    }
    std::fs::copy(example("mizzen.toml"), folder.path().join("mizzen.toml")).unwrap();
    let blocks = commands::run(&checkout().join("docs/councils.md"), folder.path(), &[]);
    assert_eq!(blocks, 2);
}

#[test]
fn each_cause_has_its_exit_code() {
    for (chain, input, code, reason) in [
        ("deliver", "moon.json", 1, "GATE_VETO: Task scope not authorised"),
        (
            "propose",
            "bare.json",
            1,
            "GATE_VETO: The reviewer is not sure enough",
        ),
        ("rehearse", "forever.json", 1, "TIMEOUT: the chain's timeout"),
        ("deliver", "production.json", 4, "CANCELLED"),
    ] {
        let (found, out, err) = said(&run(chain, input).output().unwrap());
        assert_eq!(found, Some(code), "{out}{err}");
        assert!(out.contains(reason), "{input}: {out}");
    }
    let (code, _, err) = said(&run("nothing", "staging.json").output().unwrap());
    assert_eq!(code, Some(1));
    assert!(err.contains("it has deliver, propose, rehearse"), "{err}");
    let (code, _, err) = said(&mizzen_in(workshop()).args(["chain", "run"]).output().unwrap());
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn an_input_is_read_as_strictly_as_a_request_and_never_without_end() {
    for (input, expected) in [
        (r#"{"spec": "a", "spec": "b"}"#, "the key \"spec\" stands twice"),
        (r#"{"spec": 1e999}"#, "too large"),
        (r#"{"spec": "#, "--input is not JSON"),
        ("@/dev/zero", "is larger than"),
        ("@nowhere", "cannot open nowhere"),
    ] {
        let mut command = mizzen_in(workshop());
        command
            .args(["chain", "run", "--chain", "deliver", "--input", input])
            .arg(example("council.json"));
        let (code, _, err) = said(&command.output().unwrap());
        assert_eq!(code, Some(1), "{input}: {err}");
        assert!(err.contains(expected), "{input}: {err}");
    }
}

#[test]
fn json_is_the_result_and_nothing_else() {
    for (input, code, status) in [
        ("staging.json", 0, "completed"),
        ("moon.json", 1, "vetoed"),
        ("production.json", 4, "cancelled"),
    ] {
        let (found, out, err) = said(&run("deliver", input).arg("--json").output().unwrap());
        assert_eq!(found, Some(code), "{err}");
        let result: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(result["status"], status);
    }
}

/// The example's council with its sprites inside, so that a test can change it.
fn inline(folder: &Path, change: impl FnOnce(&mut Value)) -> std::path::PathBuf {
    let mut council: Value =
        serde_json::from_str(&std::fs::read_to_string(example("council.json")).unwrap()).unwrap();
    let sprite = |name: &str, capability: &str| {
        json!({
            "name": name, "version": "1.0.0", "system_prompt": "Be brief.", "metadata": {"author": "ada", "tags": []},
            "capabilities": [{"name": capability, "description": "A capability.", "parameters": {"type": "object"}}],
        })
    };
    council["sprites"] = json!([
        sprite("SOL-FORGE", "generate_code"),
        sprite("BECK-02", "review_pull_request"),
        sprite("MARTINEZ-04", "deploy"),
        sprite("LEWIS-06", "plan"),
    ]);
    council["chains"] = json!([council["chains"][0]]);
    change(&mut council);
    let file = folder.join("council.json");
    std::fs::write(&file, council.to_string()).unwrap();
    file
}

#[test]
fn with_a_data_folder_a_council_is_taken_over_once_and_its_history_stays() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let input = std::fs::read_to_string(example("inputs/staging.json")).unwrap();
    let chain_run = |arguments: &[&str]| {
        let mut command = mizzen_in(workshop());
        command
            .args(["chain", "run", "--input", &input, "--json", "--data"])
            .arg(&data)
            .args(arguments);
        said(&command.output().unwrap())
    };
    let result = |said: (Option<i32>, String, String)| -> Value {
        assert_eq!(said.0, Some(0), "{}", said.2);
        serde_json::from_str(&said.1).unwrap()
    };
    let file = inline(folder.path(), |_| {});
    let file = file.to_str().unwrap();
    let first = result(chain_run(&[file]));
    let again = result(chain_run(&[file, "--chain", "deliver"]));
    let stored = result(chain_run(&["--council", "engineering"]));
    let by_id = result(chain_run(&["--council", first["council_id"].as_str().unwrap()]));
    for run in [&again, &stored, &by_id] {
        assert_eq!(
            (&run["council_id"], &run["chain_id"]),
            (&first["council_id"], &first["chain_id"])
        );
    }
    // The plugin's own store is the data folder's: the same code is the same release.
    assert_eq!(by_id["steps"][2]["output"]["revision"], 1);

    // The same version of a sprite with other content is another sprite.
    inline(folder.path(), |council| {
        council["sprites"][1]["system_prompt"] = json!("Be kind.")
    });
    let (code, _, err) = chain_run(&[file]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("another sprite BECK-02 1.0.0: raise the version"),
        "{err}"
    );
    inline(folder.path(), |council| {
        council["sprites"][1]["system_prompt"] = json!("Be kind.");
        council["sprites"][1]["version"] = json!("1.1.0");
    });
    let newer = result(chain_run(&[file]));
    assert_eq!(
        (&newer["council_id"], &newer["chain_id"]),
        (&first["council_id"], &first["chain_id"])
    );
    assert_eq!(newer["steps"][1]["sprite_id"], first["steps"][1]["sprite_id"]);
    backed_up_and_restored(&data, first["execution_id"].as_str().unwrap());
}

/// As `mizzen db backup --help` says: the database and the host's key are the host; one without the other is noticed.
fn backed_up_and_restored(data: &Path, execution: &str) {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let verb = |arguments: &[&str], at: &Path| {
        let mut command = mizzen_in(folder.path());
        said(&command.args(arguments).arg("--data").arg(at).output().unwrap())
    };
    let (code, out, err) = verb(&["db", "backup", "backup.db"], data);
    assert_eq!((code, out.as_str()), (Some(0), "backup.db\n"), "{err}");
    assert!(err.contains("the host's key is not in it"), "{err}");
    let info = verb(&["db", "info"], data).1;
    assert!(info.contains("runs              5 rows"), "{info}");

    std::fs::create_dir(place("restored")).unwrap();
    std::fs::copy(place("backup.db"), place("restored/mizzen.db")).unwrap();
    let (code, out, _) = verb(&["doctor"], &place("restored"));
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("the host's key in keys/ is gone"), "{out}");
    let (code, _, err) = verb(&["audit", "export", execution], &place("restored"));
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("warning: the host's key is gone"), "{err}");
    assert!(!place("restored/keys").exists(), "reading has made another key");

    std::fs::create_dir(place("restored/keys")).unwrap();
    for file in std::fs::read_dir(data.join("keys")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), place("restored/keys").join(file.file_name())).unwrap();
    }
    let (code, out, err) = verb(&["doctor"], &place("restored"));
    assert_eq!(code, Some(0), "{out}{err}");
}

#[test]
fn a_file_that_will_not_do_is_refused_with_the_place_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let refused = |change: &dyn Fn(&mut Value), expected: &str| {
        let file = inline(folder.path(), |council| change(council));
        let mut command = mizzen_in(workshop());
        command.args(["chain", "run", "--data"]).arg(&data).arg(file);
        let (code, _, err) = said(&command.output().unwrap());
        assert_eq!(code, Some(1), "{err}");
        assert!(err.contains(expected), "{err}");
    };
    refused(
        &|council| council["sprites"] = json!(["../../secret.yaml"]),
        "beside or below the council's own",
    );
    refused(
        &|council| council["sprites"] = json!(["/etc/passwd"]),
        "beside or below the council's own",
    );
    refused(
        &|council| council["sprites"] = json!(["nowhere.yaml"]),
        "the sprite file \"nowhere.yaml\"",
    );
    refused(
        &|council| council["sprites"][1]["name"] = json!("SOL-FORGE"),
        "two sprites of the file are named SOL-FORGE",
    );
    refused(
        &|council| council["chains"][0]["steps"][1]["sprite_id"] = json!("BECK-03"),
        "/chains/0/steps/1/sprite_id",
    );
    refused(&|council| council["gate_agents"] = json!([]), "gate_agents");
    refused(&|council| *council = json!([]), "a council file holds one object");
    let file = inline(folder.path(), |_| {});
    let twice = std::fs::read_to_string(&file)
        .unwrap()
        .replacen('{', "{\"domain\":\"other\",", 1);
    std::fs::write(&file, twice).unwrap();
    let mut command = mizzen_in(workshop());
    command.args(["chain", "run", "--data"]).arg(&data).arg(&file);
    let (code, _, err) = said(&command.output().unwrap());
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("the key \"domain\" stands twice"), "{err}");
    // The folder exists by now; what was refused left no sprite in it.
    let mut command = mizzen_in(workshop());
    command
        .args(["chain", "run", "--council", "engineering", "--data"])
        .arg(&data);
    let (_, _, err) = said(&command.output().unwrap());
    assert!(err.contains("no council of the domain"), "{err}");
    let info = mizzen_in(workshop())
        .args(["db", "info", "--json", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    let info: Value = serde_json::from_slice(&info.stdout).unwrap();
    let rows = info["rows"].as_array().unwrap();
    assert!(rows.contains(&json!(["sprites", 0])), "{info}");
}

#[test]
fn a_hook_that_a_host_of_its_own_cannot_deliver_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = inline(folder.path(), |council| {
        council["rules"] = json!([{"id": "no", "name": "no", "condition": "!has(input.nothing)", "action": "deny", "hook": "webhook:https://example.com/"}]);
    });
    let output = mizzen_in(workshop())
        .args(["chain", "run"])
        .arg(file)
        .output()
        .unwrap();
    let (code, out, err) = said(&output);
    assert_eq!(code, Some(1), "{err}");
    assert!(out.contains("RULE_DENIED"), "{out}");
    assert!(err.contains("hooks: 1 are not delivered"), "{err}");
}

const QUESTION: &str = "approve? [y/n] ";
const REASON: &str = "reason (recorded; return for none): ";

#[test]
fn a_person_on_a_terminal_of_unknown_size_is_asked_too_and_the_reason_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = run("deliver", "production.json");
    command.arg("--data").arg(folder.path().join("host"));
    let mut terminal = Terminal::run_sized(&command, "cols 0 rows 0");
    terminal.wait_for(QUESTION, 1);
    terminal.type_in("n\n");
    terminal.wait_for(REASON, 1);
    terminal.type_in("not on a Friday\n");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("not on a Friday"), "{seen}");
    assert!(seen.contains("end   vetoed"), "{seen}");
}

#[test]
fn on_a_terminal_the_table_is_redrawn_and_a_person_is_asked() {
    for (typed, expected, end) in [("y\n", 0, "completed"), ("no\n", 1, "vetoed")] {
        let mut terminal = Terminal::run(&run("deliver", "production.json"));
        terminal.wait_for(QUESTION, 1);
        // What is no answer is asked again; nothing is taken for a yes.
        terminal.type_in("perhaps\n");
        terminal.wait_for(QUESTION, 2);
        terminal.type_in(typed);
        terminal.wait_for(REASON, 1);
        terminal.type_in("looked at the change\n");
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(expected), "{seen}");
        // W22: what is decided about stands above the question, in full.
        let above = seen.split(QUESTION).next().unwrap();
        assert!(
            above.contains("the rule \"ask before production\" asks a person"),
            "{above}"
        );
        assert!(
            above.contains("  input         {\"environment\":\"production\""),
            "{above}"
        );
        assert!(seen.contains("A\r\u{1b}[J"), "nothing was redrawn: {seen:?}");
        let last = seen.rsplit("\u{1b}[J").next().unwrap();
        assert!(last.contains(&format!("end   {end}")), "{last}");
        assert!(last.contains("2 MARTINEZ-04.deploy"), "{last}");
    }
}

#[test]
fn ctrl_c_at_the_question_cancels_the_run_and_exits_130() {
    let mut terminal = Terminal::run(&run("deliver", "production.json"));
    terminal.wait_for(QUESTION, 1);
    terminal.type_in(CTRL_C);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("interrupted: cancelling the run"), "{seen}");
    assert!(
        seen.rsplit("\u{1b}[J")
            .next()
            .unwrap()
            .contains("end   cancelled"),
        "{seen}"
    );
}

#[test]
fn ctrl_c_stops_a_guest_that_computes_and_exits_130() {
    // A thousand million rounds: far more than is computed before the signal arrives, and the chain allows a minute.
    let mut terminal = Terminal::run(&run("soak", "forever.json"));
    terminal.wait_for("running", 1);
    terminal.type_in(CTRL_C);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(
        seen.rsplit("\u{1b}[J")
            .next()
            .unwrap()
            .contains("end   cancelled"),
        "{seen}"
    );
}

#[test]
fn a_terminal_that_hangs_up_answers_nothing() {
    let mut terminal = Terminal::run(&run("deliver", "production.json"));
    terminal.wait_for(QUESTION, 1);
    terminal.type_in(CTRL_D);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    assert!(seen.contains("nobody is here to be asked"), "{seen}");
}

#[test]
fn an_interrupt_without_a_terminal_exits_130_and_is_not_a_death_by_signal() {
    let mut child = run("soak", "forever.json")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The rules are told when the run has been started.
    assert!(lines.next().unwrap().unwrap().starts_with("rule"));
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let last = lines.map_while(Result::ok).last().unwrap();
    assert!(last.starts_with("end   cancelled"), "{last}");
    // A process that a signal ended has no code.
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
