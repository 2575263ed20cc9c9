//! Registers a sprite.

use crate::caller::Caller;
use crate::document::{Document, recorded, replayed, to_answer};
use crate::error::{OpError, sprite_refused};
use crate::host::{Host, IdempotencyKey};
use crate::sprite::to_record;
use mizzen_json::Json;
use mizzen_model::id::SpriteId;
use mizzen_model::sprite::Stamp;
use mizzen_store::{Recorded, Written};

impl Host {
    /// Registers a sprite: validated, prompt dereferenced, id, times and fingerprint set.
    pub async fn create_sprite(
        &self,
        caller: &Caller,
        document: &Json,
        key: Option<IdempotencyKey>,
    ) -> Result<Document, OpError> {
        let idempotency = self.idempotency(caller, "create_sprite", key.as_ref());
        if let Some(idempotency) = &idempotency
            && let Recorded::Answer(answer) = self.store.recorded_answer(idempotency).await??
        {
            return Ok(replayed(key.as_ref(), recorded(&answer)?));
        }
        let draft = self.read_draft(document).await?;
        let id = self.new_id()?;
        let now = self.timestamp();
        let sprite = draft.resolve(Stamp {
            id: SpriteId::from(id),
            created: now.clone(),
            now,
        });
        let answer = Document {
            id,
            revision: 1,
            json: self.sprite_answer(&sprite),
        };
        let record = to_record(&sprite, self.now_ms());
        let audit = self.audit(caller, "create_sprite", id.to_string());
        let written = self
            .store
            .create_sprite(record, to_answer(&answer), idempotency, audit)
            .await;
        match written.map_err(|error| sprite_refused(id, error))? {
            Written::Now => Ok(answer),
            Written::Before(answer) => Ok(replayed(key.as_ref(), recorded(&answer)?)),
        }
    }
}
