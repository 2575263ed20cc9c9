//! Reading what older versions wrote.

use mizzen_json::Json;

/// A tool spec in today's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coerced {
    /// The spec.
    pub spec: Json,
    /// What to tell the author, if the old shape was used.
    pub deprecation: Option<&'static str>,
}

/// Turns the legacy `side_effects: true|false` into `"write"` or `"none"`. Everything else is left as it is. Run it before
/// reading a `ToolSpec`; whoever shows the deprecation decides to show it once.
pub fn coerce_legacy_tool_spec(mut spec: Json) -> Coerced {
    let field = spec
        .as_object_mut()
        .and_then(|members| members.get_mut("side_effects"));
    let legacy = field.as_deref().and_then(Json::as_bool);
    let (Some(field), Some(writes)) = (field, legacy) else {
        return Coerced {
            spec,
            deprecation: None,
        };
    };
    *field = Json::from(if writes { "write" } else { "none" });
    Coerced {
        spec,
        deprecation: Some(
            "`side_effects: true|false` is deprecated: write \"none\", \"read\", \"write\" or \"external\"",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legacy_boolean_becomes_the_enum_and_is_reported() {
        let check = |text: &str, expected: &str, deprecated: bool| {
            let coerced = coerce_legacy_tool_spec(Json::parse(text).unwrap());
            assert_eq!(coerced.spec.to_compact(), expected);
            assert_eq!(coerced.deprecation.is_some(), deprecated, "{text}");
        };
        check(
            r#"{"a":1,"side_effects":true}"#,
            r#"{"a":1,"side_effects":"write"}"#,
            true,
        );
        check(r#"{"side_effects":false}"#, r#"{"side_effects":"none"}"#, true);
        check(r#"{"side_effects":"read"}"#, r#"{"side_effects":"read"}"#, false);
        check(r#"{"side_effects":1}"#, r#"{"side_effects":1}"#, false);
        check("[]", "[]", false);
    }
}
