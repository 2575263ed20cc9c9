//! What protects a sprite in a council: it, its protection, its steps, its gate authority and its gates leave only by force (D21, D26).

use mizzen_model::chain::Chain;
use mizzen_model::council::Council;
use mizzen_model::gate::GatePosition;
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
    let loses_a_part = |chain: &Chain| {
        let left = successor(chain, before, after)
            .map(|chain| parts_of(chain, sprite))
            .unwrap_or_default();
        parts_of(chain, sprite)
            .iter()
            .any(|(part, count)| left.get(part).is_none_or(|left| left < count))
    };
    let loses_authority = before.gate_agent == sprite && after.gate_agent != sprite;
    !is_protected(after, sprite) || loses_authority || before.chains.iter().any(loses_a_part)
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

/// What a sprite does in a chain.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Part<'a> {
    /// A step. One that keeps the sprite and does something else is another one.
    Step(&'a str),
    /// A gate of the chain. What it asks may change.
    Gate(&'static str, &'static str),
    /// A gate of a step, by the step's action and the gate's position.
    StepGate(&'a str, &'static str),
}

/// How often a sprite does what in a chain.
fn parts_of(chain: &Chain, sprite: SpriteId) -> HashMap<Part<'_>, usize> {
    let steps = chain.body.steps.iter();
    let of_steps = steps.clone().filter(|step| step.sprite_id == sprite);
    let of_steps = of_steps.map(|step| Part::Step(&step.action));
    let gates = chain.body.gates.iter().filter(|gate| gate.sprite_id == sprite);
    let gates = gates.map(|gate| Part::Gate(gate.position.as_str(), gate.scope().as_str()));
    let step_gates = steps.flat_map(|step| {
        let lists = [
            (GatePosition::Before, step.gates_before()),
            (GatePosition::After, step.gates_after()),
        ];
        lists.into_iter().flat_map(move |(position, gates)| {
            let gates = gates.iter().filter(move |gate| gate.sprite_id == sprite);
            gates.map(move |_| Part::StepGate(&step.action, position.as_str()))
        })
    });
    let mut parts = HashMap::new();
    for part in of_steps.chain(gates).chain(step_gates) {
        *parts.entry(part).or_default() += 1;
    }
    parts
}
