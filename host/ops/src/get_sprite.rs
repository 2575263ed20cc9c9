//! Reads a sprite.

use crate::document::Document;
use crate::error::{OpError, Refusal};
use crate::host::Host;
use uuid::Uuid;

impl Host {
    /// A sprite by id.
    pub async fn get_sprite(&self, id: Uuid) -> Result<Document, OpError> {
        let record = self.store.sprite(id).await?.ok_or(Refusal::SpriteNotFound(id))?;
        Ok(Document {
            id,
            revision: record.revision,
            json: record.document,
        })
    }
}
