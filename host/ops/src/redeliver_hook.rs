//! Delivers a hook again that was given up.

use crate::caller::Caller;
use crate::deliver_hooks::shown;
use crate::error::{OpError, Refusal};
use crate::host::Host;
use mizzen_store::{RedeliveryRefused, WriteError};
use serde_json::Value;
use uuid::Uuid;

impl Host {
    /// Puts a delivery that was given up back into the outbox, with all of its tries. Returns it as it is then.
    pub async fn redeliver_hook(&self, caller: &Caller, id: Uuid, number: i64) -> Result<Value, OpError> {
        let record = self.store.run(id).await?.ok_or(Refusal::ExecutionNotFound(id))?;
        if record.is_erased() {
            return Err(Refusal::ExecutionErased(id).into());
        }
        let mut audit = self.audit(caller, "redeliver_hook", id.to_string());
        audit.detail = format!("{{\"number\":{number}}}");
        match self.store.redeliver(id, number, self.now_ms(), audit).await {
            Ok(delivery) => {
                self.wake_deliveries();
                Ok(shown(delivery))
            }
            Err(WriteError::Refused(RedeliveryRefused::NotFound)) => {
                Err(Refusal::DeliveryNotFound { id, number }.into())
            }
            Err(WriteError::Refused(RedeliveryRefused::NotFailed(state))) => {
                Err(Refusal::DeliveryNotFailed { id, number, state }.into())
            }
            Err(WriteError::Store(error)) => Err(error.into()),
        }
    }
}
