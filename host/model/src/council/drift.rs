//! How a council's snapshots differ from the registry (D7).

use super::Council;
use crate::id::SpriteId;
use crate::record::{Field, FieldKind, Fields, ObjectWriter, Record};
use crate::sprite::UUID;
use mizzen_json::Json;

/// A drift's table.
pub static SPRITE_DRIFT: Record = Record {
    name: "SpriteDrift",
    about: "A member whose sprite has changed in the registry since the snapshot was taken.",
    fields: &[
        Field::required("sprite_id", UUID, "The sprite."),
        Field::required(
            "pinned",
            FieldKind::text(1, 128),
            "The fingerprint of the snapshot.",
        ),
        Field::optional(
            "current",
            FieldKind::text(1, 128),
            "The fingerprint in the registry; absent when the sprite was deleted.",
        ),
    ],
};

/// A member that is not what the registry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpriteDrift {
    /// The sprite.
    pub sprite_id: SpriteId,
    /// The fingerprint of the snapshot.
    pub pinned: String,
    /// The fingerprint in the registry; none when the sprite was deleted.
    pub current: Option<String>,
}

impl SpriteDrift {
    pub(super) fn build(value: &Json) -> Option<Self> {
        let fields = Fields::of(value)?;
        Some(Self {
            sprite_id: SpriteId::parse(fields.text("sprite_id")?).ok()?,
            pinned: fields.owned("pinned")?,
            current: fields.owned("current"),
        })
    }

    /// The drift as JSON.
    pub fn to_json(&self) -> Json {
        ObjectWriter::new()
            .text("sprite_id", &self.sprite_id)
            .text("pinned", &self.pinned)
            .optional_text("current", self.current.as_ref())
            .done()
    }
}

impl Council {
    /// The members that differ from what the registry holds now. `current` knows the fingerprints there.
    pub fn drift_from(&self, current: impl Fn(SpriteId) -> Option<String>) -> Vec<SpriteDrift> {
        let drifted = self.sprites.iter().filter_map(|snapshot| {
            let pinned = snapshot.fingerprint.to_string();
            let current = current(snapshot.id);
            (current.as_ref() != Some(&pinned)).then_some(SpriteDrift {
                sprite_id: snapshot.id,
                pinned,
                current,
            })
        });
        drifted.collect()
    }
}
