//! A host's folder and packages of any name: hollow ones, which pass the static stages only, and working ones.

use super::packages;
use mizzen_catalog::package::{Package, embed_manifest};
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

    /// A hollow package that is not signed yet: it cannot describe itself, and no host loads it.
    pub(crate) fn package(&self, name: &str, version: &str, permissions: &[&str]) -> PathBuf {
        let mut imports = vec!["wasi:cli/environment@0.2.6"];
        if permissions.iter().any(|text| text.starts_with("kv")) {
            imports.push("mizzen:plugin/kv@1.0.0");
        }
        self.write(&component(&imports), name, version, &table(permissions))
    }

    /// The same, signed with the key `dev`.
    pub(crate) fn signed(&self, name: &str, version: &str, permissions: &[&str]) -> PathBuf {
        self.sign(self.package(name, version, permissions))
    }

    /// A package that a host loads: one tool below the plugin's own namespace, which takes `kv:read` where that is asked for.
    /// Signed with the key `dev`.
    pub(crate) fn working(&self, name: &str, version: &str, permissions: &[&str]) -> PathBuf {
        self.sign(self.working_unsigned(name, version, permissions))
    }

    /// The same, not signed yet.
    pub(crate) fn working_unsigned(&self, name: &str, version: &str, permissions: &[&str]) -> PathBuf {
        self.working_with(name, version, &table(permissions))
    }

    /// The same, with this after `[plugin]` in its manifest.
    pub(crate) fn working_with(&self, name: &str, version: &str, more: &str) -> PathBuf {
        self.write(&guest(name, more), name, version, more)
    }

    /// Signs a package with the key `dev`.
    pub(crate) fn sign(&self, path: PathBuf) -> PathBuf {
        if !self.path("home/keys/dev.key").exists() {
            self.yes(&["key", "new", "dev"]);
        }
        self.yes(&["plugin", "sign", path.to_str().unwrap(), "--key", "dev"]);
        path
    }

    /// A package of a component, not signed yet, with this after `[plugin]` in its manifest.
    pub(crate) fn package_of(&self, component: &[u8], name: &str, more: &str) -> PathBuf {
        self.write(component, name, "1.0.0", more)
    }

    fn write(&self, component: &[u8], name: &str, version: &str, more: &str) -> PathBuf {
        let manifest = format!(
            "[plugin]\nname = \"{name}\"\nversion = \"{version}\"\napi_version = \"1\"\nnamespaces = [\"{name}\"]\nprovides = [\"tool\"]\n{more}"
        );
        let path = self.path(&format!("{name}-{version}.wasm"));
        fs::write(&path, embed_manifest(component, &manifest).unwrap()).unwrap();
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

    /// How many packages are installed.
    pub(crate) fn packages(&self) -> usize {
        let entries = fs::read_dir(self.path("plugins")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "wasm"))
            .count()
    }

    pub(crate) fn config(&self) -> String {
        fs::read_to_string(self.path("mizzen.toml")).unwrap()
    }
}

fn table(permissions: &[&str]) -> String {
    let lines = permissions
        .iter()
        .map(|text| format!("\"{text}\" = \"it is needed\"\n"));
    format!("[permissions]\n{}", lines.collect::<String>())
}

/// A guest that takes `kv:read` where the manifest declares it.
fn guest(name: &str, manifest: &str) -> Vec<u8> {
    let folder = if manifest.contains("\"kv:") {
        "writes-with-a-right-to-read"
    } else {
        "breaks-its-schema"
    };
    below(folder, name)
}

/// A guest of the hostile corpus, harmless while it is not called, with its namespace replaced by one below another.
pub(crate) fn below(guest: &str, namespace: &str) -> Vec<u8> {
    let component = component_of(&format!("tests/guests/{guest}"));
    let own = format!("hostile.{guest}");
    let padding = own.len().checked_sub(namespace.len() + 1).unwrap();
    let wanted = format!("{namespace}.{}", "x".repeat(padding));
    replaced(&component, &own, &wanted)
}

/// The component of a plugin of the repository, by its folder.
pub(crate) fn component_of(folder: &str) -> Vec<u8> {
    Package::parse(packages::plugin(folder).bytes)
        .unwrap()
        .component()
        .to_vec()
}

/// Bytes with every occurrence of a text replaced by one of the same length.
fn replaced(bytes: &[u8], text: &str, by: &str) -> Vec<u8> {
    assert_eq!(text.len(), by.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> = (0..bytes.len() - text.len())
        .filter(|at| bytes[*at..].starts_with(text.as_bytes()))
        .collect();
    assert!(!places.is_empty(), "{text}");
    for at in places {
        bytes[at..at + by.len()].copy_from_slice(by.as_bytes());
    }
    bytes
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
