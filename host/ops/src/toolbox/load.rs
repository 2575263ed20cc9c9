//! The last stages of loading: compile → describe → register. The stages before them made the plan.

use super::{Callable, InstalledPack, Loaded, Outfit, OutfitError, Ready, Toolbox};
use mizzen_catalog::package::Digest;
use mizzen_catalog::register::{Described, Description, Failure, Registry, register};
use mizzen_catalog::requirement::ToolRequirement;
use mizzen_catalog::{LoadFailure, LoadPlan, PlannedPlugin, VerifiedPlugin};
use mizzen_engine::{InstalledTool, Permit, Tool};
use mizzen_model::manifest::Provides;
use mizzen_sandbox::{CallablePlugin, PrepareError};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sets that were loaded in this process; 0 is the empty one.
static GENERATION: AtomicU64 = AtomicU64::new(1);

impl Toolbox {
    pub(super) async fn prepared(
        self: &Arc<Self>,
        plan: &LoadPlan,
        outfit: &Outfit,
    ) -> Result<Loaded, LoadFailure> {
        let running = self.loaded();
        let mut plugins = BTreeMap::new();
        let mut descriptions = Vec::new();
        for planned in plan.plugins() {
            let outcome = match self.ready(&running, planned.plugin(), outfit).await {
                Ok(ready) => {
                    let described = described(&ready.plugin).await;
                    plugins.insert(planned.plugin().digest(), ready);
                    described
                }
                Err(failure) => Err(failure),
            };
            descriptions.push(Description {
                planned: planned.clone(),
                outcome,
            });
        }
        let descriptions = descriptions.into_iter().map(schemas_checked).collect();
        let registry = register(descriptions).map_err(|errors| LoadFailure { errors })?;
        let mut tools = BTreeMap::new();
        for entered in registry.tools() {
            let digest = entered.plugin().digest();
            let Some(ready) = plugins.get(&digest) else {
                continue;
            };
            // Compiled a moment ago to be checked; compiling cannot fail now.
            if let Ok(tool) = Tool::compile(Arc::clone(entered.spec())) {
                let callable = Callable {
                    tool: InstalledTool::new(tool, ready.plugin.verified()),
                    plugin: ready.plugin.clone(),
                };
                tools.insert((digest, entered.spec().id().to_string()), Arc::new(callable));
            }
        }
        let by_id = by_id(&registry, &tools);
        let mut packs = BTreeMap::new();
        for item in registry.items(Provides::Pack) {
            let digest = item.plugin.digest();
            let pack = plugins
                .get(&digest)
                .and_then(|ready| InstalledPack::new(item, ready.plugin.clone(), ready.settings.as_deref()));
            packs.extend(pack.map(|pack| ((digest, item.id.clone()), Arc::new(pack))));
        }
        Ok(Loaded {
            plan_hash: plan.hash().to_owned(),
            generation: GENERATION.fetch_add(1, Ordering::Relaxed),
            governance: outfit.governance.clone(),
            registry,
            plugins,
            tools,
            by_id,
            packs,
            disabled: plan.disabled().to_vec(),
        })
    }

    /// The running plugin where neither its bytes nor its grants, settings, secrets and hosts changed, a newly prepared one otherwise.
    async fn ready(
        self: &Arc<Self>,
        running: &Loaded,
        verified: &Arc<VerifiedPlugin>,
        outfit: &Outfit,
    ) -> Result<Ready, Failure> {
        let services = outfit.services(verified, self).map_err(|error| match &error {
            OutfitError::Schema(_) => Failure::ConfigSchema(error.to_string()),
            OutfitError::Settings { .. } => Failure::Settings(error.to_string()),
        })?;
        if let Some(ready) = running.plugins.get(&verified.digest())
            && ready.plugin.verified().granted() == verified.granted()
            && ready.plugin.verified().limits() == verified.limits()
            && ready.settings == services.config
            && ready.secrets == services.secrets
            && ready.private_hosts == outfit.private_hosts
        {
            return Ok(ready.clone());
        }
        let (settings, secrets) = (services.config.clone(), services.secrets.clone());
        let (sandbox, verified) = (Arc::clone(&self.sandbox), Arc::clone(verified));
        // Compilation takes long and every core: off the threads that answer requests.
        let prepared = tokio::task::spawn_blocking(move || sandbox.prepare(verified, services)).await;
        match prepared {
            Ok(Ok(plugin)) => Ok(Ready {
                plugin,
                settings,
                secrets,
                private_hosts: Arc::clone(&outfit.private_hosts),
            }),
            Ok(Err(
                error @ (PrepareError::Compile(_) | PrepareError::TooLarge(_) | PrepareError::Link(_)),
            )) => Err(Failure::Compile(error.to_string())),
            Err(error) => Err(Failure::Compile(format!("the compiler failed: {error}"))),
        }
    }
}

/// Every id without a version is resolved once, here.
fn by_id(
    registry: &Registry,
    tools: &BTreeMap<(Digest, String), Arc<Callable>>,
) -> HashMap<String, Arc<Callable>> {
    let mut by_id = HashMap::new();
    for entered in registry.tools() {
        let id = entered.spec().id();
        let meant = ToolRequirement::parse(id.as_str()).ok();
        let meant = meant.and_then(|wanted| registry.resolve(&wanted).ok());
        let meant = meant.and_then(|tool| tools.get(&(tool.plugin().digest(), id.to_string())));
        if let Some(callable) = meant {
            by_id.insert(id.to_string(), Arc::clone(callable));
        }
    }
    by_id
}

async fn described(plugin: &CallablePlugin) -> Result<Described, Failure> {
    let verified = plugin.verified();
    let permit = || Permit::to_describe(verified);
    let failed = |error: mizzen_sandbox::DescribeError| Failure::Describe(error.to_string());
    let mut described = Described::default();
    for kind in verified.manifest().provides() {
        match kind {
            Provides::Tool => {
                described.tools = plugin.describe_tools(permit).await.map_err(failed)?;
            }
            Provides::Skill | Provides::Store | Provides::Pack => {
                let items = plugin.describe_items(*kind, permit).await.map_err(failed)?;
                described.items.extend(items);
            }
        }
    }
    Ok(described)
}

/// A schema that could explode refuses its plugin, like every other fault of a description.
fn schemas_checked(description: Description) -> Description {
    let Description { planned, outcome } = description;
    let outcome = outcome.and_then(|described| refuse_schemas(&planned, &described).map(|()| described));
    Description { planned, outcome }
}

fn refuse_schemas(_planned: &PlannedPlugin, described: &Described) -> Result<(), Failure> {
    for tool in &described.tools {
        // What is not well-formed otherwise is reported by `register`, field by field.
        let Ok(spec) = mizzen_model::tool_spec::ToolSpec::check(tool.clone()) else {
            continue;
        };
        let id = spec.id();
        Tool::compile(Arc::new(spec))
            .map_err(|refusal| Failure::Schema(format!("tool `{id}`: {refusal}")))?;
    }
    Ok(())
}
