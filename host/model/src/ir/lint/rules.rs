//! Rules that can never fire or do nothing, and conditions whose brackets do not balance.
//!
//! The rule language itself is parsed elsewhere; this looks only at what the surface shows.

use super::{Notes, Step};
use crate::ir::error::describe_text;
use crate::ir::records::{Action, IRDocument};
use std::collections::HashSet;

use Step::{Index, Key};

pub(super) fn check(document: &IRDocument, notes: &mut Notes<'_>) {
    let facts = known_facts(document);
    for (index, rule) in document.rules.iter().enumerate() {
        if rule.then.is_empty() {
            notes.note(
                "rule_without_effect",
                &[Key("rules"), Index(index)],
                format!("rule {} does nothing when it fires", describe_text(&rule.id)),
                "give it at least one action",
            );
        }
        let path = [Key("rules"), Index(index), Key("when")];
        match pattern_heads(&rule.when) {
            Err(problem) => notes.note(
                "when_unparsable",
                &path,
                format!(
                    "the condition of rule {} does not parse: {problem}",
                    describe_text(&rule.id)
                ),
                "balance brackets and quotes, as in (severity ?s&:(>= ?s 4))",
            ),
            Ok(heads) => {
                let Some(facts) = &facts else { continue };
                for head in heads.into_iter().filter(|head| !facts.contains(head)) {
                    notes.note(
                        "rule_never_fires",
                        &path,
                        format!(
                            "rule {} waits for a fact {} that is no state field and that no rule asserts",
                            describe_text(&rule.id),
                            describe_text(head)
                        ),
                        "declare the field in state_schema, or assert the fact in another rule",
                    );
                }
            }
        }
    }
}

/// The facts a rule can match (D13), or nothing when that cannot be known from the document alone: packs assert facts of their
/// own, and a state class has fields we do not see.
fn known_facts(document: &IRDocument) -> Option<HashSet<&str>> {
    if !document.governance.is_empty() || document.state_class.is_some() || document.state_schema.is_empty() {
        return None;
    }
    let mut facts: HashSet<&str> = document.state_schema.keys().map(String::as_str).collect();
    for action in document.rules.iter().flat_map(|rule| &rule.then) {
        if let Action::Assert(assert) = action {
            facts.insert(head(assert.fact.trim_start_matches('(')));
        }
    }
    Some(facts)
}

fn head(text: &str) -> &str {
    let text = text.trim_start();
    let end = text
        .find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | ';'))
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The first words of the patterns that must match, from one pass over the text.
fn pattern_heads(when: &str) -> Result<Vec<&str>, &'static str> {
    let mut heads = Vec::new();
    let mut depth = 0usize;
    let mut quoted = false;
    let mut escaped = false;
    let mut comment = false;
    for (at, character) in when.char_indices() {
        if comment {
            comment = character != '\n';
        } else if quoted {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = false,
                _ => {}
            }
        } else {
            match character {
                '"' => quoted = true,
                ';' => comment = true,
                '(' => {
                    if depth == 0 {
                        heads.push(head(when.get(at + 1..).unwrap_or_default()));
                    }
                    depth += 1;
                }
                ')' => {
                    depth = depth
                        .checked_sub(1)
                        .ok_or("a bracket closes that was never opened")?
                }
                _ => {}
            }
        }
    }
    if quoted {
        return Err("a quote is not closed");
    }
    if depth > 0 {
        return Err("a bracket is not closed");
    }
    // Only plain patterns: (not …), (or …), (test …) and the host's own namespaced facts say nothing about state fields.
    heads.retain(|head| is_plain(head));
    Ok(heads)
}

fn is_plain(head: &str) -> bool {
    let connective = matches!(
        head,
        "not" | "or" | "and" | "test" | "exists" | "forall" | "logical" | "declare" | "object"
    );
    let name = head.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    name && !connective && !head.starts_with("stargraph") && !head.contains(['.', ':'])
}
