//! What clients send about executions.

use super::Approval;
use crate::duration::Duration;
use crate::id::{ChainId, CouncilId};
use crate::problem::{Code, Problems};
use crate::record::{Field, FieldKind, Fields, Format, Record, read};
use mizzen_json::{Json, Object};

/// A request to run a chain.
pub static CHAIN_EXECUTE_REQUEST: Record = Record {
    name: "ChainExecuteRequest",
    about: "A chain of a council to run, and what to run it with.",
    fields: &[
        Field::optional(
            "council_id",
            FieldKind::formatted(Format::Uuid),
            "The council, by its id; either this or `council`.",
        ),
        Field::optional("council", FieldKind::text(1, 256), "The council, by its domain."),
        Field::optional(
            "chain_id",
            FieldKind::formatted(Format::Uuid),
            "One of its chains, by its id; either this or `chain`.",
        ),
        Field::optional(
            "chain",
            FieldKind::text(1, 256),
            "One of its chains, by its name.",
        ),
        Field::required(
            "input",
            FieldKind::Object { max: 65_536 },
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
        FieldKind::Object { max: 65_536 },
        "What steps, gates and rules read as $input.",
    )],
};

/// A request to call a tool.
pub static TOOL_CALL_REQUEST: Record = Record {
    name: "ToolCallRequest",
    about: "What to call a tool with.",
    fields: &[
        Field::required(
            "input",
            FieldKind::Any,
            "What the tool is given; it must fit the tool's input_schema.",
        ),
        Field::optional(
            "version",
            FieldKind::formatted(Format::VersionRange),
            "Which versions of the tool will do, such as ^1.2 or =1.4.0; the default version when absent.",
        ),
        Field::optional(
            "timeout",
            FieldKind::formatted(Format::Duration),
            "How long the call may take; 60s when absent.",
        ),
    ],
};

/// A person's answer to an escalation.
pub static DECISION_REQUEST: Record = Record {
    name: "DecisionRequest",
    about: "A person's answer to an escalation.",
    fields: &[
        Field::required(
            "decision",
            FieldKind::Choice(Approval::NAMES),
            "Whether the run goes on.",
        ),
        Field::required(
            "escalation_id",
            FieldKind::text(1, 256),
            "The question that is answered.",
        ),
        Field::required("reason", FieldKind::text(1, 4_096), "Why; it is recorded."),
    ],
};

/// A chain to run.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainExecuteRequest {
    /// The council.
    pub council: Named<CouncilId>,
    /// One of its chains.
    pub chain: Named<ChainId>,
    /// The input.
    pub input: Object,
}

/// Something of which either the id or the name is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named<T> {
    /// By its id.
    Id(T),
    /// By its name; of a council, its domain.
    Name(String),
}

impl ChainExecuteRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// With every mistake in it.
    pub fn parse(document: &Json) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let (council, chain, input) = read(&CHAIN_EXECUTE_REQUEST, document, |fields| {
            let council = either(fields, "council", |id| CouncilId::parse(id).ok(), &mut problems);
            let chain = either(fields, "chain", |id| ChainId::parse(id).ok(), &mut problems);
            Some((council, chain, fields.get("input")?.as_object()?.clone()))
        })?;
        match (council, chain) {
            (Some(council), Some(chain)) => Ok(Self {
                council,
                chain,
                input,
            }),
            _ => Err(problems),
        }
    }
}

/// Exactly one of an id and a name.
fn either<T>(
    fields: &Fields<'_>,
    name: &str,
    parse: impl FnOnce(&str) -> Option<T>,
    problems: &mut Problems,
) -> Option<Named<T>> {
    let id = format!("{name}_id");
    match (fields.text(&id), fields.text(name)) {
        (Some(text), None) => parse(text).map(Named::Id),
        (None, Some(text)) => Some(Named::Name(text.to_owned())),
        (None, None) => {
            let message = format!("{id} or {name} is required: the {name} by its id, or by its name");
            problems.push(format!("/{id}"), Code::Missing, message);
            None
        }
        (Some(_), Some(_)) => {
            let message =
                format!("{id} stands beside it: name the {name} by its id or by its name, not by both");
            problems.push(format!("/{name}"), Code::Duplicate, message);
            None
        }
    }
}

/// A tool to call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallRequest {
    /// The input.
    pub input: Json,
    /// Which versions will do; none: the default one.
    pub version: Option<String>,
    /// How long the call may take.
    pub timeout: Option<Duration>,
}

impl ToolCallRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// With every mistake in it.
    pub fn parse(document: &Json) -> Result<Self, Problems> {
        read(&TOOL_CALL_REQUEST, document, |fields| {
            Some(Self {
                input: fields.get("input")?.clone(),
                version: fields.text("version").map(str::to_owned),
                timeout: match fields.text("timeout") {
                    None => None,
                    Some(text) => Some(Duration::parse(text).ok()?),
                },
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<ChainExecuteRequest, Vec<String>> {
        ChainExecuteRequest::parse(&Json::parse(text).unwrap()).map_err(|problems| {
            problems
                .iter()
                .map(|problem| format!("{} {}", problem.path, problem.code))
                .collect()
        })
    }

    #[test]
    fn a_chain_is_named_by_ids_or_by_names() {
        let id = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35";
        let by_name = found(r#"{"council": "engineering", "chain": "deliver", "input": {}}"#).unwrap();
        assert_eq!(by_name.council, Named::Name("engineering".to_owned()));
        assert_eq!(by_name.chain, Named::Name("deliver".to_owned()));
        let mixed = format!(r#"{{"council_id": "{id}", "chain": "deliver", "input": {{}}}}"#);
        assert_eq!(
            found(&mixed).unwrap().council,
            Named::Id(CouncilId::parse(id).unwrap())
        );
        assert_eq!(
            found(r#"{"input": {}}"#).unwrap_err(),
            ["/council_id missing", "/chain_id missing"]
        );
        let both = format!(r#"{{"council_id": "{id}", "council": "x", "chain": "c", "input": {{}}}}"#);
        assert_eq!(found(&both).unwrap_err(), ["/council duplicate"]);
        assert_eq!(
            found(r#"{"council": "x", "chain_id": "deliver", "input": {}}"#).unwrap_err(),
            ["/chain_id pattern"]
        );
    }
}
