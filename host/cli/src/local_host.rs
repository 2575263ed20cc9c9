//! A host in this process, for verbs that need no server: data folder, plugins, keys and runs, as `mizzen serve` has them.

use crate::data::signing_key;
use crate::home::Home;
use crate::plugin_host::PluginHost;
use crate::settings::Settings;
use anyhow::{Context, Result};
use mizzen_ops::{Clock, Host, HostKey, Runs, SystemClock};
use mizzen_store::{FolderLock, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a host keeps what it keeps.
pub(crate) enum Place {
    /// A folder that must be there.
    Existing(PathBuf),
    /// A folder that is made when it is missing.
    Made(PathBuf),
    /// A folder that is gone when the host is closed.
    Temporary,
}

/// A host in this process. No other process works on its folder meanwhile.
pub(crate) struct LocalHost {
    /// The host.
    pub(crate) host: Arc<Host>,
    store: Store,
    _lock: FolderLock,
    /// Dropped last, when nothing is open in it any more.
    temporary: Option<tempfile::TempDir>,
}

impl LocalHost {
    /// Opens the folder and loads the plugins of the configuration, if there is one.
    pub(crate) async fn open(place: Place, config: Option<PathBuf>, home: Home) -> Result<Self> {
        let settings = match &config {
            Some(config) => Settings::load(Some(config))?,
            None => Settings::default(),
        };
        let (folder, temporary) = match &place {
            Place::Existing(folder) | Place::Made(folder) => (folder.clone(), None),
            Place::Temporary => {
                let folder = tempfile::Builder::new()
                    .prefix("mizzen-")
                    .tempdir()
                    .context("cannot make a temporary data folder; name one with --data DIR")?;
                (folder.path().to_owned(), Some(folder))
            }
        };
        let mut sandbox = settings.sandbox(&folder)?;
        if temporary.is_some() {
            // Compiled code outlives the folder: the next host that is made for one run starts at once.
            sandbox.cache = Some(home.folder()?.join("artifacts"));
        }
        let options = settings.store(SystemClock.now_ms());
        let (lock, store) = match place {
            Place::Existing(folder) => {
                if !folder.is_dir() {
                    anyhow::bail!(
                        "there is no data folder {}; name one with --data DIR",
                        folder.display()
                    );
                }
                (
                    FolderLock::take(&folder)?,
                    Store::open_existing(&folder, &options)?,
                )
            }
            Place::Made(_) | Place::Temporary => {
                (FolderLock::take(&folder)?, Store::open(&folder, &options)?)
            }
        };
        let mut host = Host::new(store.clone());
        host.prompts = settings.prompts();
        host.hooks = settings.hooks()?;
        host.runs = Runs::new(settings.runs()?);
        let host = Arc::new(host);
        let plugins = PluginHost {
            config,
            home,
            profile: settings.profile(),
            sandbox,
        };
        plugins.start(&host, &store).await?;
        host.sign_with(HostKey::new(signing_key(&folder, &store).await?));
        Ok(Self {
            host,
            store,
            _lock: lock,
            temporary,
        })
    }

    /// Whether everything is gone when the host is closed.
    pub(crate) const fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// Closes the store, so that what was written stays in one file.
    pub(crate) async fn close(self) {
        self.store.close().await;
    }
}

/// The configuration that was named, or a `mizzen.toml` in reach: here, or beside a file.
pub(crate) fn config_in_reach(named: Option<&Path>, beside: Option<&Path>) -> Option<PathBuf> {
    const USUAL: &str = "mizzen.toml";
    named.map(Path::to_owned).or_else(|| {
        let beside = beside.and_then(Path::parent).map(|folder| folder.join(USUAL));
        [Some(PathBuf::from(USUAL)), beside]
            .into_iter()
            .flatten()
            // What is there and cannot be read is refused: the defaults would not be what the operator wants.
            .find(|path| path.exists())
    })
}
