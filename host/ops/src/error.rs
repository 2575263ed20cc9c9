//! What an operation answers when it does not do what was asked: a refusal (the caller can mend it) or a fault (ours).

use crate::governance::MountProblem;
use crate::quota::QuotaExceeded;
use mizzen_catalog::PluginLoadError;
use mizzen_catalog::change::{OlderVersion, WaitingForApproval};
use mizzen_engine::graph::GraphProblem;
use mizzen_model::execution::{Approval, ExecutionStatus};
use mizzen_model::problem::Problems;
use mizzen_store::{BadCursor, CouncilRefused, IdempotencyMismatch, SpriteRefused, StoreError, WriteError};
use uuid::Uuid;

/// Why an operation did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum OpError {
    /// The caller can mend it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The host could not do it.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// What the caller can mend. `server` gives each its status and code in one table.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The document has mistakes.
    #[error("the {document} is not valid: {problems}")]
    Invalid {
        /// `sprite`, `council`.
        document: &'static str,
        /// All of them.
        problems: Problems,
    },
    /// A parameter that is not part of a document has a mistake.
    #[error("{0}")]
    BadRequest(String),
    /// A parameter of the query has a mistake.
    #[error("{reason}")]
    BadParameter {
        /// Its name.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no such sprite.
    #[error("there is no sprite {0}")]
    SpriteNotFound(Uuid),
    /// There is no such council.
    #[error("there is no council {0}")]
    CouncilNotFound(Uuid),
    /// No council has the domain.
    #[error("there is no council of the domain {0:?}; name its id or its domain")]
    NoCouncilNamed(String),
    /// No chain of the council has the name.
    #[error("the council has no chain {name:?}; it has {known}")]
    NoChainNamed {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// Several chains of the council have the name.
    #[error("several chains are named {name:?}; name one by its id: {}", list(ids))]
    SeveralChains {
        /// The name.
        name: String,
        /// Their ids.
        ids: Vec<Uuid>,
    },
    /// There is no such chain, or not in the council that was named.
    #[error("there is no chain {0} here")]
    ChainNotFound(Uuid),
    /// There is no such execution.
    #[error("there is no execution {0}")]
    ExecutionNotFound(Uuid),
    /// The execution asks no such question.
    #[error("execution {id} has no escalation {escalation_id:?}")]
    EscalationNotFound {
        /// The execution.
        id: Uuid,
        /// The question.
        escalation_id: String,
    },
    /// The question was answered otherwise.
    #[error("the escalation of execution {id} was answered before: {decision}")]
    AlreadyDecided {
        /// The execution.
        id: Uuid,
        /// The answer.
        decision: Approval,
    },
    /// The execution has ended.
    #[error("execution {id} has ended: it is {status}")]
    ExecutionEnded {
        /// The execution.
        id: Uuid,
        /// How it ended.
        status: ExecutionStatus,
    },
    /// The execution has no such delivery.
    #[error("execution {id} has no delivery {number}; GET /v1/executions/{id}/deliveries lists them")]
    DeliveryNotFound {
        /// The execution.
        id: Uuid,
        /// The delivery.
        number: i64,
    },
    /// The delivery was not given up.
    #[error("delivery {number} of execution {id} is {state}; only a failed one is delivered again")]
    DeliveryNotFailed {
        /// The execution.
        id: Uuid,
        /// The delivery.
        number: i64,
        /// Where it stands.
        state: String,
    },
    /// The execution has not ended.
    #[error("execution {0} has not ended; cancel it first, or wait for its end")]
    ExecutionOpen(Uuid),
    /// What was asked for was erased.
    #[error("the journal of execution {0} was erased; GET /v1/executions/{0} shows when and by whom")]
    ExecutionErased(Uuid),
    /// As many executions are open as may be.
    #[error("{}", too_many_runs(*limit, *most))]
    TooManyRuns {
        /// Which limit stands against another one.
        limit: QuotaExceeded,
        /// How many it allows.
        most: usize,
    },
    /// There is no such tool, or not in a version that will do.
    #[error("{reason}")]
    ToolNotFound {
        /// The tool.
        tool: String,
        /// Which one is missing, and where to look.
        reason: String,
    },
    /// There is no such plugin.
    #[error("there is no plugin {0:?}")]
    PluginNotFound(String),
    /// A council names sprites that do not exist.
    #[error("some sprites do not exist: {}", list(missing))]
    MissingSprites {
        /// Their ids, or their names where it names them so.
        missing: Vec<String>,
    },
    /// A council names gate agents that do not exist.
    #[error("some gate agents do not exist: {}", list(missing))]
    MissingGateAgents {
        /// Their ids.
        missing: Vec<Uuid>,
    },
    /// The gate agents are not exactly one of the council's sprites.
    #[error("{reason}")]
    InvalidGateAgent {
        /// What is wrong.
        reason: String,
        /// The ids in question.
        gate_agents: Vec<Uuid>,
    },
    /// Another council has the domain.
    #[error("the domain {domain:?} belongs to council {council}")]
    CouncilConflict {
        /// The domain.
        domain: String,
        /// Who has it.
        council: Uuid,
    },
    /// Another sprite has the name and version (D25).
    #[error("sprite {0} has this name and version; raise the version, or change that sprite with PUT")]
    SpriteConflict(Uuid),
    /// A rule of the council denies the council itself (D5, D6).
    #[error("rule {rule_id:?} ({rule_name}) denies this council")]
    RuleDenied {
        /// The rule's id.
        rule_id: String,
        /// Its name.
        rule_name: String,
    },
    /// A council mounts packs that this host cannot mount.
    #[error("{}", problems.first().map(ToString::to_string).unwrap_or_default())]
    PackMounts {
        /// All of them.
        problems: Vec<MountProblem>,
    },
    /// A document cannot be a graph of this host.
    #[error("the graph is refused: {}", problems.first().map(ToString::to_string).unwrap_or_default())]
    GraphRefused {
        /// All problems.
        problems: Vec<GraphProblem>,
    },
    /// The run is none of a graph.
    #[error("run {0} is none of a graph")]
    NoGraph(Uuid),
    /// The run asks no such question.
    #[error("run {id} asks nothing that could be answered: it is {status}")]
    NoInterrupt {
        /// The run.
        id: Uuid,
        /// Where it stands.
        status: ExecutionStatus,
    },
    /// The answer needs a grant that the caller does not have (D17).
    #[error("an answer to run {id} needs the grant {capability:?}")]
    CapabilityRequired {
        /// The run.
        id: Uuid,
        /// The grant.
        capability: String,
    },
    /// An update changes the name of a sprite (D9).
    #[error("the sprite is named {is}, an update cannot rename it to {asked}; create a new sprite instead")]
    NameChanged {
        /// The name it has.
        is: String,
        /// The name in the update.
        asked: String,
    },
    /// An update does not raise the version (D9).
    #[error("the version must be greater than {is}, {asked} is not")]
    VersionNotGreater {
        /// The version it has.
        is: String,
        /// The version in the update.
        asked: String,
    },
    /// The sprite is protected.
    #[error("the sprite {0} is protected; pass ?force=true (--force) to override")]
    Protected(Uuid),
    /// The sprite is a member of councils.
    #[error("the sprite {sprite} is a member of councils; add ?force=true to delete it all the same")]
    SpriteInUse {
        /// The sprite.
        sprite: Uuid,
        /// Some of them.
        councils: Vec<Uuid>,
    },
    /// `If-Match` names another revision than the one there is.
    #[error("it has changed in between: it is at revision {revision} now; read it again")]
    Changed {
        /// The revision there is.
        revision: u64,
    },
    /// The host has no place for plugins.
    #[error(
        "this host has no mizzen.toml, so there is nowhere to install plugins; start it with --config FILE"
    )]
    PluginsNotConfigured,
    /// The plugin set would not load.
    #[error("the plugin set would not load: {}", problems.first().map(ToString::to_string).unwrap_or_default())]
    PluginRefused {
        /// All problems.
        problems: Vec<PluginLoadError>,
    },
    /// The package does not go together with what is installed.
    #[error("{0}")]
    PluginConflict(String),
    /// The change would go back to an older version of a plugin, or of a mandatory pack.
    #[error("{0}; nothing was changed. A key with the grant admin can send it again with ?downgrade=true")]
    PluginDowngrade(Box<OlderVersion>),
    /// The package asks for more than is granted.
    #[error("{0}; nothing was changed. Somebody with the grant admin can send it again with ?approve=true")]
    ApprovalNeeded(Box<WaitingForApproval>),
    /// The idempotency key was used with another request.
    #[error("the idempotency key was used before with another request; use a new key")]
    IdempotencyMismatch,
}

/// What the caller cannot mend.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// No room on the disk; reads go on.
    #[error("there is no room to store it; nothing was changed, try again later")]
    StorageFull,
    /// The store cannot write now: locked, closing, or poisoned.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// Anything else. The text is for the log, never for the caller.
    #[error("internal: {0}")]
    Internal(String),
}

fn too_many_runs(limit: QuotaExceeded, most: usize) -> String {
    let what = match limit {
        QuotaExceeded::Each => {
            format!("this key, or without keys this council or tool, has {most} executions open")
        }
        QuotaExceeded::All => format!("{most} executions are open"),
        QuotaExceeded::Kept => {
            format!("most of {most} executions are open, and the last places are kept for others")
        }
    };
    format!("{what}; answer or cancel those that wait for a person, or try again when some have ended")
}

fn list(ids: &[impl ToString]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full { .. } => Fault::StorageFull,
            StoreError::Poisoned | StoreError::Busy | StoreError::Closed => {
                Fault::Unavailable(error.to_string())
            }
            StoreError::Fault(detail) => Fault::Internal(detail),
        }
    }
}

impl From<StoreError> for OpError {
    fn from(error: StoreError) -> Self {
        OpError::Fault(error.into())
    }
}

impl From<IdempotencyMismatch> for OpError {
    fn from(_: IdempotencyMismatch) -> Self {
        Refusal::IdempotencyMismatch.into()
    }
}

impl From<BadCursor> for OpError {
    fn from(error: BadCursor) -> Self {
        Refusal::BadParameter {
            name: "cursor",
            reason: error.to_string(),
        }
        .into()
    }
}

/// A refusal of the store, about the sprite that was asked for.
pub(crate) fn sprite_refused(sprite: Uuid, error: WriteError<SpriteRefused>) -> OpError {
    match error {
        WriteError::Store(error) => error.into(),
        WriteError::Refused(SpriteRefused::NotFound) => Refusal::SpriteNotFound(sprite).into(),
        WriteError::Refused(SpriteRefused::Changed(revision)) => Refusal::Changed { revision }.into(),
        WriteError::Refused(SpriteRefused::Taken(other)) => Refusal::SpriteConflict(other).into(),
        WriteError::Refused(SpriteRefused::InUse(councils)) => {
            Refusal::SpriteInUse { sprite, councils }.into()
        }
        WriteError::Refused(SpriteRefused::Mismatch(_)) => Refusal::IdempotencyMismatch.into(),
    }
}

/// A refusal of the store, about the council that was asked for.
pub(crate) fn council_refused(council: Uuid, domain: &str, error: WriteError<CouncilRefused>) -> OpError {
    match error {
        WriteError::Store(error) => error.into(),
        WriteError::Refused(CouncilRefused::NotFound) => Refusal::CouncilNotFound(council).into(),
        WriteError::Refused(CouncilRefused::Changed(revision)) => Refusal::Changed { revision }.into(),
        WriteError::Refused(CouncilRefused::DomainTaken(council)) => Refusal::CouncilConflict {
            domain: domain.to_owned(),
            council,
        }
        .into(),
        WriteError::Refused(CouncilRefused::MissingSprites(missing)) => {
            let missing = missing.iter().map(ToString::to_string).collect();
            Refusal::MissingSprites { missing }.into()
        }
        WriteError::Refused(CouncilRefused::Mismatch(_)) => Refusal::IdempotencyMismatch.into(),
    }
}
