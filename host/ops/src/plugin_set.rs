//! The plugins of a running host: loaded from what `mizzen.toml` names, and loaded again when that changes.
//!
//! One change at a time. A change is prepared and checked by the catalog, tried by the toolbox, and only then written;
//! whatever refuses it, the running set and the files are what they were.

use crate::clock::{Clock, SystemClock};
use crate::governance;
use crate::governed_data::{self, Ungoverned};
use crate::registry::Inventory;
use crate::toolbox::{Loaded, Outfit, SecretValues, StoreKv, Toolbox};
use crate::try_set::{Secrets, SetTrial};
use mizzen_catalog::change::{ChangeError, Direction, Installation, PreparedChange};
use mizzen_catalog::config::{PluginConfig, SecretSource};
use mizzen_catalog::trust::TrustMode;
use mizzen_catalog::{LoadFailure, LoadPlan, files};
use mizzen_engine::{CallPolicy, Profile};
use mizzen_sandbox::{Sandbox, Secret};
use mizzen_store::{KvLimits, Store, StoreError};
use std::sync::Arc;
use tokio::sync::Mutex;

/// The largest secret, in bytes: a secret is a line, not a file.
pub const MAX_SECRET: u64 = 64 << 10;

/// Why the set is not loaded, or not changed.
#[derive(Debug, thiserror::Error)]
pub enum PluginSetError {
    /// The set or the change of it is refused.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The host has no `mizzen.toml`.
    #[error(
        "this host has no mizzen.toml, so there is nowhere to install plugins; start it with --config FILE"
    )]
    NotConfigured,
    /// A secret cannot be read.
    #[error("secret `{name}`: {problem}")]
    Secret {
        /// Its name.
        name: String,
        /// What is wrong, without its value.
        problem: String,
    },
    /// The profile does not go together with the trust mode (D18).
    #[error(
        "the profile `cleared` takes pinned trust only, and [trust] mode is `{0}`; write mode = \"pinned\" and list the keys in trust.toml"
    )]
    ClearedNeedsPinnedTrust(TrustMode),
    /// The configuration lacks packs that govern the data folder.
    #[error(transparent)]
    Ungoverned(#[from] Ungoverned),
    /// What governs the data folder cannot be read or written.
    #[error("the governance of the data folder cannot be read or written: {0}")]
    Store(#[from] StoreError),
    /// A task of ours broke off.
    #[error("loading broke off: {0}")]
    Broken(String),
}

/// Where a host's plugins come from, and the toolbox they are loaded into.
pub struct PluginSet {
    installation: Option<Installation>,
    toolbox: Arc<Toolbox>,
    store: Store,
    profile: Profile,
    changing: Mutex<()>,
}

impl std::fmt::Debug for PluginSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginSet")
            .field("installation", &self.installation)
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}

impl PluginSet {
    /// Nothing is loaded yet. Without an installation, nothing ever will be.
    pub fn new(
        installation: Option<Installation>,
        sandbox: Arc<Sandbox>,
        store: Store,
        profile: Profile,
    ) -> Self {
        let policy = CallPolicy {
            profile,
            ..CallPolicy::default()
        };
        let outfit = Outfit {
            policy,
            ..Outfit::default()
        };
        Self {
            installation,
            toolbox: Toolbox::new(sandbox, outfit),
            store,
            profile,
            changing: Mutex::new(()),
        }
    }

    /// What runs.
    pub fn toolbox(&self) -> &Arc<Toolbox> {
        &self.toolbox
    }

    /// Reads configuration, trust and folders anew and loads what they say, or leaves everything as it is; the registry then says
    /// that what runs is not what stands in the files.
    ///
    /// # Errors
    /// With all problems of the set.
    pub async fn reload(&self, registry: &Inventory) -> Result<(), PluginSetError> {
        let outcome = self.read_and_run(registry).await;
        if let Err(error) = &outcome {
            registry.set_problems(vec![public_reason(error)]);
        }
        outcome
    }

    async fn read_and_run(&self, registry: &Inventory) -> Result<(), PluginSetError> {
        let Some(installation) = self.installation.clone() else {
            // Nothing is mounted without a configuration.
            return Ok(governed_data::check_mounts(
                &self.store.governing_packs().await?,
                &[],
            )?);
        };
        let _alone = self.changing.lock().await;
        let planned = {
            let installation = installation.clone();
            blocking(move || installation.plan()).await?
        };
        let (config, plan) = match planned {
            Err(ChangeError::Refused(failure)) => {
                self.stop_revoked(installation, &failure, registry).await?;
                return Err(ChangeError::Refused(failure).into());
            }
            planned => planned?,
        };
        if let Some(folder) = config.sources.missing_folder() {
            tracing::info!(folder = %folder.display(), "the plugin folder does not exist and counts as empty");
        }
        for file in [
            &installation.config,
            &config.trust_file,
            &config.pins_file,
            &config.versions_file(),
        ] {
            if let Some(mode) = files::writable_by_others(file) {
                tracing::warn!(file = %file.display(), "others can write the file (mode {mode:o}); run chmod go-w on it");
            }
        }
        // The operator's own files: what goes back there is meant, and said.
        let warn = |running: &Loaded, next: &Loaded| {
            for older in governance::lowered(running, next) {
                tracing::warn!("{older}; it is mandatory, and the configuration goes back to it");
            }
            Ok(())
        };
        let loaded = self.run(&config, &plan, registry, warn).await?;
        let remembered = {
            let (installation, config, plan) = (installation.clone(), config.clone(), plan.clone());
            blocking(move || installation.remember_versions(&config, &plan)).await?
        };
        if let Err(error) = remembered {
            // The set runs; that a later step back is not noticed is no reason to stop it.
            tracing::warn!("the versions of the plugins are not remembered: {error}");
        }
        Ok(
            blocking(move || installation.remember_pins(&config, &plan, loaded.registry().new_pins()))
                .await??,
        )
    }

    /// A refused set leaves the running one as it was, but for what has been revoked: nobody revokes something in order to go on
    /// running it. A host that runs nothing yet does not start without it.
    async fn stop_revoked(
        &self,
        installation: Installation,
        failure: &LoadFailure,
        registry: &Inventory,
    ) -> Result<(), PluginSetError> {
        if self.toolbox.loaded().plugins().next().is_none() {
            return Ok(());
        }
        let failure = failure.clone();
        let rest = blocking(move || installation.plan_without_revoked(&failure)).await?;
        if let Some((config, plan)) = rest {
            self.run(&config, &plan, registry, |_, _| Ok(())).await?;
            tracing::error!("what has been revoked is not run any more");
        }
        Ok(())
    }

    /// Prepares a change, tries it, writes it. What is refused leaves the running set and the files as they were.
    pub(crate) async fn change(
        &self,
        registry: &Inventory,
        direction: Direction,
        prepare: impl FnOnce(&Installation) -> Result<PreparedChange, ChangeError> + Send + 'static,
    ) -> Result<PreparedChange, PluginSetError> {
        let installation = self.installation.clone().ok_or(PluginSetError::NotConfigured)?;
        let _alone = self.changing.lock().await;
        let before = {
            let installation = installation.clone();
            blocking(move || installation.plan()).await?
        };
        let mut prepared = blocking(move || prepare(&installation)).await??;
        let plan = prepared.plan.clone().map_err(ChangeError::from)?;
        let judge = move |running: &Loaded, next: &Loaded| match governance::lowered(running, next).pop() {
            Some(older) if direction == Direction::Forward => Err(ChangeError::from(Box::new(older)).into()),
            _ => Ok(()),
        };
        let loaded = self.run(&prepared.config, &plan, registry, judge).await?;
        prepared.described_pins = loaded.registry().new_pins().to_vec();
        let (prepared, written) = blocking(move || {
            let written = prepared.write();
            (prepared, written)
        })
        .await?;
        if let Err(error) = written {
            // What was there before was running a moment ago: it loads.
            if let Ok((config, plan)) = before {
                self.run(&config, &plan, registry, |_, _| Ok(())).await?;
            }
            return Err(error.into());
        }
        Ok(prepared)
    }

    /// Tries a plan, has the running set and the next one compared, and only then exchanges them.
    async fn run(
        &self,
        config: &PluginConfig,
        plan: &LoadPlan,
        registry: &Inventory,
        judge: impl FnOnce(&Loaded, &Loaded) -> Result<(), PluginSetError>,
    ) -> Result<Arc<Loaded>, PluginSetError> {
        let known = self.store.governing_packs().await?;
        governed_data::check_mounts(&known, &config.governance)?;
        let store = self.store.clone();
        let trial = SetTrial {
            config,
            plan,
            profile: self.profile,
            secrets: Secrets::Read,
            kv: Arc::new(move |owner| Arc::new(StoreKv::new(store.clone(), owner, KvLimits::default()))),
        };
        let tried = trial.run(&self.toolbox).await?;
        judge(&self.toolbox.loaded(), &tried.next)?;
        let now_ms = SystemClock.now_ms();
        let governing = governed_data::governing(&known, &tried.next, now_ms)?;
        // Before the first run that they govern.
        governed_data::remember(&self.store, &known, governing, now_ms).await?;
        let loaded = self.toolbox.adopt(tried);
        registry.replace(loaded.installed());
        Ok(loaded)
    }
}

/// More problems than a health check needs to name.
const NAMED_PROBLEMS: usize = 8;

/// Why the set on disk does not run, for a health check that answers without a key: plugins and codes, no paths and no messages.
fn public_reason(error: &PluginSetError) -> String {
    let PluginSetError::Change(ChangeError::Refused(failure)) = error else {
        return "plugins: what the configuration names cannot be loaded, and the running set stays; the host's log says why".to_owned();
    };
    let mut named: Vec<String> = failure
        .errors
        .iter()
        .take(NAMED_PROBLEMS)
        .map(|error| match &error.plugin {
            Some(plugin) => format!("{plugin} [{}]", error.code),
            None => format!("[{}]", error.code),
        })
        .collect();
    if failure.errors.len() > NAMED_PROBLEMS {
        named.push("…".to_owned());
    }
    format!(
        "plugins: the set in the folders is refused, and the running one stays: {}; the host's log says why",
        named.join(", ")
    )
}

/// Packages are read and verified off the threads that answer requests.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, PluginSetError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| PluginSetError::Broken(error.to_string()))
}

/// Reads the secrets that a configuration names from where they are kept.
///
/// # Errors
/// With the first that cannot be read; its value is in no message.
pub fn read_secrets(config: &PluginConfig) -> Result<SecretValues, PluginSetError> {
    let mut secrets = SecretValues::new();
    for (name, source) in &config.secrets {
        secrets.insert(name.clone(), Secret::new(secret(name, source)?));
    }
    Ok(secrets)
}

fn secret(name: &str, source: &SecretSource) -> Result<String, PluginSetError> {
    let problem = |problem: String| PluginSetError::Secret {
        name: name.to_owned(),
        problem,
    };
    match source {
        SecretSource::Environment(variable) => std::env::var(variable)
            .map_err(|_| problem(format!("the environment variable {variable} is not set"))),
        SecretSource::File(path) => {
            let text = files::read_text(path, MAX_SECRET).map_err(|error| problem(error.to_string()))?;
            Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
        }
    }
}
