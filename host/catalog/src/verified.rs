//! A plugin that has passed every static stage. Only this crate can make one, and the sandbox takes nothing else.

use crate::key::{KeyId, PublicKey};
use crate::package::Digest;
use crate::trust::{Decision, Policy, Refusal, UnixTime};
use mizzen_model::limits::Limits;
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::{Namespace, PluginName};
use mizzen_model::permission::{Effective, PermissionSet};
use semver::Version;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Evidence that a plugin was read, signed, trusted, and asks for nothing that was not declared and granted.
#[derive(Debug, Clone)]
pub struct VerifiedPlugin {
    pub(crate) file: PathBuf,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) component: Arc<[u8]>,
    pub(crate) digest: Digest,
    pub(crate) signers: Vec<KeyId>,
    pub(crate) decision: Decision,
    pub(crate) judge: Judge,
    pub(crate) declared: Arc<PermissionSet>,
    pub(crate) granted: Arc<PermissionSet>,
    pub(crate) ceiling: Limits,
    pub(crate) imports: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// The terms on which a plugin was trusted, kept for what it describes: a namespace below a claimed one may need more signatures
/// or another key, and nothing is registered without that check.
#[derive(Debug, Clone)]
pub(crate) struct Judge {
    /// With what the set itself pins.
    pub(crate) policy: Arc<Policy>,
    pub(crate) signers: Vec<PublicKey>,
    pub(crate) now: UnixTime,
}

impl VerifiedPlugin {
    /// Decides about a namespace that the plugin describes something in, as about one that it claims.
    pub(crate) fn judge(&self, namespace: &Namespace) -> Result<Decision, Refusal> {
        if self.manifest.namespaces().contains(namespace) {
            return Ok(Decision::default());
        }
        let Judge { policy, signers, now } = &self.judge;
        policy.decide_described(namespace, signers, *now)
    }

    /// `name@version`, unique in a set.
    pub fn id(&self) -> String {
        format!("{}@{}", self.name(), self.version())
    }

    /// The plugin's name.
    pub fn name(&self) -> &PluginName {
        self.manifest.name()
    }

    /// The plugin's version.
    pub fn version(&self) -> &Version {
        self.manifest.version()
    }

    /// The manifest.
    pub const fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The file it was read from.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The component with its manifest section, without signatures: the bytes that are compiled.
    pub const fn component(&self) -> &Arc<[u8]> {
        &self.component
    }

    /// The digest of [`Self::component`].
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The keys whose signatures were verified.
    pub fn signers(&self) -> &[KeyId] {
        &self.signers
    }

    /// Why it is trusted.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// What the author declared.
    pub const fn declared(&self) -> &Arc<PermissionSet> {
        &self.declared
    }

    /// What the operator granted.
    pub const fn granted(&self) -> &Arc<PermissionSet> {
        &self.granted
    }

    /// What the plugin may do: declared ∩ granted. Narrow it by the tool's own permissions before a call.
    pub fn effective(&self) -> Effective {
        Effective::new(Arc::clone(&self.declared), Arc::clone(&self.granted))
    }

    /// The interfaces that the component imports.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// The limits of a call into the plugin.
    pub fn limits(&self) -> Limits {
        self.manifest.limits().within(self.ceiling)
    }

    /// The limits of a call of one tool, by its name without namespace.
    pub fn tool_limits(&self, tool: &str) -> Limits {
        let limits = self.limits();
        self.manifest
            .tool_limits(tool)
            .map_or(limits, |draft| draft.narrow(limits))
    }

    /// Warnings.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
