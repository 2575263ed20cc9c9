//! The OpenAPI 3.1 document, written from the route table and the documents' own tables: it cannot differ from the
//! code.

mod responses;
mod schemas;

use crate::route::{Access, Parameter, ParameterPlace, Route, Success};
use crate::routes::parameters::IDEMPOTENCY_KEY;
use serde_json::{Map, Value, json};

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
        "servers": [{"url": "/", "description": "The host that serves this document."}],
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
            "schemas": schemas::all(routes),
            "responses": responses::shared(routes),
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
    if !route.description.is_empty() {
        members.insert("description".to_owned(), route.description.into());
    }
    if !route.parameters.is_empty() {
        members.insert(
            "parameters".to_owned(),
            route.parameters.iter().map(parameter).collect(),
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
    match route.access {
        Access::Needs(grant) => {
            // The empty requirement: a loopback listener without keys needs none.
            members.insert("security".to_owned(), json!([{"apiKey": []}, {}]));
            members.insert("x-mizzen-grant".to_owned(), grant.as_str().into());
        }
        Access::Public => {
            members.insert("security".to_owned(), json!([]));
        }
    }
    members.insert("x-mizzen-codes".to_owned(), responses::codes(route));
    operation
}

fn parameter(parameter: &Parameter) -> Value {
    let place = match parameter.place {
        ParameterPlace::Path => "path",
        ParameterPlace::Query | ParameterPlace::RequiredQuery => "query",
        ParameterPlace::Header => "header",
    };
    let mut value = json!({
        "name": parameter.name,
        "in": place,
        "required": parameter.place.is_required(),
        "description": parameter.description,
        "schema": parameter.schema,
    });
    if let (Some(members), Some(example)) = (value.as_object_mut(), &parameter.example) {
        members.insert("example".to_owned(), example.clone());
    }
    value
}

fn responses(route: &Route, routes: &[Route]) -> Value {
    let mut responses = responses::of(route);
    for answer in std::iter::once(&route.success).chain(&route.also) {
        let mut made = success(route, answer);
        if let (Some(members), Some(links)) = (made.as_object_mut(), links(route, routes)) {
            members.insert("links".to_owned(), links);
        }
        responses.insert(answer.status.to_string(), made);
    }
    responses.into_iter().collect::<Map<_, _>>().into()
}

/// The operations on a created resource: every route below its id.
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

fn success(route: &Route, success: &Success) -> Value {
    let mut more = success.headers.to_vec();
    let takes = |name| route.parameters.iter().any(|parameter| parameter.name == name);
    if takes(IDEMPOTENCY_KEY) {
        more.push((
            "Idempotency-Replayed",
            "`true` when this response was sent before, under the same `Idempotency-Key`.",
        ));
    }
    let mut response = json!({"description": success.description, "headers": headers(&more)});
    if let (Some(members), Some((media, schema))) = (response.as_object_mut(), &success.content) {
        let mut schema = schema.clone();
        schemas::open(&mut schema);
        let mut content = json!({ "schema": schema });
        if let (Some(content), Some(example)) = (content.as_object_mut(), &success.example) {
            content.insert("example".to_owned(), example.clone());
        }
        // What one event of a stream is; OpenAPI has a place for that from 3.2 on.
        if let (Some(content), crate::event_stream::MEDIA_TYPE) = (content.as_object_mut(), *media) {
            content.insert("x-mizzen-event".to_owned(), component("JournalEvent"));
        }
        members.insert("content".to_owned(), json!({ *media: content }));
    }
    response
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
