//! Installs, removes, enables and disables plugins of the running host.

use crate::caller::Caller;
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::plugin_set::{PluginSet, PluginSetError};
use crate::toolbox::ToolChanges;
use mizzen_catalog::change::{ChangeError, GrantsFate, NewPackage, PreparedChange, Removal, Switching};
use mizzen_model::namespace::PluginName;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

pub use mizzen_catalog::change::{Approval, Direction, Placement, Switch};

/// A package that a caller wants installed.
#[derive(Debug)]
pub struct PluginUpload {
    /// The package.
    pub bytes: Vec<u8>,
    /// What becomes of the installed versions.
    pub placement: Placement,
    /// Whether what it asks for is granted.
    pub approval: Approval,
    /// Whether it may be older than what the host has had.
    pub direction: Direction,
}

impl Host {
    /// Installs a package, or puts it in the place of older versions. Answers with what it asks for, compared to them.
    pub async fn install_plugin(&self, caller: &Caller, upload: PluginUpload) -> Result<Value, OpError> {
        let direction = upload.direction;
        let before = self.loaded();
        let prepared = self
            .changed("", direction, move |installation| {
                installation.prepare_package(NewPackage {
                    bytes: upload.bytes,
                    source: Path::new("the uploaded package"),
                    placement: upload.placement,
                    approval: upload.approval,
                    direction,
                })
            })
            .await?;
        self.record(caller, "install_plugin", &prepared).await?;
        let name = prepared.plugin.split('@').next().unwrap_or_default();
        let tools = ToolChanges::between(&before, &self.loaded(), name);
        Ok(json!({
            "plugin": prepared.plugin,
            "permissions": prepared.changes.as_ref().map(|changes| &changes.permissions),
            "limits": prepared.changes.as_ref().map(|changes| &changes.limits),
            "namespaces": prepared.changes.as_ref().map(|changes| &changes.namespaces),
            "tools": tools,
            "granted_now": prepared.granted_now,
            "grants_dropped": prepared.grants_dropped,
            "replaced": file_names(&prepared),
            "load_plan_hash": prepared.hash(),
        }))
    }

    /// Removes a plugin, or one version of it.
    pub async fn remove_plugin(
        &self,
        caller: &Caller,
        name: &str,
        version: Option<&str>,
        direction: Direction,
    ) -> Result<(), OpError> {
        let removal = Removal {
            plugin: plugin_name(name)?,
            version: version.map(semver::Version::parse).transpose().map_err(|error| {
                Refusal::BadParameter {
                    name: "version",
                    reason: format!("the version is not MAJOR.MINOR.PATCH: {error}"),
                }
            })?,
            grants: GrantsFate::Go,
            direction,
        };
        let prepared = self
            .changed(name, direction, move |installation| {
                installation.prepare_removal(&removal)
            })
            .await?;
        self.record(caller, "remove_plugin", &prepared).await
    }

    /// Switches a plugin on or off, all its versions.
    pub async fn switch_plugin(
        &self,
        caller: &Caller,
        name: &str,
        switch: Switch,
        direction: Direction,
    ) -> Result<Value, OpError> {
        let switching = Switching {
            plugin: plugin_name(name)?,
            version: None,
            switch,
            direction,
        };
        let prepared = self
            .changed(name, direction, move |installation| {
                installation.prepare_switch(&switching)
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
            "load_plan_hash": prepared.hash(),
        }))
    }

    async fn changed(
        &self,
        name: &str,
        direction: Direction,
        prepare: impl FnOnce(&mizzen_catalog::change::Installation) -> Result<PreparedChange, ChangeError>
        + Send
        + 'static,
    ) -> Result<PreparedChange, OpError> {
        let set: &Arc<PluginSet> = self.plugin_set().ok_or(Refusal::PluginsNotConfigured)?;
        set.change(&self.registry, direction, prepare)
            .await
            .map_err(|error| refused(name, error))
    }

    async fn record(&self, caller: &Caller, action: &str, prepared: &PreparedChange) -> Result<(), OpError> {
        let mut entry = self.audit(caller, action, prepared.plugin.clone());
        entry.detail = json!({
            "granted_now": prepared.granted_now,
            "grants_removed": prepared.grants_go,
            "settings_removed": prepared.settings_go,
            "grants_dropped": prepared.grants_dropped,
            "load_plan_hash": prepared.hash(),
        })
        .to_string();
        Ok(self.store.record_audit(entry).await?)
    }
}

fn plugin_name(name: &str) -> Result<PluginName, Refusal> {
    PluginName::parse(name).map_err(|_| Refusal::PluginNotFound(name.chars().take(64).collect()))
}

/// Names alone: where the host keeps its files is not for its callers.
fn file_names(prepared: &PreparedChange) -> Vec<String> {
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
        PluginSetError::Change(ChangeError::Older(older)) => Refusal::PluginDowngrade(older).into(),
        PluginSetError::Change(ChangeError::Waiting(waiting)) => Refusal::ApprovalNeeded(waiting).into(),
        PluginSetError::Ungoverned(error) => Refusal::PluginConflict(error.to_string()).into(),
        PluginSetError::Store(error) => error.into(),
        // The operator's files or machine, not the caller's request.
        error @ (PluginSetError::Change(
            ChangeError::Config(_) | ChangeError::Edit(_) | ChangeError::Trust(_) | ChangeError::File(_),
        )
        | PluginSetError::Secret { .. }
        | PluginSetError::ClearedNeedsPinnedTrust(_)
        | PluginSetError::Broken(_)) => Fault::Internal(error.to_string()).into(),
    }
}
