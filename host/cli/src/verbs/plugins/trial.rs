//! Whether the host would run a set, asked before anything of it is written or shown as ready.

use crate::home::{ConfigFile, Home};
use crate::settings::Settings;
use crate::workbench::Workbench;
use anyhow::Result;
use mizzen_catalog::change::{ChangeError, Installation, PreparedChange};
use mizzen_catalog::config::PluginConfig;
use mizzen_catalog::{LoadFailure, LoadPlan};
use mizzen_engine::Profile;
use mizzen_ops::toolbox::{Outfit, Tried};
use mizzen_ops::{PluginSetError, Secrets};

/// A sandbox in which sets of one host are tried: every stage of the host's own loader, its settings and its mounts.
pub(super) struct Trial {
    bench: Workbench,
    profile: Profile,
}

/// Of every function here, the outer error is ours or the configuration's, the inner one is the set's.
impl Trial {
    pub(super) fn of(config: &ConfigFile, home: &Home) -> Result<Self> {
        Ok(Self {
            profile: Settings::load(Some(&config.config))?.profile(),
            bench: Workbench::empty(Outfit::default(), home)?,
        })
    }

    /// Tries a set.
    pub(super) fn set(&self, config: &PluginConfig, plan: &LoadPlan) -> Result<Result<Tried, LoadFailure>> {
        match self.bench.try_set(config, plan, self.profile, Secrets::Named) {
            Ok(tried) => Ok(Ok(tried)),
            Err(PluginSetError::Change(ChangeError::Refused(failure))) => Ok(Err(failure)),
            Err(error) => Err(error.into()),
        }
    }

    /// Tries a change. One whose set is known not to load stays as it was judged.
    pub(super) fn prepared(&self, prepared: &mut PreparedChange) -> Result<Result<(), LoadFailure>> {
        let Ok(plan) = &prepared.plan else {
            return Ok(Ok(()));
        };
        match self.set(&prepared.config, plan)? {
            Ok(tried) => {
                // What `tofu` remembers of a namespace in which something is described and that is not claimed.
                prepared.described_pins = tried.loaded().registry().new_pins().to_vec();
                Ok(Ok(()))
            }
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// Tries a change that takes something away. A set that did not load before need not load afterwards, as long as no problem is
    /// new: otherwise two bad plugins would keep each other installed.
    pub(super) fn without(
        &self,
        installation: &Installation,
        prepared: &mut PreparedChange,
    ) -> Result<Result<(), LoadFailure>> {
        let Err(failure) = self.prepared(prepared)? else {
            return Ok(Ok(()));
        };
        let is_known = match installation.plan() {
            Ok((config, plan)) => match self.set(&config, &plan)? {
                Ok(_) => false,
                Err(before) => failure.errors.iter().all(|error| before.errors.contains(error)),
            },
            // Its files alone are refused; nothing is known of the stages after that.
            Err(ChangeError::Refused(_)) => true,
            Err(error) => return Err(error.into()),
        };
        if is_known {
            prepared.plan = Err(failure);
            Ok(Ok(()))
        } else {
            Ok(Err(failure))
        }
    }

    /// Tries a change that is made in any case.
    pub(super) fn regardless(&self, prepared: &mut PreparedChange) -> Result<()> {
        if let Err(failure) = self.prepared(prepared)? {
            prepared.plan = Err(failure);
        }
        Ok(())
    }
}
