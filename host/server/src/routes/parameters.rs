//! Parameters that several routes take.

use crate::route::{Parameter, ParameterPlace, Success};
use mizzen_model::id::UUID_PATTERN;
use mizzen_ops::List;
use serde_json::{Value, json};

/// Items on a page: at most this many.
pub const PAGE_MAX: usize = 100;
/// Items on a page when the caller does not say.
pub const PAGE_DEFAULT: usize = 20;

/// The id in the path.
pub fn id(what: &'static str) -> Parameter {
    Parameter {
        name: "id",
        place: ParameterPlace::Path,
        description: what,
        schema: json!({"type": "string", "format": "uuid", "pattern": UUID_PATTERN}),
        example: Some(json!(super::examples::SPRITE_ID)),
    }
}

/// A parameter of the query.
pub fn query(name: &'static str, description: &'static str, schema: Value) -> Parameter {
    Parameter {
        name,
        place: ParameterPlace::Query,
        description,
        schema,
        example: None,
    }
}

/// How many items of a list, and from where.
pub fn page(list: List) -> Vec<Parameter> {
    let limit = json!({"type": "integer", "minimum": 1, "maximum": PAGE_MAX, "default": PAGE_DEFAULT});
    let cursor = json!({"type": "string", "pattern": format!("^{}[0-7][0-9a-f]{{15}}[0-7][0-9a-f]{{15}}$", list.letter())});
    vec![
        query(
            "limit",
            "How many items a page holds at most. A page may hold fewer; it is the last one when it has no next_cursor.",
            limit,
        ),
        query("cursor", "next_cursor of the page before.", cursor),
    ]
}

/// `?force=true`.
pub fn force(description: &'static str) -> Parameter {
    query("force", description, json!({"type": "boolean", "default": false}))
}

/// `If-Match`.
pub fn if_match() -> Parameter {
    Parameter {
        name: "If-Match",
        place: ParameterPlace::Header,
        description: "The ETag of the revision to replace; 412 when it is not the current one.",
        schema: json!({"type": "string"}),
        example: None,
    }
}

/// The name of [`if_none_match`].
pub const IF_NONE_MATCH: &str = "If-None-Match";

/// `If-None-Match`.
pub fn if_none_match() -> Parameter {
    Parameter {
        name: IF_NONE_MATCH,
        place: ParameterPlace::Header,
        description: "The ETag of the revision that the caller has; 304 without a body while it is the current one.",
        schema: json!({"type": "string"}),
        example: None,
    }
}

/// The answer to `If-None-Match` with the current revision.
pub fn not_modified() -> Success {
    Success {
        status: 304,
        description: "The caller has the current revision.",
        content: None,
        example: None,
        headers: &[("ETag", "The revision.")],
    }
}

/// The name of [`idempotency_key`].
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// `Idempotency-Key`.
pub fn idempotency_key() -> Parameter {
    Parameter {
        name: IDEMPOTENCY_KEY,
        place: ParameterPlace::Header,
        description: "The same key and body give the same answer for a day, without doing it twice; another body is 422.",
        schema: json!({"type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$"}),
        example: None,
    }
}
