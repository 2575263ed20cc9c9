//! Creates a council.

use crate::caller::Caller;
use crate::council::to_record;
use crate::document::{Document, recorded, replayed, to_answer};
use crate::error::{OpError, Refusal, council_refused};
use crate::host::{Host, IdempotencyKey};
use mizzen_json::Json;
use mizzen_store::{Recorded, Written};

impl Host {
    /// Creates a council: the eight validations in the seed's order, then its chains and rules.
    pub async fn create_council(
        &self,
        caller: &Caller,
        document: &Json,
        key: Option<IdempotencyKey>,
    ) -> Result<Document, OpError> {
        let idempotency = self.idempotency(caller, "create_council", key.as_ref());
        if let Some(idempotency) = &idempotency
            && let Recorded::Answer(answer) = self.store.recorded_answer(idempotency).await??
        {
            return Ok(replayed(key.as_ref(), recorded(&answer)?));
        }
        let checked = self.read_council(document).await?;
        let domain = checked.draft.domain.clone();
        // The eighth validation. The store decides it again, in the transaction: two may pass here at once.
        if let Some(council) = self.store.council_of_domain(domain.clone()).await? {
            return Err(Refusal::CouncilConflict { domain, council }.into());
        }
        let id = self.new_id()?;
        let council = self.build_council(checked, id, None)?;
        let answer = Document {
            id,
            revision: 1,
            json: council.to_json().to_compact(),
        };
        let audit = self.audit(caller, "create_council", id.to_string());
        let record = to_record(&council, self.now_ms());
        let written = self
            .store
            .create_council(record, to_answer(&answer), idempotency, audit)
            .await;
        match written.map_err(|error| council_refused(id, &domain, error))? {
            Written::Now => Ok(answer),
            Written::Before(answer) => Ok(replayed(key.as_ref(), recorded(&answer)?)),
        }
    }
}
