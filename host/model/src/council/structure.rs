//! What no table can say about a council: that things point to each other rightly.

use super::Council;
use crate::chain::{Chain, ChainStep};
use crate::gate::{GatePosition, GateScope, StepGate};
use crate::id::SpriteId;
use crate::problem::{Code, Problems};
use crate::rule::RuleAction;
use crate::sprite::Sprite;
use mizzen_json::quote;
use std::collections::{HashMap, HashSet};

/// What is wrong, and what is only doubtful.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    /// Refusals. The first one's code decides the answer's: [`Code::InvalidGateAgent`] is `INVALID_GATE_AGENT`.
    pub problems: Problems,
    /// Accepted, and shown in the answer.
    pub warnings: Problems,
}

struct Structure<'a> {
    council: &'a Council,
    members: HashMap<SpriteId, &'a Sprite>,
    review: Review,
}

impl Council {
    /// Judges gate authority, rules and chains. Linear in the size of the council.
    ///
    /// Maps and conditions are judged by the engine, which owns their languages.
    pub fn structure(&self) -> Review {
        let members = self.sprites.iter().map(|sprite| (sprite.id, sprite)).collect();
        let mut structure = Structure {
            council: self,
            members,
            review: Review::default(),
        };
        structure.gate_authority();
        structure.rules();
        structure.mounts();
        structure.chains();
        structure.review
    }
}

impl Structure<'_> {
    fn refuse(&mut self, path: String, code: Code, message: impl Into<String>) {
        self.review.problems.push(path, code, message);
    }

    fn warn(&mut self, path: String, code: Code, message: impl Into<String>) {
        self.review.warnings.push(path, code, message);
    }

    /// A pack is mounted at most once in each list: which of two modes would hold must not be a riddle.
    fn mounts(&mut self) {
        let mut seen = HashSet::new();
        for (path, mount) in self.council.mounts() {
            let list = path.rsplit_once('/').map_or("", |(list, _)| list).to_owned();
            if !seen.insert((list, mount.id.as_str())) {
                let message = format!("{} is mounted twice in this list: keep one", quote(&mount.id));
                self.review
                    .problems
                    .push(format!("{path}/id"), Code::Duplicate, message);
            }
        }
    }

    /// At most one member claims gate authority; one that claims it and is not the gate agent is told so.
    fn gate_authority(&mut self) {
        let council = self.council;
        let claims = |sprite: &Sprite| sprite.body.gate_authority == Some(true);
        let claimants = council
            .sprites
            .iter()
            .enumerate()
            .filter(|(_, sprite)| claims(sprite));
        for (place, (index, sprite)) in claimants.enumerate() {
            let path = format!("/sprites/{index}");
            let name = &sprite.body.name;
            if place > 0 {
                let message =
                    format!("{name} claims gate_authority and so does another member: at most one may");
                self.refuse(path, Code::InvalidGateAgent, message);
            } else if sprite.id != council.gate_agent {
                let message = format!("{name} claims gate_authority and is not the council's gate agent");
                self.warn(path, Code::UnusedGateAuthority, message);
            }
        }
    }

    fn rules(&mut self) {
        let council = self.council;
        let mut seen = HashSet::new();
        for (index, rule) in council.rules.iter().enumerate() {
            if rule.expires.is_some() && rule.action != RuleAction::Escalate {
                let message = format!("expires is for the action escalate, not for {}", rule.action);
                self.refuse(format!("/rules/{index}/expires"), Code::UnknownField, message);
            }
            if !seen.insert(rule.id.as_str()) {
                let message = format!("a rule with the id {} stands before this one", quote(&rule.id));
                self.refuse(format!("/rules/{index}/id"), Code::Duplicate, message);
            }
        }
    }

    fn chains(&mut self) {
        let council = self.council;
        let mut names = HashSet::new();
        for (index, chain) in council.chains.iter().enumerate() {
            let path = format!("/chains/{index}");
            if !names.insert(chain.body.name.as_str()) {
                let message = format!("a chain named {} stands before this one", quote(&chain.body.name));
                self.refuse(format!("{path}/name"), Code::Duplicate, message);
            }
            self.orders(chain, &path);
            for (place, step) in chain.body.steps.iter().enumerate() {
                self.step(step, &format!("{path}/steps/{place}"));
            }
            for (place, gate) in chain.body.gates.iter().enumerate() {
                let path = format!("{path}/gates/{place}");
                self.gate_sprite(gate.sprite_id, &path);
                if gate.scope() == GateScope::Step && gate.position != GatePosition::After {
                    let message =
                        "scope step is for after gates: use the steps' gates_before, or position after";
                    self.refuse(format!("{path}/scope"), Code::GatePlace, message);
                }
            }
        }
    }

    /// Orders are 0…n-1, each once.
    fn orders(&mut self, chain: &Chain, path: &str) {
        let count = chain.body.steps.len();
        let mut taken = vec![false; count];
        for (place, step) in chain.body.steps.iter().enumerate() {
            let path = format!("{path}/steps/{place}/order");
            match taken.get_mut(step.order as usize) {
                Some(taken) if !*taken => *taken = true,
                Some(_) => self.refuse(
                    path,
                    Code::StepOrder,
                    format!("order {} is taken by an earlier step", step.order),
                ),
                None => {
                    let message = format!(
                        "order {} leaves a gap: {count} steps have the orders 0 to {}",
                        step.order,
                        count.saturating_sub(1)
                    );
                    self.refuse(path, Code::StepOrder, message);
                }
            }
        }
    }

    fn step(&mut self, step: &ChainStep, path: &str) {
        match self.members.get(&step.sprite_id).copied() {
            None => {
                let message = format!(
                    "sprite {} is not a member of the council: add it to sprites",
                    step.sprite_id
                );
                self.refuse(format!("{path}/sprite_id"), Code::SpriteNotInCouncil, message);
            }
            Some(sprite) if sprite.body.capability(&step.action).is_none() => {
                let message = format!(
                    "{} does not declare the capability {}: the step will fail when it is executed",
                    sprite.body.name,
                    quote(&step.action)
                );
                self.warn(format!("{path}/action"), Code::UndeclaredAction, message);
            }
            Some(_) => {}
        }
        self.step_gates(
            step.gates_before(),
            GatePosition::Before,
            &format!("{path}/gates_before"),
        );
        self.step_gates(
            step.gates_after(),
            GatePosition::After,
            &format!("{path}/gates_after"),
        );
    }

    fn step_gates(&mut self, gates: &[StepGate], position: GatePosition, path: &str) {
        for (index, gate) in gates.iter().enumerate() {
            let path = format!("{path}/{index}");
            self.gate_sprite(gate.sprite_id, &path);
            if let Some(stated) = gate.position.filter(|stated| *stated != position) {
                let message =
                    format!("position {stated} does not fit this list: write {position} or leave it out");
                self.refuse(format!("{path}/position"), Code::GatePlace, message);
            }
        }
    }

    fn gate_sprite(&mut self, sprite_id: SpriteId, path: &str) {
        let agent = self.council.gate_agent;
        if sprite_id != agent {
            let message = format!("{sprite_id} is not the council's gate agent: use {agent}");
            self.refuse(format!("{path}/sprite_id"), Code::InvalidGateAgent, message);
        }
    }
}
