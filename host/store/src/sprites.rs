//! Sprites: the document as text, and the fields that lists are filtered by.

use crate::audit::AuditEntry;
use crate::cursor::{Cursor, Page};
use crate::error::WriteError;
use crate::idempotency::{Idempotency, IdempotencyMismatch, Written};
use crate::port::port;
use crate::store::Store;
use uuid::Uuid;

/// A sprite to be stored, new or changed.
#[derive(Debug, Clone)]
pub struct NewSprite {
    /// Its id.
    pub id: Uuid,
    /// The fields that are searched.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its role, if it has one.
    pub role: Option<String>,
    /// `blake3:…` or `sha256:…`.
    pub fingerprint: String,
    /// The tags of its metadata.
    pub tags: Vec<String>,
    /// The names of its capabilities.
    pub capabilities: Vec<String>,
    /// The whole document, JSON.
    pub document: String,
    /// Now, in milliseconds since 1970.
    pub at: i64,
}

/// A stored sprite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpriteRecord {
    /// Its id.
    pub id: Uuid,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// The whole document, JSON.
    pub document: String,
}

/// Which sprites a list shows: those for which every given field matches exactly.
#[derive(Debug, Clone, Default)]
pub struct SpriteFilter {
    /// By name.
    pub name: Option<String>,
    /// By a tag.
    pub tag: Option<String>,
    /// By role.
    pub role: Option<String>,
    /// By the name of a capability.
    pub capability: Option<String>,
}

/// A change of one sprite, refused unless the sprite still has the revision that the change was made from.
#[derive(Debug, Clone)]
pub struct SpriteChange {
    /// The revision that the change was made from.
    pub from: u64,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// Why a write of a sprite was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpriteRefused {
    /// There is no such sprite.
    #[error("there is no sprite with this id")]
    NotFound,
    /// Somebody else changed it in between.
    #[error("the sprite has changed; it is at revision {0} now")]
    Changed(u64),
    /// Another sprite has this name and version (D25).
    #[error("sprite {0} has this name and version")]
    Taken(Uuid),
    /// Councils have it as a member; some of their ids.
    #[error("the sprite is a member of councils")]
    InUse(Vec<Uuid>),
    /// See [`IdempotencyMismatch`].
    #[error(transparent)]
    Mismatch(#[from] IdempotencyMismatch),
}

/// What a delete does about councils that have the sprite as a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InUse {
    /// Refuse.
    Refuse,
    /// Delete all the same; the councils keep their snapshots.
    Ignore,
}

port! {
    /// Reads of sprites.
    pub trait Sprites {
        /// A sprite by id.
        fn sprite(id: Uuid) -> Option<SpriteRecord>;

        /// Those of the sprites that exist, in the order asked for.
        fn sprites_by_id(ids: Vec<Uuid>) -> Vec<SpriteRecord>;

        /// The fingerprints that sprites have now, for those of `ids` that exist.
        fn fingerprints(ids: Vec<Uuid>) -> Vec<(Uuid, String)>;

        /// A page of sprites in the order of their creation: at most `limit`, and [`crate::PAGE_BYTES`].
        fn list_sprites(filter: SpriteFilter, after: Option<Cursor>, limit: usize) -> Page<SpriteRecord>;

        /// How many sprites there are. May count: not for requests.
        fn count_sprites() -> u64;

        /// Checks that sprites can be read.
        fn probe_sprites() -> ();
    }
}

/// See [`Store::create_sprite`].
#[derive(Debug)]
pub struct CreateSprite {
    /// The sprite.
    pub sprite: NewSprite,
    /// What the caller is answered, kept under the key.
    pub answer: String,
    /// The caller's key.
    pub idempotency: Option<Idempotency>,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// See [`Store::update_sprite`].
#[derive(Debug)]
pub struct UpdateSprite {
    /// The sprite as it will be.
    pub sprite: NewSprite,
    /// From what, and its record.
    pub change: SpriteChange,
}

/// See [`Store::delete_sprite`].
#[derive(Debug)]
pub struct DeleteSprite {
    /// The sprite.
    pub id: Uuid,
    /// What to do about councils that have it as a member.
    pub in_use: InUse,
    /// From what, and its record.
    pub change: SpriteChange,
}

impl Store {
    /// Stores a new sprite.
    pub async fn create_sprite(
        &self,
        sprite: NewSprite,
        answer: String,
        idempotency: Option<Idempotency>,
        audit: AuditEntry,
    ) -> Result<Written, WriteError<SpriteRefused>> {
        self.write(CreateSprite {
            sprite,
            answer,
            idempotency,
            audit,
        })
        .await
    }

    /// Replaces a sprite. Returns its new revision.
    pub async fn update_sprite(
        &self,
        sprite: NewSprite,
        change: SpriteChange,
    ) -> Result<u64, WriteError<SpriteRefused>> {
        self.write(UpdateSprite { sprite, change }).await
    }

    /// Deletes a sprite.
    pub async fn delete_sprite(
        &self,
        id: Uuid,
        in_use: InUse,
        change: SpriteChange,
    ) -> Result<(), WriteError<SpriteRefused>> {
        self.write(DeleteSprite { id, in_use, change }).await
    }
}
