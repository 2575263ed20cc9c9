//! Finding what was entered: by id, with or without a version requirement.

use super::{RegisteredItem, RegisteredTool};
use crate::key::KeyId;
use crate::requirement::ToolRequirement;
use mizzen_model::manifest::Provides;
use mizzen_model::namespace::{Namespace, ToolId};
use semver::Version;
use std::collections::BTreeMap;

/// Everything that can be called.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    pub(super) tools: BTreeMap<ToolId, Vec<RegisteredTool>>,
    pub(super) items: BTreeMap<(Provides, String), Vec<RegisteredItem>>,
    pub(super) new_pins: Vec<(Namespace, KeyId)>,
    pub(super) warnings: Vec<String>,
}

/// Nothing fits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no such tool.
    #[error("there is no tool `{0}`; `mizzen plugins list` shows what is installed")]
    Unknown(ToolId),
    /// There is, but in no version that matches.
    #[error("no installed version matches `{requirement}`; installed: {installed}")]
    NoVersion {
        /// The requirement.
        requirement: String,
        /// The installed versions.
        installed: String,
    },
}

impl Registry {
    /// The tool that a requirement means. Without a version: the one of the default plugin version, else the newest.
    /// With one: the highest version of the tool that matches; among equals, the default plugin version, then the newest.
    ///
    /// # Errors
    /// When there is no such tool, or no version that matches.
    pub fn resolve(&self, wanted: &ToolRequirement) -> Result<&RegisteredTool, ResolveError> {
        let versions = self
            .tools
            .get(wanted.id())
            .ok_or_else(|| ResolveError::Unknown(wanted.id().clone()))?;
        let fitting = versions
            .iter()
            .filter(|tool| wanted.matches(tool.spec().version()));
        let rank = |tool: &&RegisteredTool| {
            let plugin = tool.plugin().version().clone();
            let own = wanted.names_version().then(|| tool.spec().version().clone());
            (own, tool.is_default(), plugin)
        };
        fitting.max_by_key(rank).ok_or_else(|| {
            let installed: Vec<String> = versions
                .iter()
                .map(|tool| tool.spec().version().to_string())
                .collect();
            ResolveError::NoVersion {
                requirement: wanted.to_string(),
                installed: installed.join(", "),
            }
        })
    }

    /// The tool of exactly this id and version; of several plugin versions that have it, the default one, then the newest.
    pub fn tool(&self, id: &str, version: &Version) -> Option<&RegisteredTool> {
        let versions = self.tools.get(id)?;
        versions
            .iter()
            .filter(|tool| tool.spec().version() == version)
            .max_by_key(|tool| (tool.is_default(), tool.plugin().version().clone()))
    }

    /// Every tool in every version, by id.
    pub fn tools(&self) -> impl Iterator<Item = &RegisteredTool> {
        self.tools.values().flatten()
    }

    /// Every skill, store or pack of a kind, by id.
    pub fn items(&self, kind: Provides) -> impl Iterator<Item = &RegisteredItem> {
        self.items
            .iter()
            .filter(move |((its, _), _)| *its == kind)
            .flat_map(|(_, items)| items)
    }

    /// One skill, store or pack: of the default plugin version, else the newest.
    pub fn item(&self, kind: Provides, id: &str) -> Option<&RegisteredItem> {
        let versions = self.items.get(&(kind, id.to_owned()))?;
        versions
            .iter()
            .max_by_key(|item| (item.is_default, item.version.clone()))
    }

    /// A pack in a version that matches: of the default plugin version, else the newest.
    pub fn pack(&self, id: &str, versions: &semver::VersionReq) -> Option<&RegisteredItem> {
        let there = self.items.get(&(Provides::Pack, id.to_owned()))?;
        there
            .iter()
            .filter(|item| versions.matches(&item.version))
            .max_by_key(|item| (item.is_default, item.version.clone()))
    }

    /// What `tofu` should pin of the namespaces that were described and not claimed.
    pub fn new_pins(&self) -> &[(Namespace, KeyId)] {
        &self.new_pins
    }

    /// What is odd, but no reason to refuse: deprecated tools, the legacy form of side effects.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
