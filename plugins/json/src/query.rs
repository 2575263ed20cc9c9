//! `json.query`.

mod path;
mod select;

use mizzen_sdk::prelude::*;

const MOST_MATCHES: u32 = 10_000;

/// A document and what to find in it.
#[input]
pub struct Query {
    /// The document to look in.
    document: Value,
    /// A JSONPath such as `$.items[*].name`, or an RFC 6901 pointer such as `/items/0/name`. Empty means the whole document.
    path: String,
    /// How many matches to return at most, up to 10,000.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: u32,
}

fn default_limit() -> u32 {
    100
}

/// What was found.
#[output]
#[derive(Debug)]
pub struct Found {
    /// The matches, in the order of the document.
    matches: Vec<Match>,
    /// Whether there are more than the limit.
    more: bool,
}

/// One match.
#[output]
#[derive(Debug, PartialEq)]
pub struct Match {
    /// Where it is: an RFC 6901 pointer.
    path: String,
    /// What is there.
    value: Value,
}

/// Finds values in a JSON document by JSONPath (names, indexes, slices, wildcards, unions and descent; no filters) or by JSON Pointer.
#[tool(
    side_effects = "none",
    tags = ["jsonpath", "pointer", "rfc9535", "rfc6901"],
    example(
        name = "finds a field of every item",
        input = { "document": { "items": [{ "name": "oar" }, { "name": "sail" }] }, "path": "$.items[*].name" },
        output = { "matches": [{ "path": "/items/0/name", "value": "oar" }, { "path": "/items/1/name", "value": "sail" }], "more": false }
    ),
    example(
        name = "finds a field at any depth",
        input = { "document": { "id": 1, "child": { "id": 2, "list": [{ "id": 3 }] } }, "path": "$..id" },
        output = { "matches": [
            { "path": "/id", "value": 1 }, { "path": "/child/id", "value": 2 }, { "path": "/child/list/0/id", "value": 3 }
        ], "more": false }
    ),
    example(
        name = "counts from the end, and slices",
        input = { "document": [0, 1, 2, 3, 4], "path": "$[-1,1:3]" },
        output = { "matches": [{ "path": "/4", "value": 4 }, { "path": "/1", "value": 1 }, { "path": "/2", "value": 2 }], "more": false }
    ),
    example(
        name = "reads a pointer",
        input = { "document": { "a/b": { "c": true } }, "path": "/a~1b/c" },
        output = { "matches": [{ "path": "/a~1b/c", "value": true }], "more": false }
    ),
    example(
        name = "finds nothing",
        input = { "document": {}, "path": "$.missing" },
        output = { "matches": [], "more": false }
    )
)]
pub fn query(input: Query) -> Result<Found, ToolError> {
    if input.limit == 0 || input.limit > MOST_MATCHES {
        return Err(ToolError::invalid_input(
            "/limit",
            format!("expected 1 to {MOST_MATCHES}, found {}", input.limit),
        ));
    }
    let limit = usize::try_from(input.limit).unwrap_or(usize::MAX);
    if input.path.is_empty() || input.path.starts_with('/') {
        if !crate::pointer::is_one(&input.path) {
            return Err(ToolError::invalid_input(
                "/path",
                "not an RFC 6901 pointer: `~` stands only in `~0` and `~1`",
            ));
        }
        let found = crate::pointer::find(&input.document, &input.path);
        let matches = found.map(|value| Match {
            path: input.path.clone(),
            value: value.clone(),
        });
        return Ok(Found {
            matches: matches.into_iter().collect(),
            more: false,
        });
    }
    let segments = path::parse(&input.path).map_err(|error| {
        ToolError::invalid_input("/path", format!("{error} at character {}", error.position))
    })?;
    let nodes = select::all(&input.document, &segments)?;
    Ok(Found {
        more: nodes.len() > limit,
        matches: nodes
            .into_iter()
            .take(limit)
            .map(|node| Match {
                path: node.pointer,
                value: node.value.clone(),
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(document: Value, path: &str) -> Vec<String> {
        let found = query(Query {
            document,
            path: path.to_owned(),
            limit: 1_000,
        })
        .unwrap();
        found.matches.into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn selectors_find_what_rfc_9535_says() {
        let book = json!({"store": {"book": [{"p": 1}, {"p": 2}, {"p": 3}], "bike": {"p": 4}}});
        for (path, expected) in [
            ("$", vec![""]),
            ("$.store.book[0].p", vec!["/store/book/0/p"]),
            ("$['store']['bike']", vec!["/store/bike"]),
            ("$.store.book[-1]", vec!["/store/book/2"]),
            ("$.store.book[-4]", vec![]),
            ("$.store.book[::2]", vec!["/store/book/0", "/store/book/2"]),
            (
                "$.store.book[::-1]",
                vec!["/store/book/2", "/store/book/1", "/store/book/0"],
            ),
            ("$.store.book[5:]", vec![]),
            ("$.store.book[:-2]", vec!["/store/book/0"]),
            ("$.store.book[::0]", vec![]),
            (
                "$..p",
                vec![
                    "/store/bike/p",
                    "/store/book/0/p",
                    "/store/book/1/p",
                    "/store/book/2/p",
                ],
            ),
            ("$.store.*", vec!["/store/bike", "/store/book"]),
            ("$..book[0, 'x', 0]", vec!["/store/book/0", "/store/book/0"]),
            ("$.store.book.p", vec![]),
            ("$ .store [ 'bike' ]", vec!["/store/bike"]),
        ] {
            assert_eq!(paths(book.clone(), path), expected, "{path}");
        }
    }

    #[test]
    fn names_may_be_quoted_and_escaped() {
        let document = json!({"a'b": 1, "ü": 2, "\u{1f600}": 3, "tab\t": 4});
        for (path, expected) in [
            ("$['a\\'b']", "/a'b"),
            ("$[\"a'b\"]", "/a'b"),
            ("$.ü", "/ü"),
            ("$['\\u00fc']", "/ü"),
            ("$['\\ud83d\\ude00']", "/\u{1f600}"),
            ("$['tab\\t']", "/tab\t"),
        ] {
            assert_eq!(paths(document.clone(), path), [expected], "{path}");
        }
    }

    #[test]
    fn what_is_not_a_path_is_refused_with_its_place() {
        for path in [
            "a",
            "$.",
            "$[",
            "$[]",
            "$[1",
            "$['a]",
            "$[1:2:3:4]",
            "$.a b",
            "$[?@.a]",
            "$[01]",
            "$['\\ud800']",
            "$[99999999999999999999]",
            "$.-",
            "$..",
            "$[-0]",
            "$ ",
            "$.a ",
            "$. a",
            "$.. a",
            "$.. [0]",
            "/m~n",
            "/m~",
        ] {
            let error = query(Query {
                document: json!({}),
                path: path.to_owned(),
                limit: 1,
            })
            .unwrap_err();
            assert!(
                matches!(&error, ToolError::InvalidInput { path, .. } if path == "/path"),
                "{path}: {error}"
            );
        }
    }

    #[test]
    fn a_path_that_multiplies_without_end_is_stopped() {
        let wide = json!(vec![vec![0; 100]; 100]);
        let error = query(Query {
            document: wide,
            path: "$..*..*..*".to_owned() + &"..*".repeat(20),
            limit: 1,
        });
        // Nothing is left after a few descents, or the budget ends it; either way it ends.
        assert!(error.is_ok() || matches!(error, Err(ToolError::Failed { .. })));
        let nested = (0..60).fold(json!([]), |inner, _| json!([inner, 1, 2]));
        let error = query(Query {
            document: nested,
            path: "$..*..*..*..*..*".to_owned(),
            limit: 1,
        })
        .unwrap_err();
        assert!(matches!(error, ToolError::Failed { code, .. } if code == "TOO_MANY_NODES"));
    }
}
