//! `plugin.toml`: what a plugin is, what it provides, what it asks for.
//!
//! `[plugin]` is the specification's `PluginManifest` exactly; `[permissions]`, `[limits]`, `[tools.NAME]` and `[config]`
//! extend it. Unknown keys are refused everywhere. To add a key: read it in [`Manifest::parse`], give it a
//! reader that enforces it, and describe it in the documentation of plugin authors.

use crate::limits::{ByteSize, LimitsDraft, TimeSpan};
use crate::namespace::{Namespace, PluginName, ToolName};
use crate::permission::{Permission, PermissionSet};
use crate::record::choice;
use crate::tool_spec::{LegacySideEffects, SideEffects};
use mizzen_json::shorten;
use mizzen_json::strict_toml::{Node, Problems, Reader, Section};
use semver::Version;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The largest `plugin.toml`, in bytes.
pub const MAX_MANIFEST: usize = 64 * 1024;
/// The one version of the contract that this host speaks.
pub const API_VERSION: &str = "1";
/// The `order` of plugins that do not state one.
pub const DEFAULT_ORDER: u16 = 5_000;
/// The path of the key whose refusal is the `api-version` problem, apart from all others.
pub const API_VERSION_PATH: &str = "plugin.api_version";

const MAX_ORDER: i64 = 10_000;
const MAX_VERSION: usize = 64;
const MAX_NAMESPACES: usize = 32;
/// Bounds what a permission check at call time can cost.
const MAX_PERMISSIONS: usize = 64;
const MAX_REASON: usize = 500;
const MAX_TOOLS: usize = 256;

choice! {
    /// A kind of thing that a plugin contributes; the word is also the name of the WIT interface.
    #[derive(PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Provides {
        /// Tools.
        Tool = "tool",
        /// Skills.
        Skill = "skill",
        /// Store providers.
        Store = "store",
        /// A governance pack.
        Pack = "pack",
    }
}

/// The `[plugin]` table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct PluginTable {
    name: PluginName,
    version: Version,
    api_version: &'static str,
    namespaces: Vec<Namespace>,
    provides: BTreeSet<Provides>,
    order: Option<u16>,
}

/// A checked manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Manifest {
    plugin: PluginTable,
    permissions: BTreeMap<Permission, String>,
    limits: LimitsDraft,
    tools: BTreeMap<ToolName, ToolTable>,
    config: Option<serde_json::Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct ToolTable {
    limits: LimitsDraft,
    #[serde(skip_serializing_if = "Option::is_none")]
    side_effects: Option<SideEffects>,
    #[serde(skip)]
    legacy: LegacySideEffects,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// With every problem it has, each with line, column, what is wrong and what to write.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        Reader::read(text, MAX_MANIFEST, |mut root| {
            let plugin = root
                .require(
                    "plugin",
                    "add a [plugin] table with name, version, api_version, namespaces and provides",
                )
                .and_then(|node| node.section())
                .and_then(read_plugin);
            let permissions = root
                .table("permissions")
                .map(read_permissions)
                .unwrap_or_default();
            let limits = root.table("limits").map(read_limits).unwrap_or_default();
            let tools = root.table("tools").map(read_tools).unwrap_or_default();
            let config = root.take("config").and_then(|node| {
                node.section()?;
                node.json()
            });
            root.finish();
            Some(Self {
                plugin: plugin?,
                permissions,
                limits,
                tools,
                config,
            })
        })
    }

    /// The plugin's name.
    pub const fn name(&self) -> &PluginName {
        &self.plugin.name
    }

    /// The plugin's version.
    pub const fn version(&self) -> &Version {
        &self.plugin.version
    }

    /// The namespaces it claims, in the author's order.
    pub fn namespaces(&self) -> &[Namespace] {
        &self.plugin.namespaces
    }

    /// The kinds of things it contributes.
    pub const fn provides(&self) -> &BTreeSet<Provides> {
        &self.plugin.provides
    }

    /// The order it states; none when it leaves it out, which collides with nobody.
    pub const fn stated_order(&self) -> Option<u16> {
        self.plugin.order
    }

    /// The order it loads in.
    pub fn order(&self) -> u16 {
        self.plugin.order.unwrap_or(DEFAULT_ORDER)
    }

    /// The permissions it declares, each with the author's reason.
    pub const fn permissions(&self) -> &BTreeMap<Permission, String> {
        &self.permissions
    }

    /// The permissions it declares, as a set.
    pub fn permission_set(&self) -> PermissionSet {
        self.permissions.keys().cloned().collect()
    }

    /// The limits that the author asks for.
    pub const fn limits(&self) -> &LimitsDraft {
        &self.limits
    }

    /// The limits that the author asks for, for one tool.
    pub fn tool_limits(&self, tool: &str) -> Option<&LimitsDraft> {
        self.tools.get(tool).map(|table| &table.limits)
    }

    /// The most that a tool may do to the world, where the author states it: the signature covers it, and the tool's own
    /// descriptor must not say more.
    pub fn stated_side_effects(&self, tool: &str) -> Option<SideEffects> {
        self.tools.get(tool).and_then(|table| table.side_effects)
    }

    /// Whether a tool's side effects are stated in the legacy form, as `true` or `false`.
    pub fn legacy_side_effects(&self) -> LegacySideEffects {
        let up_converted = |table: &ToolTable| table.legacy == LegacySideEffects::UpConverted;
        if self.tools.values().any(up_converted) {
            LegacySideEffects::UpConverted
        } else {
            LegacySideEffects::Absent
        }
    }

    /// The tools that have a table of their own.
    pub fn tools_with_tables(&self) -> impl Iterator<Item = &ToolName> {
        self.tools.keys()
    }

    /// The JSON Schema of the operator's settings, if the plugin has settings.
    pub const fn config_schema(&self) -> Option<&serde_json::Value> {
        self.config.as_ref()
    }

    /// Whether something described with this namespace is inside of a claimed one.
    pub fn claims(&self, namespace: &Namespace) -> bool {
        self.plugin
            .namespaces
            .iter()
            .any(|claimed| claimed.covers(namespace))
    }
}

fn read_plugin(mut table: Section<'_, '_>) -> Option<PluginTable> {
    let name = table
        .require("name", "add name = \"my-plugin\"")
        .and_then(|node| node.parsed("write a name such as \"my-plugin\"", PluginName::parse));
    let version = table
        .require("version", "add version = \"0.1.0\"")
        .and_then(|node| read_version(&node));
    let api_version = table
        .require("api_version", "add api_version = \"1\"")
        .and_then(|node| {
            let text = node.string()?;
            if text != API_VERSION {
                node.report(
                    format!(
                        "`{}` is not a version of the contract that this host speaks",
                        shorten(text)
                    ),
                    "write api_version = \"1\"",
                );
            }
            (text == API_VERSION).then_some(API_VERSION)
        });
    let namespaces = table
        .require("namespaces", "add namespaces = [\"my_namespace\"]")
        .and_then(|node| read_namespaces(&node));
    let provides = table
        .require("provides", "add provides = [\"tool\"]")
        .and_then(|node| read_provides(&node));
    let order = table.take("order").map(|node| {
        node.integer(0..=MAX_ORDER)
            .and_then(|order| u16::try_from(order).ok())
    });
    table.finish();
    let order = match order {
        Some(order) => Some(order?),
        None => None,
    };
    Some(PluginTable {
        name: name?,
        version: version?,
        api_version: api_version?,
        namespaces: namespaces?,
        provides: provides?,
        order,
    })
}

fn read_version(node: &Node<'_, '_>) -> Option<Version> {
    let help = "write MAJOR.MINOR.PATCH, such as \"1.2.0\" (see https://semver.org)";
    node.parsed(help, |text| match Version::parse(text) {
        Ok(version) if text.len() <= MAX_VERSION => Ok(version),
        Ok(_) => Err(format!("a version has at most {MAX_VERSION} characters")),
        Err(error) => Err(format!("`{}` is not a SemVer version ({error})", shorten(text))),
    })
}

/// A list of texts without duplicates, at least one and at most `max`, each read by `parse`.
fn read_list<T: PartialEq + fmt::Display>(
    node: &Node<'_, '_>,
    max: usize,
    example: &str,
    parse: impl Fn(&Node<'_, '_>) -> Option<T>,
) -> Option<Vec<T>> {
    let items = node.list()?;
    if items.is_empty() || items.len() > max {
        node.report(
            format!("it has {} entries", items.len()),
            format!("write 1 to {max}, such as {example}"),
        );
        return None;
    }
    let mut out: Vec<T> = Vec::with_capacity(items.len());
    let mut complete = true;
    for item in &items {
        match parse(item) {
            Some(value) if out.contains(&value) => {
                item.report(format!("`{value}` is there twice"), "remove one of them");
                complete = false;
            }
            Some(value) => out.push(value),
            None => complete = false,
        }
    }
    complete.then_some(out)
}

fn read_namespaces(node: &Node<'_, '_>) -> Option<Vec<Namespace>> {
    read_list(node, MAX_NAMESPACES, "[\"acme.text\"]", |item| {
        item.parsed("write a namespace such as \"acme.text\"", Namespace::parse)
    })
}

fn read_provides(node: &Node<'_, '_>) -> Option<BTreeSet<Provides>> {
    let kinds = read_list(node, Provides::ALL.len(), "[\"tool\"]", |item| {
        item.parsed("write tool, skill, store or pack", |text| {
            Provides::parse(text)
                .ok_or_else(|| format!("`{}` is not something a plugin can provide", shorten(text)))
        })
    })?;
    Some(kinds.into_iter().collect())
}

fn read_permissions(table: Section<'_, '_>) -> BTreeMap<Permission, String> {
    let mut out = BTreeMap::new();
    for (index, (key, node)) in table.entries().into_iter().enumerate() {
        if index == MAX_PERMISSIONS {
            node.report_key(
                format!("there are more than {MAX_PERMISSIONS} permissions"),
                "use a scope with `*` instead",
            );
            break;
        }
        let help =
            "write a permission and why it is needed, such as \"kv:read\" = \"remembers the last run\"";
        let permission = match Permission::parse(key) {
            Ok(permission) => Some(permission),
            Err(error) => {
                // A dotted key without quotes arrives as a table: `db.notes:read` must be quoted.
                node.report_key(error.to_string(), help);
                None
            }
        };
        let reason = node.string().and_then(|reason| {
            let fits = !reason.trim().is_empty() && reason.len() <= MAX_REASON;
            if !fits {
                node.report(
                    format!("the reason has {} bytes", reason.len()),
                    format!(
                        "say in 1 to {MAX_REASON} bytes why the plugin needs it: the operator decides by it"
                    ),
                );
            }
            fits.then(|| reason.to_owned())
        });
        if let (Some(permission), Some(reason)) = (permission, reason)
            && let Some(_earlier) = out.insert(permission, reason)
        {
            node.report_key(
                "this permission is there twice in different spelling",
                "remove one of them",
            );
        }
    }
    out
}

/// Reads a `[limits]` table, here and in `mizzen.toml`.
pub fn read_limits(mut table: Section<'_, '_>) -> LimitsDraft {
    fn size(node: Option<Node<'_, '_>>) -> Option<ByteSize> {
        node?.parsed("write a size such as \"64MiB\"", ByteSize::parse)
    }
    fn span(node: Option<Node<'_, '_>>) -> Option<TimeSpan> {
        node?.parsed("write a span of time such as \"2s\"", TimeSpan::parse)
    }
    fn count(node: Option<Node<'_, '_>>) -> Option<u32> {
        node?
            .integer(1..=i64::from(u32::MAX))
            .and_then(|count| u32::try_from(count).ok())
    }
    let draft = LimitsDraft {
        memory: size(table.take("memory")),
        cpu: span(table.take("cpu")),
        wall_clock: span(table.take("wall_clock")),
        table_elements: count(table.take("table_elements")),
        instances: count(table.take("instances")),
        input: size(table.take("input")),
        output: size(table.take("output")),
        host_calls: count(table.take("host_calls")),
        log: size(table.take("log")),
    };
    table.finish();
    draft
}

fn read_side_effects(node: &Node<'_, '_>) -> (Option<SideEffects>, LegacySideEffects) {
    if node.is_boolean() {
        let up_converted = node.boolean().map(SideEffects::up_converted);
        return (up_converted, LegacySideEffects::UpConverted);
    }
    let effects = node.parsed("write none, read, write or external", |text| {
        SideEffects::parse(text).ok_or_else(|| format!("`{}` is not a side effect", shorten(text)))
    });
    (effects, LegacySideEffects::Absent)
}

fn read_tools(table: Section<'_, '_>) -> BTreeMap<ToolName, ToolTable> {
    let mut out = BTreeMap::new();
    for (index, (key, node)) in table.entries().into_iter().enumerate() {
        if index == MAX_TOOLS {
            node.report_key(
                format!("there are more than {MAX_TOOLS} tools"),
                "split the plugin",
            );
            break;
        }
        let name = match ToolName::parse(key) {
            Ok(name) => Some(name),
            Err(error) => {
                node.report_key(
                    error.to_string(),
                    "write [tools.NAME] with the tool's name, without its namespace",
                );
                None
            }
        };
        if let Some(mut table) = node.section() {
            let limits = table.table("limits").map(read_limits).unwrap_or_default();
            let (side_effects, legacy) = table
                .take("side_effects")
                .map(|node| read_side_effects(&node))
                .unwrap_or_default();
            table.finish();
            if let Some(name) = name {
                let table = ToolTable {
                    limits,
                    side_effects,
                    legacy,
                };
                out.insert(name, table);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
