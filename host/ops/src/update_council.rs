//! Replaces a council.

use crate::caller::Caller;
use crate::council::{from_record, to_record};
use crate::document::{ATTEMPTS, Document, Force, IfMatch};
use crate::error::{Fault, OpError, Refusal, council_refused};
use crate::host::Host;
use crate::protection::taken_out;
use mizzen_json::Json;
use mizzen_store::{CouncilChange, CouncilRefused, WriteError};
use uuid::Uuid;

impl Host {
    /// Replaces a council. Its sprites are snapshotted anew; chains that keep their id keep their history. Taking a protected
    /// sprite, its protection or one of its steps out of the council needs force (D26).
    pub async fn update_council(
        &self,
        caller: &Caller,
        id: Uuid,
        document: &Json,
        if_match: IfMatch,
        force: Force,
    ) -> Result<Document, OpError> {
        for _ in 0..ATTEMPTS {
            let record = self
                .store
                .council(id)
                .await?
                .ok_or(Refusal::CouncilNotFound(id))?;
            if_match.check(record.revision)?;
            let before = from_record(&record)?;
            let checked = self.read_council(document).await?;
            let domain = checked.draft.domain.clone();
            if let Some(council) = self.store.council_of_domain(domain.clone()).await?
                && council != id
            {
                return Err(Refusal::CouncilConflict { domain, council }.into());
            }
            let council = self.build_council(checked, id, Some(&before))?;
            if force == Force::No
                && let Some(sprite) = taken_out(&before, Some(&council))
            {
                return Err(Refusal::Protected(sprite).into());
            }
            let mut audit = self.audit(caller, "update_council", id.to_string());
            if force == Force::Yes {
                audit.detail = "{\"force\":true}".to_owned();
            }
            let change = CouncilChange {
                from: record.revision,
                audit,
            };
            match self
                .store
                .update_council(to_record(&council, self.now_ms()), change)
                .await
            {
                Ok(revision) => {
                    return Ok(Document {
                        id,
                        revision,
                        json: council.to_json().to_compact(),
                    });
                }
                Err(WriteError::Refused(CouncilRefused::Changed(_))) => {}
                Err(error) => return Err(council_refused(id, &domain, error)),
            }
        }
        Err(Fault::Unavailable(format!("council {id} is changed too often at the moment")).into())
    }
}
