//! The seeds' sprites and councils.

use serde_json::{Value, json};

/// An id that nothing has.
pub(crate) const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// A sprite to register.
pub(crate) fn sprite(name: &str) -> Value {
    json!({
        "name": name,
        "version": "1.0.0",
        "capabilities": [{
            "name": "generate_code",
            "description": "Generate production-ready code from a specification",
            "parameters": {
                "type": "object",
                "properties": {
                    "language": {"type": "string", "enum": ["python", "typescript", "rust"]},
                    "spec": {"type": "string", "minLength": 1}
                },
                "required": ["language", "spec"]
            }
        }],
        "system_prompt": "Write small, tested functions.",
        "metadata": {
            "author": "ada",
            "created": "2026-04-27T10:00:00Z",
            "updated": "2026-04-27T10:00:00Z",
            "tags": ["core", "codegen"]
        }
    })
}

/// A council to create.
pub(crate) fn council(domain: &str, sprites: &[&str]) -> Value {
    json!({"domain": domain, "sprites": sprites, "gate_agents": [sprites[0]]})
}

/// A chain of one step with one gate.
pub(crate) fn chain(sprite: &str, gate_agent: &str) -> Value {
    json!({
        "name": "deliver",
        "steps": [{
            "order": 0,
            "sprite_id": sprite,
            "action": "generate_code",
            "input_map": {"spec": "$input.user_prompt", "language": "rust"},
            "output_map": {"code": "$output.code"}
        }],
        "gates": [{
            "position": "after",
            "sprite_id": gate_agent,
            "condition": "output.confidence >= 0.85",
            "veto_message": "not sure enough"
        }],
        "timeout": "30s"
    })
}
