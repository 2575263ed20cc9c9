//! A host that an earlier version has left, as it is kept in the repository.

use crate::support::http::{Served, mizzen};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where they are kept, one folder for each version.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written-by")
}

/// A run of such a host.
pub(super) struct Run {
    pub(super) id: String,
    /// What the host returned for it.
    pub(super) shown: Value,
}

impl Run {
    pub(super) fn is_open(&self) -> bool {
        ["running", "awaiting_approval"].contains(&self.shown["status"].as_str().unwrap())
    }

    pub(super) fn is_erased(&self) -> bool {
        self.shown.get("erased").is_some()
    }
}

/// What is kept of such a host.
pub(super) struct Fixture {
    folder: PathBuf,
    /// What it returned, by what was asked for.
    pub(super) recorded: Value,
    runs: BTreeMap<String, Run>,
}

impl Fixture {
    /// Those of all versions.
    pub(super) fn all() -> Vec<Self> {
        let folders = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
        folders.filter(|path| path.is_dir()).map(Self::read).collect()
    }

    fn read(folder: PathBuf) -> Self {
        let text = fs::read_to_string(folder.join("recorded.json")).unwrap();
        let recorded: Value = serde_json::from_str(&text).unwrap();
        let runs = recorded["runs"].as_object().unwrap().iter();
        let runs = runs
            .map(|(name, shown)| {
                let id = shown["execution_id"].as_str().unwrap().to_owned();
                let shown = shown.clone();
                (name.clone(), Run { id, shown })
            })
            .collect();
        Self {
            folder,
            recorded,
            runs,
        }
    }

    fn text(&self, member: &str) -> &str {
        self.recorded[member].as_str().unwrap()
    }

    /// The API key.
    pub(super) fn key(&self) -> &str {
        self.text("key")
    }

    /// An API key that was revoked.
    pub(super) fn revoked_key(&self) -> &str {
        self.text("revoked_key")
    }

    /// The public half of the key that it signs with.
    pub(super) fn host_key(&self) -> &str {
        self.text("host_key")
    }

    /// The end of its audit log.
    pub(super) fn audit_head(&self) -> &str {
        self.text("audit_head")
    }

    /// Its runs, by name.
    pub(super) fn runs(&self) -> impl Iterator<Item = (&String, &Run)> {
        self.runs.iter()
    }

    /// One of them.
    pub(super) fn run(&self, name: &str) -> &Run {
        &self.runs[name]
    }

    /// The export of a run, as the version made it.
    pub(super) fn export(&self, name: &str) -> Option<PathBuf> {
        let file = self
            .folder
            .join("exports")
            .join(format!("{}.json", name.replace(' ', "-")));
        file.exists().then_some(file)
    }

    /// A copy of the folder.
    pub(super) fn unpack(&self) -> Left {
        let folder = tempfile::tempdir().unwrap();
        let status = Command::new("tar")
            .arg("-xzf")
            .arg(self.folder.join("host.tar.gz"))
            .arg("-C")
            .arg(folder.path())
            .status()
            .unwrap();
        assert!(status.success());
        Left(folder)
    }
}

/// The copy of a folder that an earlier version has left.
pub(super) struct Left(tempfile::TempDir);

impl Left {
    pub(super) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = mizzen();
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("MIZZEN_HOME", self.0.path().join("home"))
            .env("MIZZEN_DATA", "data");
        command
    }

    /// What a verb prints that must succeed.
    #[track_caller]
    pub(super) fn yes(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {text}{errors}");
        text
    }

    /// Exports a run. Returns the file, the export and the host's public key.
    pub(super) fn export(&self, id: &str) -> (PathBuf, Value, String) {
        let file = self.0.path().join(format!("{id}.json"));
        let arguments = ["audit", "export", id, "--output", file.to_str().unwrap()];
        let output = self.command(&arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{errors}");
        let key = errors.lines().find_map(|line| line.strip_prefix("host key: "));
        let export = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        (file, export, key.unwrap().to_owned())
    }

    /// Starts a host on it.
    pub(super) fn serve(&self) -> Served {
        let command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        Served::spawn(command, &self.data())
    }
}
