//! The plugin parts of `mizzen.toml`: `[plugins]`, `[grants]`, `[trust]`, `[limits]`, `[secrets]`, `[config.PLUGIN]`,
//! `[[governance]]`.
//!
//! Strict like every document: unknown keys are refused, all problems are reported with their lines. Sections that other
//! parts of the host read are named by the caller. Relative paths are relative to the file.

mod edit;

pub use edit::{EditError, add_grants, disable, enable, remove_grants, remove_settings};

use crate::files::{self, FileError};
use crate::grants::{GrantPolicy, Grants};
use crate::key::KeyId;
use crate::load::{Sources, Terms};
use crate::package::MAX_PACKAGE;
use crate::trust::{Pins, Policy, TrustFileError, TrustMode, TrustStore, UnixTime};
use mizzen_json::Json;
use mizzen_json::shorten;
use mizzen_json::strict_toml::{Node, Problems, Reader, Section};
use mizzen_model::governance::{MOUNTS_MAX, Mount};
use mizzen_model::limits::{ByteSize, Limits};
use mizzen_model::manifest::read_limits;
use mizzen_model::namespace::{NamespacePattern, PluginName};
use mizzen_model::permission::{HostPort, Permission, PermissionSet};
use semver::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The largest `mizzen.toml`, in bytes.
pub const MAX_CONFIG: u64 = 1 << 20;

/// Where a secret's value comes from. The value itself is never in `mizzen.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable of the host.
    Environment(String),
    /// A file that only the host should be able to read.
    File(PathBuf),
}

/// The plugin parts of `mizzen.toml`.
#[derive(Debug, Clone)]
pub struct PluginConfig {
    /// Which plugins to load.
    pub sources: Sources,
    /// Whether folders are watched for changes.
    pub watch: bool,
    /// The largest package that is read.
    pub max_package: u64,
    /// What is granted.
    pub grants: Grants,
    /// Where trust comes from.
    pub mode: TrustMode,
    /// `trust.toml`.
    pub trust_file: PathBuf,
    /// The pins of `tofu`.
    pub pins_file: PathBuf,
    /// The ceilings of all plugins' limits.
    pub ceiling: Limits,
    /// Secrets by name.
    pub secrets: BTreeMap<String, SecretSource>,
    /// The operator's settings by plugin; checked against the plugin's schema when it is loaded.
    pub settings: BTreeMap<PluginName, serde_json::Value>,
    /// Packs that govern every run of the host; no council or chain can unmount them.
    pub governance: Vec<Mount>,
    /// Hosts, in lower case, that plugins may reach by name although their addresses are private, if that is granted too.
    pub private_hosts: BTreeSet<String>,
}

/// Why `mizzen.toml` could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text has problems.
    #[error("{} has problems:\n{problems}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// All of them.
        problems: Problems,
    },
}

impl PluginConfig {
    /// Reads `mizzen.toml`. `others` are the sections that other parts of the host read.
    ///
    /// # Errors
    /// When it cannot be read, or has problems.
    pub fn load(path: &Path, others: &[&'static str]) -> Result<Self, ConfigError> {
        let text = files::read_text(path, MAX_CONFIG)?;
        let base = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, base, others).map_err(|problems| ConfigError::Malformed {
            path: path.to_owned(),
            problems,
        })
    }

    /// Reads the text of `mizzen.toml`; relative paths are relative to `base`.
    ///
    /// # Errors
    /// With all its problems.
    pub fn parse(text: &str, base: &Path, others: &[&'static str]) -> Result<Self, Problems> {
        Reader::read(
            text,
            usize::try_from(MAX_CONFIG).unwrap_or(usize::MAX),
            |mut root| {
                let mut config = Self {
                    sources: Sources::default(),
                    watch: false,
                    max_package: MAX_PACKAGE,
                    grants: Grants::default(),
                    mode: TrustMode::default(),
                    trust_file: base.join("trust.toml"),
                    pins_file: base.join("pins.toml"),
                    ceiling: Limits::CEILING,
                    secrets: BTreeMap::new(),
                    settings: BTreeMap::new(),
                    governance: Vec::new(),
                    private_hosts: BTreeSet::new(),
                };
                if let Some(table) = root.table("plugins") {
                    config.read_plugins(table, base);
                }
                if let Some(table) = root.table("grants") {
                    config.grants = read_grants(table);
                }
                if let Some(table) = root.table("trust") {
                    config.read_trust(table, base);
                }
                if let Some(table) = root.table("limits") {
                    config.ceiling = read_limits(table).or(Limits::CEILING);
                }
                for (name, node) in root.table("secrets").map(Section::entries).unwrap_or_default() {
                    if let Some(source) = read_secret(name, &node, base) {
                        config.secrets.insert(name.to_owned(), source);
                    }
                }
                for (name, node) in root.table("config").map(Section::entries).unwrap_or_default() {
                    let name = plugin_key(name, &node);
                    if node.section().is_some()
                        && let (Some(name), Some(settings)) = (name, node.json())
                    {
                        config.settings.insert(name, settings);
                    }
                }
                if let Some(node) = root.take("governance") {
                    config.governance = read_governance(&node);
                }
                root.leave(others);
                root.finish();
                Some(config)
            },
        )
    }

    fn read_plugins(&mut self, mut table: Section<'_, '_>, base: &Path) {
        self.sources.folders = paths(table.take("folders"), base);
        self.sources.files = paths(table.take("files"), base);
        self.watch = table
            .take("watch")
            .and_then(|node| node.boolean())
            .unwrap_or(false);
        if let Some(size) = table
            .take("max_package")
            .and_then(|node| node.parsed("write a size such as \"64MiB\"", ByteSize::parse))
        {
            self.max_package = size.get();
        }
        for node in table
            .take("disabled")
            .and_then(|node| node.list())
            .unwrap_or_default()
        {
            let read = node.parsed("write \"name\" or \"name@1.2.0\"", |text| {
                let (name, version) = text
                    .split_once('@')
                    .map_or((text, None), |(name, version)| (name, Some(version)));
                let name = PluginName::parse(name).map_err(|error| error.to_string())?;
                let version = version
                    .map(Version::parse)
                    .transpose()
                    .map_err(|error| error.to_string())?;
                Ok::<_, String>((name, version))
            });
            self.sources.disabled.extend(read);
        }
        for node in table
            .take("private_hosts")
            .and_then(|node| node.list())
            .unwrap_or_default()
        {
            let read = node.parsed("write a host's name, without a port", |text| {
                // The port only makes the text parse like the host of a URL.
                let host = HostPort::new(text, 80).map(|target| target.host().to_owned());
                host.ok_or_else(|| format!("`{}` is not a host", shorten(text)))
            });
            self.private_hosts.extend(read);
        }
        for (name, node) in table.table("default").map(Section::entries).unwrap_or_default() {
            let version = node.parsed("write a version such as \"1.2.0\"", Version::parse);
            if let (Some(name), Some(version)) = (plugin_key(name, &node), version) {
                self.sources.defaults.insert(name, version);
            }
        }
        table.finish();
    }

    fn read_trust(&mut self, mut table: Section<'_, '_>, base: &Path) {
        let mode = table.take("mode").and_then(|node| {
            node.parsed("write pinned, tofu or dev", |text| {
                TrustMode::parse(text).ok_or_else(|| format!("`{}` is not a trust mode", shorten(text)))
            })
        });
        self.mode = mode.unwrap_or_default();
        if let Some(path) = table.take("file").and_then(|node| path(&node, base)) {
            self.trust_file = path;
        }
        if let Some(path) = table.take("pins").and_then(|node| path(&node, base)) {
            self.pins_file = path;
        }
        table.finish();
    }

    /// The file with the highest version of each plugin, beside the pins.
    pub fn versions_file(&self) -> PathBuf {
        self.pins_file.with_file_name("versions.toml")
    }

    /// The terms on which plugins are accepted, with `trust.toml` and the pins read now.
    ///
    /// # Errors
    /// When one of the two files cannot be used.
    pub fn terms(&self, dev_key: Option<KeyId>, now: UnixTime) -> Result<Terms, TrustFileError> {
        let policy = Policy {
            mode: self.mode,
            store: TrustStore::load(&self.trust_file)?,
            pins: Pins::load(&self.pins_file)?,
            dev_key,
        };
        Ok(Terms {
            policy,
            grants: GrantPolicy::Listed(self.grants.clone()),
            ceiling: self.ceiling,
            max_package: self.max_package,
            now,
        })
    }
}

/// `[[governance]]`: mounts as a council writes them.
fn read_governance(node: &Node<'_, '_>) -> Vec<Mount> {
    let help = "write [[governance]] with id, and version, requires or mode where they are needed";
    let mut mounts: Vec<Mount> = Vec::new();
    for item in node.list().unwrap_or_default() {
        let Some(value) = item.json() else { continue };
        match Mount::parse(&Json::from_serde(&value)) {
            Ok(mount) if mounts.iter().any(|other| other.id == mount.id) => {
                item.report(
                    format!("`{}` is mounted twice", shorten(&mount.id)),
                    "keep one of them",
                );
            }
            Ok(mount) => mounts.push(mount),
            Err(problems) => {
                for problem in problems.iter() {
                    item.report(problem.to_string(), help);
                }
            }
        }
    }
    if mounts.len() > MOUNTS_MAX {
        node.report(
            format!("there are more than {MOUNTS_MAX} mounts"),
            "mount fewer packs",
        );
    }
    mounts
}

fn path(node: &Node<'_, '_>, base: &Path) -> Option<PathBuf> {
    node.parsed("write a path", |text| {
        if text.is_empty() || text.contains('\0') {
            Err("it is not a path")
        } else {
            Ok(base.join(text))
        }
    })
}

fn paths(node: Option<Node<'_, '_>>, base: &Path) -> Vec<PathBuf> {
    node.and_then(|node| node.list())
        .unwrap_or_default()
        .iter()
        .filter_map(|item| path(item, base))
        .collect()
}

fn plugin_key(key: &str, node: &Node<'_, '_>) -> Option<PluginName> {
    match PluginName::parse(key) {
        Ok(name) => Some(name),
        Err(error) => {
            node.report_key(error.to_string(), "write the plugin's name");
            None
        }
    }
}

fn read_grants(mut table: Section<'_, '_>) -> Grants {
    let mut grants = Grants::default();
    for (key, node) in table.table("plugin").map(Section::entries).unwrap_or_default() {
        let granted = read_granted(&node);
        if let Some(name) = plugin_key(key, &node) {
            grants.plugin.insert(name, granted);
        }
    }
    for (key, node) in table.table("namespace").map(Section::entries).unwrap_or_default() {
        let granted = read_granted(&node);
        match NamespacePattern::parse(key) {
            Ok(pattern) => {
                grants.namespace.insert(pattern, granted);
            }
            Err(error) => node.report_key(
                error.to_string(),
                "write a namespace such as \"acme\" or \"acme.*\"",
            ),
        }
    }
    table.finish();
    grants
}

fn read_granted(node: &Node<'_, '_>) -> PermissionSet {
    let items = node.list().unwrap_or_default();
    let help = "write permissions such as \"kv:read\" or \"net:api.example.com\"";
    items
        .iter()
        .filter_map(|item| item.parsed(help, Permission::parse))
        .collect()
}

fn read_secret(name: &str, node: &Node<'_, '_>, base: &Path) -> Option<SecretSource> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if name.is_empty() || name.len() > 128 || !name.bytes().all(plain) {
        node.report_key(
            "it is not a secret's name",
            "use letters, digits, `_`, `-` and `.`, at most 128",
        );
    }
    let help = "write { env = \"NAME\" } or { file = \"PATH\" }";
    if node.is_string() {
        node.report("a secret's value does not belong in mizzen.toml", help);
        return None;
    }
    let mut table = node.section()?;
    let environment = table.take("env").and_then(|node| {
        node.parsed(help, |text| {
            let fits = !text.is_empty() && text.len() <= 256 && !text.contains(['=', '\0']);
            if fits {
                Ok(SecretSource::Environment(text.to_owned()))
            } else {
                Err("it is not a variable's name")
            }
        })
    });
    let file = table
        .take("file")
        .and_then(|node| path(&node, base))
        .map(SecretSource::File);
    let both = environment.is_some() && file.is_some();
    let source = environment.or(file);
    if source.is_none() || both {
        table.report("a secret comes from exactly one place", help);
    }
    table.finish();
    source
}

#[cfg(test)]
mod tests;
