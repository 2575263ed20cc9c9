//! A host in a folder of its own: packages, configuration, keys, data. The folder is gone with the test.

use super::http::{Served, mizzen};
use super::packages::{self, Package, RulePack};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A host's folder.
pub(crate) struct Host {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

impl Host {
    /// A host without plugins that trusts the development key of the packages.
    pub(crate) fn new() -> Self {
        let host = Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        };
        fs::create_dir(host.path("plugins")).unwrap();
        host.configure("");
        host
    }

    /// With a plugin of the repository, by its folder.
    pub(crate) fn plugin(self, folder: &str) -> Self {
        self.package(&packages::plugin(folder))
    }

    /// With a pack of the repository, by its folder.
    pub(crate) fn pack(self, folder: &str) -> Self {
        self.package(&packages::pack(folder))
    }

    /// With a pack of these rules.
    pub(crate) fn rules(self, name: &str, rules: &str) -> Self {
        self.package(&RulePack::new(name, rules).build())
    }

    /// With a package.
    pub(crate) fn package(self, package: &Package) -> Self {
        package.write(&self.path("plugins"));
        self
    }

    /// With more sections in its configuration.
    pub(crate) fn config(self, sections: &str) -> Self {
        self.configure(sections);
        self
    }

    /// With a variable in the environment of its commands.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes the configuration anew, with these sections.
    pub(crate) fn configure(&self, sections: &str) {
        let text = format!("[plugins]\nfolders = [\"plugins\"]\n[trust]\nmode = \"dev\"\n{sections}");
        fs::write(self.path("mizzen.toml"), text).unwrap();
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Something in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What it keeps.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// `mizzen` in the folder, with the host's configuration, home and data.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = mizzen();
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("MIZZEN_HOME", packages::home())
            .env("MIZZEN_DATA", "data")
            .env_remove("MIZZEN_API_KEY")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// How a verb ends.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a verb prints that must succeed.
    #[track_caller]
    pub(crate) fn yes(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{arguments:?}: {text}{errors}");
        text
    }

    /// Starts it.
    pub(crate) fn serve(&self) -> Served {
        Served::spawn(self.serving(), &self.data())
    }

    /// Starts it, with its whole log in a file of the folder.
    pub(crate) fn serve_with_log(&self, file: &str) -> Served {
        let mut command = self.serving();
        let log = fs::File::create(self.path(file)).unwrap();
        command.env("MIZZEN_LOG", "info").stderr(log);
        Served::spawn_quietly(command, &self.data())
    }

    /// What is on stderr of a host that must not start.
    #[track_caller]
    pub(crate) fn refused(&self) -> String {
        let output = self.serving().output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(output.stdout.is_empty(), "it has listened: {errors}");
        errors
    }

    fn serving(&self) -> Command {
        self.command(&["serve", "--listen", "127.0.0.1:0", "--config", "mizzen.toml"])
    }

    /// A new API key with these grants.
    #[track_caller]
    pub(crate) fn key(&self, grants: &[&str]) -> String {
        let mut arguments = vec!["key", "api", "new"];
        arguments.extend(grants.iter().flat_map(|grant| ["--grant", grant]));
        self.yes(&arguments).trim().to_owned()
    }

    /// Exports a run into a file. Returns the file, the export and the host's public key.
    #[track_caller]
    pub(crate) fn export(&self, run: &str) -> (PathBuf, Value, String) {
        let file = self.path(&format!("{run}.json"));
        let output = self.run(&["audit", "export", run, "--output", file.to_str().unwrap()]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{errors}");
        let key = errors.lines().find_map(|line| line.strip_prefix("host key: "));
        let export = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        (file, export, key.unwrap().to_owned())
    }

    /// Whether a text is anywhere in what it keeps.
    pub(crate) fn keeps(&self, text: &str) -> bool {
        keeps(&self.data(), text)
    }
}

/// Whether a text is in any file of a folder.
pub(crate) fn keeps(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|file| {
        let path = file.unwrap().path();
        if path.is_dir() {
            return keeps(&path, text);
        }
        let bytes = fs::read(path).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}
