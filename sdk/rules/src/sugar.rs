//! `{node: work, verdict: refine}`: one ordered pattern per entry. A bare word fits the symbol and the string, because
//! state fields are JSON and their texts are strings; a number fits the integer and the float.

use crate::error::{Position, RuleError};
use crate::reader::{Form, FormKind, Span, TextLimits, atom_value};
use crate::value::Value;

/// Reads the mapping as patterns.
pub(crate) fn read(text: &str) -> Result<Vec<Form>, RuleError> {
    let start = Position { line: 1, column: 1 };
    let span: Span = (
        start,
        Position {
            line: 1,
            column: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
        },
    );
    let wrong = |message: &str| {
        RuleError::refused(span, message)
            .hint("{name: value, other: value}, or patterns: (name value) (other value)")
    };
    if text.len() > TextLimits::WHEN.bytes {
        return Err(wrong("the text is longer than 4096 bytes"));
    }
    let inner = text
        .trim()
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .ok_or_else(|| wrong("a mapping starts with `{` and ends with `}`"))?;
    let mut patterns: Vec<Form> = Vec::new();
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once(':').ok_or_else(|| wrong("an entry has no `:`"))?;
        let name = name.trim().trim_matches(['"', '\'']);
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
        if name.is_empty() || !name.chars().all(word) {
            return Err(wrong(&format!("{name:?} is no name of a fact")));
        }
        let (mut fields, after) =
            value(after.trim_start(), span).ok_or_else(|| wrong("a value is missing or not closed"))?;
        let mut items = vec![atom(Value::symbol(name), span)];
        items.append(&mut fields);
        patterns.push(Form {
            kind: FormKind::List(items),
            span,
        });
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if after.is_empty() => after,
            None => return Err(wrong("entries are separated by commas")),
        };
    }
    if patterns.is_empty() {
        return Err(wrong("the mapping is empty"));
    }
    Ok(patterns)
}

fn atom(value: Value, span: Span) -> Form {
    Form {
        kind: FormKind::Atom(value),
        span,
    }
}

fn either(a: Value, b: Value, span: Span) -> Vec<Form> {
    vec![
        atom(a, span),
        Form {
            kind: FormKind::Sign('|'),
            span,
        },
        atom(b, span),
    ]
}

/// The constraint of one value, and what follows it.
fn value(text: &str, span: Span) -> Option<(Vec<Form>, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some(quote) = quote {
        let (content, after) = text.get(1..)?.split_once(quote)?;
        return Some((
            either(Value::string(content), Value::symbol(content), span),
            after,
        ));
    }
    let end = text
        .find([',', '}', '{', '[', ']', '(', ')'])
        .unwrap_or(text.len());
    let word = text.get(..end)?.trim();
    let after = text.get(end..)?;
    if word.is_empty() || word.contains(char::is_whitespace) || word.contains(['"', '\'', ':']) {
        return None;
    }
    let fields = match word {
        "true" | "TRUE" => vec![atom(Value::boolean(true), span)],
        "false" | "FALSE" => vec![atom(Value::boolean(false), span)],
        "null" | "nil" => vec![atom(Value::symbol("nil"), span)],
        word => match atom_value(word) {
            Value::Integer(value) => either(Value::Integer(value), Value::float(value as f64)?, span),
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => {
                either(Value::Float(value), Value::Integer(value as i64), span)
            }
            Value::Symbol(word) => either(Value::Symbol(word.clone()), Value::String(word), span),
            other => vec![atom(other, span)],
        },
    };
    Some((fields, after))
}
