//! Expressions: `(>= ?s 4)`. Their depth is that of the text, which the reader bounds.

use crate::budget::{Meter, Room};
use crate::error::RuleError;
use crate::function::{Failure, Function, Pattern, call};
use crate::pattern::text_of;
use crate::reader::{Form, FormKind, Span};
use crate::value::Value;
use std::borrow::Cow;

/// A variable of one rule: its place among the bindings.
pub(crate) type Variable = usize;

/// `V` is what stands for a variable: its number on a right-hand side, its place in a match on the left.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression<V = Variable> {
    Value(Value),
    Variable(V),
    Call(Function, Vec<Expression<V>>),
    /// `matches` or `luhn-matches` with a literal pattern, compiled once.
    Matches(Function, Box<Expression<V>>, Pattern),
}

/// What variables stand for.
pub(crate) trait Bindings<V> {
    /// The value of a variable.
    fn value(&self, variable: &V, meter: &mut Meter) -> Result<Cow<'_, Value>, Failure>;
}

impl Bindings<Variable> for [Option<Value>] {
    fn value(&self, variable: &Variable, _: &mut Meter) -> Result<Cow<'_, Value>, Failure> {
        match self.get(*variable) {
            Some(Some(value)) => Ok(Cow::Borrowed(value)),
            _ => Err(unbound()),
        }
    }
}

/// A variable that stands for nothing.
pub(crate) fn unbound() -> Failure {
    Failure::Error("a variable has no value".to_owned())
}

/// Names that mean something at one place of a rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    names: Vec<(Box<str>, Variable)>,
    room: Room,
}

impl Scope {
    /// No names yet, in a text that has this room.
    pub(crate) fn within(room: &Room) -> Self {
        Self {
            names: Vec::new(),
            room: room.clone(),
        }
    }

    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    pub(crate) fn find(&self, name: &str) -> Option<Variable> {
        self.names
            .iter()
            .rev()
            .find(|(known, _)| &**known == name)
            .map(|(_, variable)| *variable)
    }

    pub(crate) fn bind(&mut self, name: &str, variable: Variable) {
        self.names.push((name.into(), variable));
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Variable)> {
        self.names.iter().map(|(name, variable)| (&**name, *variable))
    }
}

impl<V> Expression<V> {
    pub(crate) fn evaluate<'a, B: Bindings<V> + ?Sized>(
        &'a self,
        bindings: &'a B,
        meter: &mut Meter,
    ) -> Result<Cow<'a, Value>, Failure> {
        match self {
            Self::Value(value) => Ok(Cow::Borrowed(value)),
            Self::Variable(variable) => bindings.value(variable, meter),
            Self::Call(Function::And | Function::Or, _) | Self::Matches(..) => {
                Ok(Cow::Owned(Value::boolean(self.holds(bindings, meter)?)))
            }
            // Most calls have one or two arguments, which need no list.
            Self::Call(function, arguments) => Ok(Cow::Owned(match arguments.as_slice() {
                [one] => call(*function, &[&*one.evaluate(bindings, meter)?], meter)?,
                [one, two] => {
                    let (one, two) = (one.evaluate(bindings, meter)?, two.evaluate(bindings, meter)?);
                    call(*function, &[&*one, &*two], meter)?
                }
                arguments => {
                    let mut values = Vec::with_capacity(arguments.len());
                    for argument in arguments {
                        values.push(argument.evaluate(bindings, meter)?);
                    }
                    let values: Vec<&Value> = values.iter().map(|value| &**value).collect();
                    call(*function, &values, meter)?
                }
            })),
        }
    }

    /// Whether it is true. What most conditions are made of needs no value for that.
    pub(crate) fn holds<B: Bindings<V> + ?Sized>(
        &self,
        bindings: &B,
        meter: &mut Meter,
    ) -> Result<bool, Failure> {
        match self {
            // Left to right, and no further than needed: the second operand may only make sense when the first holds.
            Self::Call(function @ (Function::And | Function::Or), arguments) => {
                meter.spend(1)?;
                let deciding = *function == Function::Or;
                for argument in arguments {
                    if argument.holds(bindings, meter)? == deciding {
                        return Ok(deciding);
                    }
                }
                Ok(!deciding)
            }
            Self::Call(Function::Not, arguments) if arguments.len() == 1 => {
                meter.spend(4)?;
                arguments
                    .first()
                    .map_or(Ok(true), |inner| Ok(!inner.holds(bindings, meter)?))
            }
            Self::Call(
                function @ (Function::Same | Function::Different | Function::Is | Function::IsNot),
                arguments,
            ) if arguments.len() == 2 => {
                meter.spend(4)?;
                let [one, two] = arguments.as_slice() else {
                    return Ok(false);
                };
                let same = one.evaluate(bindings, meter)? == two.evaluate(bindings, meter)?;
                Ok(same == matches!(function, Function::Same | Function::Is))
            }
            Self::Matches(function, text, pattern) => {
                meter.spend(1)?;
                match &*text.evaluate(bindings, meter)? {
                    Value::Symbol(text) | Value::String(text) => Ok(match function {
                        Function::LuhnMatches => pattern.is_luhn_match(text, meter)?,
                        _ => pattern.is_match(text, meter)?,
                    }),
                    other => Err(Failure::Error(format!(
                        "`{}` takes a text, not {}",
                        function.name(),
                        other.kind()
                    ))),
                }
            }
            other => Ok(other.evaluate(bindings, meter)?.is_true()),
        }
    }

    /// Calls `seen` with every variable.
    pub(crate) fn variables(&self, seen: &mut dyn FnMut(&V)) {
        match self {
            Self::Value(_) => {}
            Self::Variable(variable) => seen(variable),
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.variables(seen)),
            Self::Matches(_, text, _) => text.variables(seen),
        }
    }

    /// The same with something else in the place of variables.
    pub(crate) fn map<W>(&self, with: &mut dyn FnMut(&V) -> W) -> Expression<W> {
        match self {
            Self::Value(value) => Expression::Value(value.clone()),
            Self::Variable(variable) => Expression::Variable(with(variable)),
            Self::Call(function, arguments) => Expression::Call(
                *function,
                arguments.iter().map(|argument| argument.map(with)).collect(),
            ),
            Self::Matches(function, text, pattern) => {
                Expression::Matches(*function, Box::new(text.map(with)), pattern.clone())
            }
        }
    }
}

/// Reads an expression. Functions that are not in the whitelist are refused by name.
pub(crate) fn compile(form: &Form, scope: &Scope) -> Result<Expression, RuleError> {
    match &form.kind {
        FormKind::Atom(value) => Ok(Expression::Value(value.clone())),
        FormKind::Single(Some(name)) | FormKind::Multi(Some(name)) => match scope.find(name) {
            Some(variable) => Ok(Expression::Variable(variable)),
            None => Err(
                RuleError::refused(form.span, format!("the variable ?{name} has no value here"))
                    .hint("bind it in an earlier pattern"),
            ),
        },
        FormKind::Single(None) | FormKind::Multi(None) => Err(RuleError::refused(
            form.span,
            "`?` stands for any value, and an expression needs one",
        )
        .hint("give it a name in a pattern, ?x, and use that")),
        FormKind::Sign(sign) => Err(RuleError::refused(
            form.span,
            format!("`{sign}` has no place in an expression"),
        )
        .hint("write (and …), (or …) or (not …)")),
        FormKind::List(items) => compile_call(items, form.span, scope),
    }
}

fn compile_call(items: &[Form], span: Span, scope: &Scope) -> Result<Expression, RuleError> {
    let Some((head, arguments)) = items.split_first() else {
        return Err(RuleError::refused(span, "an expression is empty").hint("write (function argument …)"));
    };
    let Some(name) = head.symbol() else {
        let error = RuleError::refused(head.span, "an expression starts with the name of a function");
        return Err(match infix(arguments) {
            Some(operator) => error.hint(format!(
                "write ({operator} {}{})",
                text_of(head),
                operands(arguments)
            )),
            None => error.hint("write (function argument …), such as (> ?x 3)"),
        });
    };
    let Some((function, least, most)) = Function::parse(name) else {
        // A bare word there is most likely meant to be a fact.
        if let Some(operator) = infix(arguments) {
            return Err(
                RuleError::refused(span, "operators stand before their operands").hint(format!(
                    "where {name} is a fact, write the pattern ({name} ?v&:({operator} ?v{}))",
                    operands(arguments)
                )),
            );
        }
        return Err(refused(name, head.span));
    };
    if arguments.len() < least || arguments.len() > most {
        let wanted = if least == most {
            format!("{least}")
        } else {
            format!("at least {least}")
        };
        return Err(RuleError::refused(
            span,
            format!("`{name}` takes {wanted} argument(s), not {}", arguments.len()),
        )
        .hint(format!("write ({name}{})", " …".repeat(least.max(1)))));
    }
    let compiled: Result<Vec<_>, _> = arguments
        .iter()
        .map(|argument| compile(argument, scope))
        .collect();
    let mut compiled = compiled?;
    refuse_swapped(name, function, span, arguments, &compiled)?;
    if matches!(function, Function::Matches | Function::LuhnMatches)
        && let [
            _,
            Expression::Value(Value::String(pattern) | Value::Symbol(pattern)),
        ] = compiled.as_slice()
    {
        let at = arguments.get(1).map_or(span, |argument| argument.span);
        let pattern = Pattern::compile(pattern).map_err(|unusable| unusable.in_a_rule(at))?;
        scope.room.take_expression(pattern.bytes()).map_err(|most| {
            let message =
                format!("all regular expressions together need more than the budget of {most} bytes");
            RuleError::budget(at, message).hint("assert what one finds, and let other rules ask for that")
        })?;
        return Ok(Expression::Matches(
            function,
            Box::new(compiled.swap_remove(0)),
            pattern,
        ));
    }
    Ok(Expression::Call(function, compiled))
}

/// A text that is known and a pattern that is not: most likely the one is meant to be the other, and it would never match.
fn refuse_swapped(
    name: &str,
    function: Function,
    span: Span,
    written: &[Form],
    compiled: &[Expression],
) -> Result<(), RuleError> {
    let is_about_patterns = matches!(function, Function::Matches | Function::LuhnMatches);
    match (written, compiled) {
        (_, [_, Expression::Value(_)]) => Ok(()),
        ([text, pattern], [Expression::Value(_), _]) if is_about_patterns => Err(RuleError::refused(
            span,
            format!("the arguments are ({name} TEXT PATTERN), and the text is a constant"),
        )
        .hint(format!("write ({name} {} {})", text_of(pattern), text_of(text)))),
        _ => Ok(()),
    }
}

/// The operator of `x < 3`: the second word of it.
fn infix(arguments: &[Form]) -> Option<&str> {
    arguments
        .first()
        .and_then(Form::symbol)
        .filter(|word| Function::parse(word).is_some())
}

/// What follows the operator, as it was written.
fn operands(arguments: &[Form]) -> String {
    let after = arguments.iter().skip(1);
    after.map(|operand| format!(" {}", text_of(operand))).collect()
}

/// A word of CLIPS, or of nobody, that the language does not have.
pub(crate) fn refused(name: &str, span: Span) -> RuleError {
    let error = RuleError::refused(span, format!("`{name}` is not in the rule language"));
    match name {
        "printout" | "print" | "println" | "format" | "read" | "readline" | "open" | "close" | "load"
        | "load*" | "save" | "bload" | "bsave" | "batch" | "dribble-on" | "rename" | "remove" => {
            error.hint("rules do no input or output; assert a fact, and the host reports it")
        }
        "system" | "python-function" => error.hint("rules run nothing outside themselves"),
        "while" | "loop-for-count" | "progn$" | "foreach" | "do-for-fact" | "do-for-all-facts" | "switch"
        | "if" | "return" | "break" => error.hint("rules have no control flow; write one rule per case"),
        "time" | "gm-time" | "local-time" | "random" | "seed" | "gensym" | "gensym*" => {
            error.hint("a decision must be reproducible: there is no clock and no randomness")
        }
        "eval" | "build" | "funcall" | "undefrule" => error.hint("rules do not make code"),
        "duplicate" => error.hint("assert a new fact instead"),
        "halt" | "reset" | "clear" | "run" | "exit" | "focus" | "refresh" => {
            error.hint("rules do not control the engine; use salience and facts")
        }
        "!=" | "==" => error.hint("compare with (eq …), (neq …), (= …) or (<> …)"),
        "create$" | "insert$" | "rest$" | "first$" | "explode$" | "implode$" => {
            error.hint("write the values one after another; a multislot takes all of them")
        }
        _ => {
            let names: Vec<_> = Function::names().collect();
            error.hint(format!("there are: {}", names.join(" ")))
        }
    }
}
