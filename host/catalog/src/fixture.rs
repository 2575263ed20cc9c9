//! Small hand-made components and packages for the tests of this crate.

use crate::grants::GrantPolicy;
use crate::key::SecretKey;
use crate::load::Terms;
use crate::package::embed_manifest;
use crate::signature::sign;
use crate::trust::{Policy, TrustMode, UnixTime};
use std::path::{Path, PathBuf};
use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentImportSection, ComponentInstanceSection,
    ComponentTypeRef, ComponentTypeSection, InstanceType,
};

pub(crate) const NOW: UnixTime = UnixTime(1_800_000_000);
pub(crate) const TOOL: &str = "mizzen:plugin/tool@1.0.0";

/// A valid component with these interfaces as imports and exports; all of them are empty.
pub(crate) fn component(imports: &[&str], exports: &[&str]) -> Vec<u8> {
    let mut component = Component::new();
    let mut types = ComponentTypeSection::new();
    types.ty().instance(&InstanceType::new());
    component.section(&types);
    let mut import_section = ComponentImportSection::new();
    for import in imports {
        import_section.import(*import, ComponentTypeRef::Instance(0));
    }
    component.section(&import_section);
    let mut instances = ComponentInstanceSection::new();
    instances.export_items(std::iter::empty::<(&str, ComponentExportKind, u32)>());
    component.section(&instances);
    let mut export_section = ComponentExportSection::new();
    for export in exports {
        let index = u32::try_from(imports.len()).unwrap();
        export_section.export(*export, ComponentExportKind::Instance, index, None);
    }
    component.section(&export_section);
    component.finish()
}

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

/// The properties of a plugin that a test sets; the rest is minimal.
#[derive(Clone)]
pub(crate) struct PluginFixture {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) namespaces: &'static [&'static str],
    pub(crate) provides: &'static str,
    pub(crate) order: Option<u16>,
    pub(crate) permissions: &'static [&'static str],
    pub(crate) imports: &'static [&'static str],
    pub(crate) exports: &'static [&'static str],
    pub(crate) more: &'static str,
    pub(crate) keys: &'static [u8],
}

impl PluginFixture {
    pub(crate) const fn new(name: &'static str, namespaces: &'static [&'static str]) -> Self {
        Self {
            name,
            version: "1.0.0",
            namespaces,
            provides: "\"tool\"",
            order: None,
            permissions: &[],
            imports: &["mizzen:plugin/log@1.0.0", "wasi:cli/environment@0.2.6"],
            exports: &[TOOL],
            more: "",
            keys: &[1],
        }
    }

    pub(crate) fn manifest(&self) -> String {
        let order = self
            .order
            .map(|order| format!("order = {order}\n"))
            .unwrap_or_default();
        let permissions: String = self
            .permissions
            .iter()
            .map(|text| format!("\"{text}\" = \"needed\"\n"))
            .collect();
        format!(
            "[plugin]\nname = \"{}\"\nversion = \"{}\"\napi_version = \"1\"\nnamespaces = {:?}\nprovides = [{}]\n{order}[permissions]\n{permissions}{}",
            self.name, self.version, self.namespaces, self.provides, self.more
        )
    }

    pub(crate) fn package(&self) -> Vec<u8> {
        let mut bytes = embed_manifest(&component(self.imports, self.exports), &self.manifest()).unwrap();
        for seed in self.keys {
            bytes = sign(bytes, &key(*seed)).unwrap();
        }
        bytes
    }

    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join(format!("{}-{}.wasm", self.name, self.version));
        std::fs::write(&path, self.package()).unwrap();
        path
    }
}

/// Terms of a machine whose development key is key 1, and on which everything declared is granted.
pub(crate) fn dev_terms() -> Terms {
    let policy = Policy {
        mode: TrustMode::Dev,
        dev_key: Some(key(1).id()),
        ..Policy::default()
    };
    Terms::new(policy, GrantPolicy::AsDeclared, NOW)
}
