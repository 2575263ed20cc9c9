//! `json.merge`.

use mizzen_sdk::prelude::*;

/// A document and what should change in it.
#[input]
pub struct Merge {
    /// The document to change.
    target: Value,
    /// The merge patch: its fields replace those of the document, its nulls remove them.
    patch: Value,
}

/// The changed document.
#[output]
pub struct Merged {
    /// The changed document.
    document: Value,
}

/// Merges a patch into a JSON document (JSON Merge Patch, RFC 7386): fields of the patch replace those of the document, null removes a field, lists are replaced as a whole.
#[tool(
    side_effects = "none",
    tags = ["patch", "rfc7386"],
    example(
        name = "the example of RFC 7386",
        input = {
            "target": { "title": "Goodbye!", "author": { "givenName": "John", "familyName": "Doe" }, "tags": ["example", "sample"], "content": "This will be unchanged" },
            "patch": { "title": "Hello!", "phoneNumber": "+01-123-456-7890", "author": { "familyName": null }, "tags": ["example"] }
        },
        output = { "document": { "title": "Hello!", "author": { "givenName": "John" }, "tags": ["example"], "content": "This will be unchanged", "phoneNumber": "+01-123-456-7890" } }
    ),
    example(
        name = "a patch that is no object replaces everything",
        input = { "target": { "a": 1 }, "patch": ["b"] },
        output = { "document": ["b"] }
    )
)]
pub fn merge(input: Merge) -> Merged {
    let mut document = input.target;
    apply(&mut document, input.patch);
    Merged { document }
}

fn apply(target: &mut Value, patch: Value) {
    let Value::Object(changes) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(fields) = target else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(&name);
        } else {
            apply(fields.entry(name).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_cases_of_rfc_7386_hold() {
        for (target, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"a": "foo"}), json!(null), json!(null)),
            (json!({"a": "foo"}), json!("bar"), json!("bar")),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
        ] {
            let shown = format!("{target} with {patch}");
            assert_eq!(merge(Merge { target, patch }).document, expected, "{shown}");
        }
    }
}
