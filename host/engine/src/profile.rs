//! Profiles: what a host refuses whatever else is granted (D18).

use mizzen_model::tool_spec::{SideEffects, ToolSpec};
use std::fmt;

/// How much a host lets tools do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Everything that is signed and granted.
    #[default]
    Open,
    /// Nothing that changes the world: `write` and `external` tools are refused.
    Cleared,
}

/// The profile refuses the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{tool}` has side effects `{side_effects}`, which the profile `cleared` refuses; call it on a host with the profile `open`"
)]
pub struct ProfileError {
    /// The tool's id.
    pub tool: String,
    /// What it does.
    pub side_effects: SideEffects,
}

impl Profile {
    /// The one of the two that refuses more.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Open, Self::Open) => Self::Open,
            (Self::Cleared, _) | (_, Self::Cleared) => Self::Cleared,
        }
    }

    /// Whether a tool may be called under this profile.
    ///
    /// # Errors
    /// When it may not.
    pub fn check(self, tool: &ToolSpec) -> Result<(), ProfileError> {
        if self.allows(tool.side_effects()) {
            return Ok(());
        }
        Err(ProfileError {
            tool: tool.id().to_string(),
            side_effects: tool.side_effects(),
        })
    }

    /// Whether something with these side effects may be done under this profile.
    pub const fn allows(self, effects: SideEffects) -> bool {
        match self {
            Self::Open => true,
            Self::Cleared => effects.is_harmless(),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Cleared => "cleared",
        })
    }
}
