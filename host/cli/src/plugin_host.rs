//! The plugins of a running host: loaded at start, and again whenever their folders or the configuration change.

use crate::home::{ConfigFile, Home};
use crate::unapplied::Unapplied;
use anyhow::{Context, Result};
use mizzen_engine::Profile;
use mizzen_ops::{Host, PluginSet};
use mizzen_sandbox::{Sandbox, Settings};
use mizzen_store::Store;
use notify::{RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Files change in bursts; one reload serves the burst.
const SETTLE: Duration = Duration::from_millis(200);

/// Where a host's plugins come from.
pub(crate) struct PluginHost {
    /// `mizzen.toml`, when there is one.
    pub(crate) config: Option<PathBuf>,
    /// Where the development key is.
    pub(crate) home: Home,
    /// What the host refuses whatever is granted.
    pub(crate) profile: Profile,
    /// Slots, memory, threads and where artifacts are kept.
    pub(crate) sandbox: Settings,
}

impl PluginHost {
    /// Starts the sandbox and loads the configured set. All problems of the set are reported together.
    pub(crate) async fn start(&self, host: &Host, store: &Store) -> Result<()> {
        tracing::info!("loading plugins");
        let installation = self.file().map(|file| file.installation(&self.home));
        let sandbox = Sandbox::start(self.sandbox.clone())?;
        let set = Arc::new(PluginSet::new(
            installation,
            Arc::new(sandbox),
            store.clone(),
            self.profile,
        ));
        set.reload(&host.registry).await?;
        host.equip(Arc::clone(set.toolbox()));
        host.set_plugins(set);
        Ok(())
    }

    fn file(&self) -> Option<ConfigFile> {
        let config = self.config.clone()?;
        Some(ConfigFile { config })
    }

    /// Begins to watch what plugins are loaded from; none when the configuration does not ask for it. To be called before
    /// [`PluginHost::start`]: what changes while the set is loaded is noticed then.
    pub(crate) fn watch(&self) -> Result<Option<PluginWatch>> {
        let Some(file) = self.file() else {
            return Ok(None);
        };
        // A configuration that cannot be read is refused by the start, which reports it.
        let Some(config) = file.load().ok().filter(|config| config.watch) else {
            return Ok(None);
        };
        let (changed, changes) = mpsc::channel(1);
        let named = [&file.config, &config.trust_file]
            .map(|path| path.file_name().map(OsStr::to_owned).unwrap_or_default());
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // An error of the watcher may have swallowed anything: look.
            if event.is_ok_and(|event| !concerns_plugins(&event, &named)) {
                return;
            }
            // A full channel means that a reload is due anyway.
            let _ = changed.try_send(());
        })?;
        let parents = [&file.config, &config.trust_file]
            .into_iter()
            .map(|path| match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
                _ => PathBuf::from("."),
            });
        let folders: Vec<PathBuf> = config.sources.folders.into_iter().chain(parents).collect();
        let mut watch = PluginWatch {
            unapplied: Unapplied::of(&file.config),
            file,
            watcher,
            watched: BTreeSet::new(),
            changes,
        };
        for folder in folders {
            watch.add(folder)?;
        }
        Ok(Some(watch))
    }
}

/// A watch on plugin folders, configuration and trust file.
pub(crate) struct PluginWatch {
    file: ConfigFile,
    watcher: notify::RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    changes: mpsc::Receiver<()>,
    unapplied: Unapplied,
}

impl PluginWatch {
    fn add(&mut self, folder: PathBuf) -> Result<()> {
        let folder = there(folder);
        if !self.watched.contains(&folder) {
            self.watcher
                .watch(&folder, RecursiveMode::NonRecursive)
                .with_context(|| format!("cannot watch {}", folder.display()))?;
            self.watched.insert(folder);
        }
        Ok(())
    }

    /// Reloads on every change until the host stops. A set that is refused is logged, and the running one stays.
    pub(crate) async fn run(mut self, host: Arc<Host>) {
        let Some(set) = host.plugin_set() else { return };
        tracing::info!("watching the plugin folders");
        while self.changes.recv().await.is_some() {
            tokio::time::sleep(SETTLE).await;
            let _ = self.changes.try_recv();
            // The configuration may name folders that it did not name before.
            let folders = self.file.load().map(|config| config.sources.folders);
            for folder in folders.unwrap_or_default() {
                if let Err(error) = self.add(folder) {
                    tracing::error!("{error:#}");
                }
            }
            if let Err(error) = set.reload(&host.registry).await {
                tracing::error!("the changed plugin set is refused, the running one stays: {error:#}");
            }
            if let Some(sections) = self.unapplied.changed(&self.file.config) {
                tracing::warn!("restart to apply: {sections}");
            }
        }
    }
}

/// The folder, or the nearest one above it that exists: that one notices when the folder is made.
fn there(folder: PathBuf) -> PathBuf {
    let mut above = folder.as_path();
    while !above.as_os_str().is_empty() {
        if above.exists() {
            return above.to_owned();
        }
        let Some(parent) = above.parent() else { break };
        above = parent;
    }
    PathBuf::from(".")
}

/// Whether an event is about packages, the configuration or the trust file. Not so: reading, which is what a reload does itself,
/// and other files in the same folders. A host whose log lies beside its configuration would reload because it reloads.
fn concerns_plugins(event: &notify::Event, named: &[OsString]) -> bool {
    let concerns = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        let is_package = path.extension().is_some_and(|extension| extension == "wasm");
        // `..data` is what a mounted volume of a cluster exchanges instead of its files.
        is_package || name == "..data" || named.iter().any(|own| own == name) || path.is_dir()
    };
    !event.kind.is_access() && (event.paths.is_empty() || event.paths.iter().any(concerns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{AccessKind, CreateKind, ModifyKind, RemoveKind};
    use notify::{Event, EventKind};

    #[test]
    fn a_reload_is_set_off_by_packages_and_configuration_and_not_by_a_log_beside_them() {
        let named = [OsString::from("mizzen.toml"), OsString::from("trust.toml")];
        let create = EventKind::Create(CreateKind::File);
        let modify = EventKind::Modify(ModifyKind::Any);
        let remove = EventKind::Remove(RemoveKind::File);
        let read = EventKind::Access(AccessKind::Any);
        for (kind, path, expected) in [
            (create, "plugins/text-1.0.0.wasm", true),
            (remove, "plugins/text-1.0.0.wasm", true),
            (modify, "./mizzen.toml", true),
            (modify, "etc/trust.toml", true),
            (create, "etc/..data", true),
            (read, "plugins/text-1.0.0.wasm", false),
            (modify, "./serve.log", false),
            (create, "./.mizzen.toml.0123456789abcdef.tmp", false),
            (modify, "./pins.toml", false),
        ] {
            let event = Event::new(kind).add_path(PathBuf::from(path));
            assert_eq!(concerns_plugins(&event, &named), expected, "{kind:?} {path}");
        }
        // A rename has both names.
        let renamed = Event::new(modify)
            .add_path(PathBuf::from("./.mizzen.toml.0123456789abcdef.tmp"))
            .add_path(PathBuf::from("./mizzen.toml"));
        assert!(concerns_plugins(&renamed, &named));
        assert!(concerns_plugins(&Event::new(EventKind::Any), &named));
    }
}
