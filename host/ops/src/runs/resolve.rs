//! From a definition to a plan: which tool performs which capability, in which version, from which file.
//!
//! What was resolved is recorded when a run begins and is not resolved again: a run that is made again from its journal
//! gets the same plan, whatever was installed since.

use super::body::Body;
use super::definition::{Definition, GraphDefinition, ToolDefinition};
use super::entry::EntryKind;
use super::packs::{self, PackPin, PackSet};
use super::surroundings::{InstalledSet, RecordedSet};
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::toolbox::{Callable, Loaded};
use mizzen_catalog::VerifiedPlugin;
use mizzen_engine::graph::{GraphProblem, lower};
use mizzen_engine::plan::{Governs, Plan, Repeatable, Target, Unresolved};
use mizzen_model::id::{ChainId, SpriteId};
use mizzen_model::sprite::{Capability, Sprite};
use mizzen_model::tool_spec::{SideEffects, ToolSpec};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Plans that are kept; all are dropped when there would be more.
const PLANS: usize = 256;

/// What performs a capability: everything that a call needs.
#[derive(Clone)]
pub(crate) struct StepCall {
    pub(crate) pin: Pin,
    /// None when the pinned file is not loaded any more.
    pub(crate) callable: Option<Arc<Callable>>,
    pub(crate) sprite_name: String,
    pub(crate) system_prompt: String,
}

impl std::fmt::Debug for StepCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepCall")
            .field("pin", &self.pin)
            .finish_non_exhaustive()
    }
}

/// A tool, to the byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pin {
    pub(crate) tool: String,
    pub(crate) version: String,
    pub(crate) plugin: String,
    pub(crate) digest: String,
    pub(crate) side_effects: SideEffects,
    /// Whether a second call of the same step does no harm.
    pub(crate) repeatable: bool,
}

impl Pin {
    pub(super) fn of(spec: &ToolSpec, plugin: &VerifiedPlugin) -> Self {
        Self {
            tool: spec.id().to_string(),
            version: spec.version().to_string(),
            plugin: plugin.name().to_string(),
            digest: plugin.digest().to_string(),
            side_effects: spec.side_effects(),
            // A tool that names a key tells a repeated call from a second one.
            repeatable: spec.side_effects().is_harmless() || spec.idempotency_key().is_some(),
        }
    }
}

/// What was found for a capability of a sprite, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Resolution {
    pub(crate) sprite_id: String,
    pub(crate) capability: String,
    /// The state fields that a node of a graph takes; none: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fields: Option<Vec<String>>,
    #[serde(flatten)]
    pub(crate) found: Found,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Found {
    Tool(Pin),
    Nothing { code: String, message: String },
}

/// A plan with what it was made from.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Arc<Plan<StepCall>>,
    pub(crate) definition: Arc<str>,
    pub(crate) definition_hash: [u8; 32],
    pub(crate) load_plan: Arc<str>,
    pub(crate) packs: Arc<PackSet>,
    /// What the first entry of every run of it says.
    pub(crate) entry: Body,
}

/// What a plan is made from and pinned to.
pub(crate) struct Pinned<'a> {
    pub(crate) definition: &'a str,
    pub(crate) load_plan: &'a str,
    pub(crate) resolutions: &'a [Resolution],
    pub(crate) pins: &'a [PackPin],
}

/// What a recorded plan is made of, beside the definition and the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MadeOf {
    pub(crate) resolutions: Vec<Resolution>,
    pub(crate) pins: Vec<PackPin>,
    pub(crate) governs: Vec<Governs>,
}

impl Planned {
    pub(crate) fn new(plan: Plan<StepCall>, packs: PackSet, pinned: &Pinned<'_>) -> Self {
        let hash = blake3::hash(pinned.definition.as_bytes());
        let mut entry = Body::of_kind(EntryKind::Started);
        entry.text("council_id", &plan.council_id().to_string());
        entry.text("chain_id", &plan.chain_id().to_string());
        entry.text("definition", &format!("blake3:{}", hash.to_hex()));
        entry.text("load_plan", pinned.load_plan);
        entry.model("calls", &pinned.resolutions);
        if !pinned.pins.is_empty() {
            entry.model("packs", &pinned.pins);
        }
        let governs = plan.governable();
        if !governs.is_empty() {
            let names: Vec<&str> = governs.iter().map(|governs| governs.as_str()).collect();
            entry.model("governs", &names);
        }
        Self {
            plan: Arc::new(plan.governing(governs)),
            definition: pinned.definition.into(),
            definition_hash: *hash.as_bytes(),
            load_plan: pinned.load_plan.into(),
            packs: Arc::new(packs),
            entry: entry.shared(),
        }
    }
}

/// The definition's hash, the chain, and the loaded set.
type PlanKey = ([u8; 32], ChainId, u64);

/// Plans by what they are made of: definition, chain and loaded set.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    plans: Mutex<HashMap<PlanKey, Arc<Planned>>>,
}

impl Host {
    /// The plan of a chain: kept, or compiled.
    pub(crate) fn plan(
        &self,
        definition: &str,
        hash: [u8; 32],
        chain: ChainId,
    ) -> Result<Arc<Planned>, OpError> {
        let loaded = self.loaded();
        let key = (hash, chain, loaded.generation());
        let kept = self
            .runs
            .plans
            .plans
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(planned) = kept {
            return Ok(planned);
        }
        let read = Definition::read(definition)?;
        let (plan, resolutions) = match &read {
            Definition::Graph(graph) => {
                lower_installed(&loaded, graph).map_err(|problems| Refusal::GraphRefused { problems })?
            }
            _ => resolve_all(&loaded, &read, chain)?,
        };
        let mounts = match &read {
            Definition::Council(council) => council
                .chain(chain)
                .map(|chain| crate::governance::mounts_of(&loaded, council, chain))
                .unwrap_or_default(),
            Definition::Graph(graph) => crate::governance::mounts_of_graph(&loaded, &graph.document),
            Definition::Tool(_) => crate::governance::host_mounts(&loaded),
        };
        let (pins, packs) = PackSet::find(&loaded, &mounts);
        let plan = plan.governed(pins.iter().map(PackPin::mounted).collect(), packs::about);
        let pinned = Pinned {
            definition,
            load_plan: loaded.plan_hash(),
            resolutions: &resolutions,
            pins: &pins,
        };
        let planned = Arc::new(Planned::new(plan, packs, &pinned));
        let mut plans = self
            .runs
            .plans
            .plans
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= PLANS {
            plans.clear();
        }
        plans.insert(key, Arc::clone(&planned));
        Ok(planned)
    }

    /// The plan that a run was begun with.
    pub(crate) fn plan_again(
        &self,
        definition: &str,
        chain: ChainId,
        of: &MadeOf,
    ) -> Result<Plan<StepCall>, OpError> {
        plan_recorded(&self.loaded(), definition, chain, of)
    }
}

/// The plan that a run was begun with. Its calls can be made as far as their plugins are loaded.
pub(super) fn plan_recorded(
    loaded: &Loaded,
    definition: &str,
    chain: ChainId,
    of: &MadeOf,
) -> Result<Plan<StepCall>, OpError> {
    let read = Definition::read(definition)?;
    if let Definition::Graph(graph) = &read {
        let lowered = graph.lowered();
        if lowered.chain_id != chain {
            return Err(Refusal::ChainNotFound(chain.uuid()).into());
        }
        let mut set = RecordedSet {
            loaded,
            of,
            sprite_id: lowered.sprite_id,
        };
        let plan = lower(&graph.document, lowered, &mut set)
            .map_err(|problems| Refusal::GraphRefused { problems })?;
        let plan = plan.governed(of.pins.iter().map(PackPin::mounted).collect(), packs::about);
        return Ok(plan.governing(of.governs.clone()));
    }
    let plan = compile(&read, chain, |asks, wanted| {
        let id = asks.sprite_id.to_string();
        let recorded = of
            .resolutions
            .iter()
            .find(|resolution| resolution.sprite_id == id && resolution.capability == wanted.name());
        let found = recorded.map_or_else(
            || Found::Nothing {
                code: "CAPABILITY_UNRESOLVED".to_owned(),
                message: format!("nothing is recorded for {:?}", wanted.name()),
            },
            |resolution| resolution.found.clone(),
        );
        target(loaded, found, asks)
    })?;
    let plan = plan.governed(of.pins.iter().map(PackPin::mounted).collect(), packs::about);
    Ok(plan.governing(of.governs.clone()))
}

/// A plan of a chain or tool with what the installed set has for it.
fn resolve_all(
    loaded: &Loaded,
    definition: &Definition,
    chain: ChainId,
) -> Result<(Plan<StepCall>, Vec<Resolution>), OpError> {
    let mut resolutions = Vec::new();
    let installed = loaded.installed();
    let plan = compile(definition, chain, |of, wanted| {
        let found = match wanted {
            Wanted::Capability(capability) => find(loaded, &installed, capability),
            Wanted::Tool(call) => find_tool(loaded, call),
        };
        let resolution = Resolution {
            sprite_id: of.sprite_id.to_string(),
            capability: wanted.name().to_owned(),
            fields: None,
            found: found.clone(),
        };
        // Steps that ask the same of the same sprite share it.
        if !resolutions.contains(&resolution) {
            resolutions.push(resolution);
        }
        target(loaded, found, of)
    })?;
    Ok((plan, resolutions))
}

/// A plan of a graph with what the installed set has for it; or all problems of its document.
pub(crate) fn lower_installed(
    loaded: &Loaded,
    graph: &GraphDefinition,
) -> Result<(Plan<StepCall>, Vec<Resolution>), Vec<GraphProblem>> {
    let lowered = graph.lowered();
    let mut set = InstalledSet {
        loaded,
        document: &graph.document,
        sprite_id: lowered.sprite_id,
        resolutions: Vec::new(),
    };
    let plan = lower(&graph.document, lowered, &mut set)?;
    Ok((plan, set.resolutions))
}

/// What a step asks for.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    Capability(&'a Capability),
    Tool(&'a ToolDefinition),
}

impl Wanted<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Capability(capability) => &capability.name,
            Self::Tool(call) => call.tool(),
        }
    }
}

/// On whose behalf a step asks for it, as its tool is told.
struct Asks<'a> {
    sprite_id: SpriteId,
    sprite_name: &'a str,
    system_prompt: &'a str,
}

fn compile(
    definition: &Definition,
    chain: ChainId,
    mut resolve: impl FnMut(&Asks<'_>, Wanted<'_>) -> Result<Target<StepCall>, Unresolved>,
) -> Result<Plan<StepCall>, OpError> {
    match definition {
        Definition::Council(council) => {
            let found = council.chain(chain).ok_or(Refusal::ChainNotFound(chain.uuid()))?;
            let resolve = |sprite: &Sprite, capability: &Capability| {
                let asks = Asks {
                    sprite_id: sprite.id,
                    sprite_name: sprite.body.name.as_str(),
                    system_prompt: &sprite.body.system_prompt,
                };
                resolve(&asks, Wanted::Capability(capability))
            };
            Plan::compile(council, found, resolve)
                .map_err(|error| Fault::Internal(format!("chain {chain} cannot be planned: {error}")).into())
        }
        Definition::Tool(call) => {
            let planned = call.planned();
            if planned.chain_id != chain {
                return Err(Refusal::ChainNotFound(chain.uuid()).into());
            }
            let asks = Asks {
                sprite_id: planned.sprite_id,
                sprite_name: "",
                system_prompt: "",
            };
            let target = resolve(&asks, Wanted::Tool(call));
            Ok(Plan::of_tool(planned, target))
        }
        Definition::Graph(_) => Err(Fault::Internal("a graph is lowered, not compiled".to_owned()).into()),
    }
}

/// The tool that a call names, in the version that serves it now.
fn find_tool(loaded: &Loaded, call: &ToolDefinition) -> Found {
    match loaded.registry().resolve(&call.wanted) {
        Ok(tool) => Found::Tool(Pin::of(tool.spec(), tool.plugin())),
        Err(error) => Found::Nothing {
            code: "TOOL_UNKNOWN".to_owned(),
            message: error.to_string(),
        },
    }
}

fn find(loaded: &Loaded, installed: &crate::registry::Installed, capability: &Capability) -> Found {
    let nothing = |message: String| Found::Nothing {
        code: "CAPABILITY_UNRESOLVED".to_owned(),
        message,
    };
    let reference = capability.tool.as_ref().map(|tool| (tool.id(), tool.range()));
    let provided = match installed.resolve(&capability.name, reference) {
        Ok(provided) => provided,
        Err(unresolved) => return nothing(unresolved.reason),
    };
    match loaded.registry().tool(&provided.id, &provided.version) {
        Some(tool) => Found::Tool(Pin::of(tool.spec(), tool.plugin())),
        None => nothing(format!(
            "{}@={} cannot be called by a step (it is a {}); name a tool with `tool`",
            provided.id, provided.version, provided.kind
        )),
    }
}

fn target(loaded: &Loaded, found: Found, asks: &Asks<'_>) -> Result<Target<StepCall>, Unresolved> {
    match found {
        Found::Nothing { code, message } => Err(Unresolved { code, message }),
        Found::Tool(pin) => Ok(Target {
            repeatable: if pin.repeatable {
                Repeatable::Yes
            } else {
                Repeatable::No
            },
            call: StepCall {
                callable: loaded.callable(&pin.digest, &pin.tool),
                pin,
                sprite_name: asks.sprite_name.to_owned(),
                system_prompt: asks.system_prompt.to_owned(),
            },
        }),
    }
}
