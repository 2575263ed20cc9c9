//! A sprite as a client sends it.

use super::{
    CAPABILITIES, CHAINS, FINGERPRINT_FIELD, GATE_AUTHORITY, ID, METADATA, NAME, PROTECTED, ROLE,
    SPRITE_METADATA_DRAFT, SYSTEM_PROMPT, Sprite, SpriteBody, SpriteMetadataDraft, TESTS, VERSION,
};
use crate::fingerprint::{Fingerprint, FingerprintType};
use crate::id::SpriteId;
use crate::problem::Problems;
use crate::record::{FieldKind, Record, read};
use crate::timestamp::Timestamp;
use mizzen_json::Json;

/// The table of what POST and PUT take.
pub static SPRITE_DRAFT: Record = Record {
    name: "SpriteDraft",
    about: "A sprite as a client sends it: without what the server sets.",
    fields: &[
        ID.read_only(),
        NAME,
        VERSION,
        CAPABILITIES,
        SYSTEM_PROMPT,
        METADATA.holding(FieldKind::Record(&SPRITE_METADATA_DRAFT)),
        FINGERPRINT_FIELD.read_only(),
        CHAINS,
        TESTS,
        ROLE,
        PROTECTED,
        GATE_AUTHORITY,
    ],
};

/// A sprite as a client sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpriteDraft {
    /// What the sprite is.
    pub body: SpriteBody,
    /// Metadata, perhaps without times.
    pub metadata: SpriteMetadataDraft,
}

/// What the server adds to a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The sprite's id: a new one for POST, the old one for PUT.
    pub id: SpriteId,
    /// When the sprite was created, if the client does not say: now for POST, what it was for PUT.
    pub created: Timestamp,
    /// Now.
    pub now: Timestamp,
}

impl SpriteDraft {
    /// Reads what a client sent, by the table. [`SpriteBody::structure`] says what is doubtful beyond it.
    ///
    /// # Errors
    /// Every problem, in table order.
    pub fn parse(document: &Json) -> Result<Self, Problems> {
        read(&SPRITE_DRAFT, document, |fields| {
            Some(SpriteDraft {
                body: SpriteBody::build(fields)?,
                metadata: SpriteMetadataDraft::build(fields.get("metadata")?)?,
            })
        })
    }

    /// The sprite: ids and times in place, fingerprint computed. The prompt must be dereferenced by now, because
    /// the text it stands for is what is hashed (D8): see [`super::system_prompt_reference`].
    pub fn resolve(self, stamp: Stamp) -> Sprite {
        let unsigned = Fingerprint::of(&Json::Null, FingerprintType::Blake3);
        let metadata = self.metadata.resolve(&stamp.created, &stamp.now);
        let mut sprite = Sprite {
            id: stamp.id,
            body: self.body,
            metadata,
            fingerprint: unsigned,
        };
        // The pipeline strips the fingerprint, so the placeholder above does not reach the hash.
        sprite.fingerprint = sprite.computed_fingerprint();
        sprite
    }
}
