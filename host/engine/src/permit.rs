//! Who may call what, decided once. Only this module can make a [`Permit`], and the sandbox takes nothing else.

use crate::profile::Profile;
use mizzen_catalog::VerifiedPlugin;
use mizzen_catalog::package::Digest;
use mizzen_model::limits::Limits;
use mizzen_model::permission::{Effective, HostPort, PermissionKind, Use};
use mizzen_model::tool_spec::{SideEffects, ToolSpec};
use std::fmt;
use std::sync::Arc;

/// The right to make one call: which plugin, which tool, what it may touch, what it may use up.
///
/// Effective authority is declared by the author ∩ granted by the operator ∩ asked for by the tool. None of it depends on the
/// call, so a tool's calls share one: a clone costs a count. The profile is that of the call, and refuses uses, whatever the
/// tool claims to do (D22).
#[derive(Debug, Clone)]
pub struct Permit {
    terms: Arc<Terms>,
    profile: Profile,
}

#[derive(Debug)]
struct Terms {
    plugin: Digest,
    tool: String,
    authority: Effective,
    limits: Limits,
}

/// A use that a layer of the permit does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` may not use `{wanted}`: {missing}")]
pub struct Denied {
    /// The tool.
    pub tool: String,
    /// The permission that would be needed.
    pub wanted: String,
    /// Where it is missing.
    pub missing: Missing,
}

/// Who has not said that a permission may be used; the first of them, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The author, in the manifest.
    Declared,
    /// The operator.
    Granted,
    /// The tool itself.
    Asked,
    /// The profile of the host, or of the call.
    Profile,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Declared => {
                "the plugin does not declare it; its author adds it under [permissions] in plugin.toml"
            }
            Self::Granted => "the operator has not granted it; see `mizzen plugins grants`",
            Self::Asked => "the tool does not ask for it; its author adds it to `permissions` of its #[tool]",
            Self::Profile => {
                "the profile `cleared` refuses what writes or reaches out; call the tool on a host with the profile `open`"
            }
        })
    }
}

impl Permit {
    /// The right to call a tool of a plugin: declared ∩ granted ∩ asked. The profile is the call's ([`Permit::under`]).
    pub fn for_tool(plugin: &VerifiedPlugin, tool: &ToolSpec) -> Self {
        Self::new(Terms {
            plugin: plugin.digest(),
            tool: tool.id().to_string(),
            authority: plugin.effective().narrowed(Arc::new(tool.permissions().clone())),
            limits: plugin.tool_limits(tool.name().as_str()),
        })
    }

    /// The same right under a profile: it can become stricter, never less strict.
    #[must_use]
    pub fn under(self, profile: Profile) -> Self {
        Self {
            profile: self.profile.stricter(profile),
            ..self
        }
    }

    fn new(terms: Terms) -> Self {
        Self {
            terms: Arc::new(terms),
            profile: Profile::Open,
        }
    }

    /// The right to ask a plugin what it provides: it may touch nothing.
    pub fn to_describe(plugin: &VerifiedPlugin) -> Self {
        let limits = plugin.limits();
        Self::new(Terms {
            plugin: plugin.digest(),
            tool: format!("{}#describe", plugin.name()),
            authority: plugin.effective().narrowed(Arc::default()),
            // Whoever starts the host, or changes its plugins, waits for it. Its memory is what it begins with.
            limits: Limits {
                cpu: limits.cpu.min(Limits::PACK.cpu),
                wall_clock: limits.wall_clock.min(Limits::PACK.wall_clock),
                ..limits
            },
        })
    }

    /// The right to ask a plugin's pack for a verdict: it may touch nothing, and use up less than a tool.
    pub fn for_pack(plugin: &VerifiedPlugin, pack: &str) -> Self {
        Self::new(Terms {
            plugin: plugin.digest(),
            tool: format!("{pack}#evaluate"),
            authority: plugin.effective().narrowed(Arc::default()),
            limits: plugin.limits().min(Limits::PACK),
        })
    }

    /// The plugin that it was made for.
    pub fn plugin_digest(&self) -> Digest {
        self.terms.plugin
    }

    /// The id of the tool that it was made for.
    pub fn tool(&self) -> &str {
        &self.terms.tool
    }

    /// What the call may use up.
    pub fn limits(&self) -> &Limits {
        &self.terms.limits
    }

    /// Asks every layer.
    ///
    /// # Errors
    /// When one of them does not allow this use.
    pub fn check(&self, wanted: &Use<'_>) -> Result<(), Denied> {
        let missing = match self.terms.authority.refusing(wanted) {
            None if self.profile.allows(SideEffects::of_use(wanted)) => return Ok(()),
            None => Missing::Profile,
            Some(0) => Missing::Declared,
            Some(1) => Missing::Granted,
            Some(_) => Missing::Asked,
        };
        Err(Denied {
            tool: self.terms.tool.clone(),
            wanted: wanted.to_string(),
            missing,
        })
    }

    /// The same, for whoever has no use for the reason.
    pub fn allows(&self, wanted: &Use<'_>) -> bool {
        self.terms.authority.allows(wanted) && self.profile.allows(SideEffects::of_use(wanted))
    }

    /// Whether anything of a kind is left after all layers.
    pub(crate) fn touches(&self, kind: PermissionKind) -> bool {
        self.terms.authority.touches(kind)
    }

    /// Whether the operator named this host without a pattern, which a private address takes.
    pub fn names_host(&self, method: &str, target: &HostPort) -> bool {
        self.terms.authority.allows_by_name(method, target)
    }
}
