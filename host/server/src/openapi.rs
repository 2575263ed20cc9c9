//! The OpenAPI 3.1 document, written from the route table and the documents' own tables: it cannot say anything else than the code
//! does.

mod schemas;

use crate::problem::Code;
use crate::route::{Access, Parameter, Place, Route, Success};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A reference to a schema among the components.
pub fn component(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The document for some routes, as compact JSON.
pub fn document(routes: &[Route]) -> String {
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(item) = item.as_object_mut() {
            item.insert(
                route.method.as_str().to_ascii_lowercase(),
                operation(route, routes),
            );
        }
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Mizzen",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "A WebAssembly-plugin host for governed agents",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "tags": [
            {"name": "sprites", "description": "Agent definitions."},
            {"name": "councils", "description": "Governed groups of sprites."},
            {"name": "chains", "description": "Executing chains."},
            {"name": "executions", "description": "What was and is executed."},
            {"name": "plugins", "description": "Installed plugins."},
            {"name": "registry", "description": "What plugins provide."},
            {"name": "audit", "description": "What callers did and were refused."},
            {"name": "operations", "description": "Health, metrics, and this document."}
        ],
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "headers": {
                "RequestId": {
                    "description": "The request's id, as in the logs and in the error envelope.",
                    "schema": {"type": "string", "pattern": REQUEST_ID_PATTERN}
                }
            },
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, made with `mizzen key api new`. Not needed on a loopback listener as long as no key was ever made."
                }
            }
        }
    });
    document.to_string()
}

pub(crate) const REQUEST_ID_PATTERN: &str =
    "^req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

fn operation(route: &Route, routes: &[Route]) -> Value {
    let mut operation = json!({
        "operationId": route.operation,
        "tags": [route.tag],
        "summary": route.summary,
        "responses": responses(route, routes),
    });
    let Some(members) = operation.as_object_mut() else {
        return operation;
    };
    let (conditional, declared): (Vec<_>, Vec<_>) = route
        .parameters
        .iter()
        .partition(|parameter| parameter.place == Place::Header);
    let headers = conditional
        .iter()
        .map(|header| format!("Optional header `{}`: {}", header.name, header.description));
    let described: Vec<String> = std::iter::once(route.description.to_owned())
        .filter(|text| !text.is_empty())
        .chain(headers)
        .collect();
    if !described.is_empty() {
        members.insert("description".to_owned(), described.join("\n\n").into());
    }
    if !declared.is_empty() {
        members.insert(
            "parameters".to_owned(),
            declared.into_iter().map(parameter).collect(),
        );
    }
    // Headers that make a request conditional are described, not declared: a tool that fills in whatever is declared
    // would ask for a revision that never was, and every request would be a lost race.
    if !conditional.is_empty() {
        members.insert(
            "x-mizzen-headers".to_owned(),
            conditional.into_iter().map(parameter).collect(),
        );
    }
    if let Some(body) = &route.body {
        let content: Map<String, Value> = body
            .types
            .iter()
            .map(|name| {
                let schema = body.schema.map_or_else(|| json!({}), component);
                let mut media = json!({ "schema": schema });
                if let (Some(media), Some(example)) = (media.as_object_mut(), &body.example) {
                    media.insert("example".to_owned(), example.clone());
                }
                ((*name).to_owned(), media)
            })
            .collect();
        members.insert(
            "requestBody".to_owned(),
            json!({"required": true, "content": content}),
        );
    }
    if let Access::Needs(grant) = route.access {
        // The empty requirement: a loopback listener without keys asks for none.
        members.insert("security".to_owned(), json!([{"apiKey": []}, {}]));
        members.insert("x-mizzen-grant".to_owned(), grant.as_str().into());
    }
    operation
}

fn parameter(parameter: &Parameter) -> Value {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
    };
    let mut value = json!({
        "name": parameter.name,
        "in": place,
        "required": parameter.place == Place::Path,
        "description": parameter.description,
        "schema": parameter.schema,
    });
    if let (Some(members), Some(example)) = (value.as_object_mut(), &parameter.example) {
        members.insert("example".to_owned(), example.clone());
    }
    value
}

fn responses(route: &Route, routes: &[Route]) -> Value {
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for answer in std::iter::once(&route.success).chain(&route.also) {
        let mut made = success(answer);
        if let (Some(members), Some(links)) = (made.as_object_mut(), links(route, routes)) {
            members.insert("links".to_owned(), links);
        }
        responses.insert(answer.status.to_string(), made);
    }
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in route.codes() {
        by_status.entry(code.status().as_u16()).or_default().push(code);
    }
    for (status, codes) in by_status {
        responses.insert(status.to_string(), problem(route, status, &codes));
    }
    responses.into_iter().collect::<Map<_, _>>().into()
}

/// What can be done with what a POST made: every route below its id.
fn links(route: &Route, routes: &[Route]) -> Option<Value> {
    if route.success.status != 201 {
        return None;
    }
    let below = format!("{}/{{id}}", route.path);
    let links: Map<String, Value> = routes
        .iter()
        .filter(|other| other.path.starts_with(&below))
        .map(|other| {
            let link = json!({"operationId": other.operation, "parameters": {"id": "$response.body#/id"}});
            (other.operation.to_owned(), link)
        })
        .collect();
    (!links.is_empty()).then(|| links.into())
}

fn headers(more: &[(&str, &str)]) -> Value {
    let mut headers = Map::new();
    headers.insert(
        "x-request-id".to_owned(),
        json!({"$ref": "#/components/headers/RequestId"}),
    );
    for (name, description) in more {
        headers.insert(
            (*name).to_owned(),
            json!({"description": description, "schema": {"type": "string"}}),
        );
    }
    headers.into()
}

fn success(success: &Success) -> Value {
    let mut response = json!({"description": success.description, "headers": headers(success.headers)});
    if let (Some(members), Some((media, schema))) = (response.as_object_mut(), &success.content) {
        let mut content = json!({ "schema": schema });
        if let (Some(content), Some(example)) = (content.as_object_mut(), &success.example) {
            content.insert("example".to_owned(), example.clone());
        }
        members.insert("content".to_owned(), json!({ *media: content }));
    }
    response
}

fn problem(route: &Route, status: u16, codes: &[Code]) -> Value {
    let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let mut schema = json!({
        "allOf": [component("Error"), {"properties": {"code": {"enum": names}}}]
    });
    // The health check answers 503 with its own body.
    if route.path == "/health" && status == 503 {
        schema = json!({"anyOf": [component("Health"), schema]});
    }
    let examples: Map<String, Value> = codes
        .iter()
        .map(|code| {
            let example = json!({
                "code": code.as_str(),
                "message": code.about(),
                "details": {},
                "request_id": "req-3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35",
            });
            (
                code.as_str().to_owned(),
                json!({"summary": code.about(), "value": example}),
            )
        })
        .collect();
    let more: &[(&str, &str)] = match status {
        401 => &[("WWW-Authenticate", "How to authenticate.")],
        429 => &[("Retry-After", "Seconds after which to try again.")],
        _ => &[],
    };
    json!({
        "description": codes.iter().map(|code| code.about()).collect::<Vec<_>>().join(" "),
        "headers": headers(more),
        "content": {"application/json": {"schema": schema, "examples": examples}},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        let document: Value = serde_json::from_str(&document(&crate::routes::all())).unwrap();
        let mut open = vec![&document];
        let mut seen = 0;
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                        seen += 1;
                        let found = reference
                            .strip_prefix('#')
                            .is_some_and(|pointer| document.pointer(pointer).is_some());
                        assert!(found, "{reference} leads nowhere");
                    }
                    open.extend(members.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        assert!(seen > 100, "{seen}");
    }
}
