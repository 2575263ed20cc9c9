//! What clients send about executions.

use super::Approval;
use crate::id::{ChainId, CouncilId};
use crate::json::{Json, Object};
use crate::problem::Problems;
use crate::record::{Field, Format, Kind, Record, read};

/// A request to run a chain.
pub static CHAIN_EXECUTE_REQUEST: Record = Record {
    name: "ChainExecuteRequest",
    about: "A chain of a council to run, and what to run it with.",
    fields: &[
        Field::required("council_id", Kind::formatted(Format::Uuid), "The council."),
        Field::required("chain_id", Kind::formatted(Format::Uuid), "One of its chains."),
        Field::required(
            "input",
            Kind::Object { max: 65_536 },
            "What steps, gates and rules read as $input.",
        ),
    ],
};

/// A request to run every chain of a council.
pub static EXECUTE_ALL_REQUEST: Record = Record {
    name: "ExecuteAllRequest",
    about: "What to run every chain of a council with.",
    fields: &[Field::required(
        "input",
        Kind::Object { max: 65_536 },
        "What steps, gates and rules read as $input.",
    )],
};

/// A person's answer to an escalation.
pub static DECISION_REQUEST: Record = Record {
    name: "DecisionRequest",
    about: "A person's answer to an escalation.",
    fields: &[
        Field::required(
            "decision",
            Kind::Choice(Approval::NAMES),
            "Whether the run goes on.",
        ),
        Field::required(
            "escalation_id",
            Kind::text(1, 256),
            "The question that is answered.",
        ),
        Field::required("reason", Kind::text(1, 4_096), "Why; it is recorded."),
    ],
};

/// A chain to run.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainExecuteRequest {
    /// The council.
    pub council_id: CouncilId,
    /// One of its chains.
    pub chain_id: ChainId,
    /// The input.
    pub input: Object,
}

impl ChainExecuteRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// With every mistake in it.
    pub fn parse(document: &Json) -> Result<Self, Problems> {
        read(&CHAIN_EXECUTE_REQUEST, document, |fields| {
            Some(Self {
                council_id: CouncilId::parse(fields.text("council_id")?).ok()?,
                chain_id: ChainId::parse(fields.text("chain_id")?).ok()?,
                input: fields.get("input")?.as_object()?.clone(),
            })
        })
    }
}

/// The input of a request to run every chain.
///
/// # Errors
/// With every mistake in it.
pub fn parse_execute_all(document: &Json) -> Result<Object, Problems> {
    read(&EXECUTE_ALL_REQUEST, document, |fields| {
        Some(fields.get("input")?.as_object()?.clone())
    })
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRequest {
    /// The decision.
    pub decision: Approval,
    /// The question that is answered.
    pub escalation_id: String,
    /// Why.
    pub reason: String,
}

impl DecisionRequest {
    /// Reads an answer.
    ///
    /// # Errors
    /// With every mistake in it.
    pub fn parse(document: &Json) -> Result<Self, Problems> {
        read(&DECISION_REQUEST, document, |fields| {
            Some(Self {
                decision: Approval::parse(fields.text("decision")?)?,
                escalation_id: fields.owned("escalation_id")?,
                reason: fields.owned("reason")?,
            })
        })
    }
}
