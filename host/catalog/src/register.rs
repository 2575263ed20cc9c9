//! The last stage: entering what the plugins of a plan describe.
//!
//! The sandbox describes each plugin of a [`crate::LoadPlan`] and passes on the descriptions, or the failures.
//! This is pure: the same descriptions give the same registry or the same problems. What the schemas of a tool mean is
//! checked by the engine before it hands over its [`Description`]; here only their shape is.

mod effects;
mod resolve;

pub use resolve::{Registry, ResolveError};

use crate::error::{LoadCode, PluginLoadError, Stage, Subject};
use crate::key::KeyId;
use crate::load::PlannedPlugin;
use crate::package::Digest;
use crate::verified::VerifiedPlugin;
use mizzen_json::shorten;
use mizzen_model::limits::Limits;
use mizzen_model::manifest::Provides;
use mizzen_model::namespace::{Namespace, ToolId};
use mizzen_model::pack::{PackDescriptor, PackDraft};
use mizzen_model::permission::{Effective, PermissionKind};
use mizzen_model::tool_spec::{LegacySideEffects, SIDE_EFFECTS, SideEffects, ToolDraft, ToolSpec};
use semver::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// More things than one plugin may describe.
const MAX_ITEMS: usize = 1_000;

/// The description of one plugin.
#[derive(Debug, Clone)]
pub struct Description {
    /// The plugin.
    pub planned: PlannedPlugin,
    /// What it has, or why it could not be described.
    pub outcome: Result<Described, Failure>,
}

/// Why a plugin could not be described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It does not compile.
    Compile(String),
    /// It trapped, ran out of a limit, or returned two different descriptions.
    Describe(String),
    /// A schema of one of its tools was refused.
    Schema(String),
    /// The schema of its settings, in its own manifest, was refused.
    ConfigSchema(String),
    /// The operator's settings do not fit its schema.
    Settings(String),
}

/// What a plugin has by its own description, still untrusted.
#[derive(Debug, Clone, Default)]
pub struct Described {
    /// The tools.
    pub tools: Vec<ToolDraft>,
    /// Skills, stores and packs.
    pub items: Vec<ItemDraft>,
}

/// A skill, store or pack, as far as it is entered here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemDraft {
    /// What it is.
    pub kind: Provides,
    /// The full id: `namespace.name` for a skill or store, the pack's own id for a pack.
    pub id: String,
    /// Its version, for those that have one.
    pub version: Option<String>,
    /// The rest of a pack's description.
    pub pack: Option<PackDraft>,
}

/// A tool that can be called.
#[derive(Debug, Clone)]
pub struct RegisteredTool {
    plugin: Arc<VerifiedPlugin>,
    spec: Arc<ToolSpec>,
    is_default: bool,
}

impl RegisteredTool {
    /// The plugin that has it.
    pub const fn plugin(&self) -> &Arc<VerifiedPlugin> {
        &self.plugin
    }

    /// Its descriptor.
    pub const fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// Whether its plugin is the default version.
    pub const fn is_default(&self) -> bool {
        self.is_default
    }

    /// Declared ∩ granted ∩ asked.
    pub fn effective(&self) -> Effective {
        self.plugin
            .effective()
            .narrowed(Arc::new(self.spec.permissions().clone()))
    }

    /// The limits of a call.
    pub fn limits(&self) -> Limits {
        self.plugin.tool_limits(self.spec.name().as_str())
    }
}

/// A skill, store or pack that was entered.
#[derive(Debug, Clone)]
pub struct RegisteredItem {
    /// The plugin that has it.
    pub plugin: Arc<VerifiedPlugin>,
    /// What it is.
    pub kind: Provides,
    /// Its id.
    pub id: String,
    /// Its version: its own, or else its plugin's.
    pub version: Version,
    /// Whether its plugin is the default version.
    pub is_default: bool,
    /// The most that it can do to the world. Skills and stores claim nothing and ask for nothing narrower, so it follows from
    /// what their plugin declares; where that lets it call tools, from nothing less than the strongest effect there is.
    pub side_effects: SideEffects,
    /// A pack's description, checked.
    pub pack: Option<Arc<PackDescriptor>>,
}

/// Enters what the plugins described.
///
/// # Errors
/// With every problem of every plugin.
pub fn register(descriptions: Vec<Description>) -> Result<Registry, Vec<PluginLoadError>> {
    let mut entry = Entry::default();
    for description in &descriptions {
        entry.claims(&description.planned);
    }
    for description in descriptions {
        entry.enter(description);
    }
    entry.errors.extend(effects::understated(&entry.tools));
    if entry.errors.is_empty() {
        Ok(Registry {
            tools: entry.tools,
            items: entry.items,
            new_pins: entry.new_pins,
            warnings: entry.warnings,
        })
    } else {
        Err(entry.errors)
    }
}

#[derive(Default)]
struct Entry {
    /// Every claimed namespace and the plugin that claims it, to find the most specific owner of an id.
    owners: BTreeMap<Namespace, String>,
    tools: BTreeMap<ToolId, Vec<RegisteredTool>>,
    items: BTreeMap<(Provides, String), Vec<RegisteredItem>>,
    /// The namespaces that were judged, each once for the package that describes something in it.
    judged: BTreeSet<(Digest, Namespace)>,
    new_pins: Vec<(Namespace, KeyId)>,
    warnings: Vec<String>,
    errors: Vec<PluginLoadError>,
}

impl Entry {
    fn claims(&mut self, planned: &PlannedPlugin) {
        let plugin = planned.plugin();
        for namespace in plugin.manifest().namespaces() {
            self.owners.insert(namespace.clone(), plugin.name().to_string());
        }
    }

    fn enter(&mut self, description: Description) {
        let planned = description.planned;
        let plugin = Arc::clone(planned.plugin());
        let subject = Subject {
            plugin: Some(plugin.id()),
            file: Some(plugin.file().to_owned()),
        };
        let described = match description.outcome {
            Ok(described) => described,
            Err(failure) => {
                let help = match &failure {
                    Failure::Settings(_) => format!("correct [config.{}] in mizzen.toml", plugin.name()),
                    Failure::ConfigSchema(_) => {
                        "correct [config] in plugin.toml and build the plugin again, or report it to its author"
                            .to_owned()
                    }
                    Failure::Compile(_) | Failure::Describe(_) | Failure::Schema(_) => {
                        "report it to the plugin's author, or remove or disable the plugin".to_owned()
                    }
                };
                let (stage, code, message) = match failure {
                    Failure::Compile(message) => (Stage::Compile, LoadCode::CompileFailed, message),
                    Failure::Describe(message) => (Stage::Describe, LoadCode::DescribeFailed, message),
                    Failure::Schema(message) => (Stage::Register, LoadCode::SchemaRefused, message),
                    Failure::ConfigSchema(message) | Failure::Settings(message) => {
                        (Stage::Register, LoadCode::ConfigInvalid, message)
                    }
                };
                self.errors.push(subject.error(stage, code, message, help));
                return;
            }
        };
        if described.tools.len() + described.items.len() > MAX_ITEMS {
            let message = format!("it describes more than {MAX_ITEMS} things");
            self.errors.push(subject.error(
                Stage::Register,
                LoadCode::DescriptorInvalid,
                message,
                "split the plugin",
            ));
            return;
        }
        let mut names: Vec<String> = Vec::new();
        for draft in described.tools {
            self.enter_tool(&planned, &subject, draft, &mut names);
        }
        for draft in described.items {
            self.enter_item(&planned, &subject, draft);
        }
        if plugin.manifest().legacy_side_effects() == LegacySideEffects::UpConverted {
            self.warnings.push(format!(
                "{}: plugin.toml has `side_effects = true` or `false`, the legacy form; it is read as \"write\" and \"none\"",
                plugin.id()
            ));
        }
        for tool in plugin.manifest().tools_with_tables() {
            // A table for a tool that does not exist limits nothing: the author relies on a limit that is not there.
            if !names.iter().any(|name| name == tool.as_str()) {
                let message =
                    format!("plugin.toml has [tools.{tool}], and the plugin describes no tool `{tool}`");
                self.errors.push(subject.error(
                    Stage::Register,
                    LoadCode::DescriptorInvalid,
                    message,
                    "correct the tool's name, or remove the table",
                ));
            }
        }
    }

    fn enter_tool(
        &mut self,
        planned: &PlannedPlugin,
        subject: &Subject,
        draft: ToolDraft,
        names: &mut Vec<String>,
    ) {
        let shown = format!("{}.{}", shorten(&draft.namespace), shorten(&draft.name));
        let spec = match ToolSpec::check(draft) {
            Ok(spec) => spec,
            Err(problems) => {
                for problem in problems {
                    let message = format!("tool {shown}: {problem}");
                    let (code, help) = if problem.field == SIDE_EFFECTS {
                        (
                            LoadCode::SideEffectsUnderstated,
                            "correct `side_effects` of its #[tool], leave it out (it follows from `permissions` then), or ask for less",
                        )
                    } else {
                        (LoadCode::DescriptorInvalid, "correct the tool's descriptor")
                    };
                    self.errors
                        .push(subject.error(Stage::Register, code, message, help));
                }
                return;
            }
        };
        names.push(spec.name().as_str().to_owned());
        let plugin = planned.plugin();
        self.check_namespace(planned, subject, &format!("tool {shown}"), spec.namespace());
        for permission in plugin.declared().missing(spec.permissions()) {
            let message = format!("tool {shown} asks for `{permission}`, which plugin.toml does not declare");
            let help = format!(
                "add to plugin.toml:\n[permissions]\n\"{permission}\" = \"why this plugin needs it\""
            );
            self.errors
                .push(subject.error(Stage::Register, LoadCode::ToolPermission, message, help));
        }
        if let Some(stated) = plugin.manifest().stated_side_effects(spec.name().as_str())
            && spec.side_effects() > stated
        {
            let message = format!(
                "tool {shown} has the side effects `{}`, and plugin.toml declares no more than `{stated}`",
                spec.side_effects()
            );
            let help = format!(
                "correct the tool, or [tools.{}] side_effects in plugin.toml",
                spec.name()
            );
            self.errors
                .push(subject.error(Stage::Register, LoadCode::DescriptorInvalid, message, help));
        }
        if spec.deprecated() {
            self.warnings
                .push(format!("{}: tool {shown} is deprecated", plugin.id()));
        }
        let tool = RegisteredTool {
            plugin: Arc::clone(plugin),
            spec: Arc::new(spec),
            is_default: planned.is_default(),
        };
        let there = self.tools.entry(tool.spec.id()).or_default();
        // The same tool may come from several versions of one plugin, once from each.
        let other = there
            .iter()
            .find(|other| other.plugin.name() != plugin.name() || other.plugin.version() == plugin.version());
        if let Some(other) = other {
            let message = format!("tool {shown} is described by {} too", other.plugin.id());
            self.errors.push(subject.error(
                Stage::Register,
                LoadCode::DuplicateTool,
                message,
                "rename one of them, or remove one of the plugins",
            ));
        } else {
            there.push(tool);
        }
    }

    fn enter_item(&mut self, planned: &PlannedPlugin, subject: &Subject, draft: ItemDraft) {
        let plugin = planned.plugin();
        let (kind, shown) = (draft.kind, shorten(&draft.id));
        let invalid = |message: String| {
            subject.error(
                Stage::Register,
                LoadCode::DescriptorInvalid,
                message,
                "correct the descriptor",
            )
        };
        let namespace = match kind {
            // A pack's id stands for itself and is claimed like a namespace; the others are `namespace.name`.
            Provides::Pack => Namespace::parse(&draft.id).ok(),
            _ => ToolId::parse(&draft.id)
                .ok()
                .and_then(|id| Namespace::parse(id.namespace()).ok()),
        };
        let Some(namespace) = namespace else {
            self.errors.push(invalid(format!(
                "{kind} `{shown}` does not have the shape of an id: segments of lowercase letters, digits, `_` and `-`, each \
                 beginning with a letter"
            )));
            return;
        };
        let version = match draft.version.as_deref().map(Version::parse) {
            None => plugin.version().clone(),
            Some(Ok(version)) => version,
            Some(Err(error)) => {
                self.errors.push(invalid(format!(
                    "{kind} {shown}: its version is not SemVer ({error})"
                )));
                return;
            }
        };
        self.check_namespace(planned, subject, &format!("{kind} {shown}"), &namespace);
        let pack = match draft.pack.map(PackDescriptor::check) {
            None => None,
            Some(Ok(pack)) => Some(Arc::new(pack)),
            Some(Err(problems)) => {
                for problem in problems {
                    self.errors.push(invalid(format!("{kind} {shown}: {problem}")));
                }
                return;
            }
        };
        let there = self.items.entry((kind, draft.id.clone())).or_default();
        let other = there
            .iter()
            .find(|other| other.plugin.name() != plugin.name() || other.plugin.version() == plugin.version());
        if let Some(other) = other {
            let message = format!("{kind} {shown} is described by {} too", other.plugin.id());
            self.errors.push(subject.error(
                Stage::Register,
                LoadCode::DuplicateTool,
                message,
                "rename one of them, or remove one of the plugins",
            ));
            return;
        }
        let is_default = planned.is_default();
        there.push(RegisteredItem {
            plugin: Arc::clone(plugin),
            kind,
            id: draft.id,
            version,
            is_default,
            side_effects: item_effects(kind, plugin),
            pack,
        });
    }

    /// What is described must be inside of a namespace that the plugin claims, no other plugin may claim it more closely, and the
    /// keys that signed must be trusted for it.
    fn check_namespace(
        &mut self,
        planned: &PlannedPlugin,
        subject: &Subject,
        what: &str,
        namespace: &Namespace,
    ) {
        let plugin = planned.plugin();
        let claimed = plugin.manifest().namespaces();
        if !claimed.iter().any(|claimed| claimed.covers(namespace)) {
            let claimed: Vec<&str> = claimed.iter().map(Namespace::as_str).collect();
            let message = format!(
                "{what} is outside of the claimed namespaces ({})",
                claimed.join(", ")
            );
            let help = "move it into a claimed namespace, or claim its namespace in plugin.toml";
            return self.errors.push(subject.error(
                Stage::Register,
                LoadCode::OutsideNamespace,
                message,
                help,
            ));
        }
        // From the longest prefix to the shortest: the first claim that is met is the closest one.
        let mut prefixes = std::iter::successors(Some(namespace.as_str()), |text| {
            text.rsplit_once('.').map(|(above, _)| above)
        });
        let closest = prefixes.find_map(|prefix| self.owners.get_key_value(prefix));
        if let Some((closer, owner)) = closest.filter(|(_, owner)| owner.as_str() != plugin.name().as_str()) {
            let message = format!("{what} is inside of namespace {closer}, which {owner} claims");
            let help = "move it out of that namespace";
            return self.errors.push(subject.error(
                Stage::Register,
                LoadCode::NamespaceConflict,
                message,
                help,
            ));
        }
        // Once for a plugin and a namespace, however much is described there.
        if !self.judged.insert((plugin.digest(), namespace.clone())) {
            return;
        }
        match plugin.judge(namespace) {
            Ok(decision) => self.new_pins.extend(decision.new_pins),
            Err(refusal) => {
                let message = format!("{what} is in namespace {namespace}: {}", refusal.message);
                self.errors
                    .push(subject.error(Stage::Register, refusal.kind.code(), message, refusal.help));
            }
        }
    }
}

/// A pack is evaluated without any authority; the others have all of their plugin's.
fn item_effects(kind: Provides, plugin: &VerifiedPlugin) -> SideEffects {
    let declared = plugin.declared();
    if kind == Provides::Pack {
        return SideEffects::None;
    }
    if !declared.of_kind(PermissionKind::Tools).is_empty() {
        return SideEffects::External;
    }
    let effects = declared.iter().map(SideEffects::of_permission);
    effects.max().unwrap_or(SideEffects::None)
}

#[cfg(test)]
mod tests;
