//! Deletes a sprite.

use crate::caller::Caller;
use crate::document::{ATTEMPTS, Force, IfMatch};
use crate::error::{Fault, OpError, Refusal, sprite_refused};
use crate::host::Host;
use crate::sprite::from_record;
use mizzen_store::{InUse, SpriteChange, SpriteRefused, WriteError};
use uuid::Uuid;

impl Host {
    /// Deletes a sprite; one that is protected or a member of a council only by force. Councils keep their snapshots.
    pub async fn delete_sprite(
        &self,
        caller: &Caller,
        id: Uuid,
        if_match: IfMatch,
        force: Force,
    ) -> Result<(), OpError> {
        for _ in 0..ATTEMPTS {
            let record = self.store.sprite(id).await?.ok_or(Refusal::SpriteNotFound(id))?;
            if_match.check(record.revision)?;
            let sprite = from_record(&record)?;
            if sprite.body.protected == Some(true) && force == Force::No {
                return Err(Refusal::Protected(id).into());
            }
            let in_use = if force == Force::Yes {
                InUse::Ignore
            } else {
                InUse::Refuse
            };
            let mut audit = self.audit(caller, "delete_sprite", id.to_string());
            if force == Force::Yes {
                audit.detail = "{\"force\":true}".to_owned();
            }
            match self
                .store
                .delete_sprite(
                    id,
                    in_use,
                    SpriteChange {
                        from: record.revision,
                        audit,
                    },
                )
                .await
            {
                Ok(()) => return Ok(()),
                Err(WriteError::Refused(SpriteRefused::Changed(_))) => {}
                Err(error) => return Err(sprite_refused(id, error)),
            }
        }
        Err(Fault::Unavailable(format!("sprite {id} is changed too often at the moment")).into())
    }
}
