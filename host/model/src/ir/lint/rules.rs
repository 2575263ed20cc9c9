//! Rules that do nothing, conditions that do not parse, and conditions that can never hold.

use super::{Notes, Step};
use crate::facts;
use crate::ir::error::describe_text;
use crate::ir::records::{Action, IRDocument};
use indexmap::IndexMap;
use mizzen_json::nearest;
use mizzen_json::{Node, Span};
use mizzen_rules::{Lasting, Need, Position, Program, RuleError, Template, Value, When};
use std::ops::Range;
use std::sync::LazyLock;

use Step::{Index, Key};

/// The templates of the facts that the host publishes.
static HOST_TEMPLATES: LazyLock<Vec<Lasting<Template>>> = LazyLock::new(|| {
    let program = Program::parse(facts::VOCABULARY);
    program.map_or_else(|_| Vec::new(), |program| program.templates().cloned().collect())
});

/// Reads a condition over state fields, or over facts of the host's vocabulary. A field may have the name of a host's fact, so the
/// plain reading comes first, and its error is the one to show unless slots were meant.
fn compile(when: &str) -> Result<When, RuleError> {
    When::compile(when).or_else(|plain| {
        let host = HOST_TEMPLATES.iter().cloned();
        When::compile_with(when, host).map_err(|with_slots| {
            if plain.message.starts_with("there is no deftemplate") {
                with_slots
            } else {
                plain
            }
        })
    })
}

/// How much condition text is looked at: reading a condition costs far more than its bytes, and a document of megabytes of
/// conditions is not one that a person reads warnings of.
const CONDITION_BYTES: usize = 1 << 20;
/// Among how many names the one that was meant is looked for.
const SUGGESTIONS: usize = 256;

pub(super) fn check(document: &IRDocument, notes: &mut Notes<'_>) {
    let known = Facts::of(document);
    let mut looked_at = 0;
    for (index, rule) in document.rules.iter().enumerate() {
        looked_at += rule.when.len();
        if notes.is_full() || looked_at > CONDITION_BYTES {
            return;
        }
        let name = describe_text(&rule.id);
        if rule.then.is_empty() {
            notes.note(
                "rule_without_effect",
                &[Key("rules"), Index(index)],
                format!("rule {name} does nothing when it fires"),
                "give it at least one action",
            );
        }
        let path = [Key("rules"), Index(index), Key("when")];
        match compile(&rule.when) {
            Err(error) => {
                let message = format!("the condition of rule {name} does not parse: {}", error.message);
                let hint = error.hint.clone();
                let place = |node: Node<'_>| place_of(&error, node);
                notes.note_at("when_unparsable", &path, message, hint, place);
            }
            Ok(when) => {
                let Some(known) = &known else { continue };
                if let Some((reason, hint)) = known.forbid(&when) {
                    let message = format!("rule {name} can never fire: {reason}");
                    notes.note("rule_never_fires", &path, message, hint);
                }
            }
        }
    }
}

/// Where in the source the rule language's error is.
fn place_of(error: &RuleError, node: Node<'_>) -> Span {
    let text = node.as_str().unwrap_or_default();
    let Range { start, end } = offset(text, error.start)..offset(text, error.end);
    // An error at the end of the text has nothing to underline but the last character.
    let start = if start >= text.len() {
        text.len().saturating_sub(1)
    } else {
        start
    };
    let start = text.floor_char_boundary(start);
    node.span_within(start..end.max(start + 1).min(text.len().max(1)))
}

fn offset(text: &str, position: Position) -> usize {
    let line = (position.line as usize).saturating_sub(1);
    let begin = match line {
        0 => 0,
        _ => text
            .match_indices('\n')
            .nth(line - 1)
            .map_or(text.len(), |(at, _)| at + 1),
    };
    let column = (position.column as usize).saturating_sub(1);
    let rest = text.get(begin..).unwrap_or_default();
    begin + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
}

/// The facts that rules can match (D13): every state field as `(field value)`, and what rules assert.
struct Facts<'d> {
    /// The type of a field, as the document states it; nothing for what a rule asserts.
    types: IndexMap<&'d str, Option<&'d str>>,
}

impl<'d> Facts<'d> {
    /// Nothing when it cannot be known from the document alone: packs assert facts of their own, and a state class has fields
    /// that we do not see.
    fn of(document: &'d IRDocument) -> Option<Self> {
        if !document.governance.is_empty()
            || document.state_class.is_some()
            || document.state_schema.is_empty()
        {
            return None;
        }
        let fields = document.state_schema.iter();
        let mut types: IndexMap<&str, Option<&str>> = fields
            .map(|(name, kind)| (name.as_str(), Some(kind.as_str())))
            .collect();
        for action in document.rules.iter().flat_map(|rule| &rule.then) {
            if let Action::Assert(assert) = action {
                types.insert(head(assert.fact.trim_start_matches('(')), None);
            }
        }
        Some(Facts { types })
    }

    /// Why a condition can never hold, and what to do; nothing when it can, or when that cannot be told.
    fn forbid(&self, when: &When) -> Option<(String, String)> {
        let mut first = None;
        for alternative in when.needs() {
            let reason = alternative.iter().find_map(|need| self.refuse(need))?;
            first.get_or_insert(reason);
        }
        first
    }

    fn refuse(&self, need: &Need<'_>) -> Option<(String, String)> {
        let name = need.name;
        // With a dot or colon in it, a name belongs to somebody else.
        let is_foreign = name == "initial-fact" || name.contains(['.', ':']) || facts::is_host_template(name);
        match self.types.get(name) {
            None if is_foreign => None,
            None => {
                let known = self.types.keys().copied().take(SUGGESTIONS);
                let hint = match nearest(name, known) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => {
                        "declare the field in state_schema, or assert the fact in another rule".to_owned()
                    }
                };
                let shown = describe_text(name);
                Some((
                    format!("no state field and no asserted fact is called {shown}"),
                    hint,
                ))
            }
            Some(None) => None,
            Some(Some(kind)) => misfit(need, kind),
        }
    }
}

/// A state field is one value of its type.
fn misfit(need: &Need<'_>, kind: &str) -> Option<(String, String)> {
    let name = need.name;
    if !matches!(kind, "int" | "float" | "str" | "bool") {
        return None;
    }
    if need.values > 1 || (need.values == 0 && !need.or_more) {
        let reason = format!("`{name}` has one value, the pattern asks for {}", need.values);
        return Some((reason, format!("write ({name} ?value)")));
    }
    let (value, hint) = match (need.literals.first().copied().flatten()?, kind) {
        (value @ Value::Symbol(word), "str") => {
            (value, format!("write ({name} \"{word}\"): texts have quotes"))
        }
        (value @ Value::Symbol(word), "bool") if !matches!(&**word, "TRUE" | "FALSE") => {
            (value, format!("write ({name} TRUE) or ({name} FALSE)"))
        }
        (value @ (Value::Symbol(_) | Value::String(_)), "int" | "float") => {
            (value, format!("compare with a number, or declare {name} as str"))
        }
        (value @ (Value::Integer(_) | Value::Float(_)), "str") => {
            (value, format!("write ({name} \"{value}\"): texts have quotes"))
        }
        (value @ (Value::Integer(_) | Value::Float(_) | Value::String(_)), "bool") => {
            (value, format!("write ({name} TRUE) or ({name} FALSE)"))
        }
        _ => return None,
    };
    Some((format!("`{name}` is of type {kind} and never {value}"), hint))
}

fn head(text: &str) -> &str {
    let text = text.trim_start();
    let end = text
        .find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | ';'))
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}
