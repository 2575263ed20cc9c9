//! Recomputes a sprite's fingerprint.

use crate::error::{OpError, Refusal};
use crate::host::Host;
use crate::sprite::from_record;
use uuid::Uuid;

/// A fingerprint as stored and as computed now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FingerprintReport {
    /// What is stored, as `blake3:…`.
    pub stored: String,
    /// What the document gives now.
    pub computed: String,
    /// Whether they are the same.
    pub verified: bool,
}

impl Host {
    /// Recomputes the fingerprint of a stored sprite from its document.
    pub async fn verify_fingerprint(&self, id: Uuid) -> Result<FingerprintReport, OpError> {
        let record = self.store.sprite(id).await?.ok_or(Refusal::SpriteNotFound(id))?;
        let sprite = from_record(&record)?;
        let computed = sprite.computed_fingerprint();
        Ok(FingerprintReport {
            verified: computed == sprite.fingerprint,
            stored: sprite.fingerprint.to_string(),
            computed: computed.to_string(),
        })
    }
}
