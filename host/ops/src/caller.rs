//! Who asks, and what they may do.

use crate::traces::SpanContext;
use std::fmt;

/// Something that an API key may be allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grant {
    /// Read sprites.
    SpritesRead,
    /// Create, change and delete sprites.
    SpritesWrite,
    /// Read councils.
    CouncilsRead,
    /// Create, change and delete councils.
    CouncilsWrite,
    /// Execute chains.
    RunsStart,
    /// Read executions and history.
    RunsRead,
    /// Cancel executions.
    RunsCancel,
    /// Decide escalations.
    RunsRespond,
    /// Erase executions that have ended.
    RunsErase,
    /// Call tools without a council.
    ToolsCall,
    /// Read plugins and what they provide.
    PluginsRead,
    /// Install, remove, enable and disable plugins.
    PluginsWrite,
    /// Read metrics.
    MetricsRead,
    /// Read the audit log: what every caller did and was refused.
    AuditRead,
    /// Everything.
    Admin,
}

impl Grant {
    /// Every grant.
    pub const ALL: [Grant; 15] = [
        Grant::SpritesRead,
        Grant::SpritesWrite,
        Grant::CouncilsRead,
        Grant::CouncilsWrite,
        Grant::RunsStart,
        Grant::RunsRead,
        Grant::RunsCancel,
        Grant::RunsRespond,
        Grant::RunsErase,
        Grant::ToolsCall,
        Grant::PluginsRead,
        Grant::PluginsWrite,
        Grant::MetricsRead,
        Grant::AuditRead,
        Grant::Admin,
    ];

    /// Its name, as in `--grant runs:start`.
    pub fn as_str(self) -> &'static str {
        match self {
            Grant::SpritesRead => "sprites:read",
            Grant::SpritesWrite => "sprites:write",
            Grant::CouncilsRead => "councils:read",
            Grant::CouncilsWrite => "councils:write",
            Grant::RunsStart => "runs:start",
            Grant::RunsRead => "runs:read",
            Grant::RunsCancel => "runs:cancel",
            Grant::RunsRespond => "runs:respond",
            Grant::RunsErase => "runs:erase",
            Grant::ToolsCall => "tools:call",
            Grant::PluginsRead => "plugins:read",
            Grant::PluginsWrite => "plugins:write",
            Grant::MetricsRead => "metrics:read",
            Grant::AuditRead => "audit:read",
            Grant::Admin => "admin",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, UnknownGrant> {
        Self::ALL
            .into_iter()
            .find(|grant| grant.as_str() == text)
            .ok_or_else(|| UnknownGrant(text.chars().take(64).collect()))
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl std::str::FromStr for Grant {
    type Err = UnknownGrant;

    fn from_str(text: &str) -> Result<Self, UnknownGrant> {
        Self::parse(text)
    }
}

/// The text names no grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no grant {0:?}; the grants are {all}", all = Grant::ALL.map(Grant::as_str).join(", "))]
pub struct UnknownGrant(String);

/// Who asks. Operations use it for the audit log; whether the caller may ask is decided before they are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    actor: String,
    grants: Vec<Grant>,
    request_id: String,
    trace: Option<SpanContext>,
}

impl Caller {
    /// Somebody on this machine, on a server without keys or on the command line: may do everything.
    pub fn local(request_id: impl Into<String>) -> Self {
        Self {
            actor: "local".to_owned(),
            grants: vec![Grant::Admin],
            request_id: request_id.into(),
            trace: None,
        }
    }

    /// Somebody unknown: may do nothing.
    pub fn anonymous(request_id: impl Into<String>) -> Self {
        Self {
            actor: "anonymous".to_owned(),
            grants: Vec::new(),
            request_id: request_id.into(),
            trace: None,
        }
    }

    /// Whether the caller holds an API key.
    pub fn is_key(&self) -> bool {
        self.actor != "local" && self.actor != "anonymous"
    }

    /// The holder of an API key.
    pub(crate) fn key(id: String, grants: Vec<Grant>, request_id: String) -> Self {
        Self {
            actor: id,
            grants,
            request_id,
            trace: None,
        }
    }

    /// The id of the key, or `local`.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// The request, as in the logs.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The same caller, with the span of the request.
    pub fn traced(self, trace: Option<SpanContext>) -> Self {
        Self { trace, ..self }
    }

    /// The span below which everything belongs that is done for this request.
    pub(crate) fn trace(&self) -> Option<SpanContext> {
        self.trace
    }

    /// Whether the caller has what a document asks for by name: the grant of that name, or, where there is none, everything.
    pub fn may_use(&self, capability: &str) -> bool {
        self.may(Grant::parse(capability).unwrap_or(Grant::Admin))
    }

    /// Whether the caller may do it.
    pub fn may(&self, grant: Grant) -> bool {
        self.grants
            .iter()
            .any(|given| *given == grant || *given == Grant::Admin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_that_is_no_grant_is_for_those_who_may_do_everything() {
        let key = |grants: &[Grant]| Caller::key("k".to_owned(), grants.to_vec(), "r".to_owned());
        assert!(key(&[Grant::RunsRespond]).may_use("runs:respond"));
        assert!(!key(&[Grant::RunsRespond]).may_use("runs:cancel"));
        assert!(!key(&[Grant::RunsRespond]).may_use("payments:approve"));
        assert!(key(&[Grant::Admin]).may_use("payments:approve"));
    }

    #[test]
    fn grants_are_read_as_they_are_written() {
        for grant in Grant::ALL {
            assert_eq!(Grant::parse(grant.as_str()), Ok(grant));
        }
        assert!(
            Grant::parse("runs:*")
                .unwrap_err()
                .to_string()
                .contains("runs:start")
        );
    }

    #[test]
    fn a_key_may_do_what_it_was_given_and_admin_everything() {
        let reader = Caller::key("mzn_1".into(), vec![Grant::SpritesRead], "req-1".into());
        assert!(
            reader.may(Grant::SpritesRead) && !reader.may(Grant::SpritesWrite) && !reader.may(Grant::Admin)
        );
        assert!(Caller::local("req-1").may(Grant::PluginsWrite));
    }
}
