//! Runs cargo and rustup in a clean environment: their lines are progress, the last ones part of an error.

use crate::toolchain::GUEST_TARGET;
use crate::{BuildError, Progress};
use serde::Deserialize;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The profile that guests are built with, whatever their workspace sets for `release`.
pub(crate) const PROFILE: &str = "mizzen-guest";
/// How many of a program's last lines an error shows.
const SHOWN_LINES: usize = 60;

/// Variables that change code generation or the output folder. Without them a build that is started by a test, by clippy or by
/// an author with flags of their own makes the same component.
const REMOVED: &[&str] = &[
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_TARGET_DIR",
    "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOCFLAGS",
];

/// Cargo's metadata of a crate.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(crate) package: String,
    pub(crate) version: String,
    /// All crates of the workspace.
    pub(crate) members: Vec<Member>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
}

/// A crate of a workspace.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
}

impl Metadata {
    /// Whether the crate is a workspace of its own, with cargo's default target folder.
    pub(crate) fn has_usual_target_folder(&self) -> bool {
        let is_alone = self.manifest_path.parent() == Some(&self.workspace_root);
        is_alone && self.target_directory == self.workspace_root.join("target")
    }
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    /// The last lines of its standard error.
    pub(crate) output: String,
}

#[derive(Deserialize)]
struct MetadataDocument {
    packages: Vec<PackageEntry>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct PackageEntry {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<MessageTarget>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct MessageTarget {
    crate_types: Vec<String>,
}

/// Reads cargo's metadata of the crate in `folder`.
pub(crate) fn metadata(folder: &Path) -> Result<Metadata, BuildError> {
    let wanted = folder.join("Cargo.toml");
    let mut command = program(folder);
    // The environment's own target folder applies here: the guests' folder goes below it.
    for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--manifest-path",
        ])
        .arg(&wanted);
    let finished = run(command, &mut |_| {})?;
    let failed = |output: String| BuildError::Metadata { output };
    if !finished.success {
        return Err(failed(finished.output));
    }
    let document: MetadataDocument =
        serde_json::from_str(&finished.stdout).map_err(|error| failed(format!("cargo metadata: {error}")))?;
    let same = |path: &Path| path == wanted || path.canonicalize().ok() == wanted.canonicalize().ok();
    let members = document
        .packages
        .iter()
        .map(|package| Member {
            name: package.name.clone(),
            manifest_path: package.manifest_path.clone(),
        })
        .collect();
    let entry = document
        .packages
        .into_iter()
        .find(|package| same(&package.manifest_path));
    let entry = entry.ok_or_else(|| failed(format!("{} describes no package", wanted.display())))?;
    Ok(Metadata {
        package: entry.name,
        version: entry.version,
        members,
        manifest_path: entry.manifest_path,
        workspace_root: document.workspace_root,
        target_directory: document.target_directory,
    })
}

/// Builds the crate for the guests' target and returns the component that cargo made.
pub(crate) fn build(
    metadata: &Metadata,
    target_folder: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<PathBuf, BuildError> {
    let mut command = program(&metadata.workspace_root);
    command.args([
        "build",
        "--target",
        GUEST_TARGET,
        "--profile",
        PROFILE,
        "--message-format=json-render-diagnostics",
    ]);
    command
        .arg("--manifest-path")
        .arg(&metadata.manifest_path)
        .arg("--target-dir")
        .arg(target_folder);
    for setting in settings() {
        command.args(["--config", &setting]);
    }
    let finished = run(command, progress)?;
    if !finished.success {
        return Err(BuildError::Cargo {
            hint: hint(&finished.output),
            output: finished.output,
        });
    }
    component(&finished.stdout, metadata).ok_or_else(|| BuildError::NoComponent {
        package: metadata.package.clone(),
        manifest: metadata.manifest_path.clone(),
    })
}

/// The profile and link arguments: small code, names kept for traps, and a heap that small calls need not grow. Nothing in them
/// depends on the plugin, so that plugins which share a target folder share what is built in it.
fn settings() -> Vec<String> {
    let profile = |key: &str, value: &str| format!("profile.{PROFILE}.{key}={value}");
    let mut flags = vec![
        "-Clink-arg=--initial-memory=1048576".to_owned(),
        "-Clink-arg=-zstack-size=65536".to_owned(),
    ];
    // Panic messages name files. Those of the workspace are relative, because cargo runs in its root; those of other
    // crates should be the same on every machine too.
    if let Some(home) = cargo_home() {
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    let flags = toml::Value::Array(flags.into_iter().map(toml::Value::String).collect());
    vec![
        profile("inherits", "\"release\""),
        profile("opt-level", "\"s\""),
        profile("lto", "true"),
        profile("codegen-units", "1"),
        profile("strip", "\"debuginfo\""),
        profile("panic", "\"abort\""),
        profile("debug", "false"),
        profile("overflow-checks", "false"),
        format!("target.{GUEST_TARGET}.rustflags={flags}"),
    ]
}

fn cargo_home() -> Option<PathBuf> {
    let stated = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    stated.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
}

fn component(messages: &str, metadata: &Metadata) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter(|message| {
            message.reason == "compiler-artifact" && message.manifest_path == metadata.manifest_path
        })
        .filter(|message| {
            message
                .target
                .as_ref()
                .is_some_and(|target| target.crate_types.iter().any(|t| t == "cdylib"))
        })
        .flat_map(|message| message.filenames)
        .find(|file| file.extension().is_some_and(|extension| extension == "wasm"))
}

fn hint(output: &str) -> &'static str {
    let has = |part: &str| output.contains(part);
    if has("failed to download")
        || has("failed to get `")
        || has("failed to query replaced source")
        || has("Could not resolve host")
    {
        " because a crate it needs is not on this machine and could not be fetched; connect once, or run `cargo fetch` \
         where there is a network"
    } else if has("requires rustc") || has("is not supported by the following package") {
        " because this Rust is too old; `rustup update` brings a newer one"
    } else {
        ""
    }
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for name in REMOVED {
        command.env_remove(name);
    }
    command.current_dir(folder);
    command
}

/// Runs a program to its end, passing on the lines of its standard error.
pub(crate) fn run(
    mut command: Command,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Finished, BuildError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| BuildError::Program {
        program: program.clone(),
        source,
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Standard output is read beside standard error: a full pipe of either would stop the program.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut stdout) = stdout {
            stdout.read_to_string(&mut text)?;
        }
        Ok(text)
    });
    let mut last: VecDeque<String> = VecDeque::new();
    for line in stderr
        .into_iter()
        .flat_map(|stderr| BufReader::new(stderr).split(b'\n'))
    {
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        progress(Progress::Line(line));
        if last.len() == SHOWN_LINES {
            last.pop_front();
        }
        last.push_back(line.to_owned());
    }
    let status = child.wait().map_err(failed)?;
    let stdout = reader
        .join()
        .unwrap_or_else(|_| Ok(String::new()))
        .map_err(failed)?;
    Ok(Finished {
        success: status.success(),
        stdout,
        output: Vec::from(last).join("\n"),
    })
}
