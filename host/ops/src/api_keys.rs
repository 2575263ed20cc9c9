//! API keys: made once, shown once, stored as a digest.

use crate::caller::{Caller, Grant};
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use mizzen_model::hex;
use mizzen_store::{ApiKey, NewApiKey};

const PREFIX: &str = "mzn_";

/// A key as its holder sends it.
pub(crate) struct Token {
    pub(crate) id: String,
    pub(crate) secret: String,
}

impl Token {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let fits = hex::is_digits(id, 16) && hex::is_digits(secret, 64);
        fits.then(|| Self {
            id: format!("{PREFIX}{id}"),
            secret: secret.to_owned(),
        })
    }
}

/// What is stored of a secret. It has 256 random bits, so a fast hash is enough: there is nothing to guess.
pub(crate) fn digest(secret: &str) -> [u8; 32] {
    blake3::derive_key("mizzen/api-key/v1", secret.as_bytes())
}

/// A new key: the only time that its token is known.
#[derive(Debug, Clone)]
pub struct MadeApiKey {
    /// Names the key in lists, logs and the audit.
    pub id: String,
    /// What its holder sends. Not stored.
    pub token: String,
}

/// What a new key is to be.
#[derive(Debug, Clone)]
pub struct ApiKeyRequest {
    /// What the operator calls it.
    pub name: String,
    /// What it may do; at least one.
    pub grants: Vec<Grant>,
    /// After how many milliseconds it stops working.
    pub lifetime_ms: Option<i64>,
}

impl Host {
    /// Makes a key.
    pub async fn create_api_key(
        &self,
        caller: &Caller,
        request: ApiKeyRequest,
    ) -> Result<MadeApiKey, OpError> {
        if request.grants.is_empty() {
            return Err(Refusal::BadRequest("a key needs at least one grant".to_owned()).into());
        }
        if request.name.chars().count() > 128 {
            return Err(
                Refusal::BadRequest("the name of a key has at most 128 characters".to_owned()).into(),
            );
        }
        let short: String = hex::encode(&self.random()?).chars().take(16).collect();
        let secret = hex::encode(&self.random()?);
        let id = format!("{PREFIX}{short}");
        let now = self.now_ms();
        let key = NewApiKey {
            id: id.clone(),
            name: request.name,
            digest: digest(&secret),
            grants: request
                .grants
                .iter()
                .map(|grant| grant.as_str().to_owned())
                .collect(),
            created_at: now,
            expires_at: request.lifetime_ms.map(|lifetime| now.saturating_add(lifetime)),
        };
        self.store
            .create_api_key(key, self.audit(caller, "create_api_key", id.clone()))
            .await?;
        Ok(MadeApiKey {
            token: format!("{id}_{secret}"),
            id,
        })
    }

    /// Every key, oldest first.
    pub async fn list_api_keys(&self) -> Result<Vec<ApiKey>, Fault> {
        Ok(self.store.list_api_keys().await?)
    }

    /// Revokes a key, at once. Says whether there was one to revoke.
    pub async fn revoke_api_key(&self, caller: &Caller, id: &str) -> Result<bool, Fault> {
        let audit = self.audit(caller, "revoke_api_key", id.to_owned());
        Ok(self
            .store
            .revoke_api_key(id.to_owned(), self.now_ms(), audit)
            .await?)
    }
}
