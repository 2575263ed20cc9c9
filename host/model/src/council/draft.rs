//! A council as a client sends it.

use super::{
    CHAINS, CREATED_AT, Council, DOMAIN, DRIFT, GATE_AGENTS, GOVERNANCE, ID, NAME, RULES, SPRITES,
    SPRITES_MAX, UPDATED_AT, WARNINGS,
};
use crate::chain::{CHAIN_DRAFT, Chain, ChainDraft};
use crate::governance::Mount;
use crate::id::{ChainId, CouncilId, SpriteId};
use crate::problem::Problems;
use crate::record::{FieldKind, Record, read};
use crate::rule::Rule;
use crate::sprite::{Sprite, UUID};
use crate::timestamp::Timestamp;
use mizzen_json::Json;

/// The table of what POST and PUT take. The first three lines are the seed's first three validations.
pub static COUNCIL_DRAFT: Record = Record {
    name: "CouncilCreate",
    about: "A council as a client sends it: sprites by id, without what the server sets.",
    fields: &[
        DOMAIN,
        SPRITES.holding(FieldKind::set(const { &UUID }, 1, SPRITES_MAX)),
        // More than one is the seventh validation, with its own code, after ids have been looked up.
        GATE_AGENTS.holding(FieldKind::list(const { &UUID }, 1, SPRITES_MAX)),
        NAME.or_absent(),
        CHAINS
            .holding(FieldKind::list(
                const { &FieldKind::Record(&CHAIN_DRAFT) },
                0,
                256,
            ))
            .or_absent(),
        RULES.or_absent(),
        GOVERNANCE,
        ID.read_only(),
        CREATED_AT.read_only(),
        UPDATED_AT.read_only(),
        WARNINGS.read_only(),
        DRIFT.read_only(),
    ],
};

/// A council as a client sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouncilDraft {
    /// The unique namespace.
    pub domain: String,
    /// The members, in the client's order, without repetition.
    pub sprites: Vec<SpriteId>,
    /// At least one; [`CouncilDraft::gate_agent`] judges the rest.
    pub gate_agents: Vec<SpriteId>,
    /// The name; the domain serves when it is absent.
    pub name: Option<String>,
    /// The chains.
    pub chains: Vec<ChainDraft>,
    /// The rules.
    pub rules: Vec<Rule>,
    /// Packs that govern every execution, when there are any.
    pub governance: Option<Vec<Mount>>,
}

/// Why the gate agents will not do: `INVALID_GATE_AGENT`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateAgentRefusal {
    /// The sixth validation.
    #[error("gate agents must be members of the council: add {} to sprites", list(.0))]
    NotMembers(Vec<SpriteId>),
    /// The seventh validation.
    #[error("exactly one gate agent is required (DEC-002), {0} are given")]
    NotExactlyOne(usize),
}

fn list(ids: &[SpriteId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What the server adds to a draft.
#[derive(Debug, Clone)]
pub struct CouncilStamp<'a> {
    /// The council's id: a new one for POST, the old one for PUT.
    pub id: CouncilId,
    /// The gate agent, from [`CouncilDraft::gate_agent`].
    pub gate_agent: SpriteId,
    /// Snapshots of the members, in the draft's order.
    pub sprites: Vec<Sprite>,
    /// When the council was created.
    pub created_at: Timestamp,
    /// Now.
    pub updated_at: Timestamp,
    /// The chains that the council has already. A chain of the draft with one of these ids keeps it, and so its history.
    pub chains: &'a [Chain],
}

impl CouncilDraft {
    /// Reads what a client sent, by the table.
    ///
    /// # Errors
    /// Every problem; domain, sprites and gate agents first, as the seed orders them.
    pub fn parse(document: &Json) -> Result<Self, Problems> {
        read(&COUNCIL_DRAFT, document, |fields| {
            let sprite_id = |id: &Json| SpriteId::parse(id.as_str()?).ok();
            Some(Self {
                domain: fields.owned("domain")?,
                sprites: fields.list("sprites", sprite_id)?,
                gate_agents: fields.list("gate_agents", sprite_id)?,
                name: fields.owned("name"),
                chains: fields.list("chains", ChainDraft::build)?,
                rules: fields.list("rules", Rule::build)?,
                governance: fields.optional_list("governance", Mount::build)?,
            })
        })
    }

    /// The fourth validation: the members that the registry does not have, in the client's order.
    pub fn missing_sprites(&self, exists: impl Fn(SpriteId) -> bool) -> Vec<SpriteId> {
        self.sprites.iter().copied().filter(|id| !exists(*id)).collect()
    }

    /// The fifth validation: the gate agents that the registry does not have, in the client's order.
    pub fn missing_gate_agents(&self, exists: impl Fn(SpriteId) -> bool) -> Vec<SpriteId> {
        self.gate_agents
            .iter()
            .copied()
            .filter(|id| !exists(*id))
            .collect()
    }

    /// The sixth and seventh validations.
    ///
    /// # Errors
    /// [`GateAgentRefusal`]: not members first, then not exactly one.
    pub fn gate_agent(&self) -> Result<SpriteId, GateAgentRefusal> {
        let strangers: Vec<SpriteId> = self
            .gate_agents
            .iter()
            .copied()
            .filter(|id| !self.sprites.contains(id))
            .collect();
        if !strangers.is_empty() {
            return Err(GateAgentRefusal::NotMembers(strangers));
        }
        match self.gate_agents.as_slice() {
            [only] => Ok(*only),
            several => Err(GateAgentRefusal::NotExactlyOne(several.len())),
        }
    }

    /// The council: snapshots and ids in place. `new_id` is asked once for every chain that is not known yet.
    pub fn resolve(self, stamp: CouncilStamp<'_>, mut new_id: impl FnMut() -> ChainId) -> Council {
        let mut kept: Vec<ChainId> = Vec::new();
        let chains = self.chains.into_iter().map(|draft| {
            let known = draft
                .id
                .filter(|id| stamp.chains.iter().any(|chain| chain.id == *id) && !kept.contains(id));
            let id = known.unwrap_or_else(&mut new_id);
            kept.push(id);
            Chain { id, body: draft.body }
        });
        Council {
            id: stamp.id,
            chains: chains.collect(),
            name: self.name.unwrap_or_else(|| self.domain.clone()),
            domain: self.domain,
            sprites: stamp.sprites,
            gate_agent: stamp.gate_agent,
            rules: self.rules,
            governance: self.governance,
            created_at: Some(stamp.created_at),
            updated_at: Some(stamp.updated_at),
            warnings: None,
            drift: None,
        }
    }
}
