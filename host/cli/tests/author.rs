//! The author's path, run as an author runs it: the tutorial's commands, a missing target, `plugin dev`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty folder with a home of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Place {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command in the folder, with `mizzen` first in the path.
    fn command(&self, program: &str) -> Command {
        let mizzen = Path::new(env!("CARGO_BIN_EXE_mizzen")).parent().unwrap();
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env("PATH", path_with(mizzen))
            .env("MIZZEN_HOME", self.path("home"))
            // Kept between test runs, so that only the first one compiles the dependencies of guests.
            .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command("mizzen").args(arguments).output().unwrap()
    }

    fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let path = self.path(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(path, text.replace(from, to)).unwrap();
    }
}

fn path_with(first: &Path) -> std::ffi::OsString {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(first.to_owned()).chain(std::env::split_paths(&rest))).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_tutorial_needs_at_most_three_commands_to_a_signed_and_checked_call() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hello-plugin/README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let block = readme.split("```").nth(1).unwrap();
    let commands: Vec<&str> = block.lines().filter(|line| !line.trim().is_empty()).collect();
    assert!(commands.len() <= 3, "{commands:?}");

    let place = Place::new();
    let mut last = String::new();
    for line in commands {
        let output = place.command("sh").args(["-c", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", said(&output));
        last = String::from_utf8(output.stdout).unwrap();
    }
    assert_eq!(last.trim(), r#"{"text":"Hello, Ada!"}"#);
    place.succeed(&["plugin", "verify", "hello/dist/hello-0.1.0.wasm"]);

    // The step that the tutorial ends with: what is used and not asked for is refused, with the line to add.
    place.change(
        "hello/src/lib.rs",
        "    let name =",
        "    mizzen_sdk::kv::set(\"last\", input.name.as_bytes())?;\n    let name =",
    );
    let run = || {
        place.succeed(&["plugin", "build", "hello"]);
        let package = "hello/dist/hello-0.1.0.wasm";
        place.run(&[
            "plugin",
            "run",
            package,
            "hello.greet",
            "--input",
            "{\"name\":\"Ada\"}",
        ])
    };
    let refused = run();
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("\"kv:"), "{}", said(&refused));
    place.change(
        "hello/plugin.toml",
        "[limits]",
        "[permissions]\n\"kv:write\" = \"remembers the last\"\n[limits]",
    );
    let denied = run();
    assert_eq!(denied.status.code(), Some(1));
    assert!(
        said(&denied).contains("the tool does not ask for it"),
        "{}",
        said(&denied)
    );
    place.change(
        "hello/src/lib.rs",
        "side_effects = \"none\"",
        "side_effects = \"write\", permissions = [\"kv:write\"]",
    );
    let greeted = run();
    assert!(greeted.status.success(), "{}", said(&greeted));

    // What no host offers is said when it is built, and not first where it is loaded.
    place.change(
        "hello/src/lib.rs",
        "    let name =",
        "    let _ = std::net::TcpStream::connect(\"127.0.0.1:1\");\n    let name =",
    );
    let built = place.succeed(&["plugin", "build", "hello"]);
    assert!(
        built.contains("no host loads it: it imports wasi:sockets/"),
        "{built}"
    );
}

#[test]
fn dev_builds_checks_and_tests_and_says_when_an_example_does_not_hold() {
    let place = Place::new();
    place.succeed(&["plugin", "new", "greeter"]);
    place.succeed(&["plugin", "dev", "greeter", "--once"]);
    place.change("greeter/src/lib.rs", "\"Hello, {name}!\"", "\"Hi, {name}!\"");
    let output = place.run(&["plugin", "dev", "greeter", "--once"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

#[test]
fn a_new_project_is_refused_where_it_cannot_be() {
    let place = Place::new();
    for name in ["Hello", "1st", "", "../up", "a_b"] {
        let output = place.run(&["plugin", "new", name]);
        assert!(!output.status.success(), "{name}");
    }
    fs::create_dir(place.path("taken")).unwrap();
    fs::write(place.path("taken/file"), "x").unwrap();
    let output = place.run(&["plugin", "new", "taken"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("not empty"), "{}", said(&output));
    assert_eq!(
        fs::read_dir(place.folder.path()).unwrap().count(),
        1,
        "nothing else was written"
    );
}

/// Programs that stand before the real ones: a compiler without the target until `rustup` was called.
fn without_target(place: &Place, rustup: &str) -> PathBuf {
    let bin = place.path("bin");
    fs::create_dir(&bin).unwrap();
    let sysroot = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .unwrap();
    let rustc = Path::new(String::from_utf8(sysroot.stdout).unwrap().trim()).join("bin/rustc");
    let installed = place.path("installed");
    let write = |name: &str, text: String| {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let (real, marker) = (rustc.display(), installed.display());
    write(
        "rustc",
        format!(
            "#!/bin/sh\ncase \"$*\" in *target-libdir*) [ -e '{marker}' ] || {{ echo /nowhere; exit 0; }};; esac\nexec '{real}' \"$@\"\n"
        ),
    );
    write(
        "rustup",
        format!(
            "#!/bin/sh\n{}\n",
            rustup.replace("MARKER", &installed.display().to_string())
        ),
    );
    bin
}

#[test]
fn a_missing_target_is_installed_and_what_cannot_be_fetched_is_explained() {
    let place = Place::new();
    place.succeed(&["plugin", "new", "hello"]);
    // Cannot be resolved: the test ends after the target, without compiling anything with a compiler of another path.
    place.change(
        "hello/Cargo.toml",
        "[dependencies]",
        "[dependencies]\nno-such-crate-of-mizzen = \"1\"",
    );
    let bin = without_target(&place, "echo \"$@\" > 'MARKER'");
    let output = place
        .command(env!("CARGO_BIN_EXE_mizzen"))
        .args(["plugin", "build", "hello"])
        .env("PATH", path_with(&bin))
        .env("CARGO_NET_OFFLINE", "true")
        .output()
        .unwrap();
    assert_eq!(
        fs::read_to_string(place.path("installed")).unwrap().trim(),
        "target add wasm32-wasip2"
    );
    assert!(
        said(&output).contains("installing the target wasm32-wasip2"),
        "{}",
        said(&output)
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("no-such-crate-of-mizzen"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_target_that_cannot_be_installed_is_named_with_the_command_that_would() {
    let place = Place::new();
    place.succeed(&["plugin", "new", "hello"]);
    let bin = without_target(&place, "echo 'no network here' >&2; exit 1");
    let output = place
        .command(env!("CARGO_BIN_EXE_mizzen"))
        .args(["plugin", "build", "hello"])
        .env("PATH", path_with(&bin))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    for part in ["no network here", "rustup target add wasm32-wasip2"] {
        assert!(said(&output).contains(part), "{}", said(&output));
    }
}

#[test]
fn check_finds_what_only_the_compile_stage_can_see() {
    let place = Place::new();
    place.succeed(&["plugin", "new", "large"]);
    // Guests start with one MiB of memory: a limit below that is seen when the component is prepared, not before.
    let manifest = place.path("large/plugin.toml");
    let mut document: toml::Table = fs::read_to_string(&manifest).unwrap().parse().unwrap();
    let mut limits = toml::Table::new();
    limits.insert("memory".into(), "512KiB".into());
    document.insert("limits".into(), limits.into());
    fs::write(&manifest, document.to_string()).unwrap();
    place.succeed(&["plugin", "build", "large"]);
    let refused = place.run(&["plugin", "check", "large/dist/large-0.1.0.wasm"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("limits.memory"), "{}", said(&refused));
}
