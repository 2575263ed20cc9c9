//! What a council says in languages that documents only carry: maps, conditions and JSON Schemas. Judged when the council is
//! created, so that an execution never meets a map or a condition that does not compile.

use crate::Schema;
use crate::condition::Condition;
use crate::map::{Map, Root, Side};
use mizzen_model::chain::ChainStep;
use mizzen_model::council::Council;
use mizzen_model::json::{Json, NotExact, Object};
use mizzen_model::problem::{Code, Problems, field_path};
use mizzen_model::sprite::SpriteBody;

/// Everything that is wrong with the maps and conditions of a council, with paths in the council document: that each compiles,
/// and that maps refer to earlier steps only.
///
/// It belongs after [`Council::structure`], which judges the orders that the references are compared with. Schemas were judged when their
/// sprites were registered ([`admit_sprite`]); snapshots of the same sprites are not judged again.
pub fn admit(council: &Council) -> Problems {
    let mut problems = Problems::new();
    for (chain_index, chain) in council.chains.iter().enumerate() {
        for (place, step) in chain.body.steps.iter().enumerate() {
            let path = format!("/chains/{chain_index}/steps/{place}");
            admit_map(
                step,
                step.input_map.as_ref(),
                Side::Input,
                &format!("{path}/input_map"),
                &mut problems,
            );
            admit_map(
                step,
                step.output_map.as_ref(),
                Side::Output,
                &format!("{path}/output_map"),
                &mut problems,
            );
        }
    }
    for (path, condition) in council.gate_conditions() {
        if let Err(error) = Condition::compile_gate(condition) {
            problems.push(path, Code::Condition, error.to_string());
        }
    }
    for (path, condition) in council.rule_conditions() {
        if let Err(error) = Condition::compile_rule(condition) {
            problems.push(path, Code::Condition, error.to_string());
        }
    }
    problems
}

fn admit_map(step: &ChainStep, map: Option<&Object>, side: Side, path: &str, problems: &mut Problems) {
    let Some(map) = map else { return };
    let parsed = match Map::<Json>::parse(map, side) {
        Ok(parsed) => parsed,
        Err(errors) => {
            for error in errors {
                problems.push(field_path(path, &error.key), Code::Map, error.error.to_string());
            }
            return;
        }
    };
    for (key, literal) in parsed.literals() {
        // Runs hold numbers of 64 bits: a larger one would be rounded in every run.
        if let Err(NotExact::Number { pointer, message }) = literal.to_serde_exact() {
            problems.push(format!("{}{pointer}", field_path(path, key)), Code::Map, message);
        }
    }
    for (key, expression) in parsed.paths() {
        if let Root::Step(order) = expression.root()
            && order >= step.order as usize
        {
            let message = format!(
                "{expression} does not refer to an earlier step: this one has the order {}",
                step.order
            );
            problems.push(field_path(path, key), Code::ForwardReference, message);
        }
    }
}

/// Everything that is wrong with the JSON Schemas of a sprite's capabilities, with paths in the sprite document.
pub fn admit_sprite(sprite: &SpriteBody) -> Problems {
    let mut problems = Problems::new();
    for (index, capability) in sprite.capabilities.iter().enumerate() {
        let path = format!("/capabilities/{index}/parameters");
        match Json::Object(capability.parameters.clone()).to_serde() {
            Ok(schema) => {
                if let Err(refusal) = Schema::compile(&schema) {
                    problems.push(path, Code::Schema, refusal.to_string());
                }
            }
            Err(too_deep) => problems.push(path, Code::Schema, too_deep.to_string()),
        }
    }
    problems
}
