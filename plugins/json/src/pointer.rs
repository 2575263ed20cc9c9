//! RFC 6901 pointers.

use mizzen_sdk::Value;

/// The pointer to a field of what `pointer` points at.
pub(crate) fn field(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The pointer to an item of what `pointer` points at.
pub(crate) fn item(pointer: &str, index: usize) -> String {
    format!("{pointer}/{index}")
}

/// Whether a text is a pointer: a `~` that begins no escape makes it none.
pub(crate) fn is_one(text: &str) -> bool {
    let escapes = || text.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    text.is_empty() || text.starts_with('/') && escapes()
}

/// What a pointer points at. `Value::pointer` reads `+1` and the like as an index too, which RFC 6901 does not.
pub(crate) fn find<'a>(document: &'a Value, pointer: &str) -> Option<&'a Value> {
    if pointer.is_empty() {
        return Some(document);
    }
    if !is_one(pointer) {
        return None;
    }
    let mut value = document;
    for token in pointer.strip_prefix('/')?.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        value = match value {
            Value::Object(fields) => fields.get(&token)?,
            Value::Array(items) => items.get(index(&token)?)?,
            _ => return None,
        };
    }
    Some(value)
}

fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with(['0', '+']);
    if plain { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_sdk::json;

    #[test]
    fn pointers_follow_rfc_6901() {
        let document = json!({"a/b": [10, 20], "m~n": 1, "": 2});
        for (pointer, expected) in [
            ("/a~1b/1", Some(json!(20))),
            ("/m~0n", Some(json!(1))),
            ("/", Some(json!(2))),
            ("/a~1b/01", None),
            ("/a~1b/+1", None),
            ("/a~1b/-", None),
            ("/m~n", None),
            ("/m~", None),
            ("/m~2n", None),
            ("a", None),
        ] {
            assert_eq!(find(&document, pointer).cloned(), expected, "{pointer}");
        }
        assert_eq!(find(&document, ""), Some(&document));
        assert_eq!(field("/x", "a/b~c"), "/x/a~1b~0c");
    }
}
