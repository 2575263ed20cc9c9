//! A chain with nothing left to look up: maps parsed, conditions compiled, calls resolved. Made once, run many times.
//!
//! `C` is how a call is named by whoever makes it (a plugin, an export, a digest); a plan only carries it.

mod graph;
mod tool;

pub use tool::ToolPlan;

use crate::graph::GraphPlan;
use crate::schema::Schema;
use mizzen_condition::map::{EntryError, Map, Side};
use mizzen_condition::{Condition, ConditionError};
use mizzen_json::{Json, Object};
use mizzen_model::chain::{Chain, ChainStep};
use mizzen_model::council::Council;
use mizzen_model::execution::ExecutionError;
use mizzen_model::facts::templates;
use mizzen_model::gate::{Gate, GatePosition, GateScope, StepGate};
use mizzen_model::governance::{PackMode, PackOrigin};
use mizzen_model::id::{ChainId, CouncilId, SpriteId};
use mizzen_model::pack::Moment;
use mizzen_model::rule::{Enforcement, Hook, RuleAction};
use mizzen_model::sprite::{Capability, Sprite};
use mizzen_model::tool_spec::SideEffects;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The capability by which a gate agent has a say beyond the condition (D3).
pub const EVALUATE_GATE: &str = "evaluate_gate";
/// The pause before the first retry, when a step does not say.
const DEFAULT_BACKOFF_MS: u64 = 1_000;

/// A chain, ready to run.
#[derive(Debug)]
pub struct Plan<C> {
    pub(crate) council_id: CouncilId,
    pub(crate) chain_id: ChainId,
    /// The variables `council` and `chain` of conditions.
    pub(crate) council: Value,
    pub(crate) chain: Value,
    pub(crate) rules: Vec<PlannedRule>,
    pub(crate) before: Vec<PlannedGate>,
    pub(crate) after: Vec<PlannedGate>,
    pub(crate) each_step: Vec<PlannedGate>,
    pub(crate) on_error: Vec<PlannedGate>,
    pub(crate) steps: Vec<PlannedStep<C>>,
    /// How the gate agent is asked, when it wants to be (D3).
    pub(crate) gate_agent: Option<Result<Target<C>, Unresolved>>,
    pub(crate) timeout_ms: u64,
    /// Packs that govern the run, in load order.
    pub(crate) packs: Vec<MountedPack>,
    /// The host's templates that somebody reads, for the moments at which somebody is asked.
    read: BTreeMap<Moment, Arc<[&'static str]>>,
    /// What packs are told about the gate agent's tool.
    gate_tool: Option<ToolFacts>,
    /// What packs govern beyond steps.
    governs: Vec<Governs>,
    /// The tool, where the plan is one call of a tool and not a chain.
    pub(crate) tool_called: Option<String>,
    /// What follows what, where the plan is a graph; of a chain the steps follow each other.
    pub(crate) graph: Option<GraphPlan>,
}

/// What packs govern beyond steps. A run keeps what it began with: in journals of earlier hosts these are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Governs {
    /// The gate agent's call, where it touches the world.
    GateAgent,
    /// What packs asked for and was not done says why: no part of what is governed, but of what the result of such a run has.
    Reasons,
}

impl Governs {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::GateAgent, Self::Reasons];

    /// As it is written in journals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GateAgent => "gate_agent",
            Self::Reasons => "reasons",
        }
    }

    /// The one with that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|governs| governs.as_str() == text)
    }
}

/// A pack that governs a run, found and pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountedPack {
    /// Its id.
    pub id: String,
    /// Its version; the one that was asked for when it is not there.
    pub version: String,
    /// The package that it came from, to the byte; empty when it is not there.
    pub digest: String,
    /// Whether what it says is done.
    pub mode: PackMode,
    /// Who mounted it.
    pub origin: PackOrigin,
    /// When it wants to be asked.
    pub moments: Vec<Moment>,
    /// The templates that it reads; none: all of them.
    pub reads: Vec<String>,
}

impl MountedPack {
    /// Whether it wants to be asked at a moment.
    pub fn wants(&self, moment: Moment) -> bool {
        self.moments.contains(&moment)
    }

    pub(crate) fn reads(&self, template: &str) -> bool {
        self.reads.is_empty() || self.reads.iter().any(|read| read == template)
    }
}

/// What packs are told about the tool of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFacts {
    /// Its id.
    pub tool: String,
    /// Its version.
    pub version: String,
    /// The plugin that it comes from.
    pub plugin: String,
    /// How it touches the world.
    pub side_effects: SideEffects,
}

/// What performs an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<C> {
    /// The call.
    pub call: C,
    /// Whether making it twice does no harm.
    pub repeatable: Repeatable,
}

/// Whether a call may be made again after it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeatable {
    /// It reads at most, or carries an idempotency key.
    Yes,
    /// It changes the world, and nobody would notice that it is the same change.
    No,
}

/// Nothing performs an action. The step fails in its place, with this as its error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// A stable code, such as `CAPABILITY_UNRESOLVED`.
    pub code: String,
    /// What to install or grant.
    pub message: String,
}

#[derive(Debug)]
pub(crate) struct PlannedRule {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) condition: Condition,
    pub(crate) action: RuleAction,
    pub(crate) enforcement: Enforcement,
    pub(crate) hook: Option<Hook>,
    /// How long a person has to answer.
    pub(crate) expires_ms: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct PlannedGate {
    pub(crate) position: GatePosition,
    pub(crate) sprite_id: SpriteId,
    pub(crate) condition: Condition,
    pub(crate) veto_message: Option<String>,
}

/// Where a step's input comes from.
#[derive(Debug)]
pub(crate) enum StepInput {
    /// From the run's input and the steps before, by its `input_map`.
    Mapped(Map<Value>),
    /// It is the run's input, whatever its type: the tool's own schema decides.
    Whole,
    /// It is the state of the graph, as far as the node takes it.
    State,
}

#[derive(Debug)]
pub(crate) struct PlannedStep<C> {
    pub(crate) sprite_id: SpriteId,
    pub(crate) action: String,
    pub(crate) sprite_name: String,
    pub(crate) tool: Option<ToolFacts>,
    pub(crate) protected: bool,
    pub(crate) input: StepInput,
    pub(crate) output: Map<Value>,
    pub(crate) parameters: Option<Schema>,
    pub(crate) gates_before: Vec<PlannedGate>,
    pub(crate) gates_after: Vec<PlannedGate>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) retries: u32,
    pub(crate) backoff_ms: u64,
    pub(crate) target: Result<Target<C>, ExecutionError>,
}

/// A council that was kept and cannot be planned. Admission refuses these, so it means that the rules have changed since.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A condition does not compile.
    #[error("a condition does not compile: {0}")]
    Condition(#[from] ConditionError),
    /// A map does not parse.
    #[error("a map does not parse: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Map(Vec<EntryError>),
}

impl<C> Plan<C> {
    /// The council that the chain is of.
    pub fn council_id(&self) -> CouncilId {
        self.council_id
    }

    /// The chain.
    pub fn chain_id(&self) -> ChainId {
        self.chain_id
    }

    /// Compiles a chain of a council. `resolve` finds what performs a capability; its refusal becomes the step's error.
    ///
    /// # Errors
    /// [`PlanError`] when a map or condition does not compile.
    pub fn compile(
        council: &Council,
        chain: &Chain,
        mut resolve: impl FnMut(&Sprite, &Capability) -> Result<Target<C>, Unresolved>,
    ) -> Result<Self, PlanError> {
        let body = &chain.body;
        let mut steps = Vec::with_capacity(body.steps.len());
        for (order, step) in body.ordered_steps().into_iter().enumerate() {
            steps.push(plan_step(council, step, order, &mut resolve)?);
        }
        let gates = |wanted: fn(&Gate) -> bool| -> Result<Vec<PlannedGate>, ConditionError> {
            body.gates
                .iter()
                .filter(|gate| wanted(gate))
                .map(PlannedGate::of_chain)
                .collect()
        };
        let agent = council.sprite(council.gate_agent);
        let asked = agent.and_then(|sprite| Some((sprite, sprite.body.capability(EVALUATE_GATE)?)));
        let mut rules = Vec::with_capacity(council.rules.len());
        for rule in &council.rules {
            rules.push(PlannedRule {
                id: rule.id.clone(),
                name: rule.name.clone(),
                condition: Condition::compile_rule(&rule.condition)?,
                action: rule.action,
                enforcement: rule.enforcement(),
                hook: rule.hook.clone(),
                expires_ms: rule.expires.as_ref().map(|expires| expires.milliseconds()),
            });
        }
        Ok(Self {
            council_id: council.id,
            chain_id: chain.id,
            council: describe_council(council),
            chain: json!({
                "id": chain.id.to_string(), "name": body.name, "timeout": body.timeout.as_str(), "steps": body.steps.len(),
            }),
            rules,
            before: gates(|gate| gate.position == GatePosition::Before)?,
            after: gates(|gate| gate.position == GatePosition::After && gate.scope() == GateScope::Chain)?,
            each_step: gates(|gate| gate.position == GatePosition::After && gate.scope() == GateScope::Step)?,
            on_error: gates(|gate| gate.position == GatePosition::OnError)?,
            steps,
            // An agent that wants to be asked and cannot be vetoes: the refusal is kept as the reason.
            gate_agent: asked.map(|(sprite, capability)| resolve(sprite, capability)),
            timeout_ms: body.timeout.milliseconds(),
            packs: Vec::new(),
            read: BTreeMap::new(),
            gate_tool: None,
            governs: Vec::new(),
            tool_called: None,
            graph: None,
        })
    }

    /// The same plan governed by packs, in load order; `about` says what they are told of a call.
    #[must_use]
    pub fn governed(mut self, packs: Vec<MountedPack>, about: impl Fn(&C) -> ToolFacts) -> Self {
        if !packs.is_empty() {
            for step in &mut self.steps {
                step.tool = step.target.as_ref().ok().map(|target| about(&target.call));
            }
            self.gate_tool = self.gate_call().map(&about);
        }
        let read = |moment: Moment| -> Arc<[&'static str]> {
            let asked = || packs.iter().filter(|pack| pack.wants(moment));
            templates()
                .filter(|template| asked().any(|pack| pack.reads(template)))
                .collect()
        };
        self.read = Moment::ALL
            .into_iter()
            .map(|moment| (moment, read(moment)))
            .collect();
        self.packs = packs;
        self
    }

    /// What a run of it that begins now has governed, beyond its steps.
    pub fn governable(&self) -> Vec<Governs> {
        let touches = |tool: &ToolFacts| tool.side_effects != SideEffects::None;
        let is_asked = !self.packs.is_empty() && self.gate_tool.as_ref().is_some_and(touches);
        let gate = is_asked.then_some(Governs::GateAgent);
        let reasons = (!self.packs.is_empty()).then_some(Governs::Reasons);
        gate.into_iter().chain(reasons).collect()
    }

    /// Whether what was not done says why.
    pub(crate) fn gives_reasons(&self) -> bool {
        self.governs.contains(&Governs::Reasons)
    }

    /// The same plan, with this governed by its packs too.
    #[must_use]
    pub fn governing(mut self, governs: Vec<Governs>) -> Self {
        self.governs = governs;
        self
    }

    /// The gate agent's tool, where packs are asked about its calls.
    pub(crate) fn governed_gate(&self) -> Option<(&ToolFacts, Repeatable)> {
        let target = self.gate_agent.as_ref()?.as_ref().ok()?;
        let tool = self.gate_tool.as_ref()?;
        self.governs
            .contains(&Governs::GateAgent)
            .then_some((tool, target.repeatable))
    }

    /// The host's templates that somebody reads who is asked at a moment. What nobody reads need not be told.
    pub(crate) fn read_at(&self, moment: Moment) -> Arc<[&'static str]> {
        self.read.get(&moment).map(Arc::clone).unwrap_or_default()
    }

    /// The packs that govern the run, in load order.
    pub fn packs(&self) -> &[MountedPack] {
        &self.packs
    }

    /// Whether a pack may take something out of the input of a call: it is mandatory, asked before calls, and reads what is in them.
    pub fn may_redact_input(&self) -> bool {
        self.packs.iter().any(|pack| {
            pack.mode == PackMode::Mandatory && pack.wants(Moment::BeforeStep) && pack.reads("evidence")
        })
    }

    /// What a graph has beyond its nodes; none for a chain.
    pub fn graph(&self) -> Option<&GraphPlan> {
        self.graph.as_ref()
    }

    /// Why steps and nodes fail whose call could not be found.
    pub fn unresolved(&self) -> impl Iterator<Item = &ExecutionError> {
        let is_called = |place: usize| {
            let node = self.graph.as_ref().and_then(|graph| graph.nodes.get(place));
            node.is_none_or(|node| node.does == crate::graph::NodeDoes::Call)
        };
        let steps = self
            .steps
            .iter()
            .enumerate()
            .filter(move |(place, _)| is_called(*place));
        steps.filter_map(|(_, step)| step.target.as_ref().err())
    }

    /// The call of a step, or of a node by its place; none when it has no such call.
    pub fn call(&self, place: usize) -> Option<&C> {
        self.steps
            .get(place)?
            .target
            .as_ref()
            .ok()
            .map(|target| &target.call)
    }

    /// The call that asks the gate agent, if it wants to be asked.
    pub fn gate_call(&self) -> Option<&C> {
        self.gate_agent.as_ref()?.as_ref().ok().map(|target| &target.call)
    }
}

fn describe_council(council: &Council) -> Value {
    let sprites: Vec<Value> = council
        .sprites
        .iter()
        .map(|sprite| {
            json!({
                "id": sprite.id.to_string(), "name": sprite.body.name.as_str(), "version": sprite.body.version.as_str(),
                "role": sprite.body.role.map(|role| role.as_str()), "protected": sprite.body.is_protected(),
                "capabilities": sprite.body.capabilities.iter().map(|capability| capability.name.as_str()).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "id": council.id.to_string(), "name": council.name, "domain": council.domain,
        "gate_agent": council.gate_agent.to_string(), "sprites": sprites,
    })
}

fn plan_step<C>(
    council: &Council,
    step: &ChainStep,
    order: usize,
    resolve: &mut impl FnMut(&Sprite, &Capability) -> Result<Target<C>, Unresolved>,
) -> Result<PlannedStep<C>, PlanError> {
    let empty = Object::new();
    let map =
        |entries: Option<&Object>, side| Map::parse(entries.unwrap_or(&empty), side).map_err(PlanError::Map);
    let sprite = council.sprite(step.sprite_id);
    let capability = sprite.and_then(|sprite| Some((sprite, sprite.body.capability(&step.action)?)));
    let at = u32::try_from(order).ok();
    let failure = |code: &str, message: String| ExecutionError::new(code, message, at);
    let mut parameters = None;
    let target = match (sprite, capability) {
        (None, _) => Err(failure(
            "SPRITE_MISSING",
            format!(
                "sprite {} is not in the council: PUT the council with it",
                step.sprite_id
            ),
        )),
        (Some(sprite), None) => {
            let message = format!(
                "{} does not declare the capability {:?}: add it to the sprite, or change the step's action",
                sprite.body.name, step.action
            );
            Err(failure("CAPABILITY_UNDECLARED", message))
        }
        (_, Some((sprite, capability))) => match compile_parameters(capability) {
            Ok(schema) => {
                parameters = Some(schema);
                resolve(sprite, capability).map_err(|refusal| failure(&refusal.code, refusal.message))
            }
            Err(reason) => Err(failure(
                "SCHEMA_REFUSED",
                format!(
                    "the parameters of {:?} are no usable schema: {reason}",
                    capability.name
                ),
            )),
        },
    };
    let gates = |gates: &[StepGate], position| -> Result<Vec<PlannedGate>, ConditionError> {
        gates
            .iter()
            .map(|gate| PlannedGate::of_step(gate, position))
            .collect()
    };
    Ok(PlannedStep {
        sprite_id: step.sprite_id,
        action: step.action.clone(),
        sprite_name: sprite
            .map(|sprite| sprite.body.name.to_string())
            .unwrap_or_default(),
        tool: None,
        protected: sprite.is_some_and(|sprite| sprite.body.is_protected()),
        input: StepInput::Mapped(map(step.input_map.as_ref(), Side::Input)?),
        output: map(step.output_map.as_ref(), Side::Output)?,
        parameters,
        gates_before: gates(step.gates_before(), GatePosition::Before)?,
        gates_after: gates(step.gates_after(), GatePosition::After)?,
        timeout_ms: step.timeout.as_ref().map(|timeout| timeout.milliseconds()),
        retries: step.retries.unwrap_or(0),
        backoff_ms: step
            .retry_backoff
            .as_ref()
            .map_or(DEFAULT_BACKOFF_MS, |backoff| backoff.milliseconds()),
        target,
    })
}

fn compile_parameters(capability: &Capability) -> Result<Schema, String> {
    let schema = Json::Object(capability.parameters.clone())
        .to_serde()
        .map_err(|error| error.to_string())?;
    Schema::compile(&schema).map_err(|error| error.to_string())
}

impl PlannedGate {
    fn of_chain(gate: &Gate) -> Result<Self, ConditionError> {
        Ok(Self {
            position: gate.position,
            sprite_id: gate.sprite_id,
            condition: Condition::compile_gate(&gate.condition)?,
            veto_message: gate.veto_message.clone(),
        })
    }

    fn of_step(gate: &StepGate, position: GatePosition) -> Result<Self, ConditionError> {
        Ok(Self {
            position,
            sprite_id: gate.sprite_id,
            condition: Condition::compile_gate(&gate.condition)?,
            veto_message: gate.veto_message.clone(),
        })
    }
}
