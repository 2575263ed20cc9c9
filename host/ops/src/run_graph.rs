//! Runs a graph, and what people tell it: an answer, a pause, to go on.

use crate::caller::Caller;
use crate::error::{Fault, OpError, Refusal};
use crate::execute_chain::{Begun, Executed, PlanStart, Wait, exact, marked};
use crate::host::{Host, IdempotencyKey};
use crate::runs::{GraphDefinition, Message, Planned, Steering, chain_of_graph, lower_installed};
use mizzen_engine::graph::{GraphLimits, StateSchema};
use mizzen_json::{Json, Object};
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus, GraphExecution};
use mizzen_model::ir::{IRDocument, graph_hash, migration_hash};
use mizzen_model::problem::{Code, Problems};
use mizzen_store::Recorded;
use serde_json::{Map, Value};
use std::sync::Arc;
use uuid::Uuid;

/// What a run of a graph may use when nothing else is said.
pub(crate) const GRAPH_LIMITS: GraphLimits = GraphLimits {
    step_limit: 10_000,
    timeout_ms: 60 * 60 * 1_000,
};

/// What is known of a document that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedGraph {
    /// The document's id.
    pub id: String,
    /// The hash of the whole document.
    pub graph_hash: String,
    /// The hash of the document without its `migrate` section, which `migrate` blocks name (D38).
    pub migration_hash: String,
    /// Nodes that fail until something is configured: each with why.
    pub warnings: Vec<String>,
}

/// A graph to run.
#[derive(Debug, Clone)]
pub struct GraphStart<'a> {
    /// The document.
    pub document: &'a IRDocument,
    /// The initial state.
    pub params: Object,
}

impl Host {
    /// Whether a document can be a graph of this host.
    ///
    /// # Errors
    /// [`Refusal::GraphRefused`] with all problems.
    pub fn check_graph(&self, document: &IRDocument) -> Result<CheckedGraph, OpError> {
        let definition = GraphDefinition {
            document: document.clone(),
            limits: GRAPH_LIMITS,
        };
        let lowered = lower_installed(&self.loaded(), &definition);
        let (plan, _) = lowered.map_err(|problems| Refusal::GraphRefused { problems })?;
        Ok(CheckedGraph {
            id: document.id.clone(),
            graph_hash: graph_hash(document),
            migration_hash: migration_hash(document),
            warnings: plan
                .unresolved()
                .map(|error| format!("{}: {}", error.code, error.message))
                .collect(),
        })
    }

    /// Runs a graph. The run goes on when the caller goes away.
    ///
    /// # Errors
    /// A refusal when the document or the parameters do not fit, or a fault.
    pub async fn run_graph(
        self: &Arc<Self>,
        caller: &Caller,
        start: GraphStart<'_>,
        key: Option<IdempotencyKey>,
        wait: Wait,
    ) -> Result<Executed, OpError> {
        let idempotency = self.idempotency(caller, "run_graph", key.as_ref());
        if let Some(idempotency) = &idempotency
            && let Recorded::Answer(answer) = self.store.recorded_answer(idempotency).await??
        {
            let executed = self.wait_again(&answer, wait).await?;
            return Ok(marked((executed, Begun::Before), key.as_ref()));
        }
        let planned = self.plan_graph(start.document)?;
        let params = exact(&Json::Object(start.params))?;
        check_params(&planned, &params)?;
        let start = PlanStart {
            planned: &planned,
            input: params,
            idempotency,
            action: "run_graph",
        };
        let executed = self.run_plan(caller, start, wait).await?;
        Ok(marked(executed, key.as_ref()))
    }

    fn plan_graph(&self, document: &IRDocument) -> Result<Arc<Planned>, OpError> {
        let definition = GraphDefinition {
            document: document.clone(),
            limits: GRAPH_LIMITS,
        };
        let text = definition.text();
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        self.plan(&text, hash, chain_of_graph(&document.id))
    }

    /// Answers an interrupt (D17). The answer needs the grant that the interrupt asks for; its fields that are fields of the state are
    /// set, all or none.
    ///
    /// # Errors
    /// A refusal when nothing is asked, the caller may not answer, or the response does not fit.
    pub async fn respond_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: Uuid,
        interrupt_id: Option<&str>,
        response: Object,
    ) -> Result<ChainExecutionResult, OpError> {
        let before = self.execution(id).await?;
        let graph = graph_of(&before, id)?;
        let open = graph.interrupt.as_ref().filter(|asked| asked.answer.is_none());
        let open = open.filter(|_| before.status == ExecutionStatus::AwaitingInput);
        let asked = open
            .filter(|asked| interrupt_id.is_none_or(|named| named == asked.interrupt_id))
            .ok_or(Refusal::NoInterrupt {
                id,
                status: before.status,
            })?;
        if let Some(capability) = &asked.requested_capability
            && !caller.may_use(capability)
        {
            return Err(Refusal::CapabilityRequired {
                id,
                capability: capability.clone(),
            }
            .into());
        }
        let Value::Object(response) = exact(&Json::Object(response))? else {
            return Err(Fault::Internal("an object became something else".to_owned()).into());
        };
        let audit = self.audit(caller, "respond_run", id.to_string());
        let interrupt_id = asked.interrupt_id.clone();
        let after = self
            .tell(id, |reply| Message::Steer {
                steering: Steering::Respond {
                    interrupt_id: interrupt_id.clone(),
                    response: response.clone(),
                },
                audit: audit.clone(),
                reply,
            })
            .await?;
        let open = after.graph.as_ref().and_then(|graph| graph.interrupt.as_ref());
        let is_open = open.is_some_and(|asked| asked.interrupt_id == interrupt_id && asked.answer.is_none());
        if is_open && after.status == ExecutionStatus::AwaitingInput {
            // It was not taken: the fields do not fit.
            return Err(self.misfit(id, &response).await?.into());
        }
        Ok(after)
    }

    /// Why a response was not taken.
    async fn misfit(&self, id: Uuid, response: &Map<String, Value>) -> Result<Refusal, OpError> {
        let schema = self.state_schema_of(id).await?;
        let fields = response.iter().filter(|(field, _)| schema.has(field));
        let fields: Map<String, Value> = fields
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        let mut problems = Problems::new();
        match schema.check(&fields) {
            Err(problem) => {
                let field = mizzen_json::escape_token(&problem.field).into_owned();
                problems.push(format!("/response/{field}"), Code::WrongType, problem.message);
            }
            Ok(()) => problems.push(
                "/response".to_owned(),
                Code::OutOfRange,
                "the state would be larger than it may be".to_owned(),
            ),
        }
        Ok(Refusal::Invalid {
            document: "response",
            problems,
        })
    }

    async fn state_schema_of(&self, id: Uuid) -> Result<StateSchema, OpError> {
        let record = self.store.run(id).await?.ok_or(Refusal::ExecutionNotFound(id))?;
        let text = self.store.run_definition(record.definition_hash).await?;
        let gone = || Fault::Internal(format!("the definition of run {id} is gone"));
        let definition = GraphDefinition::parse(&text.ok_or_else(gone)?)?;
        let schema = definition.document.state_schema.iter();
        let (schema, _) = StateSchema::parse(schema.map(|(name, text)| (name.as_str(), text.as_str())));
        Ok(schema)
    }

    /// Lets a graph wait before its next node. Pausing it twice is pausing it once.
    ///
    /// # Errors
    /// A refusal when the run is none of a graph, or has ended.
    pub async fn pause_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: Uuid,
    ) -> Result<ChainExecutionResult, OpError> {
        self.steer(caller, id, "pause_run", Steering::Pause).await
    }

    /// Lets a paused graph go on.
    ///
    /// # Errors
    /// A refusal when the run is none of a graph, or has ended.
    pub async fn resume_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: Uuid,
    ) -> Result<ChainExecutionResult, OpError> {
        self.steer(caller, id, "resume_run", Steering::Resume).await
    }

    async fn steer(
        self: &Arc<Self>,
        caller: &Caller,
        id: Uuid,
        action: &'static str,
        steering: Steering,
    ) -> Result<ChainExecutionResult, OpError> {
        let before = self.execution(id).await?;
        graph_of(&before, id)?;
        if before.status.is_final() {
            return Err(Refusal::ExecutionEnded {
                id,
                status: before.status,
            }
            .into());
        }
        let audit = self.audit(caller, action, id.to_string());
        self.tell(id, |reply| Message::Steer {
            steering: steering.clone(),
            audit: audit.clone(),
            reply,
        })
        .await
    }
}

fn graph_of(result: &ChainExecutionResult, id: Uuid) -> Result<&GraphExecution, Refusal> {
    result.graph.as_deref().ok_or(Refusal::NoGraph(id))
}

/// The parameters are the initial state.
fn check_params(planned: &Planned, params: &Value) -> Result<(), OpError> {
    let (Some(graph), Value::Object(params)) = (planned.plan.graph(), params) else {
        return Ok(());
    };
    graph.state().check_start(params).map_err(|problem| {
        let mut problems = Problems::new();
        let field = mizzen_json::escape_token(&problem.field).into_owned();
        let pointer = match field.as_str() {
            "" => "/params".to_owned(),
            field => format!("/params/{field}"),
        };
        problems.push(pointer, Code::WrongType, problem.message);
        Refusal::Invalid {
            document: "request",
            problems,
        }
        .into()
    })
}
