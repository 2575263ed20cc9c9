//! `mizzen sprite test`: declared cases in the real sandbox, on a first-party plugin.

use crate::support::packages;
use crate::support::verb::mizzen_in;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

fn mizzen(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = mizzen_in(folder);
    command.env("MIZZEN_HOME", packages::home()).args(arguments);
    command.output().unwrap()
}

fn case(name: &str, input: Value, words: u64) -> Value {
    json!({ "name": name, "input": input, "expected_output": { "words": words }, "tags": ["smoke"] })
}

#[test]
fn cases_pass_differ_or_fail_with_a_reason_and_the_exit_code_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let package = packages::plugin("plugins/text").write(folder.path());
    let package = package.to_str().unwrap();

    let sprite = |tests: Value| {
        json!({
            "name": "WATNEY-01",
            "version": "1.0.0",
            "capabilities": [{
                "name": "count",
                "description": "Counts words",
                "parameters": { "type": "object", "required": ["text"] },
                "tool": "text.word_count@^0.1",
            }],
            "system_prompt": "Count.",
            "metadata": { "author": "ada", "tags": [] },
            "tests": tests,
        })
    };
    let run = |tests: Value| {
        std::fs::write(folder.path().join("sprite.json"), sprite(tests).to_string()).unwrap();
        let output = mizzen(
            folder.path(),
            &["sprite", "test", "sprite.json", "--plugin", package, "--json"],
        );
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code(), report)
    };

    let (code, report) = run(json!([case("counts", json!({ "text": "one two" }), 2)]));
    assert_eq!((code, &report["passed"]), (Some(0), &json!(1)), "{report}");

    let (code, report) = run(json!([
        case("differs", json!({ "text": "one two" }), 3),
        case("does not fit", json!({ "txt": "one" }), 1),
    ]));
    assert_eq!((code, &report["failed"]), (Some(1), &json!(2)), "{report}");
    let problem = |index: usize| report["cases"][index]["problem"].as_str().unwrap().to_owned();
    assert!(
        problem(0).contains("/words: expected 3, found 2"),
        "{}",
        problem(0)
    );
    assert!(problem(1).contains("parameters"), "{}", problem(1));

    // What a person sees: that nothing was tested, and what performs the capabilities where nothing is named.
    let say = |tests: Value, arguments: &[&str], code: i32| {
        std::fs::write(folder.path().join("sprite.json"), sprite(tests).to_string()).unwrap();
        let output = mizzen(
            folder.path(),
            &[&["sprite", "test", "sprite.json"], arguments].concat(),
        );
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    };
    let counts = json!([case("counts", json!({ "text": "one two" }), 2)]);
    let with = ["--plugin", package];
    assert!(say(json!([]), &with, 0).contains("declares no tests"));
    let said = say(counts.clone(), &["--plugin", package, "--tag", "slow"], 0);
    assert!(said.contains("none of 1 cases has the tag slow"), "{said}");
    let said = say(counts.clone(), &[], 1);
    assert!(said.contains("--plugin FILE"), "{said}");
    std::fs::write(
        folder.path().join("mizzen.toml"),
        "[plugins]\nfolders = [\".\"]\n[trust]\nmode = \"dev\"\n",
    )
    .unwrap();
    assert!(say(counts, &[], 0).contains("1 passed, 0 failed"));
}
