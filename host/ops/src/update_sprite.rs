//! Replaces a sprite.

use crate::caller::Caller;
use crate::document::{ATTEMPTS, Document, IfMatch};
use crate::error::{Fault, OpError, Refusal, sprite_refused};
use crate::host::Host;
use crate::sprite::{from_record, to_record};
use mizzen_json::Json;
use mizzen_model::id::SpriteId;
use mizzen_model::sprite::{Sprite, SpriteDraft, Stamp};
use mizzen_store::{SpriteChange, SpriteRecord, SpriteRefused, WriteError};
use std::cmp::Ordering;
use uuid::Uuid;

impl Host {
    /// Replaces a sprite: the same name, a greater version (D9), the fingerprint computed anew.
    pub async fn update_sprite(
        &self,
        caller: &Caller,
        id: Uuid,
        document: &Json,
        if_match: IfMatch,
    ) -> Result<Document, OpError> {
        // Before the body is judged: a sprite that does not exist is 404 whatever was sent.
        let found = self.store.sprite(id).await?.ok_or(Refusal::SpriteNotFound(id))?;
        if_match.check(found.revision)?;
        let draft = self.read_draft(document).await?;
        for _ in 0..ATTEMPTS {
            let record = self.store.sprite(id).await?.ok_or(Refusal::SpriteNotFound(id))?;
            if_match.check(record.revision)?;
            let sprite = self.replacement(&record, draft.clone())?;
            let change = SpriteChange {
                from: record.revision,
                audit: self.audit(caller, "update_sprite", id.to_string()),
            };
            match self
                .store
                .update_sprite(to_record(&sprite, self.now_ms()), change)
                .await
            {
                Ok(revision) => {
                    return Ok(Document {
                        id,
                        revision,
                        json: self.sprite_answer(&sprite),
                    });
                }
                Err(WriteError::Refused(SpriteRefused::Changed(_))) => {}
                Err(error) => return Err(sprite_refused(id, error)),
            }
        }
        Err(Fault::Unavailable(format!("sprite {id} is changed too often at the moment")).into())
    }

    fn replacement(&self, record: &SpriteRecord, draft: SpriteDraft) -> Result<Sprite, OpError> {
        let current = from_record(record)?;
        if draft.body.name != current.body.name {
            let (is, asked) = (current.body.name.to_string(), draft.body.name.to_string());
            return Err(Refusal::NameChanged { is, asked }.into());
        }
        if draft.body.version.precedence(&current.body.version) != Ordering::Greater {
            let (is, asked) = (current.body.version.to_string(), draft.body.version.to_string());
            return Err(Refusal::VersionNotGreater { is, asked }.into());
        }
        let created = current.metadata.created;
        Ok(draft.resolve(Stamp {
            id: SpriteId::from(record.id),
            created,
            now: self.timestamp(),
        }))
    }
}
