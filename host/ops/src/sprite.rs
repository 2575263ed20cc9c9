//! What the operations on sprites share.

use crate::document::stored;
use crate::error::{Fault, Refusal};
use crate::host::Host;
use crate::registry::Unresolved;
use mizzen_json::{Json, Object};
use mizzen_model::problem::{Code, Problems};
use mizzen_model::sprite::{Sprite, SpriteDraft, system_prompt_reference};
use mizzen_store::{NewSprite, SpriteRecord};
use std::collections::BTreeSet;

/// Reads a sprite that this host stored.
pub(crate) fn from_record(record: &SpriteRecord) -> Result<Sprite, Fault> {
    Sprite::parse(&stored(&record.document)?).map_err(|problems| {
        Fault::Internal(format!(
            "the stored sprite {} is not valid: {problems}",
            record.id
        ))
    })
}

/// The store's form of a sprite.
pub(crate) fn to_record(sprite: &Sprite, now_ms: i64) -> NewSprite {
    let body = &sprite.body;
    NewSprite {
        id: sprite.id.uuid(),
        name: body.name.to_string(),
        version: body.version.to_string(),
        role: body.role.map(|role| role.as_str().to_owned()),
        fingerprint: sprite.fingerprint.to_string(),
        tags: sprite.metadata.tags.clone(),
        capabilities: body
            .capabilities
            .iter()
            .map(|capability| capability.name.clone())
            .collect(),
        document: sprite.to_json().to_compact(),
        at: now_ms,
    }
}

impl Host {
    /// Reads what a client sent and puts the text of a referenced prompt in its place.
    pub(crate) async fn read_draft(&self, document: &Json) -> Result<SpriteDraft, Refusal> {
        let invalid = |problems| Refusal::Invalid {
            document: "sprite",
            problems,
        };
        let schemas = mizzen_engine::admit_sprite(document);
        let mut draft = match SpriteDraft::parse(document) {
            Ok(draft) => {
                schemas.into_result().map_err(invalid)?;
                draft
            }
            Err(mut problems) => {
                problems.extend(schemas);
                return Err(invalid(problems));
            }
        };
        if let Some(reference) = system_prompt_reference(&draft.body.system_prompt) {
            draft.body.system_prompt = self.prompts.read(reference).await.map_err(|reason| {
                let mut problems = Problems::new();
                problems.push("/system_prompt", Code::Unreadable, reason);
                invalid(problems)
            })?;
        }
        Ok(draft)
    }

    /// Which capabilities nothing performs now.
    pub(crate) fn unresolved(&self, sprite: &Sprite) -> Vec<Unresolved> {
        let installed = self.registry.installed();
        let resolve = |capability: &mizzen_model::sprite::Capability| {
            let reference = capability.tool.as_ref().map(|tool| (tool.id(), tool.range()));
            installed.resolve(&capability.name, reference).err()
        };
        // A second capability of the same name can never be asked for: the first one answers.
        let mut seen = BTreeSet::new();
        let mut shadowed = Vec::new();
        for capability in &sprite.body.capabilities {
            if !seen.insert(capability.name.as_str()) {
                shadowed.push(Unresolved {
                    capability: capability.name.clone(),
                    reason: "another capability of this name stands before it and is the one that is asked; \
                             give it a name of its own"
                        .to_owned(),
                });
            }
        }
        sprite
            .body
            .capabilities
            .iter()
            .filter_map(resolve)
            .chain(shadowed)
            .collect()
    }

    /// The answer to a write: the sprite, and what in it nothing performs yet.
    pub(crate) fn sprite_answer(&self, sprite: &Sprite) -> String {
        let mut answer = sprite.to_json();
        let unresolved = self.unresolved(sprite);
        if let Some(members) = answer.as_object_mut()
            && !unresolved.is_empty()
        {
            let items: Vec<Json> = unresolved
                .into_iter()
                .map(|item| {
                    let mut object = Object::new();
                    object.insert("capability", Json::from(item.capability));
                    object.insert("reason", Json::from(item.reason));
                    Json::from(object)
                })
                .collect();
            members.insert("unresolved", Json::from(items));
        }
        answer.to_compact()
    }
}
