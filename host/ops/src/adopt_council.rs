//! Takes over a council from a file: the sprites stand in it, and are named by their names where a request has ids.
//!
//! Done twice it is done once: what is there already and the same stays as it is, with its ids and history.

use crate::caller::Caller;
use crate::council::{from_record, parse_draft};
use crate::document::{Document, Force, IfMatch, stored};
use crate::error::{OpError, Refusal};
use crate::host::Host;
use crate::sprite::from_record as sprite_from_record;
use crate::sprite_names::each_sprite;
use mizzen_json::{Json, Object};
use mizzen_model::council::{Council, SPRITES_MAX};
use mizzen_model::sprite::{Sprite, SpriteDraft, Stamp};
use mizzen_store::SpriteFilter;
use std::cmp::Ordering;
use std::collections::HashMap;
use uuid::Uuid;

/// Sprites of one name that are looked at.
const NAMESAKES: usize = 256;

/// What to do about a sprite of the file.
enum Member {
    /// The host has it.
    Known(Uuid),
    /// The host has an older version of it.
    Newer(Uuid),
    /// The host does not have it.
    New,
}

impl Host {
    /// Registers the sprites of a file and creates its council; a council of the same domain is replaced by it. Nothing is
    /// written before the whole file has been found valid. Protected sprites leave the council only by force (D26).
    pub async fn adopt_council(
        &self,
        caller: &Caller,
        file: &Json,
        force: Force,
    ) -> Result<Document, OpError> {
        let wrong = |message: &str| OpError::from(Refusal::BadRequest(message.to_owned()));
        let Some(council) = file.as_object() else {
            return Err(wrong(
                "a council file holds one object: domain, sprites, gate_agents, chains, rules",
            ));
        };
        let sprites = council
            .get("sprites")
            .and_then(Json::as_array)
            .ok_or_else(|| wrong("`sprites` is missing: a list of sprites"))?;
        if sprites.len() > SPRITES_MAX {
            return Err(wrong(&format!("`sprites` has more than {SPRITES_MAX} entries")));
        }
        let mut members = Vec::new();
        let mut ids = HashMap::new();
        for (document, number) in sprites.iter().zip(1_u128..) {
            let draft = self.read_draft(document).await?;
            let name = draft.body.name.to_string();
            if ids.insert(name.clone(), Uuid::from_u128(number)).is_some() {
                return Err(wrong(&format!("two sprites of the file are named {name}")));
            }
            members.push((name, document, self.member(&draft).await?));
        }
        // With ids that mean nothing yet: a mistake in the council must be found before its sprites are registered.
        parse_draft(&with_ids(council, &ids))?;
        for (name, document, member) in members {
            let id = match member {
                Member::Known(id) => id,
                Member::Newer(id) => self.update_sprite(caller, id, document, IfMatch::Any).await?.id,
                Member::New => self.create_sprite(caller, document, None).await?.id,
            };
            ids.insert(name, id);
        }
        self.put_council(caller, with_ids(council, &ids), force).await
    }

    async fn member(&self, draft: &SpriteDraft) -> Result<Member, OpError> {
        let name = draft.body.name.to_string();
        let filter = SpriteFilter {
            name: Some(name.clone()),
            ..SpriteFilter::default()
        };
        let found = self.store.list_sprites(filter, None, NAMESAKES).await?.items;
        let mut newest: Option<Sprite> = None;
        for record in &found {
            let sprite = sprite_from_record(record)?;
            if is_same(&sprite, draft) {
                return Ok(Member::Known(record.id));
            }
            let is_newer = newest.as_ref().is_none_or(|newest| {
                sprite.body.version.precedence(&newest.body.version) == Ordering::Greater
            });
            if is_newer {
                newest = Some(sprite);
            }
        }
        let Some(newest) = newest else {
            return Ok(Member::New);
        };
        if draft.body.version.precedence(&newest.body.version) != Ordering::Greater {
            return Err(Refusal::BadRequest(format!(
                "this host has another sprite {name} {}: raise the version of the one in the file ({}), or give it a name of its own",
                newest.body.version, draft.body.version
            ))
            .into());
        }
        Ok(Member::Newer(newest.id.uuid()))
    }

    async fn put_council(
        &self,
        caller: &Caller,
        mut document: Json,
        force: Force,
    ) -> Result<Document, OpError> {
        let domain = document
            .get("domain")
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned();
        let Some(id) = self.store.council_of_domain(domain).await? else {
            return self.create_council(caller, &document, None).await;
        };
        let record = self
            .store
            .council(id)
            .await?
            .ok_or(Refusal::CouncilNotFound(id))?;
        let before = from_record(&record)?;
        keep_chains(&mut document, &before);
        let mut after = self.build_council(self.read_council(&document).await?, id, Some(&before))?;
        after.updated_at.clone_from(&before.updated_at);
        if after.to_json() == stored(&record.document)? {
            return Ok(Document {
                id,
                revision: record.revision,
                json: record.document,
            });
        }
        let known = IfMatch::Revisions(vec![record.revision]);
        self.update_council(caller, id, &document, known, force).await
    }
}

/// Whether a sprite of the host is the one of the file: the same fingerprint, where the file leaves times to the host.
fn is_same(sprite: &Sprite, draft: &SpriteDraft) -> bool {
    let again = draft.clone().resolve(Stamp {
        id: sprite.id,
        created: sprite.metadata.created.clone(),
        now: sprite.metadata.updated.clone(),
    });
    again.fingerprint == sprite.fingerprint
}

/// The council as a request has it: members and gate agents, steps and gates name sprites by id. A name that is not one of
/// the file's stays, and the council's own check says where.
fn with_ids(council: &Object, ids: &HashMap<String, Uuid>) -> Json {
    let mut council = council.clone();
    each_sprite(&mut council, &mut |_, sprite| {
        // A member of the file is the sprite itself.
        let name = match sprite.get("name") {
            Some(name) => name.as_str(),
            None => sprite.as_str(),
        };
        if let Some(id) = name.and_then(|name| ids.get(name)) {
            *sprite = Json::from(id.to_string());
        }
    });
    Json::Object(council)
}

fn each(list: Option<&mut Json>) -> impl Iterator<Item = &mut Json> {
    let items = match list {
        Some(Json::Array(items)) => Some(items.iter_mut()),
        _ => None,
    };
    items.into_iter().flatten()
}

/// A chain that has the name of one of the council's is that one, and keeps its history.
fn keep_chains(document: &mut Json, before: &Council) {
    for chain in each(
        document
            .as_object_mut()
            .and_then(|council| council.get_mut("chains")),
    ) {
        let known = chain
            .get("name")
            .and_then(Json::as_str)
            .and_then(|name| before.chains.iter().find(|known| known.body.name == name))
            .map(|known| known.id.to_string());
        if let (Some(id), Some(chain)) = (known, chain.as_object_mut()) {
            chain.insert("id", Json::from(id));
        }
    }
}
