//! Where this user's keys are, and where the host's configuration is.

use anyhow::{Context, Result, anyhow};
use mizzen_catalog::Terms;
use mizzen_catalog::change::Installation;
use mizzen_catalog::config::{ConfigError, PluginConfig};
use mizzen_catalog::grants::GrantPolicy;
use mizzen_catalog::key::{DEV_KEY, KeyId, KeyName, KeyStore, KeyStoreError};
use mizzen_catalog::trust::{Policy, TrustMode, TrustStore, TrustedKey, UnixTime};
use mizzen_model::namespace::NamespacePattern;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sections of `mizzen.toml` that are read elsewhere than in the catalog.
pub(crate) const OTHER_SECTIONS: &[&str] = &[
    "host",
    "server",
    "store",
    "sandbox",
    "prompts",
    "hooks",
    "channels",
    "runs",
    "telemetry",
];

/// The user's folder.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Home {
    /// The folder with your keys [default: $XDG_CONFIG_HOME/mizzen, or ~/.config/mizzen]
    // Under a heading of its own it stands last: most calls do not need it.
    #[arg(
        long,
        value_name = "DIR",
        env = "MIZZEN_HOME",
        hide_env = true,
        global = true,
        help_heading = "Global options"
    )]
    home: Option<PathBuf>,
}

impl Home {
    /// Another folder than the user's own, for the demo.
    pub(crate) const fn at(folder: PathBuf) -> Self {
        Self { home: Some(folder) }
    }

    /// The folder; it need not exist yet.
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        if let Some(home) = &self.home {
            return Ok(home.clone());
        }
        absolute("XDG_CONFIG_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".config")))
            .map(|config| config.join("mizzen"))
            .context("there is no home folder; say where your keys are with --home DIR or MIZZEN_HOME")
    }

    /// Where cargo keeps what it compiles for the plugins of this user: in the user's cache, or in the folder that was named. None
    /// where there is no home folder; a plugin has one of its own then.
    pub(crate) fn target_folder(&self) -> Option<PathBuf> {
        if let Some(home) = &self.home {
            return Some(home.join("target"));
        }
        absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .map(|cache| cache.join("mizzen").join("target"))
    }

    /// The keys.
    pub(crate) fn keys(&self) -> Result<KeyStore> {
        Ok(KeyStore::new(self.folder()?.join("keys")))
    }

    /// The id of the development key, if there is one.
    pub(crate) fn dev_key(&self) -> Result<Option<KeyId>> {
        match self.keys()?.public(&KeyName::parse(DEV_KEY)?) {
            Ok(entry) => Ok(Some(entry.id)),
            Err(KeyStoreError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The terms of an author who tries the own plugin: the keys of this user may sign for everything, and whatever
    /// the plugin declares is granted. Never the terms of a host.
    pub(crate) fn author_terms(&self) -> Result<Terms> {
        let mut store = TrustStore::default();
        for key in self.keys()?.list()? {
            store.keys.insert(
                key.id,
                TrustedKey {
                    public_key: key.public_key,
                    comment: key.comment,
                    not_before: None,
                    not_after: None,
                    namespaces: vec![NamespacePattern::Any],
                },
            );
        }
        let policy = Policy {
            mode: TrustMode::Dev,
            store,
            dev_key: self.dev_key()?,
            ..Policy::default()
        };
        Ok(Terms::new(policy, GrantPolicy::AsDeclared, UnixTime::now()))
    }
}

/// The folder that a variable names, if it is one.
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// The host's configuration.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConfigFile {
    /// The host's configuration
    #[arg(long, value_name = "FILE", default_value = "mizzen.toml")]
    pub(crate) config: PathBuf,
}

impl ConfigFile {
    /// Reads the plugin parts.
    pub(crate) fn load(&self) -> Result<PluginConfig> {
        load_config(&self.config)
    }

    /// What is installed on the host that this file configures.
    pub(crate) fn installation(&self, home: &Home) -> Installation {
        let home = home.clone();
        let dev_key = move || match home.dev_key() {
            Ok(key) => key,
            Err(error) => {
                tracing::warn!("the development key cannot be read: {error:#}");
                None
            }
        };
        Installation {
            config: self.config.clone(),
            other_sections: OTHER_SECTIONS,
            dev_key: Arc::new(dev_key),
        }
    }

    /// The plugin parts, and the terms that follow from them now.
    pub(crate) fn terms(&self, home: &Home) -> Result<(PluginConfig, Terms)> {
        let config = self.load()?;
        let dev_key = if config.mode == TrustMode::Dev {
            home.dev_key()?
        } else {
            None
        };
        let terms = config.terms(dev_key, UnixTime::now())?;
        Ok((config, terms))
    }
}

fn load_config(path: &Path) -> Result<PluginConfig> {
    PluginConfig::load(path, OTHER_SECTIONS).map_err(|error| match error {
        ConfigError::File(file) if file.is_missing() => anyhow!(
            "there is no {}: a host's plugins are named there; name another file with --config, or make one with these two lines:\n\n  \
             [plugins]\n  folders = [\"plugins\"]\n",
            path.display()
        ),
        other => anyhow!(other).context("the host's configuration is not usable; name another with --config FILE"),
    })
}
