//! A host's folder and hand-made packages, for verbs that need neither a guest nor a server.

use mizzen_catalog::package::embed_manifest;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentImportSection, ComponentInstanceSection,
    ComponentTypeRef, ComponentTypeSection, InstanceType,
};

/// A folder with a home of its own, in which verbs are run.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_mizzen"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("MIZZEN_HOME", self.path("home"))
            .output()
            .unwrap()
    }

    /// Runs a verb that must say yes, and gives its stdout.
    pub(crate) fn yes(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs a verb that must say no with exit code 1, and gives its stdout and stderr.
    pub(crate) fn no(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        said
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_slice(&self.run(&[arguments, &["--json"]].concat()).stdout).unwrap()
    }

    /// A package that is not signed yet.
    pub(crate) fn package(&self, name: &str, version: &str, permissions: &[&str]) -> PathBuf {
        let lines: String = permissions
            .iter()
            .map(|text| format!("\"{text}\" = \"it is needed\"\n"))
            .collect();
        let manifest = format!(
            "[plugin]\nname = \"{name}\"\nversion = \"{version}\"\napi_version = \"1\"\nnamespaces = [\"{name}\"]\nprovides = [\"tool\"]\n[permissions]\n{lines}"
        );
        let mut imports = vec!["wasi:cli/environment@0.2.6"];
        if permissions.iter().any(|text| text.starts_with("kv")) {
            imports.push("mizzen:plugin/kv@1.0.0");
        }
        let path = self.path(&format!("{name}-{version}.wasm"));
        fs::write(&path, embed_manifest(&component(&imports), &manifest).unwrap()).unwrap();
        path
    }

    /// A package that is signed with the key `dev`.
    pub(crate) fn signed(&self, name: &str, version: &str, permissions: &[&str]) -> PathBuf {
        if !self.path("home/keys/dev.key").exists() {
            self.yes(&["key", "new", "dev"]);
        }
        let path = self.package(name, version, permissions);
        self.yes(&["plugin", "sign", path.to_str().unwrap(), "--key", "dev"]);
        path
    }

    /// A host with a plugin folder, in dev mode.
    pub(crate) fn host(&self) {
        fs::create_dir_all(self.path("plugins")).unwrap();
        fs::write(
            self.path("mizzen.toml"),
            "# our host\n[plugins]\nfolders = [\"plugins\"]\n[trust]\nmode = \"dev\"\n",
        )
        .unwrap();
    }

    pub(crate) fn config(&self) -> String {
        fs::read_to_string(self.path("mizzen.toml")).unwrap()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn component(imports: &[&str]) -> Vec<u8> {
    let mut component = Component::new();
    let mut types = ComponentTypeSection::new();
    types.ty().instance(&InstanceType::new());
    component.section(&types);
    let mut section = ComponentImportSection::new();
    for import in imports {
        section.import(*import, ComponentTypeRef::Instance(0));
    }
    component.section(&section);
    let mut instances = ComponentInstanceSection::new();
    instances.export_items(std::iter::empty::<(&str, ComponentExportKind, u32)>());
    component.section(&instances);
    let mut exports = ComponentExportSection::new();
    let index = u32::try_from(imports.len()).unwrap();
    exports.export(
        "mizzen:plugin/tool@1.0.0",
        ComponentExportKind::Instance,
        index,
        None,
    );
    component.section(&exports);
    component.finish()
}

pub(crate) fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}
