//! The commands of a document, run as a reader runs them: every `sh` block in one shell, in order, and what a block prints
//! compared with the `text` block that follows it.

use super::programs;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A block of commands and what it should print.
struct Block {
    commands: String,
    prints: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut parts = document.split("```");
    // Text, block, text, block …
    while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
        if let Some(commands) = block.strip_prefix("sh\n") {
            blocks.push(Block {
                commands: commands.to_owned(),
                prints: String::new(),
            });
        } else if let (Some(prints), Some(last)) = (block.strip_prefix("text\n"), blocks.last_mut()) {
            last.prints.push_str(prints);
        }
    }
    blocks
}

/// Runs the commands of a document in a folder. Returns how many blocks there were.
pub(crate) fn run(document: &Path, folder: &Path, environment: &[(&str, &str)]) -> usize {
    let blocks = blocks(&std::fs::read_to_string(document).unwrap());
    let wants_curl = blocks.iter().any(|block| block.commands.contains("curl "));
    if wants_curl {
        programs::need(&["curl", "--version"], "curl");
    }
    // A request that nothing answers must not stop the tests for ever.
    std::fs::write(folder.join(".curlrc"), "max-time = 300\n").unwrap();
    let mut script = String::from(
        "set -eu\nSERVER=\ntrap 'test -z \"$SERVER\" || kill $SERVER 2>/dev/null || true' EXIT\n",
    );
    for (number, block) in blocks.iter().enumerate() {
        writeln!(script, "printf '\\n@@ {number}\\n'\n{}", block.commands).unwrap();
    }
    let mizzen = Path::new(env!("CARGO_BIN_EXE_mizzen")).parent().unwrap();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(mizzen.to_owned()).chain(std::env::split_paths(&rest));
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder)
        .env_remove("MIZZEN_DATA")
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("MIZZEN_HOME", folder.join("home"))
        .env("MIZZEN_LOG", "warn")
        .env("CURL_HOME", folder)
        .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"))
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (printed, complained) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{printed}\n{complained}");
    for (number, block) in blocks.iter().enumerate() {
        let printed = printed.split(&format!("\n@@ {number}\n")).nth(1).unwrap();
        let mut rest = printed.split("\n@@ ").next().unwrap();
        // In this order; `…` stands for anything.
        for expected in block.prints.lines().flat_map(|line| line.split(" … ")) {
            let Some(place) = rest.find(expected) else {
                panic!(
                    "{:?} is not printed by\n{}\nwhich printed\n{printed}\n{complained}",
                    expected, block.commands
                );
            };
            rest = &rest[place + expected.len()..];
        }
    }
    blocks.len()
}
