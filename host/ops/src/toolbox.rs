//! The plugins that are running: prepared, described, registered, and callable by the id of their tools.
//!
//! A set is loaded as a whole or not at all. A change builds the next set beside the running one (plugins that did not
//! change are taken over as they are) and swaps them; calls in flight finish on the set they started with, and a change
//! that is refused leaves the running set as it was.

mod call;
mod changes;
mod load;
mod memory_kv;
mod nested;
mod outfit;
mod pack;
mod publish;
mod store_kv;

pub use call::{CallError, CallRequest, ToolResult};
pub(crate) use changes::ToolChanges;
pub use memory_kv::MemoryKv;
pub(crate) use nested::told_to_caller;
pub use outfit::{OpenKv, Outfit, OutfitError, SecretValues, Unconfigured};
pub use pack::InstalledPack;
pub(crate) use pack::MomentTerms;
pub use store_kv::StoreKv;

use crate::governance;
use crate::outgoing::PrivateHosts;
use mizzen_catalog::load::waiting_upgrades;
use mizzen_catalog::package::Digest;
use mizzen_catalog::register::Registry as ToolRegistry;
use mizzen_catalog::{LoadFailure, LoadPlan};
use mizzen_engine::InstalledTool;
use mizzen_model::governance::Mount;
use mizzen_model::manifest::Manifest;
use mizzen_sandbox::{CallablePlugin, Sandbox};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// The running set of plugins, and the sandbox that they run in.
pub struct Toolbox {
    sandbox: Arc<Sandbox>,
    outfit: RwLock<Arc<Outfit>>,
    current: RwLock<Arc<Loaded>>,
}

/// One loaded set. It does not change.
#[derive(Default)]
pub struct Loaded {
    plan_hash: String,
    /// Which of the sets of this process it is.
    generation: u64,
    /// What `mizzen.toml` mounts for every run.
    governance: Vec<Mount>,
    registry: ToolRegistry,
    plugins: BTreeMap<Digest, Ready>,
    tools: BTreeMap<(Digest, String), Arc<Callable>>,
    /// What an id without a version means.
    by_id: HashMap<String, Arc<Callable>>,
    packs: BTreeMap<(Digest, String), Arc<InstalledPack>>,
    /// Plugins that are installed and disabled.
    disabled: Vec<Arc<Manifest>>,
}

/// A plugin with what it was given, so that changed settings, secrets or hosts are not mistaken for the same plugin.
#[derive(Clone)]
struct Ready {
    plugin: CallablePlugin,
    settings: Option<String>,
    secrets: SecretValues,
    private_hosts: PrivateHosts,
}

/// A set that would load. It does not run yet.
pub struct Tried {
    pub(crate) next: Loaded,
    outfit: Arc<Outfit>,
}

/// A tool that can be called: nothing is left to compile or look up.
pub(crate) struct Callable {
    tool: InstalledTool,
    plugin: CallablePlugin,
}

impl Tried {
    /// The set.
    pub const fn loaded(&self) -> &Loaded {
        &self.next
    }
}

impl Loaded {
    /// The hash of the plan that was loaded.
    pub fn plan_hash(&self) -> &str {
        &self.plan_hash
    }

    /// Which of the sets of this process it is: another one may have the same plan and other settings.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// What `mizzen.toml` mounts for every run.
    pub fn governance(&self) -> &[Mount] {
        &self.governance
    }

    /// What the plugins provide.
    pub fn registry(&self) -> &ToolRegistry {
        &self.registry
    }

    /// A tool of a file, by the file's digest and the tool's id.
    pub(crate) fn callable(&self, digest: &str, tool: &str) -> Option<Arc<Callable>> {
        let (digest, _) = self
            .plugins
            .iter()
            .find(|(found, _)| found.to_string() == digest)?;
        self.tools.get(&(*digest, tool.to_owned())).cloned()
    }

    /// The running plugins, by digest.
    pub fn plugins(&self) -> impl Iterator<Item = &CallablePlugin> {
        self.plugins.values().map(|ready| &ready.plugin)
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolbox")
            .field("plan", &self.loaded().plan_hash)
            .finish_non_exhaustive()
    }
}

impl Toolbox {
    /// A toolbox with nothing in it.
    pub fn new(sandbox: Arc<Sandbox>, outfit: Outfit) -> Arc<Self> {
        Arc::new(Self {
            sandbox,
            outfit: RwLock::new(Arc::new(outfit)),
            current: RwLock::default(),
        })
    }

    /// The set that runs now. Whoever holds it keeps it, whatever is loaded later.
    pub fn loaded(&self) -> Arc<Loaded> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The terms of calls.
    pub fn policy(&self) -> mizzen_engine::CallPolicy {
        self.outfit().policy.clone()
    }

    /// The sandbox that the plugins run in.
    pub fn sandbox(&self) -> &Arc<Sandbox> {
        &self.sandbox
    }

    fn outfit(&self) -> Arc<Outfit> {
        Arc::clone(&self.outfit.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Loads a plan in place of the running set: compile, describe, register. All of it, or nothing.
    ///
    /// # Errors
    /// With every problem of every plugin; the running set is what it was.
    pub async fn load(self: &Arc<Self>, plan: &LoadPlan) -> Result<Arc<Loaded>, LoadFailure> {
        let tried = self.try_out(plan, self.outfit()).await?;
        Ok(self.adopt(tried))
    }

    /// The same, with other settings, secrets and services behind the imports from now on.
    ///
    /// # Errors
    /// With every problem of every plugin; the running set and what stands behind it are what they were.
    pub async fn load_with(
        self: &Arc<Self>,
        plan: &LoadPlan,
        outfit: Outfit,
    ) -> Result<Arc<Loaded>, LoadFailure> {
        let tried = self.try_out(plan, Arc::new(outfit)).await?;
        Ok(self.adopt(tried))
    }

    /// Compiles, describes and registers a plan beside the running set, which stays what it is.
    ///
    /// # Errors
    /// With every problem of every plugin.
    pub(crate) async fn try_out(
        self: &Arc<Self>,
        plan: &LoadPlan,
        outfit: Arc<Outfit>,
    ) -> Result<Tried, LoadFailure> {
        // The plan was made from the files alone; whether a change asks for more than what runs can only be seen here.
        let running = self.loaded();
        let errors = waiting_upgrades(running.plugins().map(|plugin| plugin.verified().as_ref()), plan);
        if !errors.is_empty() {
            return Err(LoadFailure { errors });
        }
        let next = self.prepared(plan, &outfit).await?;
        let errors = governance::unmountable(&next);
        if !errors.is_empty() {
            return Err(LoadFailure { errors });
        }
        Ok(Tried { next, outfit })
    }

    /// Puts a set that was tried in the place of the running one.
    pub(crate) fn adopt(&self, tried: Tried) -> Arc<Loaded> {
        let next = Arc::new(tried.next);
        for warning in next.registry.warnings() {
            tracing::warn!("{warning}");
        }
        tracing::info!(plan = %next.plan_hash, plugins = next.plugins.len(), "plugins loaded");
        *self.outfit.write().unwrap_or_else(PoisonError::into_inner) = tried.outfit;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&next);
        next
    }
}
