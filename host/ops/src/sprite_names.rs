//! Sprites that a council names by name where it could have ids: `SOL-FORGE` is the highest version, `SOL-FORGE@1.2.0` that one.

use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::sprite::from_record;
use mizzen_json::{Json, Object};
use mizzen_json::{field_path, item_path};
use mizzen_model::council::SPRITES_MAX;
use mizzen_model::id::SpriteId;
use mizzen_model::sprite::{SemVer, SpriteName};
use mizzen_store::SpriteFilter;
use std::cmp::Ordering;
use std::collections::HashMap;
use uuid::Uuid;

/// Sprites of one name that are read at once.
const NAMESAKES: usize = 256;

impl Host {
    /// The council with ids where it has names of sprites. What is neither stays, and the council's own check says where.
    pub(crate) async fn with_sprite_ids(&self, council: &Json) -> Result<Json, OpError> {
        let Some(object) = council.as_object() else {
            return Ok(council.clone());
        };
        let mut object = object.clone();
        let mut wanted: Vec<Reference> = Vec::new();
        each_sprite(&mut object, &mut |_, sprite| {
            if let Some(reference) = sprite.as_str().and_then(Reference::parse) {
                wanted.push(reference);
            }
        });
        if wanted.is_empty() {
            return Ok(Json::Object(object));
        }
        let mut ids: HashMap<String, Uuid> = HashMap::new();
        let mut missing: Vec<String> = Vec::new();
        for reference in wanted {
            // More names than a council may have sprites cannot all be members: its own check says so.
            if ids.contains_key(&reference.text)
                || missing.contains(&reference.text)
                || ids.len() + missing.len() >= SPRITES_MAX
            {
                continue;
            }
            match self.named_sprite(&reference).await? {
                Some(id) => {
                    ids.insert(reference.text, id);
                }
                None => missing.push(reference.text),
            }
        }
        if !missing.is_empty() {
            return Err(Refusal::MissingSprites { missing }.into());
        }
        each_sprite(&mut object, &mut |_, sprite| {
            if let Some(id) = sprite.as_str().and_then(|name| ids.get(name)) {
                *sprite = Json::from(id.to_string());
            }
        });
        Ok(Json::Object(object))
    }

    async fn named_sprite(&self, reference: &Reference) -> Result<Option<Uuid>, OpError> {
        let mut highest: Option<(SemVer, Uuid)> = None;
        let mut after = None;
        loop {
            let filter = SpriteFilter {
                name: Some(reference.name.clone()),
                ..SpriteFilter::default()
            };
            let page = self.store.list_sprites(filter, after, NAMESAKES).await?;
            for record in &page.items {
                let version = from_record(record)
                    .map_err(|fault: Fault| OpError::from(fault))?
                    .body
                    .version;
                if reference
                    .version
                    .as_ref()
                    .is_some_and(|wanted| *wanted != version)
                {
                    continue;
                }
                let is_higher = highest
                    .as_ref()
                    .is_none_or(|(known, _)| version.precedence(known) == Ordering::Greater);
                if is_higher {
                    highest = Some((version, record.id));
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(highest.map(|(_, id)| id)),
            }
        }
    }
}

/// A sprite by its name, in the highest version or in one.
struct Reference {
    text: String,
    name: String,
    version: Option<SemVer>,
}

impl Reference {
    /// None for an id, and for what cannot be a name.
    fn parse(text: &str) -> Option<Self> {
        if SpriteId::parse(text).is_ok() {
            return None;
        }
        let (name, version) = match text.split_once('@') {
            None => (text, None),
            Some((name, version)) => (name, Some(SemVer::parse(version).ok()?)),
        };
        SpriteName::parse(name).ok()?;
        Some(Self {
            text: text.to_owned(),
            name: name.to_owned(),
            version,
        })
    }
}

/// Every place in which a council names a sprite, with its pointer: members and gate agents, steps and gates.
pub(crate) fn each_sprite(council: &mut Object, act: &mut impl FnMut(String, &mut Json)) {
    for list in ["sprites", "gate_agents"] {
        for (path, sprite) in items(council.get_mut(list), &field_path("", list)) {
            act(path, sprite);
        }
    }
    for (chain_path, chain) in items(council.get_mut("chains"), "/chains") {
        let Some(chain) = chain.as_object_mut() else {
            continue;
        };
        named_in(chain, "gates", &chain_path, act);
        named_in(chain, "steps", &chain_path, act);
        for (step_path, step) in items(chain.get_mut("steps"), &field_path(&chain_path, "steps")) {
            if let Some(step) = step.as_object_mut() {
                named_in(step, "gates_before", &step_path, act);
                named_in(step, "gates_after", &step_path, act);
            }
        }
    }
}

/// `sprite_id` in every member of a list.
fn named_in(holder: &mut Object, list: &str, path: &str, act: &mut impl FnMut(String, &mut Json)) {
    for (path, item) in items(holder.get_mut(list), &field_path(path, list)) {
        if let Some(sprite) = item.as_object_mut().and_then(|item| item.get_mut("sprite_id")) {
            act(field_path(&path, "sprite_id"), sprite);
        }
    }
}

fn items<'a>(list: Option<&'a mut Json>, path: &str) -> Vec<(String, &'a mut Json)> {
    match list {
        Some(Json::Array(items)) => items
            .iter_mut()
            .enumerate()
            .map(|(index, item)| (item_path(path, index), item))
            .collect(),
        _ => Vec::new(),
    }
}
