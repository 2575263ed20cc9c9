//! How the tools, skills, stores and packs of a package are shown, to people and to scripts.

use crate::output;
use mizzen_model::manifest::Provides;
pub(super) use mizzen_ops::Provided;
use serde_json::Value;

/// For scripts: as the HTTP API shows them.
pub(super) fn json(items: &[Provided]) -> Vec<&Value> {
    items.iter().map(|item| &item.document).collect()
}

/// For people: a line for each, what it does to the world, what it may use, and what it is for.
pub(super) fn print(items: &[Provided], schemas: bool) {
    for item in items {
        println!("{:<11} {}", item.kind.as_str(), output::harmless(&line(item)));
        let description = item.document.get("description").and_then(Value::as_str);
        if let Some(first) = description.and_then(|text| text.lines().find(|line| !line.trim().is_empty())) {
            println!("              {}", output::harmless(&first));
        }
        for schema in ["input_schema", "output_schema"] {
            match item.document.get(schema) {
                Some(value) if schemas && !value.is_null() => {
                    println!("              {schema} {}", output::harmless(value));
                }
                _ => {}
            }
        }
    }
}

/// The id, and for a tool its side effects and permissions.
pub(super) fn line(item: &Provided) -> String {
    if item.kind != Provides::Tool {
        return item.id.clone();
    }
    let effects = item.document.get("side_effects").and_then(Value::as_str);
    let permissions: Vec<&str> = item
        .document
        .get("permissions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let permissions = if permissions.is_empty() {
        "no permissions".to_owned()
    } else {
        permissions.join(", ")
    };
    format!(
        "{}  (side effects {}; {permissions})",
        item.id,
        effects.unwrap_or("unknown")
    )
}
