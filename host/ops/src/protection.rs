//! What protects a sprite in a council: it, its protection and its steps leave only by force (D21, D26).

use mizzen_model::chain::Chain;
use mizzen_model::council::Council;
use mizzen_model::id::SpriteId;
use std::collections::HashMap;
use uuid::Uuid;

/// The first protected sprite that a change takes out of the council, out of one of its chains, or out of protection. `after` is none
/// when the council is deleted.
pub(crate) fn taken_out(before: &Council, after: Option<&Council>) -> Option<Uuid> {
    let protected = before
        .sprites
        .iter()
        .filter(|sprite| is_protected(before, sprite.id));
    protected
        .map(|sprite| sprite.id)
        .find(|sprite| after.is_none_or(|after| leaves(before, after, *sprite)))
        .map(SpriteId::uuid)
}

fn leaves(before: &Council, after: &Council, sprite: SpriteId) -> bool {
    let loses_a_step = |chain: &Chain| {
        let left = successor(chain, before, after)
            .map(|chain| steps_of(chain, sprite))
            .unwrap_or_default();
        steps_of(chain, sprite)
            .iter()
            .any(|(action, count)| left.get(action).is_none_or(|left| left < count))
    };
    !is_protected(after, sprite) || before.chains.iter().any(loses_a_step)
}

/// Whether the council's own snapshot of the sprite is protected.
fn is_protected(council: &Council, sprite: SpriteId) -> bool {
    council
        .sprite(sprite)
        .is_some_and(|sprite| sprite.body.protected == Some(true))
}

/// The chain that takes the place of another: by its id, or by its name when a request leaves the id out. A chain that continues
/// another one of `before` by its id replaces no other.
fn successor<'a>(chain: &Chain, before: &Council, after: &'a Council) -> Option<&'a Chain> {
    let is_new = |other: &&Chain| before.chain(other.id).is_none() && other.body.name == chain.body.name;
    after.chain(chain.id).or_else(|| after.chains.iter().find(is_new))
}

/// How often a chain calls each action of the sprite: a step that keeps the sprite and does something else is another step.
fn steps_of(chain: &Chain, sprite: SpriteId) -> HashMap<&str, usize> {
    let mut actions = HashMap::new();
    for step in chain.body.steps.iter().filter(|step| step.sprite_id == sprite) {
        *actions.entry(step.action.as_str()).or_default() += 1;
    }
    actions
}
