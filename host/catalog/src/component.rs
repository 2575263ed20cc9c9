//! What a component imports and exports, read statically: nothing of it runs.
//!
//! To add an interface to the contract: a row in [`INTERFACES`], and the permission it takes.

mod nesting;

use crate::package::section::sections;
use mizzen_json::shorten;
use mizzen_model::manifest::Provides;
use mizzen_model::permission::PermissionKind;
use semver::Version;
use serde::Serialize;
use std::collections::BTreeSet;
use wasmparser::{
    BinaryReader, ComponentExportSectionReader, ComponentExternalKind, ComponentImportSectionReader,
    Validator,
};

/// The package of the contract.
const CONTRACT: &str = "mizzen:plugin";
/// The version of the contract that this host offers; `1.x` guests link when their `x` is not above it.
const CONTRACT_VERSION: Version = Version::new(1, 0, 0);

/// More imports or exports than any toolchain emits.
const MAX_ITEMS: usize = 1_000;
const MAX_ITEM_NAME: usize = 256;

const IMPORT_SECTION: u8 = 10;
const EXPORT_SECTION: u8 = 11;

/// A kind of permission, and examples of it.
type Taken = (PermissionKind, &'static [&'static str]);

/// Interfaces that a component may import, what kind of permission each takes, and the permissions that it may be about.
const INTERFACES: &[(&str, Option<Taken>)] = &[
    ("types", None),
    ("log", None),
    ("config", Some((PermissionKind::Config, &["config"]))),
    ("secrets", Some((PermissionKind::Secret, &["secret:NAME"]))),
    ("kv", Some((PermissionKind::Kv, &["kv:read", "kv:write"]))),
    ("http", Some((PermissionKind::Net, &["net:HOST"]))),
    ("tools", Some((PermissionKind::Tools, &["tools:NAMESPACE.NAME"]))),
    ("clock", Some((PermissionKind::Clock, &["clock"]))),
    ("random", Some((PermissionKind::Random, &["random"]))),
];

/// WASI packages that `wasm32-wasip2` always imports. The host links them to closed, deterministic implementations,
/// so they give no authority and take no permission.
const CLOSED_WASI: &[&str] = &[
    "wasi:cli",
    "wasi:io",
    "wasi:clocks",
    "wasi:random",
    "wasi:filesystem",
];

/// The bytes could not be read as a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComponentError {
    /// The file's structure is broken.
    #[error("the component is damaged at byte {offset}: {message}")]
    Damaged {
        /// Where.
        offset: usize,
        /// The parser's message.
        message: String,
    },
    /// It nests deeper than is read.
    #[error(
        "components or types are nested more than 100 levels deep at byte {offset}: no toolchain makes such a component"
    )]
    TooDeep {
        /// Where.
        offset: usize,
    },
    /// More imports or exports than are read.
    #[error(
        "the component has more than {MAX_ITEMS} imports or exports, or one with a name above {MAX_ITEM_NAME} bytes"
    )]
    TooMany,
}

/// What one import takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it gives no authority.
    Nothing,
    /// A permission of this kind.
    Permission {
        /// The kind.
        kind: PermissionKind,
        /// Permissions for `plugin.toml`, to be filled in; one of them or several, depending on what the plugin does.
        examples: &'static [&'static str],
    },
    /// It cannot be had at all.
    Refused {
        /// Why, and what to do.
        reason: String,
    },
}

/// The outside of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// The imports in the order of the file.
    pub imports: Vec<Import>,
    /// The names of the exports in the order of the file.
    pub exports: Vec<String>,
}

/// One import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Import {
    /// Such as `mizzen:plugin/kv@1.0.0`.
    pub name: String,
    /// Whether it is an interface; anything else is refused.
    #[serde(skip)]
    is_interface: bool,
}

impl Shape {
    /// Reads the outside of a component.
    ///
    /// # Errors
    /// When the sections cannot be read, or exceed a bound.
    pub fn read(component: &[u8]) -> Result<Self, ComponentError> {
        nesting::check(component)?;
        let mut shape = Self {
            imports: Vec::new(),
            exports: Vec::new(),
        };
        for section in sections(component) {
            let section = section.map_err(|broken| ComponentError::Damaged {
                offset: broken.offset,
                message: "a section does not fit in the file".to_owned(),
            })?;
            let reader = || BinaryReader::new(section.payload, section.payload_start);
            match section.id {
                IMPORT_SECTION => {
                    for import in ComponentImportSectionReader::new(reader()).map_err(damaged)? {
                        let import = import.map_err(damaged)?;
                        let name = bounded(import.name.name, shape.imports.len())?;
                        let is_interface = import.ty.kind() == ComponentExternalKind::Instance;
                        shape.imports.push(Import { name, is_interface });
                    }
                }
                EXPORT_SECTION => {
                    for export in ComponentExportSectionReader::new(reader()).map_err(damaged)? {
                        let export = export.map_err(damaged)?;
                        shape
                            .exports
                            .push(bounded(export.name.name, shape.exports.len())?);
                    }
                }
                _ => {}
            }
        }
        Ok(shape)
    }

    /// The kinds of things that the exports contribute, and the exports of the contract's package that it does not know.
    pub fn provides(&self) -> (BTreeSet<Provides>, Vec<&str>) {
        let mut provides = BTreeSet::new();
        let mut unknown = Vec::new();
        for export in &self.exports {
            let Some(interface) = Interface::parse(export).filter(|interface| interface.package == CONTRACT)
            else {
                continue;
            };
            match (Provides::parse(interface.name), interface.contract_fits()) {
                (Some(kind), Ok(())) => {
                    provides.insert(kind);
                }
                _ => unknown.push(export.as_str()),
            }
        }
        (provides, unknown)
    }
}

fn damaged(error: wasmparser::BinaryReaderError) -> ComponentError {
    ComponentError::Damaged {
        offset: error.offset(),
        message: shorten(error.message()),
    }
}

fn bounded(name: &str, already: usize) -> Result<String, ComponentError> {
    if already >= MAX_ITEMS || name.len() > MAX_ITEM_NAME {
        Err(ComponentError::TooMany)
    } else {
        Ok(name.to_owned())
    }
}

/// Checks the whole component, inner modules included, as a compiler would before it compiles.
///
/// # Errors
/// With the first thing that is not valid.
pub fn validate(component: &[u8]) -> Result<(), ComponentError> {
    nesting::check(component)?;
    Validator::new()
        .validate_all(component)
        .map(drop)
        .map_err(damaged)
}

/// `namespace:package/interface@version`.
struct Interface<'a> {
    package: &'a str,
    name: &'a str,
    version: Option<&'a str>,
}

impl<'a> Interface<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (path, version) = match text.split_once('@') {
            Some((path, version)) => (path, Some(version)),
            None => (text, None),
        };
        let (package, name) = path.split_once('/')?;
        package.contains(':').then_some(Self {
            package,
            name,
            version,
        })
    }

    /// Whether this version of the contract can be linked with what the host offers.
    fn contract_fits(&self) -> Result<(), String> {
        let host = CONTRACT_VERSION;
        let Some(version) = self.version.and_then(|text| Version::parse(text).ok()) else {
            return Err(format!(
                "it names no version of the contract; this host offers {host}"
            ));
        };
        if version.major == host.major && version.minor <= host.minor && version.pre.is_empty() {
            return Ok(());
        }
        let (minor, major) = (host.minor, host.major);
        Err(format!(
            "this host offers version {host} of the contract, which serves {major}.0 to {major}.{minor}; use a matching SDK"
        ))
    }
}

impl Import {
    /// What the import takes to be linked.
    pub fn need(&self) -> Need {
        let refused = |reason: String| Need::Refused { reason };
        let Some(interface) = Interface::parse(&self.name).filter(|_| self.is_interface) else {
            return refused(
                "only interfaces of the contract can be imported; use the SDK's functions".to_owned(),
            );
        };
        if interface.package == CONTRACT {
            let known = INTERFACES.iter().find(|(name, _)| *name == interface.name);
            return match (known, interface.contract_fits()) {
                (None, _) => {
                    let names: Vec<&str> = INTERFACES.iter().map(|(name, _)| *name).collect();
                    refused(format!(
                        "the contract has no such interface to import; it has {}",
                        names.join(", ")
                    ))
                }
                (_, Err(reason)) => refused(reason),
                (Some((_, None)), Ok(())) => Need::Nothing,
                (Some((_, Some((kind, examples)))), Ok(())) => Need::Permission {
                    kind: *kind,
                    examples,
                },
            };
        }
        if CLOSED_WASI.contains(&interface.package) {
            let version = interface.version.and_then(|text| Version::parse(text).ok());
            return match version {
                Some(version) if version.major == 0 && version.minor == 2 => Need::Nothing,
                _ => refused("only WASI 0.2 is supported; build for wasm32-wasip2".to_owned()),
            };
        }
        let instead = match interface.package {
            "wasi:http" => "plugins send requests through mizzen:plugin/http with a `net:HOST` permission",
            "wasi:sockets" => "plugins have no sockets; use mizzen:plugin/http with a `net:HOST` permission",
            _ => "this host does not offer it; remove what imports it",
        };
        refused(instead.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(name: &str) -> Import {
        Import {
            name: name.to_owned(),
            is_interface: true,
        }
    }

    #[test]
    fn each_interface_of_the_contract_takes_its_permission() {
        for (name, kind) in [
            ("mizzen:plugin/log@1.0.0", None),
            ("mizzen:plugin/types@1.0.0", None),
            ("mizzen:plugin/config@1.0.0", Some(PermissionKind::Config)),
            ("mizzen:plugin/secrets@1.0.0", Some(PermissionKind::Secret)),
            ("mizzen:plugin/kv@1.0.3", Some(PermissionKind::Kv)),
            ("mizzen:plugin/http@1.0.0", Some(PermissionKind::Net)),
            ("mizzen:plugin/tools@1.0.0", Some(PermissionKind::Tools)),
            ("mizzen:plugin/clock@1.0.0", Some(PermissionKind::Clock)),
            ("mizzen:plugin/random@1.0.0", Some(PermissionKind::Random)),
            ("wasi:cli/environment@0.2.6", None),
            ("wasi:io/streams@0.2.0", None),
            ("wasi:filesystem/types@0.2.6", None),
        ] {
            match (import(name).need(), kind) {
                (Need::Nothing, None) => {}
                (Need::Permission { kind, .. }, Some(expected)) => assert_eq!(kind, expected, "{name}"),
                (need, _) => panic!("{name}: {need:?}"),
            }
        }
    }

    #[test]
    fn whatever_else_is_imported_is_refused() {
        for name in [
            "mizzen:plugin/kv",
            "mizzen:plugin/kv@2.0.0",
            "mizzen:plugin/kv@1.1.0",
            "mizzen:plugin/kv@1.0.0-rc.1",
            "mizzen:plugin/kv@x",
            "mizzen:plugin/tool@1.0.0",
            "mizzen:plugin/files@1.0.0",
            "mizzen:plugins/kv@1.0.0",
            "wasi:sockets/tcp@0.2.6",
            "wasi:http/outgoing-handler@0.2.6",
            "wasi:cli/environment@0.3.0",
            "wasi:cli/environment",
            "wasi:cli-evil/environment@0.2.6",
            "evil:host/everything@1.0.0",
            "log",
            "",
            "/",
            "@",
        ] {
            assert!(matches!(import(name).need(), Need::Refused { .. }), "{name}");
        }
        let function = Import {
            name: "mizzen:plugin/log@1.0.0".to_owned(),
            is_interface: false,
        };
        assert!(matches!(function.need(), Need::Refused { .. }));
    }

    #[test]
    fn the_contracts_exports_are_what_a_plugin_provides() {
        let shape = |exports: &[&str]| Shape {
            imports: vec![],
            exports: exports.iter().map(ToString::to_string).collect(),
        };
        let both = shape(&[
            "mizzen:plugin/tool@1.0.0",
            "mizzen:plugin/pack@1.0.0",
            "memory",
            "wasi:cli/run@0.2.6",
        ]);
        assert_eq!(both.provides(), ([Provides::Tool, Provides::Pack].into(), vec![]));
        let odd = shape(&["mizzen:plugin/tool@2.0.0", "mizzen:plugin/log@1.0.0"]);
        assert_eq!(
            odd.provides(),
            (
                BTreeSet::new(),
                vec!["mizzen:plugin/tool@2.0.0", "mizzen:plugin/log@1.0.0"]
            )
        );
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(0u8.., 0..400), id in 3u8..12) {
            let mut component = b"\0asm\x0d\0\x01\0".to_vec();
            component.push(id);
            component.push(bytes.len().min(127) as u8);
            component.extend_from_slice(&bytes[..bytes.len().min(127)]);
            let _ = Shape::read(&component);
            let _ = validate(&component);
        }
    }
}
