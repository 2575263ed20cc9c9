//! Expressions: `(>= ?s 4)`. Their depth is that of the text, which the reader bounds.

use crate::budget::{Meter, Room};
use crate::error::RuleError;
use crate::function::{Failure, Function, Pattern, call};
use crate::pattern::text_of;
use crate::reader::{Form, FormKind, Span};
use crate::value::Value;

/// A variable of one rule: its place among the bindings.
pub(crate) type Variable = usize;

#[derive(Debug, Clone)]
pub(crate) enum Expression {
    Value(Value),
    Variable(Variable),
    Call(Function, Vec<Expression>),
    /// `matches` or `luhn-matches` with a literal pattern, compiled once.
    Matches(Function, Box<Expression>, Pattern),
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

impl Expression {
    pub(crate) fn evaluate(&self, bindings: &[Option<Value>], meter: &mut Meter) -> Result<Value, Failure> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Variable(variable) => bindings
                .get(*variable)
                .cloned()
                .flatten()
                .ok_or_else(|| Failure::Error("a variable has no value".to_owned())),
            // Left to right, and no further than needed: the second operand may only make sense when the first holds.
            Self::Call(function @ (Function::And | Function::Or), arguments) => {
                meter.spend(1)?;
                let deciding = *function == Function::Or;
                for argument in arguments {
                    if argument.evaluate(bindings, meter)?.is_true() == deciding {
                        return Ok(Value::boolean(deciding));
                    }
                }
                Ok(Value::boolean(!deciding))
            }
            // Most calls have one or two arguments, which need no list.
            Self::Call(function, arguments) => match arguments.as_slice() {
                [one] => call(*function, &[one.evaluate(bindings, meter)?], meter),
                [one, two] => {
                    let arguments = [one.evaluate(bindings, meter)?, two.evaluate(bindings, meter)?];
                    call(*function, &arguments, meter)
                }
                arguments => {
                    let mut values = Vec::with_capacity(arguments.len());
                    for argument in arguments {
                        values.push(argument.evaluate(bindings, meter)?);
                    }
                    call(*function, &values, meter)
                }
            },
            Self::Matches(function, text, pattern) => {
                meter.spend(1)?;
                match text.evaluate(bindings, meter)? {
                    Value::Symbol(text) | Value::String(text) => Ok(Value::boolean(match function {
                        Function::LuhnMatches => pattern.is_luhn_match(&text, meter)?,
                        _ => pattern.is_match(&text, meter)?,
                    })),
                    other => Err(Failure::Error(format!(
                        "`{}` takes a text, not {}",
                        function.name(),
                        other.kind()
                    ))),
                }
            }
        }
    }

    /// Calls `seen` with every variable.
    pub(crate) fn variables(&self, seen: &mut dyn FnMut(Variable)) {
        match self {
            Self::Value(_) => {}
            Self::Variable(variable) => seen(*variable),
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.variables(seen)),
            Self::Matches(_, text, _) => text.variables(seen),
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
