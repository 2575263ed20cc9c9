//! Who wrote a sprite, when, and how to find it.

use crate::record::{Field, FieldKind, Fields, Format, ObjectWriter, Record};
use crate::timestamp::Timestamp;
use mizzen_json::Json;

const AUTHOR: Field = Field::required("author", FieldKind::text(1, 256), "Who wrote the sprite.");
const CREATED: Field = Field::required(
    "created",
    FieldKind::formatted(Format::Timestamp),
    "When it was written. Not part of the fingerprint.",
);
const UPDATED: Field = Field::required(
    "updated",
    FieldKind::formatted(Format::Timestamp),
    "When it was last changed. Part of the fingerprint.",
);
const TAGS: Field = Field::required(
    "tags",
    FieldKind::list(const { &FieldKind::text(1, 64) }, 0, 256),
    "Words to find the sprite by.",
);

/// The table of a sprite's metadata.
pub static SPRITE_METADATA: Record = Record {
    name: "SpriteMetadata",
    about: "Who wrote a sprite, when, and how to find it.",
    fields: &[AUTHOR, CREATED, UPDATED, TAGS],
};

/// The table of the metadata that a client sends: the server's clock fills in the times that are absent.
pub static SPRITE_METADATA_DRAFT: Record = Record {
    name: "SpriteMetadataDraft",
    about: "Metadata as a client sends it; absent times are set to the server's.",
    fields: &[AUTHOR, CREATED.or_absent(), UPDATED.or_absent(), TAGS],
};

/// Who wrote a sprite, when, and how to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpriteMetadata {
    /// Who wrote the sprite.
    pub author: String,
    /// When it was written.
    pub created: Timestamp,
    /// When it was last changed.
    pub updated: Timestamp,
    /// Words to find the sprite by.
    pub tags: Vec<String>,
}

/// Metadata as a client sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpriteMetadataDraft {
    /// Who wrote the sprite.
    pub author: String,
    /// When it was written, if the client says so.
    pub created: Option<Timestamp>,
    /// When it was last changed, if the client says so.
    pub updated: Option<Timestamp>,
    /// Words to find the sprite by.
    pub tags: Vec<String>,
}

impl SpriteMetadataDraft {
    pub(crate) fn build(value: &Json) -> Option<Self> {
        let fields = Fields::of(value)?;
        Some(Self {
            author: fields.owned("author")?,
            created: fields.optional("created", Timestamp::parse)?,
            updated: fields.optional("updated", Timestamp::parse)?,
            tags: fields.list("tags", |tag| tag.as_str().map(str::to_owned))?,
        })
    }

    /// The metadata, with absent times filled in: `created` for a new sprite is now, for an updated one what it was.
    pub(crate) fn resolve(self, created: &Timestamp, now: &Timestamp) -> SpriteMetadata {
        SpriteMetadata {
            author: self.author,
            created: self.created.unwrap_or_else(|| created.clone()),
            updated: self.updated.unwrap_or_else(|| now.clone()),
            tags: self.tags,
        }
    }
}

impl SpriteMetadata {
    pub(crate) fn build(value: &Json) -> Option<Self> {
        let draft = SpriteMetadataDraft::build(value)?;
        Some(Self {
            author: draft.author,
            created: draft.created?,
            updated: draft.updated?,
            tags: draft.tags,
        })
    }

    /// The metadata as JSON.
    pub fn to_json(&self) -> Json {
        ObjectWriter::new()
            .text("author", &self.author)
            .text("created", &self.created)
            .text("updated", &self.updated)
            .texts("tags", &self.tags)
            .done()
    }
}
