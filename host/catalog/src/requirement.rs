//! `namespace.name@^1.2`: a tool, and which versions of it match.

use mizzen_json::shorten;
use mizzen_model::namespace::{NameError, ToolId};
use semver::{Version, VersionReq};
use std::fmt;

const MAX_REQUIREMENT: usize = 64;

/// A tool by id, with or without a version requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRequirement {
    id: ToolId,
    version: Option<VersionReq>,
}

/// A text that names no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// The part before `@` is not a tool id.
    #[error(transparent)]
    Id(#[from] NameError),
    /// The part after `@` is not a requirement.
    #[error("`{0}` is not a version requirement; write one such as `^1.2`, `=1.4.0` or `>=1.2, <2`")]
    Version(String),
}

impl ToolRequirement {
    /// Reads `namespace.name` or `namespace.name@REQUIREMENT`.
    ///
    /// # Errors
    /// When a part does not have its shape.
    pub fn parse(text: &str) -> Result<Self, RequirementError> {
        let (id, requirement) = match text.split_once('@') {
            Some((id, requirement)) => (id, Some(requirement)),
            None => (text, None),
        };
        let id = ToolId::parse(id)?;
        let version = match requirement {
            None => None,
            Some(text) => {
                let read = Some(text)
                    .filter(|text| text.len() <= MAX_REQUIREMENT)
                    .and_then(|text| VersionReq::parse(text).ok());
                Some(read.ok_or_else(|| RequirementError::Version(shorten(text)))?)
            }
        };
        Ok(Self { id, version })
    }

    /// The tool.
    pub const fn id(&self) -> &ToolId {
        &self.id
    }

    /// Whether a version is required.
    pub const fn names_version(&self) -> bool {
        self.version.is_some()
    }

    /// Whether this version matches.
    pub fn matches(&self, version: &Version) -> bool {
        self.version
            .as_ref()
            .is_none_or(|requirement| requirement.matches(version))
    }
}

impl fmt::Display for ToolRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}@{version}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_an_id_and_a_range() {
        for (text, version, matches) in [
            ("acme.text.count", "0.0.1", true),
            ("acme.text.count@^1.2", "1.2.0", true),
            ("acme.text.count@^1.2", "1.9.9", true),
            ("acme.text.count@^1.2", "1.1.9", false),
            ("acme.text.count@^1.2", "2.0.0", false),
            ("acme.text.count@=1.4.0", "1.4.1", false),
            ("acme.text.count@>=1.2, <2", "1.5.0", true),
            ("acme.text.count@^1.2", "1.3.0-rc.1", false),
        ] {
            let requirement = ToolRequirement::parse(text).unwrap();
            assert_eq!(
                requirement.matches(&Version::parse(version).unwrap()),
                matches,
                "{text} {version}"
            );
        }
        for text in [
            "",
            "count",
            "acme.count@",
            "acme.count@latest",
            "@1",
            "acme.count@1@2",
            &format!("acme.count@{}", "1".repeat(100)),
        ] {
            assert!(ToolRequirement::parse(text).is_err(), "{text}");
        }
    }
}
