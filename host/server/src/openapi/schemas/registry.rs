//! The schemas of what is installed: plugins, and the tools, skills, stores and packs that they provide. `ops::toolbox` writes these
//! documents; a test validates the responses of a real host against them.

use super::{component, list, object, partial};
use mizzen_model::manifest::Provides;
use mizzen_model::pack::Moment;
use mizzen_model::tool_spec::{ReplayPolicy, SideEffects};
use serde_json::{Value, json};

fn text() -> Value {
    json!({"type": "string"})
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn maybe_text(description: &str) -> Value {
    json!({"type": ["string", "null"], "description": description})
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn side_effects() -> Value {
    json!({"type": "string", "enum": SideEffects::NAMES})
}

pub(super) fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("Plugin", plugin()),
        ("Limits", limits()),
        ("Tool", tool()),
        ("Skill", item()),
        ("Store", item()),
        ("Pack", pack()),
        ("PluginList", list("plugins", component("Plugin"))),
        ("ToolList", list("tools", component("Tool"))),
        ("SkillList", list("skills", component("Skill"))),
        ("StoreList", list("stores", component("Store"))),
        ("PackList", list("packs", component("Pack"))),
    ]
}

fn plugin() -> Value {
    let manifest = object(&[
        ("name", text()),
        ("version", text()),
        ("api_version", text()),
        ("namespaces", texts()),
        (
            "provides",
            json!({"type": "array", "items": {"type": "string", "enum": Provides::NAMES}}),
        ),
        ("order", json!({"type": "integer", "minimum": 0})),
    ]);
    object(&[
        ("name", text()),
        ("version", text()),
        ("manifest", manifest),
        (
            "digest",
            json!({"type": "string", "description": "Of the signed package."}),
        ),
        (
            "signatures",
            json!({"type": "array", "items": {"type": "string"}, "description": "The ids of the keys that signed it."}),
        ),
        (
            "trust",
            json!({"type": "array", "items": {"type": "string"}, "description": "Why it is trusted."}),
        ),
        (
            "permissions",
            json!({"type": "array", "items": {"type": "string"}, "description": "What it asks for."}),
        ),
        (
            "grants",
            json!({"type": "array", "items": {"type": "string"}, "description": "What the operator granted."}),
        ),
        ("imports", texts()),
        ("limits", component("Limits")),
        (
            "provides",
            json!({"type": "array", "items": {"type": "string"}, "description": "The ids of what it provides."}),
        ),
        ("warnings", texts()),
    ])
}

fn limits() -> Value {
    let size = || json!({"type": "string", "description": "Such as `16MiB`."});
    let time = || json!({"type": "string", "description": "Such as `250ms`."});
    let count = || json!({"type": "integer", "minimum": 0});
    object(&[
        ("memory", size()),
        ("cpu", time()),
        ("wall_clock", time()),
        ("table_elements", count()),
        ("instances", count()),
        ("input", size()),
        ("output", size()),
        ("host_calls", count()),
        ("log", size()),
    ])
}

fn tool() -> Value {
    let schema = || json!({"type": ["object", "boolean"], "description": "A JSON Schema."});
    let example = partial(
        &[("name", text()), ("input", json!({}))],
        &[(
            "output",
            json!({"description": "The expected output; null when only success is expected."}),
        )],
    );
    object(&[
        (
            "id",
            json!({"type": "string", "description": "`namespace.name`."}),
        ),
        ("name", text()),
        ("namespace", text()),
        ("version", text()),
        ("description", text()),
        ("input_schema", schema()),
        ("output_schema", schema()),
        ("side_effects", side_effects()),
        (
            "replay_policy",
            json!({"type": "string", "enum": ReplayPolicy::NAMES}),
        ),
        ("permissions", texts()),
        (
            "idempotency_key",
            maybe_text("Where the input has the key that distinguishes a repeated call from a second one."),
        ),
        ("cost_estimate", maybe_text("A decimal number.")),
        ("examples", json!({"type": "array", "items": example})),
        ("tags", texts()),
        ("deprecated", flag()),
        ("plugin", text()),
        ("plugin_version", text()),
        (
            "is_default",
            json!({"type": "boolean", "description": "Whether a reference without a version means this one."}),
        ),
    ])
}

/// A skill or a store.
fn item() -> Value {
    object(&[
        ("id", text()),
        ("version", text()),
        ("plugin", text()),
        ("side_effects", side_effects()),
    ])
}

fn pack() -> Value {
    object(&[
        ("id", text()),
        ("version", text()),
        ("plugin", text()),
        ("side_effects", side_effects()),
        ("description", text()),
        (
            "stargraph_facts_version",
            maybe_text("The version of the facts that it needs."),
        ),
        (
            "api_version",
            maybe_text("The version of the contract that it needs."),
        ),
        (
            "moments",
            json!({
                "type": "array", "items": {"type": "string", "enum": Moment::ALL.map(Moment::as_str)},
                "description": "When it is asked.",
            }),
        ),
        (
            "reads",
            json!({"type": "array", "items": {"type": "string"}, "description": "The facts that it reads."}),
        ),
        ("writes", texts()),
        ("shares", texts()),
        ("digest", text()),
    ])
}
