//! Whether a host would run a set: compiled, described, registered and mounted beside what runs, which stays as it is.
//!
//! The command line asks before it writes a change, the running host before it exchanges its set: one path, so that neither accepts
//! what the other refuses. What governs a data folder is the running host's to judge, see [`crate::PluginSet`].

use crate::outgoing::{Outgoing, OutgoingLimits, PrivateHosts, Purpose};
use crate::plugin_set::{PluginSetError, read_secrets};
use crate::toolbox::{OpenKv, Outfit, SecretValues, Toolbox, Tried, Unconfigured};
use mizzen_catalog::change::ChangeError;
use mizzen_catalog::config::PluginConfig;
use mizzen_catalog::load::unread_settings;
use mizzen_catalog::trust::TrustMode;
use mizzen_catalog::{LoadFailure, LoadPlan};
use mizzen_engine::{CallPolicy, Profile};
use mizzen_sandbox::Secret;
use std::sync::Arc;

/// What is known of the secrets that a configuration names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// Their values: the set is to run.
    Read,
    /// Their names. A variable of the host's environment need not be set in the shell of the operator who installs a plugin.
    Named,
}

/// A set to try.
pub struct SetTrial<'a> {
    /// The configuration that it belongs to.
    pub config: &'a PluginConfig,
    /// The set, after all static stages.
    pub plan: &'a LoadPlan,
    /// What the host refuses whatever is granted.
    pub profile: Profile,
    /// What is known of the secrets.
    pub secrets: Secrets,
    /// Where plugins keep their values.
    pub kv: Arc<OpenKv>,
}

impl SetTrial<'_> {
    /// Takes the set through the remaining stages. The set that runs in the toolbox stays.
    ///
    /// # Errors
    /// With all problems of the set, or the first of what surrounds it.
    pub async fn run(self, toolbox: &Arc<Toolbox>) -> Result<Tried, PluginSetError> {
        if self.profile == Profile::Cleared && self.config.mode != TrustMode::Pinned {
            return Err(PluginSetError::ClearedNeedsPinnedTrust(self.config.mode));
        }
        let plan = self.plan;
        let unread = unread_settings(self.config.settings.keys(), plan);
        let outfit = Arc::new(self.outfit()?);
        let failure = match toolbox.try_out(plan, outfit).await {
            Ok(tried) if unread.is_empty() => return Ok(tried),
            Ok(_) => LoadFailure { errors: unread },
            Err(mut failure) => {
                failure.errors.extend(unread);
                failure
            }
        };
        Err(ChangeError::from(failure).into())
    }

    fn outfit(self) -> Result<Outfit, PluginSetError> {
        let config = self.config;
        let secrets = match self.secrets {
            Secrets::Read => read_secrets(config)?,
            Secrets::Named => named(config),
        };
        let private_hosts: PrivateHosts = Arc::new(config.private_hosts.clone());
        let http =
            Outgoing::system(OutgoingLimits::default()).serving(Purpose::Plugins(Arc::clone(&private_hosts)));
        Ok(Outfit {
            settings: config.settings.clone(),
            secrets,
            http: Some(Arc::new(http)),
            private_hosts,
            kv: self.kv,
            policy: CallPolicy {
                profile: self.profile,
                ..CallPolicy::default()
            },
            governance: config.governance.clone(),
            unconfigured: Unconfigured::Refused,
        })
    }
}

fn named(config: &PluginConfig) -> SecretValues {
    let names = config.secrets.keys();
    names
        .map(|name| (name.clone(), Secret::new(String::new())))
        .collect()
}
