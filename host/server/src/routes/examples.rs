//! Examples for the OpenAPI document: the seeds' own sprites and councils.

use serde_json::{Value, json};

/// An id.
pub const SPRITE_ID: &str = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35";
/// An id.
pub const COUNCIL_ID: &str = "7a1e4c2b-9d30-4f6e-8b57-1c2d3e4f5a6b";

/// A sprite as a client sends it.
pub fn sprite_draft() -> Value {
    json!({
        "name": "SOL-FORGE",
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
        },
        "role": "architect"
    })
}

/// A council as a client sends it.
pub fn council_draft() -> Value {
    json!({
        "domain": "engineering",
        "sprites": [SPRITE_ID],
        "gate_agents": [SPRITE_ID],
        "chains": [],
        "rules": []
    })
}

/// The health of the host.
pub fn health() -> Value {
    json!({
        "status": "healthy",
        "version": "1.0.0",
        "uptime_seconds": 3600,
        "checks": {
            "database": "healthy",
            "sprite_registry": "healthy",
            "council_registry": "healthy",
            "plugins": "healthy",
            "telemetry": "healthy"
        },
        "timestamp": "2026-04-27T12:00:00Z",
        "load_plan_hash": null,
        "reasons": []
    })
}
