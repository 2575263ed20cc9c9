//! What would keep a host from starting: for `mizzen doctor` and `mizzen serve --check`.
//!
//! Everything that `serve` reads before it listens is read here by the same functions, and every problem is collected instead of the
//! first. Nothing is written and no port is taken, so it may run beside the server.

use crate::data::{Data, host_secret_key};
use crate::home::{ConfigFile, Home};
use crate::settings::Settings;
use crate::workbench::Workbench;
use anyhow::{Context as _, Result};
use mizzen_catalog::config::PluginConfig;
use mizzen_engine::Profile;
use mizzen_ops::toolbox::Outfit;
use mizzen_ops::{Host, Secrets, check_governing_mounts};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

/// A host to look at.
pub(crate) struct ExamineHost<'a> {
    /// `mizzen.toml`, when there is one.
    pub(crate) config: Option<&'a Path>,
    /// What the host keeps; it need not exist yet.
    pub(crate) data: &'a Data,
    /// Where the development key is.
    pub(crate) home: &'a Home,
    /// Where it is to listen instead of where the configuration says.
    pub(crate) listen: Option<&'a str>,
}

#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    /// The value, or its problem on the list.
    fn keep<T>(&mut self, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.push(format!("{error:#}"));
                None
            }
        }
    }
}

impl ExamineHost<'_> {
    /// Every problem, in the order in which a start would meet them.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut found = Found::default();
        let settings = match self.config {
            Some(config) => found.keep(Settings::load(Some(config))),
            None => Some(Settings::default()),
        };
        let address = settings
            .as_ref()
            .and_then(|settings| self.settings(settings, &mut found));
        let config = self.config.and_then(|config| {
            let file = ConfigFile {
                config: config.to_owned(),
            };
            found.keep(file.load())
        });
        let profile = settings.as_ref().map_or(Profile::Open, Settings::profile);
        if let Some(config) = &config {
            self.plugins(config, profile, &mut found);
        }
        found.keep(host_secret_key(self.data.folder()));
        // Before the first start there is nothing to look at.
        if self.data.has_store() {
            let looked = self.store(config.as_ref(), profile, address);
            for problem in found.keep(looked).unwrap_or_default() {
                found.0.push(problem);
            }
        } else if let Some(problem) = keyless(profile, address) {
            found.0.push(problem);
        }
        found.0
    }

    /// The parts of `mizzen.toml` that are not about plugins. Answers with the address to listen on.
    fn settings(&self, settings: &Settings, found: &mut Found) -> Option<SocketAddr> {
        let listen = self.listen.unwrap_or(settings.listen());
        let address = found.keep(address(listen));
        let tls = settings
            .server()
            .and_then(|server| Ok(server.check_tls()?))
            .context("[server]");
        found.keep(tls);
        found.keep(settings.hooks().map(drop).context("[hooks], [channels]"));
        found.keep(settings.runs().map(drop).context("[runs]"));
        found.keep(settings.telemetry().map(drop).context("[telemetry]"));
        found.keep(
            settings
                .sandbox(self.data.folder())
                .map(drop)
                .context("[sandbox]"),
        );
        address
    }

    /// The set, through every stage, with the secrets that the host would read.
    fn plugins(&self, config: &PluginConfig, profile: Profile, found: &mut Found) {
        let Some(path) = self.config else { return };
        let file = ConfigFile {
            config: path.to_owned(),
        };
        let Some((_, plan)) = found.keep(file.installation(self.home).plan().map_err(Into::into)) else {
            return;
        };
        let Some(bench) = found.keep(Workbench::empty(Outfit::default(), self.home)) else {
            return;
        };
        // Without the secrets first: one that is missing must not hide what is wrong with the set.
        let tried = bench.try_set(config, &plan, profile, Secrets::Named);
        found.keep(tried.map(drop).map_err(Into::into));
        found.keep(mizzen_ops::read_secrets(config).map(drop).map_err(Into::into));
    }

    /// What the data folder asks of the configuration.
    fn store(
        &self,
        config: Option<&PluginConfig>,
        profile: Profile,
        address: Option<SocketAddr>,
    ) -> Result<Vec<String>> {
        let mounts = config.map(|config| config.governance.clone()).unwrap_or_default();
        self.data.with_existing_store(|store| async move {
            let mut problems = Vec::new();
            if let Err(error) = check_governing_mounts(&store.governing_packs().await?, &mounts) {
                problems.push(error.to_string());
            }
            if !Host::new(store).has_live_key().await? {
                problems.extend(keyless(profile, address));
            }
            Ok(problems)
        })
    }
}

/// Why a host without API keys does not start.
fn keyless(profile: Profile, address: Option<SocketAddr>) -> Option<String> {
    if profile == Profile::Cleared {
        return Some(CLEARED_WITHOUT_KEYS.to_owned());
    }
    let address = address.filter(|address| !address.ip().is_loopback())?;
    Some(mizzen_server::ServeError::NoKeys(address).to_string())
}

/// Why a host with the profile `cleared` does not start without a key.
pub(crate) const CLEARED_WITHOUT_KEYS: &str = "the profile `cleared` needs authentication, and no API key exists; make one with `mizzen key api new --grant admin`";

/// `ADDR:PORT`, or a name that stands for one.
pub(crate) fn address(text: &str) -> Result<SocketAddr> {
    let text = text.strip_prefix("http://").unwrap_or(text);
    text.to_socket_addrs()
        .with_context(|| {
            format!("{text:?} is not an address to listen on; write ADDR:PORT, e.g. 127.0.0.1:0")
        })?
        .next()
        .with_context(|| format!("{text:?} stands for no address"))
}

/// The configuration that `serve` reads: the named one, or `mizzen.toml` when there is one.
pub(crate) fn usual_config(named: Option<PathBuf>) -> Option<PathBuf> {
    const USUAL: &str = "mizzen.toml";
    named.or_else(|| Path::new(USUAL).exists().then(|| USUAL.into()))
}
