//! API keys: only a digest of the secret is kept.

use crate::audit::AuditEntry;
use crate::error::StoreError;
use crate::port::port;
use crate::store::Store;

/// A key to be stored.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// Names the key in lists and logs; not secret.
    pub id: String,
    /// What the operator calls it.
    pub name: String,
    /// Digest of the secret. The secret itself is random and long, so a fast hash is enough.
    pub digest: [u8; 32],
    /// What it may do.
    pub grants: Vec<String>,
    /// Now, in milliseconds since 1970.
    pub created_at: i64,
    /// When it stops working.
    pub expires_at: Option<i64>,
}

/// A stored key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Names the key.
    pub id: String,
    /// What the operator calls it.
    pub name: String,
    /// Digest of the secret.
    pub digest: [u8; 32],
    /// What it may do.
    pub grants: Vec<String>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// When it stops working.
    pub expires_at: Option<i64>,
    /// When it was revoked.
    pub revoked_at: Option<i64>,
}

impl ApiKey {
    /// Whether the key works at `now`.
    pub fn is_live(&self, now: i64) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires| now < expires)
    }
}

port! {
    /// Reads of API keys.
    pub trait ApiKeys {
        /// A key by id; the caller compares the digests. Asked at every request: it should cost one look into an index.
        fn api_key(id: String) -> Option<ApiKey>;

        /// Whether a key was ever made, working or not. Asked at every request.
        fn has_any_api_key() -> bool;

        /// Every key, oldest first.
        fn list_api_keys() -> Vec<ApiKey>;

        /// Whether a key exists that works at `now`.
        fn has_live_api_key(now: i64) -> bool;
    }
}

/// See [`Store::create_api_key`].
#[derive(Debug)]
pub struct CreateApiKey {
    /// The key.
    pub key: NewApiKey,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// See [`Store::revoke_api_key`].
#[derive(Debug)]
pub struct RevokeApiKey {
    /// The key.
    pub id: String,
    /// Now, in milliseconds since 1970.
    pub at: i64,
    /// Recorded with it.
    pub audit: AuditEntry,
}

impl Store {
    /// Stores a key.
    pub async fn create_api_key(&self, key: NewApiKey, audit: AuditEntry) -> Result<(), StoreError> {
        self.write(CreateApiKey { key, audit }).await.map_err(Into::into)
    }

    /// Revokes a key. Returns whether there was one that was not revoked yet.
    pub async fn revoke_api_key(&self, id: String, at: i64, audit: AuditEntry) -> Result<bool, StoreError> {
        self.write(RevokeApiKey { id, at, audit })
            .await
            .map_err(Into::into)
    }
}
