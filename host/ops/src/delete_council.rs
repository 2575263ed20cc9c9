//! Deletes a council.

use crate::caller::Caller;
use crate::council::from_record;
use crate::document::{ATTEMPTS, Force, IfMatch};
use crate::error::{Fault, OpError, Refusal, council_refused};
use crate::host::Host;
use crate::protection::taken_out;
use mizzen_store::{CouncilChange, CouncilRefused, WriteError};
use uuid::Uuid;

impl Host {
    /// Deletes a council. Its sprites stay. One with a protected sprite only by force (D26).
    pub async fn delete_council(
        &self,
        caller: &Caller,
        id: Uuid,
        if_match: IfMatch,
        force: Force,
    ) -> Result<(), OpError> {
        for _ in 0..ATTEMPTS {
            let record = self
                .store
                .council(id)
                .await?
                .ok_or(Refusal::CouncilNotFound(id))?;
            if_match.check(record.revision)?;
            if force == Force::No
                && let Some(sprite) = taken_out(&from_record(&record)?, None)
            {
                return Err(Refusal::Protected(sprite).into());
            }
            let mut audit = self.audit(caller, "delete_council", id.to_string());
            if force == Force::Yes {
                audit.detail = "{\"force\":true}".to_owned();
            }
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
