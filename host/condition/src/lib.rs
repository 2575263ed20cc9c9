//! Expressions that councils carry: conditions of gates and rules, and [`map`]s of steps. Compiled when a council or chain is created,
//! evaluated under a budget.
//!
//! A condition is CEL. Why an own implementation: the text comes from clients. Everything here is bounded before it can hurt (length,
//! operators, nesting, nodes, comprehensions, fuel), nothing recurses with the input, and nothing can read a clock or be
//! random, so a decision can be reproduced from the journal. The `cel` crate is the oracle of the tests.
//!
//! What is CEL here: all operators, `has`, `all`, `exists`, `exists_one`, `filter`, `map`, `size`, `contains`,
//! `startsWith`, `endsWith`, `matches`, conversions, `type`, timestamps and durations with their parts in UTC. What is not: protobuf
//! messages, optionals, time zones, and a comprehension inside a comprehension (docs/conditions.md has the whole list). JSON numbers are `int` where they are written without
//! fraction and exponent, `uint` above that range, else `double`.
//!
//! Not here: when a condition is evaluated and what follows (`host/engine`). To add a function: `function.rs` and `call.rs`.

#![forbid(unsafe_code)]

mod ast;
mod call;
mod error;
mod eval;
mod function;
mod lexer;
mod limits;
mod literal;
pub mod map;
mod names;
mod operator;
mod parser;
mod pattern;
mod rule;
mod time;
mod token;
mod value;
mod variable;

pub use error::{ConditionError, EvalError, EvalErrorKind, Position};
pub use limits::{ConditionLimits, Fuel};
pub use pattern::Pattern;
pub use variable::{Context, Variable, Variables};

use ast::{Ast, Expr, NodeId};
use eval::Evaluator;
use lexer::Count;
use value::Value;

/// A condition that compiles.
#[derive(Debug, Clone)]
pub struct Condition {
    text: Box<str>,
    ast: Ast,
    root: NodeId,
}

impl Condition {
    /// Compiles one CEL expression.
    pub fn compile(
        text: &str,
        variables: Variables,
        limits: ConditionLimits,
    ) -> Result<Self, ConditionError> {
        check_length(text, limits)?;
        let mut ast = Ast::default();
        let tokens = lexer::tokens(text, Position::START, limits, &mut Count::default())?;
        let root = parser::parse(&tokens, &mut ast, variables, limits)?;
        rule::want_bool(&ast, root)?;
        Ok(Self {
            text: text.into(),
            ast,
            root,
        })
    }

    /// Compiles the condition of a gate (D2).
    pub fn compile_gate(text: &str) -> Result<Self, ConditionError> {
        Self::compile(text, Variables::GATE, ConditionLimits::GATE)
    }

    /// Compiles the condition of a rule (D5): an expression, or YAML that combines expressions.
    ///
    /// A text that is a CEL expression is taken as one, because YAML would read `!has(input.x)` as a tag and
    /// `a ? b : c` as a mapping. Nothing is both: a YAML mapping, list or quoted text is never a boolean in CEL. The
    /// exceptions start with dashes, which could be minus signs: a list of one item and `---` are taken as YAML.
    pub fn compile_rule(text: &str) -> Result<Self, ConditionError> {
        let limits = ConditionLimits::RULE;
        check_length(text, limits)?;
        let trimmed = text.trim_start();
        let dashes = trimmed.trim_start_matches('-');
        let listed =
            matches!(trimmed.len() - dashes.len(), 1 | 3) && dashes.starts_with([' ', '\t', '\n', '\r']);
        let plain = Self::compile(text, Variables::RULE, limits);
        if !listed && plain.is_ok() {
            return plain;
        }
        let mut ast = Ast::default();
        match rule::compile(text, &mut ast, Variables::RULE, limits) {
            Ok(root) => Ok(Self {
                text: text.into(),
                ast,
                root,
            }),
            Err(refusal) => match plain {
                Err(error) if !refusal.meant_yaml => Err(error),
                _ => Err(refusal.error),
            },
        }
    }

    /// Evaluates to true or false, or says why there is no answer. Callers fail closed on an error (D2).
    pub fn evaluate(&self, context: &Context<'_>, fuel: &mut Fuel) -> Result<bool, EvalError> {
        match Evaluator::new(&self.ast, context, fuel).eval(self.root)? {
            Value::Bool(value) => Ok(value),
            other => Err(EvalError::new(
                EvalErrorKind::NotABoolean,
                format!("the condition is {other}, which is neither true nor false"),
            )
            .at(self.ast.get(self.root).position)),
        }
    }

    /// The text as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The variables that it names. A caller that does not know one of them yet can put the evaluation off.
    pub fn variables(&self) -> impl Iterator<Item = Variable> {
        Variable::ALL.into_iter().filter(|variable| {
            self.ast
                .nodes()
                .any(|node| matches!(node.expr, Expr::Variable(named) if named == *variable))
        })
    }
}

fn check_length(text: &str, limits: ConditionLimits) -> Result<(), ConditionError> {
    // A character has four bytes at most, so the count itself is bounded too.
    if text.len() > limits.characters.saturating_mul(4) || text.chars().count() > limits.characters {
        return Err(ConditionError::new(
            Position::START,
            format!("a condition has {} characters at most", limits.characters),
        )
        .hint("split it into several gates or rules"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
