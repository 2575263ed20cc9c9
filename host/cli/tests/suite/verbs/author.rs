//! The author's path, run as an author runs it: the tutorial's commands, a missing target, `plugin dev`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
    // W14: said when it is built already.
    let built = place.succeed(&["plugin", "build", "hello"]);
    assert!(
        built.contains("mizzen:plugin/kv") && built.contains("declares no permission"),
        "{built}"
    );
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
    let warnings: Vec<&str> = built
        .lines()
        .filter(|line| line.contains("no host loads it: it imports wasi:sockets/"))
        .collect();
    // W14: one warning for all imports that are refused for the same reason.
    assert_eq!(warnings.len(), 1, "{built}");
    assert!(warnings[0].matches("wasi:sockets/").count() > 1, "{built}");
}

#[test]
fn dev_builds_checks_and_tests_and_says_when_an_example_does_not_hold() {
    let place = Place::new();
    place.succeed(&["plugin", "new", "greeter"]);
    let tried = place.succeed(&["plugin", "dev", "greeter", "--once"]);
    assert!(!tried.contains("without examples"), "{tried}");
    let dist = place.path("greeter/dist");
    assert!(!dist.exists(), "trying a plugin writes no package");

    // W4: a release stays as it was signed, whatever is tried.
    place.succeed(&["key", "new", "release"]);
    place.succeed(&["plugin", "build", "greeter", "--key", "release"]);
    let package = dist.join("greeter-0.1.0.wasm");
    let released = fs::read(&package).unwrap();
    place.succeed(&["plugin", "test", "greeter"]);
    // A filter that fits nothing is a mistake, not a success.
    let filtered = place.run(&["plugin", "test", "greeter", "--filter", "nosuch"]);
    assert_eq!(filtered.status.code(), Some(1), "{}", said(&filtered));
    assert!(
        said(&filtered).contains("no example's name contains \"nosuch\"; there are:\n  greeter.greet"),
        "{}",
        said(&filtered)
    );
    place.succeed(&["plugin", "dev", "greeter", "--once"]);
    assert!(
        fs::read(&package).unwrap() == released,
        "the release's signature is gone"
    );
    place.change("greeter/src/lib.rs", "\"Hello, {name}!\"", "\"Hi, {name}!\"");
    let output = place.run(&["plugin", "dev", "greeter", "--once"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

/// A running `plugin dev`; ended when it is dropped.
struct Dev {
    child: std::process::Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Dev {
    fn start(place: &Place, plugin: &str) -> Self {
        let mut child = place
            .command("mizzen")
            .args(["plugin", "dev", plugin])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = std::sync::mpsc::channel();
        let streams: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().unwrap()),
            Box::new(child.stderr.take().unwrap()),
        ];
        for stream in streams {
            let send = send.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Self { child, lines }
    }

    /// What it prints until it waits for the next change.
    fn cycle(&self) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let next = self.lines.recv_timeout(std::time::Duration::from_secs(300));
            let line = next.unwrap_or_else(|_| panic!("it never waited for a change: {seen:?}"));
            if line.contains("waiting for a change") {
                return seen;
            }
            seen.push(line);
        }
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn dev_prints_what_a_change_changed_and_one_note_about_tools_without_examples() {
    let place = Place::new();
    place.succeed(&["plugin", "new", "greeter"]);
    let dev = Dev::start(&place, "greeter");
    let find = |lines: &[String], part: &str| lines.iter().filter(|line| line.contains(part)).count();
    let first = dev.cycle();
    assert_eq!(find(&first, "  digest "), 1, "{first:?}");
    assert_eq!(find(&first, "  permissions  none"), 1, "{first:?}");

    place.change(
        "greeter/plugin.toml",
        "[limits]",
        "[permissions]\n\"clock\" = \"greets by the time of day\"\n[limits]",
    );
    let second = dev.cycle();
    let changed: Vec<&String> = second
        .iter()
        .filter(|line| line.contains(" bytes (was "))
        .collect();
    assert_eq!(changed.len(), 1, "{second:?}");
    assert!(changed[0].ends_with(", + permission clock"), "{second:?}");
    assert_eq!(find(&second, "  digest "), 0, "{second:?}");
    assert_eq!(find(&second, "greets Ada ... ok"), 1, "{second:?}");

    // Three tools, two of them without an example: one note, with their names.
    let lib = place.path("greeter/src/lib.rs");
    let source = fs::read_to_string(&lib).unwrap();
    let more = ["wave", "nod"]
        .map(|name| format!("/// Greets silently.\n#[tool(side_effects = \"none\")]\nfn {name}(input: Greet) -> Result<Greeting, ToolError> {{\n    Ok(Greeting {{ text: input.name }})\n}}\n\n"))
        .concat();
    let source = source
        .replace("tools: [greet]", "tools: [greet, wave, nod]")
        .replace(
            "mizzen_sdk::export_plugin!",
            &format!("{more}mizzen_sdk::export_plugin!"),
        );
    fs::write(&lib, source).unwrap();
    let third = dev.cycle();
    let notes: Vec<&String> = third.iter().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 1, "{third:?}");
    for part in ["2 tools without examples", "greeter.wave", "greeter.nod"] {
        assert!(notes[0].contains(part), "{third:?}");
    }
    assert!(!notes[0].contains("greeter.greet"), "{third:?}");
}

/// The first `toml` and the first `rust` block of the chapter about imports in docs/authors.md.
fn blocks_of_the_guide() -> (String, String) {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/authors.md");
    let guide = fs::read_to_string(guide).unwrap();
    let chapter = guide.split("## What a tool can ask of its host").nth(1).unwrap();
    let block = |language: &str| {
        let start = format!("```{language}\n");
        let rest = chapter.split(start.as_str()).nth(1).unwrap();
        rest.split("```").next().unwrap().to_owned()
    };
    (block("toml"), block("rust"))
}

/// Answers requests with a price, and says which secrets it was sent.
fn price_list(requests: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serve = move || {
        let mut sent = Vec::new();
        for _ in 0..requests {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = Vec::new();
            let mut byte = [0; 1];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
                head.push(byte[0]);
            }
            sent.push(String::from_utf8(head).unwrap());
            let body = r#"{"cents": 1250}"#;
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
            .unwrap();
        }
        sent
    };
    (url, std::thread::spawn(serve))
}

/// W7, W12: the guide's plugin, with a secret, a setting and a price list on this machine.
#[test]
fn the_guides_plugin_builds_and_runs_with_a_secret_and_a_setting() {
    let place = Place::new();
    let (manifest, source) = blocks_of_the_guide();
    place.succeed(&["plugin", "new", "feed"]);
    fs::write(place.path("feed/plugin.toml"), manifest).unwrap();
    fs::write(place.path("feed/src/lib.rs"), source).unwrap();
    place.succeed(&["plugin", "build", "feed"]);
    let package = "feed/dist/feed-0.1.0.wasm";
    let (url, served) = price_list(2);
    let setting = format!("url={url}");
    fs::write(place.path("token.txt"), "hunter2\n").unwrap();
    let run = |more: &[&str]| {
        let call = [
            "plugin",
            "run",
            package,
            "price",
            "--input",
            r#"{"article": "rope"}"#,
        ];
        place.run(&[&call, more].concat())
    };
    let priced = run(&["--secret", "feed-token=@token.txt", "--set", &setting]);
    assert!(priced.status.success(), "{}", said(&priced));
    assert_eq!(
        String::from_utf8_lossy(&priced.stdout).trim(),
        r#"{"before":null,"cents":1250}"#
    );
    assert!(said(&priced).contains("[info] fetched"), "{}", said(&priced));

    // As a host with these settings would run it.
    place.succeed(&["trust", "add", "dev", "--namespace", "acme.feed"]);
    fs::write(
        place.path("mizzen.toml"),
        format!(
            "[grants.plugin]\nfeed = [\"net:127.0.0.1\", \"secret:*\", \"kv:*\", \"config\"]\n[secrets]\nfeed-token = {{ file = \"token.txt\" }}\n\
             [config.feed]\nurl = {url:?}\n"
        ),
    )
    .unwrap();
    let priced = run(&["--config", "mizzen.toml"]);
    assert!(priced.status.success(), "{}", said(&priced));
    let sent = served.join().unwrap();
    for head in &sent {
        assert!(
            head.contains("Bearer hunter2") && head.starts_with("GET /rope "),
            "{head}"
        );
    }

    let refused = |more: &[&str], part: &str| {
        let output = run(more);
        assert!(
            !output.status.success() && said(&output).contains(part),
            "{more:?}: {}",
            said(&output)
        );
        assert!(!said(&output).contains("hunter2"));
    };
    refused(&["--set", &setting], "feed-token");
    refused(&["--secret", "feed-token=hunter2", "--set", "url=7"], "url");
    refused(&["--secret", "feed-token=hunter2"], "url");
    refused(&["--secret", "hunter2"], "NAME=VALUE");
    refused(&["--deny", "clock"], "is granted");
    refused(&["--grant", "clock"], "does not declare that; it declares ");
    // What is JSON is not taken for a text because it cannot be used.
    refused(&["--set", "url=99999999999999999999"], "would be rounded");
    refused(
        &[
            "--secret",
            "feed-token=hunter2",
            "--set",
            &setting,
            "--deny",
            "kv:read",
            "--deny",
            "kv:write",
        ],
        "kv:",
    );
    let inspected = place.succeed(&["plugin", "inspect", package, "--schema"]);
    for part in [
        "acme.feed.price",
        "side effects write",
        "secret:feed-token",
        "\"article\"",
        "of WASI",
    ] {
        assert!(inspected.contains(part), "{part}: {inspected}");
    }
}

/// W11: a second plugin's first build compiles the plugin and the SDK, and none of their dependencies again.
#[test]
fn the_plugins_of_a_user_share_one_target_folder() {
    let place = Place::new();
    // Of this home, but kept between test runs: only the first one compiles the dependencies of guests.
    fs::create_dir(place.path("home")).unwrap();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest");
    fs::create_dir_all(&kept).unwrap();
    std::os::unix::fs::symlink(&kept, place.path("home/target")).unwrap();
    let build = |name: &str| {
        place.succeed(&["plugin", "new", name]);
        let mut command = place.command("mizzen");
        command
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CARGO_BUILD_TARGET_DIR");
        let output = command.args(["plugin", "build", name]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert!(
            !place.path(name).join("target").exists(),
            "{name} has a target folder of its own"
        );
        said(&output)
    };
    build("first");
    let compiled = build("second");
    let strangers: Vec<&str> = compiled
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Compiling "))
        .filter(|package| !package.starts_with("mizzen-") && !package.starts_with("second "))
        .collect();
    assert_eq!(strangers, Vec::<&str>::new(), "{compiled}");
}

/// A copy of a plugin, a branch in another folder: cargo takes the two for one crate in a target folder that they share.
#[test]
fn plugins_whose_crates_have_one_name_are_built_from_their_own_sources() {
    let place = Place::new();
    place.succeed(&["plugin", "new", "greeter"]);
    let copied = place
        .command("cp")
        .args(["-r", "greeter", "copy"])
        .status()
        .unwrap();
    assert!(copied.success());
    // Both sources are older than either build.
    place.change("copy/src/lib.rs", "Hello", "Ahoy");
    let greets = |folder: &str, expected: &str| {
        place.succeed(&["plugin", "build", folder]);
        let package = format!("{folder}/dist/greeter-0.1.0.wasm");
        let said = place.succeed(&[
            "plugin",
            "run",
            &package,
            "greet",
            "--input",
            r#"{"name": "Ada"}"#,
        ]);
        assert!(said.contains(expected), "{folder}: {said}");
    };
    greets("greeter", "Hello, Ada!");
    greets("copy", "Ahoy, Ada!");
    greets("greeter", "Hello, Ada!");
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
