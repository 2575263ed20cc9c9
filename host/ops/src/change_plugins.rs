//! Installs, removes, enables and disables plugins of the running host.

use crate::caller::Caller;
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::plugin_set::{PluginSet, PluginSetError};
use mizzen_catalog::change::{ChangeError, NewPackage, Prepared, Removal};
use mizzen_model::namespace::PluginName;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

pub use mizzen_catalog::change::{Approval, Placement, Switch};

impl Host {
    /// Installs a package, or puts it in the place of older versions. Answers with what it asks for, compared to them.
    pub async fn install_plugin(
        &self,
        caller: &Caller,
        bytes: Vec<u8>,
        placement: Placement,
        approval: Approval,
    ) -> Result<Value, OpError> {
        let prepared = self
            .changed("", move |installation| {
                installation.prepare_package(NewPackage {
                    bytes,
                    source: Path::new("the uploaded package"),
                    placement,
                    approval,
                })
            })
            .await?;
        self.record(caller, "install_plugin", &prepared).await?;
        Ok(json!({
            "plugin": prepared.plugin,
            "permissions": prepared.permissions,
            "granted_now": prepared.granted_now,
            "replaced": file_names(&prepared),
            "load_plan_hash": prepared.plan.hash(),
        }))
    }

    /// Removes a plugin, or one version of it.
    pub async fn remove_plugin(
        &self,
        caller: &Caller,
        name: &str,
        version: Option<&str>,
    ) -> Result<(), OpError> {
        let removal = Removal {
            plugin: plugin_name(name)?,
            version: version.map(semver::Version::parse).transpose().map_err(|error| {
                Refusal::BadParameter {
                    name: "version",
                    reason: format!("the version is not MAJOR.MINOR.PATCH: {error}"),
                }
            })?,
        };
        let prepared = self
            .changed(name, move |installation| installation.prepare_removal(&removal))
            .await?;
        self.record(caller, "remove_plugin", &prepared).await
    }

    /// Switches a plugin on or off, all its versions.
    pub async fn switch_plugin(&self, caller: &Caller, name: &str, switch: Switch) -> Result<Value, OpError> {
        let plugin = plugin_name(name)?;
        let prepared = self
            .changed(name, move |installation| {
                installation.prepare_switch(&plugin, switch)
            })
            .await?;
        let (action, state) = match switch {
            Switch::Enable => ("enable_plugin", "enabled"),
            Switch::Disable => ("disable_plugin", "disabled"),
        };
        self.record(caller, action, &prepared).await?;
        Ok(json!({
            "plugin": prepared.plugin,
            "state": state,
            "load_plan_hash": prepared.plan.hash(),
        }))
    }

    async fn changed(
        &self,
        name: &str,
        prepare: impl FnOnce(&mizzen_catalog::change::Installation) -> Result<Prepared, ChangeError>
        + Send
        + 'static,
    ) -> Result<Prepared, OpError> {
        let set: &Arc<PluginSet> = self.plugin_set().ok_or(Refusal::PluginsNotConfigured)?;
        set.change(&self.registry, prepare)
            .await
            .map_err(|error| refused(name, error))
    }

    async fn record(&self, caller: &Caller, action: &str, prepared: &Prepared) -> Result<(), OpError> {
        let mut entry = self.audit(caller, action, prepared.plugin.clone());
        entry.detail = json!({
            "granted_now": prepared.granted_now,
            "grants_removed": prepared.grants_go,
            "load_plan_hash": prepared.plan.hash(),
        })
        .to_string();
        Ok(self.store.record_audit(entry).await?)
    }
}

fn plugin_name(name: &str) -> Result<PluginName, Refusal> {
    PluginName::parse(name).map_err(|_| Refusal::PluginNotFound(name.chars().take(64).collect()))
}

/// Names alone: where the host keeps its files is not for its callers.
fn file_names(prepared: &Prepared) -> Vec<String> {
    let name = |path: &std::path::PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    prepared.remove.iter().filter_map(name).collect()
}

fn refused(name: &str, error: PluginSetError) -> OpError {
    match error {
        PluginSetError::NotConfigured => Refusal::PluginsNotConfigured.into(),
        PluginSetError::Change(ChangeError::Refused(failure)) => Refusal::PluginRefused {
            problems: failure.errors,
        }
        .into(),
        PluginSetError::Change(ChangeError::Conflict(reason)) => Refusal::PluginConflict(reason).into(),
        PluginSetError::Change(ChangeError::NotInstalled(_)) => {
            Refusal::PluginNotFound(name.chars().take(64).collect()).into()
        }
        PluginSetError::Change(ChangeError::Waiting(waiting)) => Refusal::ApprovalNeeded(waiting).into(),
        // The operator's files or machine, not the caller's request.
        error @ (PluginSetError::Change(
            ChangeError::Config(_) | ChangeError::Edit(_) | ChangeError::Trust(_) | ChangeError::File(_),
        )
        | PluginSetError::Secret { .. }
        | PluginSetError::ClearedNeedsPinnedTrust(_)
        | PluginSetError::Broken(_)) => Fault::Internal(error.to_string()).into(),
    }
}
