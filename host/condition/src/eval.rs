//! The evaluator: a walk over the tree that spends fuel at every node. What hangs on the left of a node (`a` in `a + b`,
//! `a.b`, `a[i]`, `a.f()`) is walked by a loop, so the stack follows brackets and precedence only, as in the parser.

use super::ast::{Ast, Binary, Comprehension, Expr, NodeId};
use super::call;
use super::error::{EvalError, EvalErrorKind};
use super::limits::Fuel;
use super::operator;
use super::pattern::Pattern;
use super::value::{Value, ValueKind};
use super::variable::Context;
use std::rc::Rc;

pub(crate) type Evaluated<'a> = Result<Value<'a>, EvalError>;

/// One evaluation.
pub(crate) struct Evaluator<'a, 'f> {
    pub(crate) ast: &'a Ast,
    pub(crate) context: &'f Context<'a>,
    pub(crate) fuel: &'f mut Fuel,
    /// The value of the comprehension's variable; one level only (the parser sees to it).
    local: Value<'a>,
    /// Nodes whose left operand is being evaluated, of all active calls of [`Self::eval`].
    spine: Vec<NodeId>,
    /// The last pattern that was not a literal, so that a comprehension does not compile it at every element.
    pattern: Option<(Rc<str>, Rc<Pattern>)>,
}

impl<'a, 'f> Evaluator<'a, 'f> {
    pub(crate) fn new(ast: &'a Ast, context: &'f Context<'a>, fuel: &'f mut Fuel) -> Self {
        Self {
            ast,
            context,
            fuel,
            local: Value::Null,
            spine: Vec::with_capacity(16),
            pattern: None,
        }
    }

    pub(crate) fn eval(&mut self, id: NodeId) -> Evaluated<'a> {
        let base = self.spine.len();
        let result = self.walk(id, base);
        // After an error, what is left of the spine belongs to nobody.
        self.spine.truncate(base);
        result
    }

    fn walk(&mut self, id: NodeId, base: usize) -> Evaluated<'a> {
        let mut current = id;
        'down: loop {
            while let Some(left) = left_operand(&self.ast.get(current).expr) {
                self.spine.push(current);
                current = left;
            }
            let mut value = self.leaf(current).map_err(|error| self.placed(error, current))?;
            while self.spine.len() > base {
                let Some(parent) = self.spine.pop() else { break };
                if let Expr::Choose { then, otherwise, .. } = self.ast.get(parent).expr {
                    self.fuel.spend(1).map_err(|error| self.placed(error, parent))?;
                    current = match value {
                        Value::Bool(true) => then,
                        Value::Bool(false) => otherwise,
                        other => return Err(self.placed(no_overload("?:", &[&other]), parent)),
                    };
                    continue 'down;
                }
                value = self
                    .apply(parent, value)
                    .map_err(|error| self.placed(error, parent))?;
            }
            return Ok(value);
        }
    }

    /// An error keeps the innermost position, which is the first that is set.
    fn placed(&self, error: EvalError, id: NodeId) -> EvalError {
        if error.is_placed() {
            error
        } else {
            error.at(self.ast.get(id).position)
        }
    }

    /// A node without a left operand.
    fn leaf(&mut self, id: NodeId) -> Evaluated<'a> {
        self.fuel.spend(1)?;
        Ok(match &self.ast.get(id).expr {
            Expr::Bool(value) => Value::Bool(*value),
            Expr::Int(value) => Value::Int(*value),
            Expr::Uint(value) => Value::Uint(*value),
            Expr::Double(value) => Value::Double(*value),
            Expr::String(text) => Value::Text(text),
            Expr::Bytes(bytes) => {
                self.fuel.spend_bytes(bytes.len())?;
                Value::Bytes(bytes.clone().into())
            }
            Expr::Type(kind) => Value::Type(*kind),
            Expr::Variable(variable) => match self.context.get(*variable) {
                Some(json) => Value::from(json),
                None => {
                    return Err(EvalError::new(
                        EvalErrorKind::Unavailable,
                        format!("`{}` has no value at this point of the run", variable.name()),
                    ));
                }
            },
            Expr::Local => self.local.clone(),
            Expr::List(items) => {
                let items: Result<Rc<[_]>, _> = items.iter().map(|item| self.eval(*item)).collect();
                Value::OwnedList(items?)
            }
            Expr::Map(entries) => self.map_literal(entries)?,
            Expr::All(parts) => self.logical(parts, false)?,
            Expr::Any(parts) => self.logical(parts, true)?,
            // Null itself, and what has a left operand and so never comes here.
            _ => Value::Null,
        })
    }

    /// A node whose left operand has this value.
    fn apply(&mut self, id: NodeId, value: Value<'a>) -> Evaluated<'a> {
        self.fuel.spend(1)?;
        match &self.ast.get(id).expr {
            Expr::Select { field, .. } => self.select(&value, field),
            Expr::Has { field, .. } => match value.kind() {
                ValueKind::Map => Ok(Value::Bool(value.field(field, self.fuel)?.is_some())),
                _ => Err(no_overload("has", &[&value])),
            },
            Expr::Index { at, .. } => {
                let at = self.eval(*at)?;
                operator::index(&value, &at, self.fuel)
            }
            Expr::Not { times, .. } => match value {
                Value::Bool(value) => Ok(Value::Bool(value ^ (times % 2 == 1))),
                other => Err(no_overload("!", &[&other])),
            },
            Expr::Negate { times, .. } => (0..*times).try_fold(value, |value, _| operator::negate(&value)),
            Expr::Binary {
                operator: Binary::Equal,
                right,
                ..
            } => {
                let right = self.eval(*right)?;
                Ok(Value::Bool(value.equals(&right, self.fuel)?))
            }
            Expr::Binary {
                operator: Binary::NotEqual,
                right,
                ..
            } => {
                let right = self.eval(*right)?;
                Ok(Value::Bool(!value.equals(&right, self.fuel)?))
            }
            Expr::Binary { operator, right, .. } => {
                let right = self.eval(*right)?;
                operator::binary(*operator, &value, &right, self.fuel)
            }
            Expr::Call { function, arguments } => match arguments.get(1) {
                None => call::unary(*function, value, self.fuel),
                Some(second) => {
                    let second = self.eval(*second)?;
                    call::binary(self, *function, &value, &second)
                }
            },
            Expr::Matches { pattern, .. } => match value.as_text() {
                Some(text) => Ok(Value::Bool(pattern.is_match(text, self.fuel)?)),
                None => Err(no_overload("matches", &[&value])),
            },
            Expr::Comprehension {
                kind, filter, body, ..
            } => self.comprehension(*kind, *filter, *body, &value),
            _ => Ok(value),
        }
    }

    fn select(&mut self, value: &Value<'a>, field: &str) -> Evaluated<'a> {
        if value.kind() != ValueKind::Map {
            return Err(EvalError::new(
                EvalErrorKind::NoSuchOverload,
                format!("{value} has no fields, so there is no `{}`", shortened(field)),
            ));
        }
        value.field(field, self.fuel)?.ok_or_else(|| {
            EvalError::new(
                EvalErrorKind::NoSuchKey,
                format!("there is no `{}`", shortened(field)),
            )
        })
    }

    fn map_literal(&mut self, entries: &'a [(NodeId, NodeId)]) -> Evaluated<'a> {
        let mut map: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.eval(*key)?;
            if !matches!(
                key.kind(),
                ValueKind::Bool | ValueKind::Int | ValueKind::Uint | ValueKind::String
            ) {
                return Err(EvalError::new(
                    EvalErrorKind::NoSuchOverload,
                    format!("{key} cannot be a map's key; strings, integers and booleans can"),
                ));
            }
            for (other, _) in &map {
                if other.equals(&key, self.fuel)? {
                    return Err(EvalError::new(
                        EvalErrorKind::DuplicateKey,
                        format!("the key {key} is there twice"),
                    ));
                }
            }
            let value = self.eval(*value)?;
            map.push((key, value));
        }
        Ok(Value::OwnedMap(map.into()))
    }

    /// `&&` (decided by `false`) and `||` (decided by `true`). An operand that decides wins over an error in another
    /// one, whichever comes first; without one the first error is the answer.
    fn logical(&mut self, parts: &[NodeId], deciding: bool) -> Evaluated<'a> {
        let mut failed = None;
        for part in parts {
            let value = self.eval(*part);
            if let Some(error) = self.step(value, deciding)? {
                match error {
                    Step::Decided => return Ok(Value::Bool(deciding)),
                    Step::Failed(error) => failed = failed.or(Some(error)),
                }
            }
        }
        failed.map_or(Ok(Value::Bool(!deciding)), Err)
    }

    fn step(&self, value: Evaluated<'a>, deciding: bool) -> Result<Option<Step>, EvalError> {
        match value {
            Ok(Value::Bool(value)) if value == deciding => Ok(Some(Step::Decided)),
            Ok(Value::Bool(_)) => Ok(None),
            Ok(other) => Ok(Some(Step::Failed(no_overload(
                if deciding { "||" } else { "&&" },
                &[&other],
            )))),
            Err(error) if error.is_fatal() => Err(error),
            Err(error) => Ok(Some(Step::Failed(error))),
        }
    }

    fn comprehension(
        &mut self,
        kind: Comprehension,
        filter: Option<NodeId>,
        body: NodeId,
        range: &Value<'a>,
    ) -> Evaluated<'a> {
        let Some(members) = range.members() else {
            return Err(EvalError::new(
                EvalErrorKind::NoSuchOverload,
                format!("{range} is neither a list nor a map, so there is nothing to go over"),
            ));
        };
        let mut failed = None;
        let mut found = 0_usize;
        let mut kept = Vec::new();
        for member in members {
            self.fuel.spend(1)?;
            self.local = member.clone();
            match kind {
                Comprehension::All | Comprehension::Exists => {
                    let deciding = kind == Comprehension::Exists;
                    let value = self.eval(body);
                    match self.step(value, deciding)? {
                        Some(Step::Decided) => return Ok(Value::Bool(deciding)),
                        Some(Step::Failed(error)) => failed = failed.or(Some(error)),
                        None => {}
                    }
                }
                Comprehension::ExistsOne => found += usize::from(self.test(body)?),
                Comprehension::Filter => {
                    if self.test(body)? {
                        kept.push(member);
                    }
                }
                Comprehension::Map => {
                    let wanted = match filter {
                        Some(filter) => self.test(filter)?,
                        None => true,
                    };
                    if wanted {
                        kept.push(self.eval(body)?);
                    }
                }
            }
        }
        match (kind, failed) {
            (_, Some(error)) => Err(error),
            (Comprehension::All, None) => Ok(Value::Bool(true)),
            (Comprehension::Exists, None) => Ok(Value::Bool(false)),
            (Comprehension::ExistsOne, None) => Ok(Value::Bool(found == 1)),
            (Comprehension::Filter | Comprehension::Map, None) => Ok(Value::OwnedList(kept.into())),
        }
    }

    fn test(&mut self, id: NodeId) -> Result<bool, EvalError> {
        match self.eval(id)? {
            Value::Bool(value) => Ok(value),
            other => Err(no_overload("a test", &[&other])),
        }
    }

    /// A pattern that the condition made or read. Compiling costs far more than a node, and says so in fuel.
    pub(crate) fn pattern(&mut self, text: &str) -> Result<Rc<Pattern>, EvalError> {
        const COMPILE: u64 = 4000;
        if let Some((known, pattern)) = &self.pattern
            && **known == *text
        {
            return Ok(Rc::clone(pattern));
        }
        self.fuel.spend(COMPILE)?;
        self.fuel.spend_elements(text.len())?;
        let pattern = Rc::new(
            Pattern::compile(text).map_err(|message| EvalError::new(EvalErrorKind::BadPattern, message))?,
        );
        self.pattern = Some((text.into(), Rc::clone(&pattern)));
        Ok(pattern)
    }
}

enum Step {
    Decided,
    Failed(EvalError),
}

fn left_operand(expr: &Expr) -> Option<NodeId> {
    match expr {
        Expr::Select { of, .. }
        | Expr::Has { of, .. }
        | Expr::Index { of, .. }
        | Expr::Not { of, .. }
        | Expr::Negate { of, .. }
        | Expr::Matches { of, .. } => Some(*of),
        Expr::Binary { left, .. } => Some(*left),
        Expr::Choose { test, .. } => Some(*test),
        Expr::Call { arguments, .. } => arguments.first().copied(),
        Expr::Comprehension { range, .. } => Some(*range),
        _ => None,
    }
}

/// The error of an operator or function that does not take these values.
pub(crate) fn no_overload(what: &str, values: &[&Value<'_>]) -> EvalError {
    let kinds: Vec<_> = values.iter().map(|value| value.kind().name()).collect();
    let mut message = format!("`{what}` does not take {}", kinds.join(" and "));
    if let [a, b] = values
        && a.is_number()
        && b.is_number()
    {
        message.push_str("; convert one with double(…) or int(…)");
    }
    EvalError::new(EvalErrorKind::NoSuchOverload, message)
}

fn shortened(field: &str) -> String {
    if field.chars().count() > 60 {
        field.chars().take(60).chain(['…']).collect()
    } else {
        field.to_owned()
    }
}
