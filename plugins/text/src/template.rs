//! `text.template`.

use mizzen_sdk::prelude::*;

/// A small template can repeat a large value many times; more than this is refused before it is built.
const LONGEST_RESULT: usize = 1024 * 1024;

/// A template and what to fill in.
#[input]
pub struct Fill {
    /// Text with places such as `{{name}}` or `{{user.emails.0}}`; `{{{{` stands for `{{`.
    template: String,
    /// The values by name, usually an object.
    values: Value,
    /// What to do with a place that has no value.
    #[serde(default)]
    missing: Missing,
}

/// What to do with a place that has no value.
#[input]
#[derive(Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Refuse the whole template.
    #[default]
    Refuse,
    /// Fill in nothing.
    Empty,
    /// Leave the place as it is.
    Keep,
}

/// The finished text.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Filled {
    /// The finished text.
    text: String,
    /// The places that had no value, in order.
    missing: Vec<String>,
}

/// Fills values into a text template: `{{name}}` is replaced by the value called name; dots reach into objects and lists. There is no logic in templates.
#[tool(
    side_effects = "none",
    tags = ["template", "format"],
    example(
        name = "fills in names and reaches into values",
        input = {
            "template": "Dear {{ name }}, you have {{inbox.count}} new messages, the first from {{inbox.senders.0}}.",
            "values": { "name": "Ada", "inbox": { "count": 2, "senders": ["Bob"] } }
        },
        output = { "text": "Dear Ada, you have 2 new messages, the first from Bob.", "missing": [] }
    ),
    example(
        name = "keeps a place without a value when asked",
        input = { "template": "{{a}} and {{b}}", "values": { "a": true }, "missing": "keep" },
        output = { "text": "true and {{b}}", "missing": ["b"] }
    ),
    example(
        name = "writes braces that are not a place",
        input = { "template": "{{{{x}} is {{x}}", "values": { "x": [1, "two"] } },
        output = { "text": "{{x}} is [1,\"two\"]", "missing": [] }
    )
)]
pub fn template(input: Fill) -> Result<Filled, ToolError> {
    let mut filled = Filled {
        text: String::new(),
        missing: Vec::new(),
    };
    let mut rest = input.template.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        push(&mut filled.text, before)?;
        if let Some(literal) = after.strip_prefix("{{") {
            push(&mut filled.text, "{{")?;
            rest = literal;
            continue;
        }
        let Some((place, after)) = after.split_once("}}") else {
            let shown: String = after.chars().take(40).collect();
            return Err(ToolError::invalid_input(
                "/template",
                format!("`{{{{{shown}` has no closing `}}}}`"),
            ));
        };
        let path = place.trim();
        match find(&input.values, path) {
            Some(Value::String(text)) => push(&mut filled.text, text)?,
            Some(value) => push(&mut filled.text, &value.to_string())?,
            None => {
                match input.missing {
                    Missing::Refuse => {
                        return Err(ToolError::invalid_input(
                            "/values",
                            format!("there is no value for `{{{{{path}}}}}`"),
                        ));
                    }
                    Missing::Empty => {}
                    Missing::Keep => push(&mut filled.text, &format!("{{{{{place}}}}}"))?,
                }
                filled.missing.push(path.to_owned());
            }
        }
        rest = after;
    }
    push(&mut filled.text, rest)?;
    Ok(filled)
}

fn push(text: &mut String, part: &str) -> Result<(), ToolError> {
    if text.len() + part.len() > LONGEST_RESULT {
        return Err(ToolError::failed(
            "RESULT_TOO_LONG",
            format!("the text is longer than {LONGEST_RESULT} bytes"),
        ));
    }
    text.push_str(part);
    Ok(())
}

fn find<'a>(values: &'a Value, path: &str) -> Option<&'a Value> {
    let mut value = values;
    for segment in path.split('.') {
        value = match value {
            Value::Object(fields) => fields.get(segment)?,
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(template_text: &str, values: Value, missing: Missing) -> Result<Filled, ToolError> {
        template(Fill {
            template: template_text.to_owned(),
            values,
            missing,
        })
    }

    #[test]
    fn a_missing_value_is_refused_by_default_and_named() {
        let error = run("{{missing}}", json!({}), Missing::default()).unwrap_err();
        assert_eq!(
            error,
            ToolError::invalid_input("/values", "there is no value for `{{missing}}`")
        );
    }

    #[test]
    fn an_open_place_is_refused() {
        assert!(run("a {{b", json!({}), Missing::Empty).is_err());
    }

    #[test]
    fn values_are_not_expanded_again() {
        let filled = run("{{a}}", json!({"a": "{{b}}", "b": "no"}), Missing::Refuse).unwrap();
        assert_eq!(filled.text, "{{b}}");
    }

    #[test]
    fn a_template_that_multiplies_a_value_is_stopped() {
        let error = run(
            &"{{a}}".repeat(2_000),
            json!({"a": "x".repeat(1_000)}),
            Missing::Refuse,
        )
        .unwrap_err();
        assert!(matches!(error, ToolError::Failed { code, .. } if code == "RESULT_TOO_LONG"));
    }

    #[test]
    fn nothing_reaches_into_a_scalar() {
        let filled = run("[{{a.b}}][{{c.-1}}]", json!({"a": 1, "c": [1]}), Missing::Empty).unwrap();
        assert_eq!((filled.text.as_str(), filled.missing.len()), ("[][]", 2));
    }
}
