//! Ids for fragments that arrive without them.

use super::slug::slug;
use mizzen_json::{Json, Object};
use std::collections::{HashMap, HashSet};

/// Fills missing node ids with the slug of the name; collisions get `-2`, `-3`, …; ids that are there are reserved first.
pub fn autogen_node_ids(items: Vec<Object>) -> Vec<Object> {
    autogen(items)
}

/// As [`autogen_node_ids`], for rules.
pub fn autogen_rule_ids(items: Vec<Object>) -> Vec<Object> {
    autogen(items)
}

/// As [`autogen_node_ids`], for packs.
pub fn autogen_pack_ids(items: Vec<Object>) -> Vec<Object> {
    autogen(items)
}

fn autogen(mut items: Vec<Object>) -> Vec<Object> {
    let mut taken: HashSet<String> = items.iter().filter_map(explicit_id).collect();
    // Where counting goes on for a base, so that a thousand equal names do not count from 2 a thousand times.
    let mut counters: HashMap<String, u64> = HashMap::new();
    for item in &mut items {
        if explicit_id(item).is_some() {
            continue;
        }
        let base = match slug(&name_of(item)) {
            empty if empty.is_empty() => "item".to_owned(),
            base => base,
        };
        let mut candidate = base.clone();
        let counter = counters.entry(base.clone()).or_insert(2);
        while taken.contains(&candidate) {
            candidate = format!("{base}-{counter}");
            *counter += 1;
        }
        taken.insert(candidate.clone());
        item.insert("id", Json::String(candidate));
    }
    items
}

fn explicit_id(item: &Object) -> Option<String> {
    item.get("id")
        .and_then(Json::as_str)
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
}

/// The name, or else the first member's text.
fn name_of(item: &Object) -> String {
    let name = item
        .get("name")
        .and_then(Json::as_str)
        .filter(|name| !name.is_empty());
    match (name, item.iter().find(|(key, _)| *key != "id")) {
        (Some(name), _) => name.to_owned(),
        (None, Some((_, Json::String(text)))) => text.clone(),
        (None, Some((_, value))) => value.to_compact(),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        let items = Json::parse(text).unwrap();
        let items = items
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item.as_object().unwrap().clone())
            .collect();
        autogen_node_ids(items)
            .iter()
            .map(|item| item.get("id").unwrap().as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn missing_ids_come_from_names_and_explicit_ids_are_reserved_first() {
        assert_eq!(
            ids(
                r#"[{"name":"Step A"},{"name":"step a"},{"id":"step-a-2"},{"name":"STEP A"},{"id":"x"},{"id":"","name":"x"}]"#
            ),
            ["step-a", "step-a-3", "step-a-2", "step-a-4", "x", "x-2"]
        );
    }

    #[test]
    fn items_without_a_usable_name_still_get_an_id() {
        assert_eq!(
            ids(r#"[{},{"name":"!!"},{"kind":"Echo Node"}]"#),
            ["item", "item-2", "echo-node"]
        );
    }

    #[test]
    fn equal_names_in_great_number_take_linear_time() {
        let items = vec![Object::from_iter([("name".to_owned(), Json::from("same"))]); 20_000];
        let made = autogen_rule_ids(items);
        assert_eq!(
            made.last().unwrap().get("id").unwrap().as_str(),
            Some("same-20000")
        );
    }
}
