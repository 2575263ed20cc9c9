//! The story as a reader sees it: the demo, the requests of docs/api.md against the host that it serves, and the example.

use crate::support::commands;
use crate::support::delivery::example;
use crate::support::packages::checkout;
use crate::support::verb::mizzen_in;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Ended when the test is over, however it ends.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn demo(folder: &Path) -> Command {
    let mut command = mizzen_in(folder);
    command
        .args(["demo", "--data"])
        .arg(folder.join("demo"))
        .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// README's picture is a recording: every line of it is one of the demo's, up to where the terminal cut it, and it has every chapter.
fn compare_with_the_picture(story: &str) {
    let picture = std::fs::read_to_string(checkout().join("docs/pictures/demo.svg")).unwrap();
    let renew = "run docs/pictures/record-demo";
    let mut lines = Vec::new();
    for element in picture.lines().filter(|line| line.starts_with("<text ")) {
        let text: String = element
            .split('<')
            .filter_map(|part| Some(part.split_once('>')?.1))
            .collect();
        lines.push(
            text.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&"),
        );
    }
    assert!(lines.len() > 30, "{renew}: {lines:?}");
    for line in lines.iter().filter(|line| !line.starts_with("$ ")) {
        let words: Vec<&str> = line.split('…').next().unwrap().split_whitespace().collect();
        let has = |printed: &str| {
            let mut rest = printed;
            words.iter().all(|word| match rest.split_once(word) {
                Some((_, after)) => {
                    rest = after;
                    true
                }
                None => false,
            })
        };
        assert!(
            story.lines().any(has),
            "the demo does not print {line:?}: {renew}"
        );
    }
    for heading in story
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
    {
        assert!(
            lines.iter().any(|line| line == heading),
            "the picture has no {heading:?}: {renew}"
        );
    }
}

#[test]
fn the_demo_tells_the_whole_story_and_serves_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = demo(folder.path())
        .args(["--serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut complaints = child.stderr.take().unwrap();
    let complained = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = complaints.read_to_string(&mut text);
        text
    });
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let mut served = Served(child);
    let mut story = String::new();
    let mut url = None;
    for line in stdout.lines() {
        let line = line.unwrap();
        url = line.strip_prefix("listening on ").map(str::to_owned);
        if url.is_some() {
            break;
        }
        story.push_str(&line);
        story.push('\n');
    }
    let Some(url) = url else {
        let status = served.0.wait().unwrap();
        panic!("{status}\n{story}\n{}", complained.join().unwrap());
    };
    for told in [
        "delivery.review_pull_request",
        "sprite  LEWIS-06",
        "step  2 MARTINEZ-04.deploy",
        "veto         Task scope not authorised",
        "veto         The reviewer is not sure enough",
        "TIMEOUT: the chain's timeout",
        "a person approves",
        "pack  bosun.safety-pii, after-step 0",
        "[redacted]",
        "pack  bosun.audit, ",
        "5 of 5 executions",
        "one word changed: entry 2 was edited",
        "refused  input: ",
        "refused  import-not-permitted: ",
    ] {
        assert!(story.contains(told), "{told:?} is not told:\n{story}");
    }
    assert_eq!(story.matches("\n  verified  ").count(), 6, "{story}");
    compare_with_the_picture(&story);

    let walked = tempfile::tempdir().unwrap();
    let blocks = commands::run(&checkout().join("docs/api.md"), walked.path(), &[("URL", &url)]);
    assert!(blocks >= 7, "only {blocks} blocks were found");

    // Ctrl-C ends it as it ends `mizzen serve`.
    let stopped = Command::new("kill")
        .args(["-INT", &served.0.id().to_string()])
        .status()
        .unwrap();
    assert!(stopped.success());
    assert!(served.0.wait().unwrap().success());

    // The second time nothing is built, and the host goes on where it was.
    let again = demo(folder.path()).output().unwrap();
    let story = String::from_utf8(again.stdout).unwrap();
    assert!(
        again.status.success(),
        "{story}\n{}",
        String::from_utf8_lossy(&again.stderr)
    );
    assert_eq!(story.matches("  unchanged\n").count(), 7, "{story}");
    assert!(story.contains("8 of "), "{story}");
}

#[test]
fn the_example_does_what_its_readme_says() {
    let folder = tempfile::tempdir().unwrap();
    copy(&example(""), folder.path());
    let checkout = checkout().canonicalize().unwrap();
    let environment = [
        ("CHECKOUT", checkout.to_str().unwrap()),
        ("LISTEN", "127.0.0.1:0"),
    ];
    let blocks = commands::run(&example("README.md"), folder.path(), &environment);
    assert!(blocks >= 7, "only {blocks} blocks were found");
}

/// Copies what is under version control, not what an earlier run of a reader left.
fn copy(from: &Path, to: &Path) {
    for name in ["council.json", "mizzen.toml"] {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
    for name in ["sprites", "inputs"] {
        std::fs::create_dir(to.join(name)).unwrap();
        for entry in std::fs::read_dir(from.join(name)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(name).join(entry.file_name())).unwrap();
        }
    }
}
