//! The schemas of bodies: the documents' come from their tables in `model`, the envelopes around them are here.

mod journal;
mod registry;
mod sprite_names;

use super::{REQUEST_ID_PATTERN, component, responses};
use crate::route::Route;
use mizzen_model::council::{COUNCIL, COUNCIL_DRAFT};
use mizzen_model::execution::{
    Approval, CHAIN_EXECUTE_REQUEST, DECISION_REQUEST, EXECUTE_ALL_REQUEST, ExecutionStatus, GateDecision,
    LogLevel, NestedStatus, StepStatus, TOOL_CALL_REQUEST,
};
use mizzen_model::gate::GatePosition;
use mizzen_model::governance::{PackAction, PackMode, PackSeverity};
use mizzen_model::pack::Moment;
use mizzen_model::record::{References, definitions};
use mizzen_model::rule::{Enforcement, RuleAction};
use mizzen_model::sprite::{SPRITE, SPRITE_DRAFT};
use serde_json::{Map, Value, json};

/// Every schema, by name.
pub(super) fn all(routes: &[Route]) -> Value {
    let documents = definitions(
        &[
            &SPRITE,
            &SPRITE_DRAFT,
            &COUNCIL,
            &COUNCIL_DRAFT,
            &CHAIN_EXECUTE_REQUEST,
            &EXECUTE_ALL_REQUEST,
            &DECISION_REQUEST,
            &TOOL_CALL_REQUEST,
        ],
        References::Components,
    );
    let mut schemas: Map<String, Value> = documents
        .iter()
        // Tables nest a few levels, never beyond what the other library holds.
        .filter_map(|(name, schema)| Some((name.to_owned(), schema.to_serde().ok()?)))
        .collect();
    if let Some(Value::Object(request)) = schemas.get_mut("ChainExecuteRequest") {
        let either = |id: &str, name: &str| json!({"oneOf": [{"required": [id]}, {"required": [name]}]});
        let pairs = json!([either("council_id", "council"), either("chain_id", "chain")]);
        request.insert("allOf".to_owned(), pairs);
    }
    sprite_names::accept(&mut schemas);
    let sprite = schemas.get("Sprite").cloned().unwrap_or_default();
    schemas.insert("SpriteAnswer".to_owned(), answer(sprite));
    let made = envelopes(routes)
        .into_iter()
        .chain(executions())
        .chain(registry::all());
    for (name, schema) in made {
        schemas.insert(name.to_owned(), schema);
    }
    schemas.extend(journal::all(&schemas));
    schemas.values_mut().for_each(open);
    schemas.into()
}

/// Marks objects with free members as such: without a mark, some generators make a type without members. As deep as
/// our own schemas are.
pub(super) fn open(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    let is_object = match members.get("type") {
        Some(Value::Array(types)) => types.iter().any(|name| name == "object"),
        Some(name) => name == "object",
        None => false,
    };
    let is_free = !["properties", "patternProperties", "additionalProperties"]
        .iter()
        .any(|name| members.contains_key(*name));
    if is_object && is_free {
        members.insert("additionalProperties".to_owned(), true.into());
    }
    for (name, value) in members {
        match (name.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(named)) => {
                named.values_mut().for_each(open);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(several)) => {
                several.iter_mut().for_each(open);
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", one) => open(one),
            // Examples, defaults and the like are values.
            _ => {}
        }
    }
}

/// A sprite as POST and PUT return it.
fn answer(mut sprite: Value) -> Value {
    let unresolved = json!({
        "type": "array",
        "minItems": 1,
        "description": "Capabilities for which no tool is installed; absent when there are none.",
        "items": object(&[("capability", json!({"type": "string"})), ("reason", json!({"type": "string"}))]),
    });
    if let Some(properties) = sprite.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("unresolved".to_owned(), unresolved);
    }
    if let Some(members) = sprite.as_object_mut() {
        members.insert("title".to_owned(), "SpriteAnswer".into());
    }
    sprite
}

/// An object with these members, and some that may be absent.
fn partial(required: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let mut schema = object(required);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.extend(
            optional
                .iter()
                .map(|(name, schema)| ((*name).to_owned(), schema.clone())),
        );
    }
    schema
}

/// Executions, as they are returned.
fn executions() -> Vec<(&'static str, Value)> {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "integer", "minimum": 0});
    let time = || json!({"type": "string", "format": "date-time"});
    let id = || json!({"type": "string", "format": "uuid", "pattern": mizzen_model::id::UUID_PATTERN});
    let choice = |names: &[&str]| json!({"type": "string", "enum": names});
    let many = |name: &str| json!({"type": "array", "items": component(name)});
    vec![
        (
            "ChainExecutionResult",
            partial(
                &[
                    ("execution_id", id()),
                    ("council_id", id()),
                    ("chain_id", id()),
                    ("status", choice(ExecutionStatus::NAMES)),
                    ("started_at", time()),
                    ("steps", many("StepExecution")),
                    ("gates", many("GateEvaluation")),
                    ("rules", many("RuleEvaluation")),
                ],
                &[
                    ("completed_at", time()),
                    ("duration_ms", number()),
                    ("error", component("ExecutionError")),
                    ("escalation", component("Escalation")),
                    ("packs", many("PackEvaluation")),
                    ("erased", component("ErasedExecution")),
                    (
                        "tool",
                        json!({"type": "string", "description": "The tool, where a tool was called and not a chain."}),
                    ),
                    ("graph", component("GraphExecution")),
                ],
            ),
        ),
        (
            "GraphExecution",
            partial(
                &[
                    ("graph_id", text()),
                    ("graph_hash", text()),
                    (
                        "state",
                        json!({"type": "object", "description": "The fields of the state that are set."}),
                    ),
                ],
                &[("interrupt", component("Interrupt")), ("halted", text())],
            ),
        ),
        (
            "Interrupt",
            partial(
                &[
                    ("interrupt_id", text()),
                    ("rule_id", text()),
                    ("prompt", text()),
                    ("payload", json!({"type": "object"})),
                ],
                &[
                    ("requested_capability", text()),
                    ("expires_at", time()),
                    (
                        "answer",
                        object(&[
                            ("response", json!({"type": "object"})),
                            ("actor", text()),
                            ("answered_at", time()),
                        ]),
                    ),
                ],
            ),
        ),
        (
            "NodeVisit",
            object(&[
                ("id", text()),
                ("kind", text()),
                (
                    "iteration",
                    json!({"type": "integer", "minimum": 1, "description": "Which visit of the node."}),
                ),
            ]),
        ),
        (
            "ErasedExecution",
            object(&[
                ("at", time()),
                (
                    "by",
                    json!({"type": "string", "description": "The id of an API key, `local`, or `retention` (the host's own `[store] keep`)."}),
                ),
                (
                    "entries",
                    json!({"type": "integer", "minimum": 0, "description": "How many entries its journal had; their hashes are kept."}),
                ),
            ]),
        ),
        (
            "ErasureReport",
            object(&[
                (
                    "erased",
                    json!({"type": "integer", "minimum": 0, "description": "Executions that were erased by this request."}),
                ),
                (
                    "open",
                    json!({"type": "integer", "minimum": 0, "description": "Executions that were skipped because they have not ended."}),
                ),
                (
                    "more",
                    json!({"type": "boolean", "description": "Whether there may be more: send the request again."}),
                ),
            ]),
        ),
        (
            "StepExecution",
            partial(
                &[
                    ("order", number()),
                    ("sprite_id", id()),
                    ("action", text()),
                    ("status", choice(StepStatus::NAMES)),
                    ("attempts", number()),
                ],
                &[
                    ("input", json!({})),
                    ("output", json!({})),
                    ("error", component("ExecutionError")),
                    ("started_at", time()),
                    ("duration_ms", number()),
                    ("calls", many("NestedExecution")),
                    ("log", many("LogEntry")),
                    ("log_dropped", number()),
                    ("node", component("NodeVisit")),
                ],
            ),
        ),
        (
            "LogEntry",
            partial(
                &[("level", choice(LogLevel::NAMES)), ("message", text())],
                &[(
                    "fields",
                    json!({"type": "object", "additionalProperties": {"type": "string"}}),
                )],
            ),
        ),
        (
            "NestedExecution",
            partial(
                &[
                    (
                        "path",
                        json!({"type": "string", "description": "`2.1`: the first call of the tool that the second call of the step's tool called."}),
                    ),
                    ("attempt", number()),
                    ("caller", text()),
                    ("tool", text()),
                    ("version", text()),
                    ("status", choice(NestedStatus::NAMES)),
                    ("started_at", time()),
                ],
                &[
                    ("error", component("ExecutionError")),
                    ("duration_ms", number()),
                    ("log", many("LogEntry")),
                    ("log_dropped", number()),
                ],
            ),
        ),
        (
            "GateEvaluation",
            partial(
                &[
                    ("type", choice(GatePosition::NAMES)),
                    ("sprite_id", id()),
                    ("decision", choice(GateDecision::NAMES)),
                    ("reason", text()),
                ],
                &[("step", number()), ("calls", many("NestedExecution"))],
            ),
        ),
        (
            "RuleEvaluation",
            object(&[
                ("rule_id", text()),
                ("name", text()),
                ("matched", json!({"type": "boolean"})),
                ("action", choice(RuleAction::NAMES)),
                ("enforcement", choice(Enforcement::NAMES)),
                ("reason", text()),
            ]),
        ),
        (
            "PackEvaluation",
            partial(
                &[
                    ("pack_id", text()),
                    ("version", text()),
                    ("digest", text()),
                    ("mode", choice(PackMode::NAMES)),
                    ("moment", choice(&Moment::ALL.map(Moment::as_str))),
                    ("severity", choice(PackSeverity::NAMES)),
                    ("action", choice(PackAction::NAMES)),
                    ("reason", text()),
                    ("applied", json!({"type": "boolean"})),
                ],
                &[
                    ("step", number()),
                    ("call", text()),
                    ("rule", text()),
                    ("details", json!({"type": "object"})),
                    (
                        "not_applied",
                        json!({"type": "string", "description": "Why it was not done."}),
                    ),
                ],
            ),
        ),
        (
            "ExecutionError",
            partial(
                &[("code", text()), ("message", text())],
                &[
                    ("step", number()),
                    (
                        "tool_code",
                        json!({
                            "type": "string", "maxLength": 64,
                            "description": "The tool's own code, where it reported the error itself (`TOOL_FAILED`).",
                        }),
                    ),
                ],
            ),
        ),
        (
            "Escalation",
            partial(
                &[("escalation_id", text()), ("rule_id", text()), ("reason", text())],
                &[
                    (
                        "expires_at",
                        json!({
                            "type": "string", "format": "date-time",
                            "description": "When it counts as denied, where the rule or the pack sets a time of its own.",
                        }),
                    ),
                    (
                        "answer",
                        object(&[
                            ("decision", choice(Approval::NAMES)),
                            ("reason", text()),
                            ("answered_at", time()),
                        ]),
                    ),
                ],
            ),
        ),
        (
            "ExecutionList",
            list("executions", component("ChainExecutionResult")),
        ),
        ("DeliveryList", list("deliveries", component("Delivery"))),
        (
            "Delivery",
            object(&[
                (
                    "number",
                    json!({"type": "integer", "minimum": 1, "description": "Names it; also the end of `x-mizzen-delivery`."}),
                ),
                ("rule_id", json!({"type": "string"})),
                ("hook", json!({"type": "string"})),
                (
                    "state",
                    json!({"type": "string", "enum": ["pending", "delivered", "failed"]}),
                ),
                ("attempts", number()),
                (
                    "last_error",
                    json!({"type": ["string", "null"], "description": "Why the last try failed."}),
                ),
            ]),
        ),
        (
            "ExecutionHistory",
            partial(
                &[
                    ("executions", many("ChainExecutionResult")),
                    ("total", number()),
                    ("limit", number()),
                    ("offset", number()),
                ],
                &[(
                    "next_cursor",
                    json!({"type": "string", "description": "Where the next page begins, where there is one."}),
                )],
            ),
        ),
    ]
}

/// An object with exactly these members, all required.
fn object(members: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = members
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn list(name: &str, items: Value) -> Value {
    object(&[(name, json!({"type": "array", "items": items}))])
}

fn page(name: &str, item: &str) -> Value {
    object(&[
        (name, json!({"type": "array", "items": component(item)})),
        (
            "next_cursor",
            json!({"type": ["string", "null"], "description": "Where the next page begins; null on the last one."}),
        ),
    ])
}

fn envelopes(routes: &[Route]) -> Vec<(&'static str, Value)> {
    let text = || json!({"type": "string"});
    let codes: Vec<&str> = responses::all_codes(routes)
        .into_iter()
        .map(|code| code.as_str())
        .collect();
    let state = || json!({"type": "string", "enum": ["healthy", "degraded", "unhealthy"]});
    let fingerprint = || json!({"type": "string", "pattern": "^(blake3|sha256):[0-9a-f]{64}$"});
    let checks = object(&[
        ("database", state()),
        ("sprite_registry", state()),
        ("council_registry", state()),
        ("plugins", state()),
        ("telemetry", state()),
    ]);
    vec![
        (
            "Error",
            object(&[
                (
                    "code",
                    json!({"type": "string", "enum": codes, "description": "Stable; programs match it."}),
                ),
                (
                    "message",
                    json!({"type": "string", "description": "For a person."}),
                ),
                (
                    "details",
                    json!({"type": "object", "description": "For a program; depends on the code."}),
                ),
                (
                    "request_id",
                    json!({"type": "string", "pattern": REQUEST_ID_PATTERN}),
                ),
            ]),
        ),
        (
            "Health",
            object(&[
                ("status", state()),
                ("version", text()),
                ("uptime_seconds", json!({"type": "integer", "minimum": 0})),
                ("checks", checks),
                ("timestamp", json!({"type": "string", "format": "date-time"})),
                (
                    "load_plan_hash",
                    json!({"type": ["string", "null"], "description": "The hash of the plugins' load plan."}),
                ),
                (
                    "reasons",
                    json!({
                        "type": "array", "items": {"type": "string"},
                        "description": "Why parts are not healthy, as far as that is known.",
                    }),
                ),
            ]),
        ),
        (
            "FingerprintReport",
            object(&[
                ("stored", fingerprint()),
                ("computed", fingerprint()),
                ("verified", json!({"type": "boolean"})),
            ]),
        ),
        ("SpritePage", page("sprites", "Sprite")),
        ("CouncilPage", page("councils", "Council")),
        ("AuditPage", page("entries", "AuditEntry")),
        (
            "AuditEntry",
            object(&[
                (
                    "seq",
                    json!({"type": "integer", "minimum": 1, "description": "Its place in the log."}),
                ),
                ("at", json!({"type": "string", "format": "date-time"})),
                (
                    "actor",
                    json!({"type": "string", "description": "The id of an API key, `local`, `anonymous` or `retention`."}),
                ),
                (
                    "action",
                    json!({"type": "string", "description": "The operation, e.g. `create_sprite`."}),
                ),
                (
                    "subject",
                    json!({"type": "string", "description": "The id or path that it was about."}),
                ),
                (
                    "outcome",
                    json!({"type": "string", "description": "`done`, `denied` or `unauthenticated`."}),
                ),
                ("request_id", text()),
                ("detail", json!({"description": "More about it, by action."})),
                (
                    "hash",
                    json!({"type": "string", "pattern": "^[0-9a-f]{64}$",
                           "description": "Covers this entry and every one before it (BLAKE3)."}),
                ),
            ]),
        ),
        (
            "PluginChange",
            object(&[
                ("plugin", text()),
                (
                    "permissions",
                    json!({"type": "object", "description": "What it asks for: `added`, `removed`, `kept`, each with the author's reason."}),
                ),
                (
                    "limits",
                    json!({"type": "object", "description": "What it may use up: `raised` and `lowered`, each with `limit`, `from`, `to`."}),
                ),
                (
                    "namespaces",
                    json!({"type": "object", "description": "What it claims: `added`, `removed`."}),
                ),
                (
                    "tools",
                    json!({"type": "object", "description": "Its tools: `added`, `removed`, and those whose `side_effects` change."}),
                ),
                (
                    "granted_now",
                    json!({"type": "array", "items": {"type": "string"}}),
                ),
                (
                    "grants_dropped",
                    json!({
                        "type": "array", "items": {"type": "string"},
                        "description": "Grants by name that no installed version asks for any more. Taking them back needs approval.",
                    }),
                ),
                ("replaced", json!({"type": "array", "items": {"type": "string"}})),
                ("load_plan_hash", text()),
            ]),
        ),
        (
            "PluginState",
            object(&[
                ("plugin", text()),
                (
                    "state",
                    json!({"type": "string", "enum": ["enabled", "disabled"]}),
                ),
                ("load_plan_hash", text()),
            ]),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_without_members_are_marked_as_free() {
        let check = |mut schema: Value, expected: Value| {
            open(&mut schema);
            assert_eq!(schema, expected);
        };
        let free = json!({"type": "object", "additionalProperties": true});
        check(json!({"type": "object"}), free.clone());
        check(json!({"items": {"type": "object"}}), json!({"items": free}));
        check(
            json!({"type": ["object", "null"]}),
            json!({"type": ["object", "null"], "additionalProperties": true}),
        );
        let closed = object(&[("default", json!({"type": "string"}))]);
        check(closed.clone(), closed);
        let example = json!({"type": "string", "example": {"type": "object"}, "default": {"type": "object"}});
        check(example.clone(), example);
    }
}
