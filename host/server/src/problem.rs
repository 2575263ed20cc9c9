//! The one place with status codes: every error code, its status, and the envelope around it.
//!
//! The tables have no wildcard arm: a new refusal or fault does not compile until it has a code here.

use axum::http::StatusCode;
use mizzen_model::execution::{ChainExecutionResult, GateDecision};
use mizzen_model::governance::PackAction;
use mizzen_ops::{Fault, OpError, QuotaExceeded, Refusal};
use serde_json::{Map, Value, json};

/// A stable code that programs match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// The request could not be parsed as HTTP.
    MalformedRequest,
    /// The body is not valid JSON or YAML.
    MalformedBody,
    /// A document or a parameter is not valid.
    ValidationError,
    /// The gate agents are not exactly one of the council's sprites.
    InvalidGateAgent,
    /// A pack cannot be mounted on this host.
    PackUnmountable,
    /// No key, or one that does not work.
    Unauthenticated,
    /// The key lacks a grant.
    Forbidden,
    /// There is no such route.
    NotFound,
    /// There is no such sprite.
    SpriteNotFound,
    /// There is no such gate agent.
    GateAgentNotFound,
    /// There is no such council.
    CouncilNotFound,
    /// There is no such chain.
    ChainNotFound,
    /// There is no such execution.
    ExecutionNotFound,
    /// The execution has no such escalation.
    EscalationNotFound,
    /// There is no such tool.
    ToolNotFound,
    /// There is no such plugin.
    PluginNotFound,
    /// The route does not take this method.
    MethodNotAllowed,
    /// The request did not arrive in time.
    RequestTimeout,
    /// Another council has the domain.
    CouncilConflict,
    /// Another sprite has the name and version.
    SpriteConflict,
    /// A gate stopped the execution.
    GateVeto,
    /// A rule of the council forbids it.
    RuleDenied,
    /// A pack stopped the execution.
    PackVeto,
    /// The escalation has another decision already.
    DecisionConflict,
    /// The execution has no such delivery.
    DeliveryNotFound,
    /// The delivery was not given up.
    DeliveryConflict,
    /// The execution has ended.
    ExecutionEnded,
    /// The execution has not ended.
    ExecutionOpen,
    /// The execution was erased.
    ExecutionErased,
    /// The name of a sprite cannot change.
    NameConflict,
    /// The version must be greater.
    VersionConflict,
    /// The sprite is protected.
    ProtectedSprite,
    /// The sprite is a member of councils.
    SpriteInUse,
    /// The plugin conflicts with what is installed.
    PluginConflict,
    /// The change would go back to an older version.
    PluginDowngrade,
    /// The plugin asks for more than is granted.
    ApprovalNeeded,
    /// The host has no plugin folder.
    PluginsNotConfigured,
    /// `If-Match` does not match.
    PreconditionFailed,
    /// The body is too large.
    PayloadTooLarge,
    /// The target is too long.
    UriTooLong,
    /// The body is of a type that the route does not take.
    UnsupportedMediaType,
    /// The request has an expectation that this server does not support.
    ExpectationFailed,
    /// The plugin set would not load.
    PluginRefused,
    /// The idempotency key belongs to another request.
    IdempotencyKeyReused,
    /// Too many requests.
    RateLimited,
    /// The header is too large.
    HeadersTooLarge,
    /// A bug.
    InternalError,
    /// The host cannot serve this now.
    Unavailable,
    /// Earlier responses were not read.
    UnreadAnswers,
    /// A connection without a key has too many requests open.
    TooManyStreams,
    /// The key, or all callers together, follow too many executions.
    TooManyEventStreams,
    /// The key, or all callers together, have too many executions open.
    TooManyRuns,
    /// The work took too long.
    Timeout,
    /// The disk is full.
    StorageFull,
}

impl Code {
    /// Its status.
    pub fn status(self) -> StatusCode {
        match self {
            Code::MalformedRequest
            | Code::MalformedBody
            | Code::ValidationError
            | Code::InvalidGateAgent
            | Code::PackUnmountable => StatusCode::BAD_REQUEST,
            Code::Unauthenticated => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::NotFound
            | Code::SpriteNotFound
            | Code::GateAgentNotFound
            | Code::CouncilNotFound
            | Code::ChainNotFound
            | Code::ExecutionNotFound
            | Code::EscalationNotFound
            | Code::DeliveryNotFound
            | Code::ToolNotFound
            | Code::PluginNotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Code::CouncilConflict
            | Code::SpriteConflict
            | Code::GateVeto
            | Code::RuleDenied
            | Code::PackVeto
            | Code::DecisionConflict
            | Code::ExecutionEnded
            | Code::DeliveryConflict
            | Code::ExecutionOpen
            | Code::NameConflict
            | Code::VersionConflict
            | Code::ProtectedSprite
            | Code::SpriteInUse
            | Code::PluginConflict
            | Code::PluginDowngrade
            | Code::ApprovalNeeded
            | Code::PluginsNotConfigured => StatusCode::CONFLICT,
            Code::ExecutionErased => StatusCode::GONE,
            Code::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Code::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::UriTooLong => StatusCode::URI_TOO_LONG,
            Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::ExpectationFailed => StatusCode::EXPECTATION_FAILED,
            Code::PluginRefused | Code::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Code::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Code::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Code::Unavailable
            | Code::UnreadAnswers
            | Code::TooManyStreams
            | Code::TooManyEventStreams
            | Code::TooManyRuns => StatusCode::SERVICE_UNAVAILABLE,
            Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
            Code::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
        }
    }

    /// What it means, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Code::MalformedRequest => "The request could not be parsed as HTTP.",
            Code::MalformedBody => "The body is not valid JSON or YAML.",
            Code::ValidationError => "A document or a parameter is not valid.",
            Code::InvalidGateAgent => "The gate agents are not exactly one of the council's sprites.",
            Code::PackUnmountable => "A pack cannot be mounted on this host; the details have every mount.",
            Code::Unauthenticated => "No key, or one that does not work.",
            Code::Forbidden => "The key lacks a grant.",
            Code::NotFound => "There is no such route.",
            Code::SpriteNotFound => "There is no such sprite.",
            Code::GateAgentNotFound => "There is no such gate agent.",
            Code::CouncilNotFound => "There is no such council.",
            Code::ChainNotFound => "There is no such chain.",
            Code::ExecutionNotFound => "There is no such execution.",
            Code::EscalationNotFound => "The execution has no such escalation.",
            Code::ToolNotFound => "There is no such tool.",
            Code::PluginNotFound => "There is no such plugin.",
            Code::MethodNotAllowed => "The route does not take this method.",
            Code::RequestTimeout => "The request did not arrive in time.",
            Code::CouncilConflict => "Another council has the domain.",
            Code::SpriteConflict => "Another sprite has the name and version.",
            Code::GateVeto => "A gate stopped the execution.",
            Code::DecisionConflict => "The escalation has another decision already.",
            Code::ExecutionEnded => "The execution has ended.",
            Code::DeliveryNotFound => "The execution has no such delivery.",
            Code::DeliveryConflict => "The delivery was not given up.",
            Code::ExecutionOpen => "The execution has not ended.",
            Code::ExecutionErased => "The execution was erased.",
            Code::RuleDenied => "A rule of the council forbids it.",
            Code::PackVeto => "A pack stopped the execution.",
            Code::NameConflict => "The name of a sprite cannot change.",
            Code::VersionConflict => "The version must be greater.",
            Code::ProtectedSprite => "The sprite is protected.",
            Code::SpriteInUse => "The sprite is a member of councils.",
            Code::PluginConflict => "The plugin conflicts with what is installed.",
            Code::PluginDowngrade => {
                "The change would go back to an older version; `downgrade=true` takes the grant admin."
            }
            Code::ApprovalNeeded => {
                "The plugin asks for more than is granted, or for higher limits; the details have the difference."
            }
            Code::PluginsNotConfigured => "The host has no plugin folder.",
            Code::PluginRefused => "The plugin set would not load; the details have every problem.",
            Code::PreconditionFailed => "If-Match does not match.",
            Code::PayloadTooLarge => "The body is too large.",
            Code::UriTooLong => "The target is too long.",
            Code::UnsupportedMediaType => "The body is of a type that the route does not take.",
            Code::ExpectationFailed => "The request has an expectation that this server does not support.",
            Code::IdempotencyKeyReused => "The idempotency key belongs to another request.",
            Code::RateLimited => "Too many requests.",
            Code::HeadersTooLarge => "The header is too large.",
            Code::InternalError => "A bug.",
            Code::Unavailable => "The host cannot serve this now.",
            Code::UnreadAnswers => "Earlier responses were not read.",
            Code::TooManyStreams => "A connection without a key has too many requests open.",
            Code::TooManyEventStreams => "The key, or all callers together, follow too many executions.",
            Code::TooManyRuns => "The key, or all callers together, have too many executions open.",
            Code::Timeout => "The work took too long.",
            Code::StorageFull => "The disk is full.",
        }
    }

    /// Its text in the envelope.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::MalformedRequest => "MALFORMED_REQUEST",
            Code::MalformedBody => "MALFORMED_BODY",
            Code::ValidationError => "VALIDATION_ERROR",
            Code::InvalidGateAgent => "INVALID_GATE_AGENT",
            Code::PackUnmountable => "PACK_UNMOUNTABLE",
            Code::Unauthenticated => "UNAUTHENTICATED",
            Code::Forbidden => "FORBIDDEN",
            Code::NotFound => "NOT_FOUND",
            Code::SpriteNotFound => "SPRITE_NOT_FOUND",
            Code::GateAgentNotFound => "GATE_AGENT_NOT_FOUND",
            Code::CouncilNotFound => "COUNCIL_NOT_FOUND",
            Code::ChainNotFound => "CHAIN_NOT_FOUND",
            Code::ExecutionNotFound => "EXECUTION_NOT_FOUND",
            Code::EscalationNotFound => "ESCALATION_NOT_FOUND",
            Code::ToolNotFound => "TOOL_NOT_FOUND",
            Code::PluginNotFound => "PLUGIN_NOT_FOUND",
            Code::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Code::RequestTimeout => "REQUEST_TIMEOUT",
            Code::CouncilConflict => "COUNCIL_CONFLICT",
            Code::SpriteConflict => "SPRITE_CONFLICT",
            Code::GateVeto => "GATE_VETO",
            Code::DecisionConflict => "DECISION_CONFLICT",
            Code::ExecutionEnded => "EXECUTION_ENDED",
            Code::DeliveryNotFound => "DELIVERY_NOT_FOUND",
            Code::DeliveryConflict => "DELIVERY_CONFLICT",
            Code::ExecutionOpen => "EXECUTION_OPEN",
            Code::ExecutionErased => "EXECUTION_ERASED",
            Code::RuleDenied => "RULE_DENIED",
            Code::PackVeto => "PACK_VETO",
            Code::NameConflict => "NAME_CONFLICT",
            Code::VersionConflict => "VERSION_CONFLICT",
            Code::ProtectedSprite => "PROTECTED_SPRITE",
            Code::SpriteInUse => "SPRITE_IN_USE",
            Code::PluginConflict => "PLUGIN_CONFLICT",
            Code::PluginDowngrade => "PLUGIN_DOWNGRADE",
            Code::ApprovalNeeded => "APPROVAL_NEEDED",
            Code::PluginsNotConfigured => "PLUGINS_NOT_CONFIGURED",
            Code::PluginRefused => "PLUGIN_REFUSED",
            Code::PreconditionFailed => "PRECONDITION_FAILED",
            Code::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Code::UriTooLong => "URI_TOO_LONG",
            Code::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Code::ExpectationFailed => "EXPECTATION_FAILED",
            Code::IdempotencyKeyReused => "IDEMPOTENCY_KEY_REUSED",
            Code::RateLimited => "RATE_LIMITED",
            Code::HeadersTooLarge => "HEADERS_TOO_LARGE",
            Code::InternalError => "INTERNAL_ERROR",
            Code::Unavailable => "UNAVAILABLE",
            Code::UnreadAnswers => "UNREAD_ANSWERS",
            Code::TooManyStreams => "TOO_MANY_STREAMS",
            Code::TooManyEventStreams => "TOO_MANY_EVENT_STREAMS",
            Code::TooManyRuns => "TOO_MANY_RUNS",
            Code::Timeout => "TIMEOUT",
            Code::StorageFull => "STORAGE_FULL",
        }
    }
}

/// An error on its way to the caller.
#[derive(Debug)]
pub struct Problem {
    /// Its code.
    pub code: Code,
    /// For a person.
    pub message: String,
    /// For a program.
    pub details: Map<String, Value>,
    /// Seconds after which to try again, when that helps.
    pub retry_after: Option<u64>,
    /// The methods that the route takes, for `Allow`.
    pub allow: Option<String>,
}

impl Problem {
    /// An error without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Map::new(),
            retry_after: None,
            allow: None,
        }
    }

    /// Adds a detail.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Sets when to try again.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The envelope: exactly these four members, in this order.
    pub fn envelope(&self, request_id: &str) -> String {
        #[derive(serde::Serialize)]
        struct Envelope<'a> {
            code: &'a str,
            message: &'a str,
            details: &'a Map<String, Value>,
            request_id: &'a str,
        }
        let envelope = Envelope {
            code: self.code.as_str(),
            message: &self.message,
            details: &self.details,
            request_id,
        };
        // Strings and values: nothing in it can fail to be written.
        serde_json::to_string(&envelope).unwrap_or_default()
    }
}

fn ids(ids: Vec<impl ToString>) -> Value {
    ids.iter().map(ToString::to_string).collect()
}

impl From<OpError> for Problem {
    fn from(error: OpError) -> Self {
        match error {
            OpError::Refused(refusal) => refusal.into(),
            OpError::Fault(fault) => fault.into(),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Invalid { document, problems } => {
                let errors: Vec<Value> = problems.iter().map(|problem| json!(problem)).collect();
                let first = problems.first().map(ToString::to_string).unwrap_or_default();
                let more = match errors.len() + problems.omitted() {
                    0 | 1 => String::new(),
                    count => format!(" (and {} more)", count - 1),
                };
                Problem::new(
                    Code::ValidationError,
                    format!("the {document} is not valid: {first}{more}"),
                )
                .with("errors", errors)
                .with("omitted", problems.omitted())
            }
            Refusal::BadRequest(_) => Problem::new(Code::ValidationError, message),
            Refusal::BadParameter { name, .. } => {
                Problem::new(Code::ValidationError, message).with("parameter", name)
            }
            Refusal::SpriteNotFound(id) => {
                Problem::new(Code::SpriteNotFound, message).with("sprite_id", id.to_string())
            }
            Refusal::CouncilNotFound(id) => {
                Problem::new(Code::CouncilNotFound, message).with("council_id", id.to_string())
            }
            Refusal::NoCouncilNamed(domain) => {
                Problem::new(Code::CouncilNotFound, message).with("council", domain)
            }
            Refusal::NoChainNamed { name, .. } => {
                Problem::new(Code::ChainNotFound, message).with("chain", name)
            }
            Refusal::SeveralChains { name, ids: several } => Problem::new(Code::ValidationError, message)
                .with("chain", name)
                .with("chain_ids", ids(several)),
            Refusal::ChainNotFound(id) => {
                Problem::new(Code::ChainNotFound, message).with("chain_id", id.to_string())
            }
            Refusal::ExecutionNotFound(id) => {
                Problem::new(Code::ExecutionNotFound, message).with("execution_id", id.to_string())
            }
            Refusal::EscalationNotFound { id, escalation_id } => {
                Problem::new(Code::EscalationNotFound, message)
                    .with("execution_id", id.to_string())
                    .with("escalation_id", escalation_id)
            }
            Refusal::AlreadyDecided { id, decision } => Problem::new(Code::DecisionConflict, message)
                .with("execution_id", id.to_string())
                .with("decision", decision.as_str()),
            Refusal::ExecutionEnded { id, status } => Problem::new(Code::ExecutionEnded, message)
                .with("execution_id", id.to_string())
                .with("status", status.as_str()),
            Refusal::DeliveryNotFound { id, number } => Problem::new(Code::DeliveryNotFound, message)
                .with("execution_id", id.to_string())
                .with("number", number),
            Refusal::DeliveryNotFailed { id, number, state } => Problem::new(Code::DeliveryConflict, message)
                .with("execution_id", id.to_string())
                .with("number", number)
                .with("state", state),
            Refusal::ExecutionOpen(id) => {
                Problem::new(Code::ExecutionOpen, message).with("execution_id", id.to_string())
            }
            Refusal::ExecutionErased(id) => {
                Problem::new(Code::ExecutionErased, message).with("execution_id", id.to_string())
            }
            Refusal::TooManyRuns { limit, most } => Problem::new(Code::TooManyRuns, message)
                .with(
                    "limit",
                    match limit {
                        QuotaExceeded::Each => "open_per_caller",
                        QuotaExceeded::All | QuotaExceeded::Kept => "open",
                    },
                )
                .with("most", most)
                .retry_after(5),
            Refusal::ToolNotFound { tool, .. } => {
                Problem::new(Code::ToolNotFound, message).with("tool", tool)
            }
            Refusal::PluginNotFound(name) => Problem::new(Code::PluginNotFound, message).with("plugin", name),
            Refusal::MissingSprites { missing } => {
                Problem::new(Code::SpriteNotFound, message).with("missing_sprites", ids(missing))
            }
            Refusal::MissingGateAgents { missing } => {
                Problem::new(Code::GateAgentNotFound, message).with("missing_gate_agents", ids(missing))
            }
            Refusal::InvalidGateAgent { gate_agents, .. } => {
                Problem::new(Code::InvalidGateAgent, message).with("gate_agents", ids(gate_agents))
            }
            Refusal::CouncilConflict { domain, council } => Problem::new(Code::CouncilConflict, message)
                .with("domain", domain)
                .with("council_id", council.to_string()),
            Refusal::SpriteConflict(sprite) => {
                Problem::new(Code::SpriteConflict, message).with("sprite_id", sprite.to_string())
            }
            Refusal::RuleDenied { rule_id, rule_name } => Problem::new(Code::RuleDenied, message)
                .with("rule_id", rule_id)
                .with("rule_name", rule_name),
            Refusal::PackMounts { problems } => {
                Problem::new(Code::PackUnmountable, message).with("mounts", json!(problems))
            }
            Refusal::GraphRefused { problems } => {
                Problem::new(Code::ValidationError, message).with("errors", json!(problems))
            }
            Refusal::NoGraph(id) => {
                Problem::new(Code::ExecutionNotFound, message).with("execution_id", id.to_string())
            }
            Refusal::NoInterrupt { id, status } => Problem::new(Code::DecisionConflict, message)
                .with("execution_id", id.to_string())
                .with("status", status.as_str()),
            Refusal::CapabilityRequired { id, capability } => Problem::new(Code::Forbidden, message)
                .with("execution_id", id.to_string())
                .with("grant", capability),
            Refusal::NameChanged { is, asked } => Problem::new(Code::NameConflict, message)
                .with("current_name", is)
                .with("name", asked),
            Refusal::VersionNotGreater { is, asked } => Problem::new(Code::VersionConflict, message)
                .with("current_version", is)
                .with("version", asked),
            Refusal::Protected(id) => {
                Problem::new(Code::ProtectedSprite, message).with("sprite_id", id.to_string())
            }
            Refusal::SpriteInUse { sprite, councils } => Problem::new(Code::SpriteInUse, message)
                .with("sprite_id", sprite.to_string())
                .with("councils", ids(councils)),
            Refusal::Changed { revision } => {
                Problem::new(Code::PreconditionFailed, message).with("etag", etag(revision))
            }
            Refusal::PluginsNotConfigured => Problem::new(Code::PluginsNotConfigured, message),
            Refusal::PluginConflict(_) => Problem::new(Code::PluginConflict, message),
            Refusal::PluginRefused { problems } => {
                Problem::new(Code::PluginRefused, message).with("errors", json!(problems))
            }
            Refusal::PluginDowngrade(older) => Problem::new(Code::PluginDowngrade, message)
                .with("name", older.name.clone())
                .with("version", older.version.to_string())
                .with("newest", older.newest.to_string()),
            Refusal::ApprovalNeeded(waiting) => Problem::new(Code::ApprovalNeeded, message)
                .with("plugin", waiting.plugin.clone())
                .with("permissions", json!(waiting.changes.permissions))
                .with("limits", json!(waiting.changes.limits))
                .with("namespaces", json!(waiting.changes.namespaces))
                .with("waiting", json!(waiting.waiting)),
            Refusal::IdempotencyMismatch => Problem::new(Code::IdempotencyKeyReused, message),
        }
    }
}

/// An execution that a gate, a rule or a person stopped: the seed's 409.
pub(crate) fn vetoed(result: &ChainExecutionResult) -> Problem {
    let what = if result.tool.is_some() {
        "Tool call"
    } else {
        "Chain execution"
    };
    let by_gate = result
        .gates
        .iter()
        .rev()
        .find(|gate| gate.decision == GateDecision::Veto);
    if let Some(gate) = by_gate {
        return Problem::new(Code::GateVeto, "Chain execution was vetoed by gate authority")
            .with("execution_id", result.execution_id.to_string())
            .with("gate_sprite_id", gate.sprite_id.to_string())
            .with("gate_type", gate.position.as_str())
            .with("reason", gate.reason.clone());
    }
    let reason = result.error.as_ref().map_or("", |error| error.message.as_str());
    let by_pack = result.packs.iter().flatten().rev();
    // A pack's veto of a call that a tool makes stops that call, not the run.
    if let Some(pack) = by_pack
        .filter(|pack| pack.applied && pack.call.is_none())
        .find(|pack| pack.action == PackAction::Veto)
    {
        let problem = Problem::new(Code::PackVeto, format!("{what} was vetoed by a mounted pack"))
            .with("execution_id", result.execution_id.to_string())
            .with("pack_id", pack.pack_id.clone())
            .with("version", pack.version.clone())
            .with("digest", pack.digest.clone())
            .with("moment", pack.moment.as_str())
            .with("severity", pack.severity.as_str())
            .with("rule", pack.rule.clone())
            .with("reason", pack.reason.clone());
        return match pack.step {
            Some(step) => problem.with("step", step),
            None => problem,
        };
    }
    if result.tool.is_some() {
        // No council, so no rules: a pack escalated, and the person denied or did not answer in time.
        let rule = result
            .escalation
            .as_ref()
            .map(|escalation| escalation.rule_id.clone());
        return Problem::new(
            Code::PackVeto,
            "Tool call was denied: a mounted pack asked a person",
        )
        .with("execution_id", result.execution_id.to_string())
        .with("rule", rule)
        .with("reason", reason);
    }
    let problem = Problem::new(
        Code::RuleDenied,
        "Chain execution was denied by a rule of the council",
    )
    .with("execution_id", result.execution_id.to_string())
    .with("reason", reason);
    match result.rules.iter().rev().find(|rule| rule.matched) {
        Some(rule) => problem
            .with("rule_id", rule.rule_id.clone())
            .with("rule_name", rule.name.clone()),
        None => problem,
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::StorageFull => Problem::new(Code::StorageFull, fault.to_string()).retry_after(10),
            Fault::Unavailable(detail) => {
                tracing::error!(detail, "the store is not available");
                Problem::new(Code::Unavailable, "the host cannot serve this now; try again").retry_after(1)
            }
            Fault::Internal(detail) => {
                // The detail stays in the log: it may name files and queries.
                tracing::error!(detail, "an operation failed");
                Problem::internal()
            }
        }
    }
}

impl Problem {
    /// A bug; its details are in the log only.
    pub fn internal() -> Self {
        Problem::new(
            Code::InternalError,
            "internal error; search the host's log for the request id",
        )
    }
}

/// The entity tag of a revision.
pub(crate) fn etag(revision: u64) -> String {
    format!("\"{revision}\"")
}
