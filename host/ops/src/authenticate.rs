//! Who holds an API key. A key is `mzn_<id>_<secret>`: the id finds the row, the secret proves the holder.

use crate::api_keys::{Token, digest};
use crate::caller::{Caller, Grant};
use crate::error::Fault;
use crate::host::Host;
use mizzen_store::AuditEntry;

/// A request that was turned away, for the audit log.
#[derive(Debug, Clone, Copy)]
pub struct AccessRefusal {
    /// The operation that was asked for.
    pub action: &'static str,
    /// `denied` or `unauthenticated`.
    pub outcome: &'static str,
    /// The grant that was missing.
    pub missing: Option<Grant>,
}

impl Host {
    /// Says who asks. Without any key in the store everybody who can reach the host is local; as soon as one was ever made,
    /// everybody needs one, also after the last was revoked. The inner error is the reason, in words for the caller.
    pub async fn authenticate(
        &self,
        token: Option<&str>,
        request_id: &str,
    ) -> Result<Result<Caller, String>, Fault> {
        let Some(token) = token else {
            if self.store.has_any_api_key().await? {
                return Ok(Err("a key is needed".to_owned()));
            }
            return Ok(Ok(Caller::local(request_id)));
        };
        // One answer for unknown, malformed and wrong: nothing to learn from it.
        let wrong = || Ok(Err("the key does not work".to_owned()));
        let Some(token) = Token::parse(token) else {
            return wrong();
        };
        let Some(key) = self.store.api_key(token.id.clone()).await? else {
            return wrong();
        };
        // `blake3::Hash` compares in constant time.
        if blake3::Hash::from(digest(&token.secret)) != blake3::Hash::from(key.digest) {
            return wrong();
        }
        if !key.is_live(self.now_ms()) {
            return Ok(Err("the key was revoked or has expired".to_owned()));
        }
        // A grant that this build does not know gives nothing.
        let grants = key
            .grants
            .iter()
            .filter_map(|grant| Grant::parse(grant).ok())
            .collect();
        Ok(Ok(Caller::key(key.id, grants, request_id.to_owned())))
    }

    /// Whether a caller who was let in may still do it, for what takes long: keys are revoked, expire and change, and with the first key
    /// nobody is local any more.
    pub async fn still_may(&self, caller: &Caller, grant: Grant) -> Result<bool, Fault> {
        if !caller.is_key() {
            return Ok(caller.may(grant) && !self.store.has_any_api_key().await?);
        }
        let key = self.store.api_key(caller.actor().to_owned()).await?;
        Ok(key.is_some_and(|key| {
            let grants = key.grants.iter().filter_map(|name| Grant::parse(name).ok());
            key.is_live(self.now_ms())
                && Caller::key(key.id.clone(), grants.collect(), String::new()).may(grant)
        }))
    }

    /// Whether a key exists that works now.
    pub async fn has_live_key(&self) -> Result<bool, Fault> {
        Ok(self.store.has_live_api_key(self.now_ms()).await?)
    }

    /// Writes a refusal into the audit log. A log that cannot be written does not turn a refusal into anything else.
    pub async fn record_access_refusal(&self, caller: &Caller, refusal: &AccessRefusal) {
        let missing = refusal.missing.map_or("", Grant::as_str);
        let entry = AuditEntry {
            outcome: refusal.outcome.to_owned(),
            detail: serde_json::json!({ "missing_grant": missing }).to_string(),
            ..self.audit(caller, refusal.action, String::new())
        };
        if let Err(error) = self.store.record_audit(entry).await {
            tracing::error!(%error, "a refusal was not audited");
        }
    }
}
