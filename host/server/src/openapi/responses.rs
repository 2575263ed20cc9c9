//! Error responses: one for each status, shared by all operations. An operation's own codes are in its
//! `x-mizzen-codes`, so that a generated client has one class for errors and not one for each status of each operation.

use super::{component, headers};
use crate::problem::Code;
use crate::route::Route;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Every code that a client can get: those of the routes, and those of requests that reach none.
pub(super) fn all_codes(routes: &[Route]) -> Vec<Code> {
    let codes = routes.iter().flat_map(Route::codes);
    let codes: BTreeSet<Code> = codes.chain([Code::NotFound, Code::MethodNotAllowed]).collect();
    let mut codes: Vec<Code> = codes.into_iter().collect();
    codes.sort_by_key(|code| (code.status(), *code));
    codes
}

fn by_status(codes: Vec<Code>) -> BTreeMap<u16, Vec<Code>> {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes {
        by_status.entry(code.status().as_u16()).or_default().push(code);
    }
    by_status
}

/// The name of the response with a status: `NotFound`.
fn name(code: Code) -> String {
    let words = code.status().canonical_reason().unwrap_or("Unknown").split(' ');
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().into_iter();
        first
            .chain(letters.map(|letter| letter.to_ascii_lowercase()))
            .collect::<String>()
    };
    words.map(capital).collect()
}

/// The shared responses, by name.
pub(super) fn shared(routes: &[Route]) -> Value {
    let mut responses = Map::new();
    for (status, codes) in by_status(all_codes(routes)) {
        // No operation has it: it is for methods that a path does not have.
        if codes.as_slice() == [Code::MethodNotAllowed] {
            continue;
        }
        if let Some(first) = codes.first() {
            responses.insert(name(*first), response(status, &codes, component("Error")));
        }
    }
    responses.into()
}

fn response(status: u16, codes: &[Code], schema: Value) -> Value {
    let example = |code: &Code| {
        let value = json!({
            "code": code.as_str(),
            "message": code.about(),
            "details": {},
            "request_id": "req-3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35",
        });
        (code.as_str().to_owned(), json!({ "value": value }))
    };
    let examples: Map<String, Value> = codes.iter().map(example).collect();
    let more: &[(&str, &str)] = match status {
        401 => &[("WWW-Authenticate", "How to authenticate.")],
        429 | 503 => &[("Retry-After", "Seconds after which to try again.")],
        _ => &[],
    };
    json!({
        "description": codes.iter().map(|code| code.about()).collect::<Vec<_>>().join(" "),
        "headers": headers(more),
        "content": {"application/json": {"schema": schema, "examples": examples}},
    })
}

/// The responses of an operation, by status.
pub(super) fn of(route: &Route) -> BTreeMap<String, Value> {
    let mut responses = BTreeMap::new();
    for (status, codes) in by_status(route.codes()) {
        let Some(first) = codes.first() else { continue };
        // The health check returns 503 with its own body.
        let response = if route.path == "/health" && status == 503 {
            let schema = json!({"anyOf": [component("Health"), component("Error")]});
            response(status, &codes, schema)
        } else {
            json!({"$ref": format!("#/components/responses/{}", name(*first))})
        };
        responses.insert(status.to_string(), response);
    }
    responses
}

/// The codes of an operation, by status.
pub(super) fn codes(route: &Route) -> Value {
    let named = |(status, codes): (u16, Vec<Code>)| {
        let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
        (status.to_string(), names.into())
    };
    by_status(route.codes())
        .into_iter()
        .map(named)
        .collect::<Map<_, _>>()
        .into()
}
