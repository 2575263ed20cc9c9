//! What the operations on councils share: the eight validations in the seed's order, then what is inside.

use crate::document::stored;
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::review;
use crate::sprite::from_record as sprite_from_record;
use mizzen_json::Json;
use mizzen_model::council::{Council, CouncilDraft, CouncilStamp, GateAgentRefusal};
use mizzen_model::id::{ChainId, CouncilId, SpriteId};
use mizzen_model::sprite::Sprite;
use mizzen_store::{CouncilRecord, NewCouncil};
use std::collections::HashMap;
use uuid::Uuid;

/// Reads a council that this host stored.
pub(crate) fn from_record(record: &CouncilRecord) -> Result<Council, Fault> {
    Council::parse(&stored(&record.document)?).map_err(|problems| {
        Fault::Internal(format!(
            "the stored council {} is not valid: {problems}",
            record.id
        ))
    })
}

/// The store's form of a council.
pub(crate) fn to_record(council: &Council, now_ms: i64) -> NewCouncil {
    NewCouncil {
        id: council.id.uuid(),
        domain: council.domain.clone(),
        name: council.name.clone(),
        sprites: council.sprites.iter().map(|sprite| sprite.id.uuid()).collect(),
        chains: council.chains.iter().map(|chain| chain.id.uuid()).collect(),
        document: council.to_json().to_compact(),
        at: now_ms,
    }
}

/// Reads what a client sent. Where the table refuses it, its conditions and maps are judged all the same.
pub(crate) fn parse_draft(document: &Json) -> Result<CouncilDraft, Refusal> {
    CouncilDraft::parse(document).map_err(|mut problems| {
        problems.extend(mizzen_engine::admit_council_document(document));
        Refusal::Invalid {
            document: "council",
            problems,
        }
    })
}

impl Host {
    /// The first seven validations. The first three are the first lines of the draft's table.
    pub(crate) async fn read_council(&self, document: &Json) -> Result<CheckedDraft, OpError> {
        let document = self.with_sprite_ids(document).await?;
        let draft = parse_draft(&document)?;
        let wanted = draft
            .sprites
            .iter()
            .chain(&draft.gate_agents)
            .map(|id| id.uuid())
            .collect();
        let found: HashMap<Uuid, Sprite> = self
            .store
            .sprites_by_id(wanted)
            .await?
            .iter()
            .map(|record| Ok((record.id, sprite_from_record(record)?)))
            .collect::<Result<_, Fault>>()?;
        let missing = draft.missing_sprites(|id| found.contains_key(&id.uuid()));
        if !missing.is_empty() {
            return Err(Refusal::MissingSprites {
                missing: missing.iter().map(ToString::to_string).collect(),
            }
            .into());
        }
        let missing = draft.missing_gate_agents(|id| found.contains_key(&id.uuid()));
        if !missing.is_empty() {
            return Err(Refusal::MissingGateAgents {
                missing: uuids(missing),
            }
            .into());
        }
        let gate_agent = draft
            .gate_agent()
            .map_err(|refusal| gate_refusal(&draft, &refusal))?;
        let sprites = draft
            .sprites
            .iter()
            .filter_map(|id| found.get(&id.uuid()).cloned())
            .collect();
        Ok(CheckedDraft {
            draft,
            gate_agent,
            sprites,
        })
    }

    /// The council itself, and what is inside it judged: structure, maps, conditions, and the rules that can be decided now.
    pub(crate) fn build_council(
        &self,
        checked: CheckedDraft,
        id: Uuid,
        before: Option<&Council>,
    ) -> Result<Council, OpError> {
        let now = self.timestamp();
        let created_at = before
            .and_then(|council| council.created_at.clone())
            .unwrap_or_else(|| now.clone());
        let stamp = CouncilStamp {
            id: CouncilId::from(id),
            gate_agent: checked.gate_agent,
            sprites: checked.sprites,
            created_at,
            updated_at: now,
            chains: before.map_or(&[], |council| council.chains.as_slice()),
        };
        // Ids are drawn before, because the closure cannot fail.
        let mut ids = Vec::new();
        for _ in &checked.draft.chains {
            ids.push(ChainId::from(self.new_id()?));
        }
        let mut ids = ids.into_iter();
        let mut council = checked
            .draft
            .resolve(stamp, || ids.next().unwrap_or_else(|| ChainId::from(Uuid::nil())));
        self.check_mounts(&council)?;
        let mut warnings = review::judge(&council)?;
        warnings.extend(self.hooks.review(&council));
        council.warnings = (!warnings.is_empty()).then_some(warnings);
        Ok(council)
    }

    /// The answer that shows a council: with the members that have changed in the registry since (D7).
    pub(crate) async fn council_answer(&self, mut council: Council) -> Result<String, OpError> {
        let ids = council.sprites.iter().map(|sprite| sprite.id.uuid()).collect();
        let now: HashMap<Uuid, String> = self.store.fingerprints(ids).await?.into_iter().collect();
        let drift = council.drift_from(|id| now.get(&id.uuid()).cloned());
        council.drift = (!drift.is_empty()).then_some(drift);
        Ok(council.to_json().to_compact())
    }
}

/// A draft that passed the first seven validations.
pub(crate) struct CheckedDraft {
    pub(crate) draft: CouncilDraft,
    gate_agent: SpriteId,
    sprites: Vec<Sprite>,
}

fn uuids(ids: Vec<SpriteId>) -> Vec<Uuid> {
    ids.into_iter().map(SpriteId::uuid).collect()
}

fn gate_refusal(draft: &CouncilDraft, refusal: &GateAgentRefusal) -> Refusal {
    let gate_agents = match refusal {
        GateAgentRefusal::NotMembers(strangers) => uuids(strangers.clone()),
        GateAgentRefusal::NotExactlyOne(_) => uuids(draft.gate_agents.clone()),
    };
    Refusal::InvalidGateAgent {
        reason: refusal.to_string(),
        gate_agents,
    }
}
