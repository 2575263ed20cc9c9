//! Reads a council.

use crate::council::from_record;
use crate::document::Document;
use crate::error::{OpError, Refusal};
use crate::host::Host;
use uuid::Uuid;

impl Host {
    /// A council by id, with its drift (D7).
    pub async fn get_council(&self, id: Uuid) -> Result<Document, OpError> {
        let record = self
            .store
            .council(id)
            .await?
            .ok_or(Refusal::CouncilNotFound(id))?;
        let json = self.council_answer(from_record(&record)?).await?;
        Ok(Document {
            id,
            revision: record.revision,
            json,
        })
    }
}
