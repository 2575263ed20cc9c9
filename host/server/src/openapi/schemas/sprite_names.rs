//! Places in which a request may name a sprite where an answer has its id: members and gate agents of a council, steps and gates of its
//! chains. The tables in `model` know ids only, because names are looked up before a council is checked.

use super::component;
use mizzen_model::chain::{CHAIN_DRAFT, CHAIN_STEP};
use mizzen_model::council::COUNCIL_DRAFT;
use mizzen_model::gate::{GATE, STEP_GATE};
use mizzen_model::sprite::{SPRITE_NAME_MAX, SPRITE_NAME_MIN, SPRITE_NAME_PATTERN};
use serde_json::{Map, Value, json};

/// The schemas of records in a request. Answers keep the record's own.
const STEP: &str = "ChainStepDefinition";
const GATE_OF_CHAIN: &str = "GateDefinition";
const GATE_OF_STEP: &str = "StepGateDefinition";

/// Makes the schemas of a council's request accept names of sprites.
pub(super) fn accept(schemas: &mut Map<String, Value>) {
    let records = [
        (CHAIN_STEP.name, STEP),
        (GATE.name, GATE_OF_CHAIN),
        (STEP_GATE.name, GATE_OF_STEP),
    ];
    for (record, requested) in records {
        let Some(mut schema) = schemas.get(record).cloned() else {
            continue;
        };
        accept_at(&mut schema, "/properties/sprite_id");
        if let Some(members) = schema.as_object_mut() {
            members.insert("title".to_owned(), requested.into());
        }
        schemas.insert(requested.to_owned(), schema);
    }
    let lists = [
        (CHAIN_DRAFT.name, "steps", STEP),
        (CHAIN_DRAFT.name, "gates", GATE_OF_CHAIN),
        (STEP, "gates_before", GATE_OF_STEP),
        (STEP, "gates_after", GATE_OF_STEP),
    ];
    for (holder, list, item) in lists {
        let pointer = format!("/properties/{list}/items");
        if let Some(items) = schemas
            .get_mut(holder)
            .and_then(|schema| schema.pointer_mut(&pointer))
        {
            *items = component(item);
        }
    }
    if let Some(council) = schemas.get_mut(COUNCIL_DRAFT.name) {
        accept_at(council, "/properties/sprites/items");
        accept_at(council, "/properties/gate_agents/items");
    }
}

/// Replaces the schema of an id by one of an id or a name. The description stays outside of the alternatives.
fn accept_at(schema: &mut Value, pointer: &str) {
    let Some(place) = schema.pointer_mut(pointer) else {
        return;
    };
    let mut id = place.take();
    let description = id.as_object_mut().and_then(|id| id.remove("description"));
    let name = json!({
        "type": "string", "minLength": SPRITE_NAME_MIN, "maxLength": SPRITE_NAME_MAX, "pattern": SPRITE_NAME_PATTERN,
        "description": "A sprite's name: its highest version.",
    });
    let version = json!({
        "type": "string", "maxLength": 128,
        "pattern": "^[A-Z](-?[A-Z0-9]){1,31}@(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})$",
        "description": "A sprite's name and version.",
    });
    *place = json!({"anyOf": [id, name, version]});
    if let (Some(place), Some(description)) = (place.as_object_mut(), description) {
        place.insert("description".to_owned(), description);
    }
}

#[cfg(test)]
mod tests {
    use super::super::all;

    #[test]
    fn steps_and_gates_take_names_in_requests_and_have_ids_in_answers() {
        let schemas = all(&[]);
        let takes_names = |name: &str| {
            let sprite = schemas.pointer(&format!("/{name}/properties/sprite_id"));
            sprite.and_then(|sprite| sprite.get("anyOf")).is_some()
        };
        for (requested, answered) in [
            ("ChainStepDefinition", "ChainStep"),
            ("GateDefinition", "Gate"),
            ("StepGateDefinition", "StepGate"),
        ] {
            assert!(takes_names(requested), "{requested}");
            assert!(!takes_names(answered), "{answered}");
        }
        for (pointer, target) in [
            ("/ChainDefinition/properties/steps", "ChainStepDefinition"),
            ("/ChainDefinition/properties/gates", "GateDefinition"),
            (
                "/ChainStepDefinition/properties/gates_before",
                "StepGateDefinition",
            ),
            (
                "/ChainStepDefinition/properties/gates_after",
                "StepGateDefinition",
            ),
            ("/Chain/properties/steps", "ChainStep"),
        ] {
            let item = schemas.pointer(&format!("{pointer}/items/$ref"));
            let expected = format!("#/components/schemas/{target}");
            assert_eq!(item.and_then(serde_json::Value::as_str), Some(expected.as_str()));
        }
    }
}
