//! The plugins of a running host: loaded at start, and again whenever their folders or the configuration change.

use crate::home::{ConfigFile, Home};
use anyhow::{Context, Result};
use mizzen_catalog::config::{PluginConfig, SecretSource};
use mizzen_catalog::load::load_set;
use mizzen_catalog::trust::{Pins, TrustMode};
use mizzen_catalog::{LoadPlan, files};
use mizzen_ops::Host;
use mizzen_ops::outgoing::{Outgoing, OutgoingLimits};
use mizzen_ops::toolbox::{Outfit, SecretValues, StoreKv, Toolbox};
use mizzen_sandbox::{Sandbox, Secret, Settings};
use mizzen_store::{KvLimits, Store};
use notify::{RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// A secret is a line, not a file.
const MAX_SECRET: u64 = 64 << 10;
/// Files change in bursts; one reload serves the burst.
const SETTLE: Duration = Duration::from_millis(200);

/// Where a host's plugins come from, and the toolbox they are loaded into.
pub(crate) struct PluginHost {
    config: Option<ConfigFile>,
    home: Home,
    toolbox: Arc<Toolbox>,
}

impl PluginHost {
    /// Starts the sandbox and loads the configured set. All problems of the set are reported together.
    pub(crate) async fn start(
        config: Option<PathBuf>,
        home: Home,
        data: &Path,
        host: &Host,
        store: &Store,
    ) -> Result<Self> {
        let config = config.map(|config| ConfigFile { config });
        let sandbox = Sandbox::start(Settings {
            cache: Some(data.join("artifacts")),
            ..Settings::default()
        })?;
        let outfit = match &config {
            Some(file) => outfit(&file.load()?, store)?,
            None => Outfit::default(),
        };
        let this = Self {
            config,
            home,
            toolbox: Toolbox::new(Arc::new(sandbox), outfit),
        };
        this.load(host).await?;
        host.equip(Arc::clone(&this.toolbox));
        Ok(this)
    }

    /// Reads configuration, trust and folders anew and loads what they say, or leaves everything as it is.
    pub(crate) async fn load(&self, host: &Host) -> Result<()> {
        let Some(file) = &self.config else { return Ok(()) };
        let (config, terms) = file.terms(&self.home)?;
        let sources = config.sources.clone();
        let plan = tokio::task::spawn_blocking(move || load_set(&sources, &terms)).await??;
        let loaded = self.toolbox.load(&plan).await?;
        remember_pins(&config, &plan)?;
        host.registry.replace(loaded.installed());
        Ok(())
    }

    /// Reloads on every change until the host stops. A set that is refused is logged, and the running one stays.
    pub(crate) async fn watch(self: Arc<Self>, host: Arc<Host>) -> Result<()> {
        let Some(file) = self.config.clone() else {
            return Ok(());
        };
        let config = file.load()?;
        if !config.watch {
            return Ok(());
        }
        let (changed, mut changes) = mpsc::channel(1);
        let mut watcher = notify::recommended_watcher(move |_| {
            // A full channel means that a reload is due anyway.
            let _ = changed.try_send(());
        })?;
        let parents = [&file.config, &config.trust_file]
            .into_iter()
            .map(|path| match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
                _ => PathBuf::from("."),
            });
        for folder in config.sources.folders.iter().cloned().chain(parents) {
            watcher
                .watch(&folder, RecursiveMode::NonRecursive)
                .with_context(|| format!("cannot watch {}", folder.display()))?;
        }
        tracing::info!("watching the plugin folders");
        while changes.recv().await.is_some() {
            tokio::time::sleep(SETTLE).await;
            let _ = changes.try_recv();
            if let Err(error) = self.load(&host).await {
                tracing::error!("the changed plugin set is refused, the running one stays: {error:#}");
            }
        }
        Ok(())
    }
}

/// Pinned only now: the signature of every plugin was verified and the whole set was loaded.
fn remember_pins(config: &PluginConfig, plan: &LoadPlan) -> Result<()> {
    if config.mode == TrustMode::Tofu && !plan.new_pins().is_empty() {
        plan.pins(Pins::load(&config.pins_file)?)
            .save(&config.pins_file)?;
    }
    Ok(())
}

fn outfit(config: &PluginConfig, store: &Store) -> Result<Outfit> {
    let mut secrets = SecretValues::new();
    for (name, source) in &config.secrets {
        secrets.insert(name.clone(), Secret::new(secret(name, source)?));
    }
    let store = store.clone();
    Ok(Outfit {
        settings: config.settings.clone(),
        secrets,
        http: Some(Arc::new(Outgoing::system(OutgoingLimits::default()))),
        kv: Arc::new(move |plugin| {
            Arc::new(StoreKv::new(store.clone(), plugin.as_str(), KvLimits::default()))
        }),
        ..Outfit::default()
    })
}

fn secret(name: &str, source: &SecretSource) -> Result<String> {
    match source {
        SecretSource::Environment(variable) => std::env::var(variable)
            .with_context(|| format!("secret `{name}`: the environment variable {variable} is not set")),
        SecretSource::File(path) => {
            let text = files::read_text(path, MAX_SECRET).with_context(|| format!("secret `{name}`"))?;
            Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
        }
    }
}
