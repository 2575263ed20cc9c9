//! What a council says in languages that documents only carry: maps, conditions and JSON Schemas. Judged when the council is
//! created, so that an execution never meets a map or a condition that does not compile.

use crate::Schema;
use mizzen_condition::Condition;
use mizzen_condition::map::{Map, Root, Side};
use mizzen_json::field_path;
use mizzen_json::{Json, NotExact, Object};
use mizzen_model::chain::ChainStep;
use mizzen_model::council::Council;
use mizzen_model::problem::{Code, Problems};

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

/// Most parts of one kind that are judged of a document whose table is not right: its lists have no bound yet.
const MOST_PARTS: usize = 256;

/// What is wrong with the maps and conditions of a council that is not right otherwise, so that one mistake does not hide another: as
/// [`admit`], without what takes the whole council.
pub fn admit_council_document(document: &Json) -> Problems {
    let mut problems = Problems::new();
    let mut judge = |path: String, value: Option<&Json>, compile: fn(&str) -> Option<String>| {
        if let Some(message) = value.and_then(Json::as_str).and_then(compile) {
            problems.push(format!("{path}/condition"), Code::Condition, message);
        }
    };
    for (index, rule) in parts(document, "rules") {
        let compile = |text: &str| Condition::compile_rule(text).err().map(|error| error.to_string());
        judge(format!("/rules/{index}"), rule.get("condition"), compile);
    }
    let compile = |text: &str| Condition::compile_gate(text).err().map(|error| error.to_string());
    for (index, chain) in parts(document, "chains") {
        let path = format!("/chains/{index}");
        for (place, gate) in parts(chain, "gates") {
            judge(format!("{path}/gates/{place}"), gate.get("condition"), compile);
        }
        for (place, step) in parts(chain, "steps") {
            for list in ["gates_before", "gates_after"] {
                for (number, gate) in parts(step, list) {
                    let path = format!("{path}/steps/{place}/{list}/{number}");
                    judge(path, gate.get("condition"), compile);
                }
            }
        }
    }
    for (index, chain) in parts(document, "chains") {
        for (place, step) in parts(chain, "steps") {
            for (name, side) in [("input_map", Side::Input), ("output_map", Side::Output)] {
                let path = format!("/chains/{index}/steps/{place}/{name}");
                let map = step.get(name).and_then(Json::as_object);
                if let Some(Err(errors)) = map.map(|map| Map::<Json>::parse(map, side)) {
                    for error in errors {
                        problems.push(field_path(&path, &error.key), Code::Map, error.error.to_string());
                    }
                }
            }
        }
    }
    problems
}

/// The members of a list with their places.
fn parts<'j>(document: &'j Json, name: &str) -> impl Iterator<Item = (usize, &'j Json)> {
    let list = document.get(name).and_then(Json::as_array);
    list.into_iter()
        .flat_map(|list| list.iter())
        .enumerate()
        .take(MOST_PARTS)
}

/// Everything that is wrong with the JSON Schemas of a sprite's capabilities, with paths in the sprite document. It looks at the document
/// itself, so that it can be asked whatever else is wrong with it.
pub fn admit_sprite(document: &Json) -> Problems {
    let mut problems = Problems::new();
    for (index, capability) in parts(document, "capabilities") {
        let Some(parameters @ Json::Object(_)) = capability.get("parameters") else {
            continue;
        };
        let path = format!("/capabilities/{index}/parameters");
        match parameters.to_serde() {
            Ok(schema) => {
                for refusal in Schema::compile_all(&schema).err().into_iter().flatten() {
                    problems.push(format!("{path}{}", refusal.path), Code::Schema, refusal.reason);
                }
            }
            Err(too_deep) => problems.push(path, Code::Schema, too_deep.to_string()),
        }
    }
    problems
}
