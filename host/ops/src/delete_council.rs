//! Deletes a council.

use crate::caller::Caller;
use crate::document::{ATTEMPTS, IfMatch};
use crate::error::{Fault, OpError, Refusal, council_refused};
use crate::host::Host;
use mizzen_store::{CouncilChange, CouncilRefused, WriteError};
use uuid::Uuid;

impl Host {
    /// Deletes a council. Its sprites stay.
    pub async fn delete_council(&self, caller: &Caller, id: Uuid, if_match: IfMatch) -> Result<(), OpError> {
        for _ in 0..ATTEMPTS {
            let record = self
                .store
                .council(id)
                .await?
                .ok_or(Refusal::CouncilNotFound(id))?;
            if_match.check(record.revision)?;
            let audit = self.audit(caller, "delete_council", id.to_string());
            match self
                .store
                .delete_council(
                    id,
                    CouncilChange {
                        from: record.revision,
                        audit,
                    },
                )
                .await
            {
                Ok(()) => return Ok(()),
                Err(WriteError::Refused(CouncilRefused::Changed(_))) => {}
                Err(error) => return Err(council_refused(id, "", error)),
            }
        }
        Err(Fault::Unavailable(format!("council {id} is changed too often at the moment")).into())
    }
}
