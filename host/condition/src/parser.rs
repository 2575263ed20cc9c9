//! Tokens to a resolved tree. Recursion follows brackets and the seven levels of precedence only, both bounded before
//! the parser starts; chains of one operator, of `?:`, of prefixes and of `.field[index].call()` are loops.

use super::ast::{Ast, Binary, Comprehension, Expr, NodeId};
use super::error::{ConditionError, Position};
use super::function::{Function, Style, Unresolved};
use super::limits::ConditionLimits;
use super::names::{RESERVED, unknown_function};
use super::pattern::Pattern;
use super::token::{Sign, Token, TokenKind};
use super::value::ValueKind;
use super::variable::{Variable, Variables};

type Parsed<T> = Result<T, ConditionError>;

/// Parses one whole expression into `ast`, which may already hold others of the same rule.
pub(crate) fn parse(
    tokens: &[Token],
    ast: &mut Ast,
    variables: Variables,
    limits: ConditionLimits,
) -> Parsed<NodeId> {
    let mut parser = Parser {
        tokens,
        at: 0,
        ast,
        variables,
        limits,
        locals: Vec::new(),
    };
    if parser.peek() == &TokenKind::End {
        return Err(ConditionError::new(parser.position(), "the condition is empty")
            .hint("write an expression, such as `output.confidence >= 0.85`"));
    }
    let root = parser.expression()?;
    match parser.peek() {
        TokenKind::End => Ok(root),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    ast: &'a mut Ast,
    variables: Variables,
    limits: ConditionLimits,
    /// The variables of the comprehensions around the current place, innermost last.
    locals: Vec<Box<str>>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a TokenKind {
        self.tokens
            .get(self.at)
            .map_or(&TokenKind::End, |token| &token.kind)
    }

    fn position(&self) -> Position {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        token.map_or(Position::START, |token| token.position)
    }

    fn eat(&mut self, sign: Sign) -> bool {
        let found = *self.peek() == TokenKind::Sign(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: Sign) -> Parsed<()> {
        if self.eat(sign) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{}`", sign.spelling())))
        }
    }

    fn unexpected(&self, wanted: &str) -> ConditionError {
        let found = self.peek();
        let error = ConditionError::new(
            self.position(),
            format!("expected {wanted}, found {}", found.describe()),
        );
        match found {
            TokenKind::Identifier(name) => match &**name {
                "and" | "AND" => error.hint("combine with `&&`"),
                "or" | "OR" => error.hint("combine with `||`"),
                "not" | "NOT" => error.hint("negate with `!`"),
                _ => error,
            },
            TokenKind::Sign(Sign::OpenBrace) => error.hint("messages such as `Name{…}` do not exist here"),
            _ => error,
        }
    }

    fn push(&mut self, expr: Expr, position: Position) -> Parsed<NodeId> {
        if self.ast.len() >= self.limits.nodes {
            return Err(ConditionError::new(
                position,
                format!("the condition has more than {} parts", self.limits.nodes),
            )
            .hint("split it into several gates or rules"));
        }
        Ok(self.ast.push(expr, position))
    }

    /// `a ? b : c ? d : e`: the chain is collected and folded from its end.
    fn expression(&mut self) -> Parsed<NodeId> {
        let mut tests = Vec::new();
        let mut last = self.any()?;
        loop {
            let position = self.position();
            if !self.eat(Sign::Question) {
                break;
            }
            self.want_bool(last, "the test before `?`")?;
            let then = self.any()?;
            self.expect(Sign::Colon)?;
            tests.push((last, then, position));
            last = self.any()?;
        }
        for (test, then, position) in tests.into_iter().rev() {
            last = self.push(
                Expr::Choose {
                    test,
                    then,
                    otherwise: last,
                },
                position,
            )?;
        }
        Ok(last)
    }

    fn any(&mut self) -> Parsed<NodeId> {
        self.chain(Sign::Or, Self::all, Expr::Any)
    }

    fn all(&mut self) -> Parsed<NodeId> {
        self.chain(Sign::And, |parser| parser.binary(0), Expr::All)
    }

    fn chain(
        &mut self,
        sign: Sign,
        part: fn(&mut Self) -> Parsed<NodeId>,
        make: fn(Box<[NodeId]>) -> Expr,
    ) -> Parsed<NodeId> {
        let first = part(self)?;
        let position = self.position();
        if *self.peek() != TokenKind::Sign(sign) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(sign) {
            parts.push(part(self)?);
        }
        for part in &parts {
            self.want_bool(*part, &format!("an operand of `{}`", sign.spelling()))?;
        }
        self.push(make(parts.into()), position)
    }

    /// What the checker of CEL refuses too: an operand that is, say, a string can never be part of a decision.
    fn want_bool(&self, id: NodeId, what: &str) -> Parsed<()> {
        match self.ast.never_bool(id) {
            None => Ok(()),
            Some(kind) => Err(ConditionError::new(
                self.ast.get(id).position,
                format!("{what} is {kind}, which is neither true nor false"),
            )
            .hint("compare it with something")),
        }
    }

    /// Relations, sums and products, by precedence climbing: a level recurses into the levels above it only.
    fn binary(&mut self, level: u8) -> Parsed<NodeId> {
        let mut left = self.unary()?;
        loop {
            let position = self.position();
            let Some((operator, its_level)) = self.binary_operator() else {
                return Ok(left);
            };
            if its_level < level {
                return Ok(left);
            }
            self.at += 1;
            let right = self.binary(its_level + 1)?;
            left = self.push(
                Expr::Binary {
                    operator,
                    left,
                    right,
                },
                position,
            )?;
        }
    }

    fn binary_operator(&self) -> Option<(Binary, u8)> {
        Some(match self.peek() {
            TokenKind::Identifier(name) if &**name == "in" => (Binary::In, 0),
            TokenKind::Sign(sign) => match sign {
                Sign::Equal => (Binary::Equal, 0),
                Sign::NotEqual => (Binary::NotEqual, 0),
                Sign::Less => (Binary::Less, 0),
                Sign::LessEqual => (Binary::LessEqual, 0),
                Sign::Greater => (Binary::Greater, 0),
                Sign::GreaterEqual => (Binary::GreaterEqual, 0),
                Sign::Plus => (Binary::Add, 1),
                Sign::Minus => (Binary::Subtract, 1),
                Sign::Star => (Binary::Multiply, 2),
                Sign::Slash => (Binary::Divide, 2),
                Sign::Percent => (Binary::Remainder, 2),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn unary(&mut self) -> Parsed<NodeId> {
        let position = self.position();
        let sign = match self.peek() {
            TokenKind::Sign(sign @ (Sign::Not | Sign::Minus)) => *sign,
            _ => return self.member(),
        };
        let mut times = 0_u32;
        while self.eat(sign) {
            times += 1;
        }
        if sign == Sign::Not {
            let of = self.member()?;
            self.want_bool(of, "the operand of `!`")?;
            return self.push(Expr::Not { of, times }, position);
        }
        // A minus sign belongs to the literal after it: otherwise the smallest integer could not be written.
        let of = match self.peek() {
            TokenKind::Int(value) => {
                let value = self.negative(*value)?;
                self.at += 1;
                times -= 1;
                let id = self.push(Expr::Int(value), position)?;
                self.member_of(id)?
            }
            TokenKind::Double(value) => {
                self.at += 1;
                times -= 1;
                let id = self.push(Expr::Double(-value), position)?;
                self.member_of(id)?
            }
            _ => self.member()?,
        };
        if times == 0 {
            Ok(of)
        } else {
            self.push(Expr::Negate { of, times }, position)
        }
    }

    fn negative(&self, value: u64) -> Parsed<i64> {
        0_i64.checked_sub_unsigned(value).ok_or_else(|| {
            ConditionError::new(self.position(), format!("-{value} does not fit into 64 bits"))
        })
    }

    fn member(&mut self) -> Parsed<NodeId> {
        let id = self.primary()?;
        self.member_of(id)
    }

    /// `.field`, `[index]` and `.call(…)` after an expression.
    fn member_of(&mut self, mut of: NodeId) -> Parsed<NodeId> {
        loop {
            let position = self.position();
            if self.eat(Sign::OpenBracket) {
                if *self.peek() == TokenKind::Sign(Sign::Question) {
                    return Err(self
                        .unexpected("an index")
                        .hint("optional values do not exist here; use has()"));
                }
                let at = self.expression()?;
                self.expect(Sign::CloseBracket)?;
                of = self.push(Expr::Index { of, at }, position)?;
            } else if self.eat(Sign::Dot) {
                let position = self.position();
                let field: Box<str> = match self.peek() {
                    TokenKind::Identifier(name) if !matches!(&**name, "in" | "true" | "false" | "null") => {
                        name.clone()
                    }
                    TokenKind::Identifier(name) => {
                        return Err(
                            ConditionError::new(position, format!("`{name}` cannot follow a dot"))
                                .hint(format!("write it as an index: [\"{name}\"]")),
                        );
                    }
                    TokenKind::Quoted(name) => name.clone(),
                    TokenKind::Sign(Sign::Question) => {
                        return Err(self
                            .unexpected("a field")
                            .hint("optional values do not exist here; use has()"));
                    }
                    _ => return Err(self.unexpected("a field name")),
                };
                let callable = matches!(self.peek(), TokenKind::Identifier(_));
                self.at += 1;
                if callable && self.eat(Sign::OpenParen) {
                    of = self.member_call(of, &field, position)?;
                } else {
                    of = self.push(Expr::Select { of, field }, position)?;
                }
            } else {
                return Ok(of);
            }
        }
    }

    fn primary(&mut self) -> Parsed<NodeId> {
        let position = self.position();
        let token = self.peek();
        let expr = match token {
            TokenKind::Int(value) => Expr::Int(i64::try_from(*value).map_err(|_| {
                ConditionError::new(position, format!("{value} does not fit into 64 bits"))
                    .hint(format!("write {value}u for an unsigned integer"))
            })?),
            TokenKind::Uint(value) => Expr::Uint(*value),
            TokenKind::Double(value) => Expr::Double(*value),
            TokenKind::String(text) => Expr::String(text.clone()),
            TokenKind::Bytes(bytes) => Expr::Bytes(bytes.clone()),
            TokenKind::Identifier(name) => {
                self.at += 1;
                if self.eat(Sign::OpenParen) {
                    return self.global_call(name, position);
                }
                return self.name(name, position);
            }
            TokenKind::Sign(Sign::Dot) => {
                self.at += 1;
                return match self.peek() {
                    TokenKind::Identifier(name) => {
                        self.at += 1;
                        self.name(name, position)
                    }
                    _ => Err(self.unexpected("a variable")),
                };
            }
            TokenKind::Sign(Sign::OpenParen) => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(Sign::CloseParen)?;
                return Ok(inner);
            }
            TokenKind::Sign(Sign::OpenBracket) => {
                self.at += 1;
                let items = self.list(Sign::CloseBracket, Self::expression)?;
                return self.push(Expr::List(items.into()), position);
            }
            TokenKind::Sign(Sign::OpenBrace) => {
                self.at += 1;
                let entries = self.list(Sign::CloseBrace, |parser| {
                    let key = parser.expression()?;
                    parser.expect(Sign::Colon)?;
                    Ok((key, parser.expression()?))
                })?;
                return self.push(Expr::Map(entries.into()), position);
            }
            TokenKind::Quoted(_) | TokenKind::Sign(_) | TokenKind::End => {
                return Err(self.unexpected("a value"));
            }
        };
        self.at += 1;
        self.push(expr, position)
    }

    /// Comma-separated parts up to `close`; one comma may follow the last part.
    fn list<T>(&mut self, close: Sign, part: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut parts = Vec::new();
        loop {
            if self.eat(close) {
                return Ok(parts);
            }
            parts.push(part(self)?);
            if !self.eat(Sign::Comma) {
                self.expect(close)?;
                return Ok(parts);
            }
        }
    }

    fn name(&mut self, name: &str, position: Position) -> Parsed<NodeId> {
        let expr = match name {
            "true" => Expr::Bool(true),
            "false" => Expr::Bool(false),
            "null" => Expr::Null,
            _ if self.locals.last().is_some_and(|local| &**local == name) => Expr::Local,
            _ => match Variable::parse(name) {
                Some(variable) if self.variables.contains(variable) => Expr::Variable(variable),
                Some(variable) => {
                    return Err(ConditionError::new(
                        position,
                        format!(
                            "`{}` has no value where this condition is evaluated",
                            variable.name()
                        ),
                    )
                    .hint(format!("it can use {}", self.known_variables())));
                }
                None => match ValueKind::parse(name) {
                    Some(kind) => Expr::Type(kind),
                    None => return Err(self.unknown_name(name, position)),
                },
            },
        };
        self.push(expr, position)
    }

    fn known_variables(&self) -> String {
        let names: Vec<_> = self
            .variables
            .iter()
            .map(|variable| format!("`{}`", variable.name()))
            .collect();
        names.join(", ")
    }

    fn unknown_name(&self, name: &str, position: Position) -> ConditionError {
        if RESERVED.contains(&name) {
            return ConditionError::new(position, format!("`{name}` is a reserved word"));
        }
        let error = ConditionError::new(position, format!("unknown variable `{name}`"));
        let known = self
            .variables
            .iter()
            .map(|variable| -> &str { variable.name() })
            .chain(self.locals.last().map(|local| &**local));
        match mizzen_json::nearest(name, known) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("a condition can use {}", self.known_variables())),
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<NodeId>> {
        let arguments = self.list(Sign::CloseParen, Self::expression)?;
        // The grammar allows a comma after the last part of a list or map, not of a call.
        let before = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        match before {
            Some(Token {
                kind: TokenKind::Sign(Sign::Comma),
                position,
            }) => Err(ConditionError::new(
                *position,
                "a call has a comma after its last argument",
            )),
            _ => Ok(arguments),
        }
    }

    fn global_call(&mut self, name: &str, position: Position) -> Parsed<NodeId> {
        let arguments = self.arguments()?;
        if name == "has" {
            return self.has(&arguments, position);
        }
        if Comprehension::parse(name).is_some() {
            return Err(
                ConditionError::new(position, format!("`{name}` is called on a list or map"))
                    .hint(format!("write `steps.{name}(step, …)`")),
            );
        }
        self.call(name, Style::Global, arguments, position)
    }

    fn has(&mut self, arguments: &[NodeId], position: Position) -> Parsed<NodeId> {
        let selected = match arguments {
            [one] => match &self.ast.get(*one).expr {
                Expr::Select { of, field } => Some((*of, field.clone())),
                _ => None,
            },
            _ => None,
        };
        match selected {
            Some((of, field)) => self.push(Expr::Has { of, field }, position),
            None => Err(ConditionError::new(position, "has() takes one field selection")
                .hint("write `has(output.field)`; for other keys, `\"odd name\" in output`")),
        }
    }

    fn member_call(&mut self, of: NodeId, name: &str, position: Position) -> Parsed<NodeId> {
        if let Some(kind) = Comprehension::parse(name) {
            return self.comprehension(kind, of, name, position);
        }
        let mut arguments = vec![of];
        arguments.extend(self.arguments()?);
        self.call(name, Style::Member, arguments, position)
    }

    fn call(
        &mut self,
        name: &str,
        style: Style,
        arguments: Vec<NodeId>,
        position: Position,
    ) -> Parsed<NodeId> {
        let function = Function::resolve(name, style, arguments.len()).map_err(|why| match why {
            Unresolved::Name => unknown_function(name, position),
            Unresolved::Style(Style::Global) => {
                ConditionError::new(position, format!("`{name}` is not called on a value"))
                    .hint(format!("write `{name}(value)`"))
            }
            Unresolved::Style(Style::Member) => {
                ConditionError::new(position, format!("`{name}` is called on a value"))
                    .hint(format!("write `text.{name}(other)`"))
            }
            Unresolved::Arity(wanted) => {
                ConditionError::new(position, format!("`{name}` takes {wanted} argument(s) here"))
            }
        })?;
        if function == Function::Matches
            && let [of, pattern] = *arguments
            && let Expr::String(text) = &self.ast.get(pattern).expr
        {
            let pattern = Pattern::compile(text)
                .map_err(|message| ConditionError::new(self.ast.get(pattern).position, message))?;
            return self.push(
                Expr::Matches {
                    of,
                    pattern: Box::new(pattern),
                },
                position,
            );
        }
        self.push(
            Expr::Call {
                function,
                arguments: arguments.into(),
            },
            position,
        )
    }

    /// `range.all(x, body)` and its relatives; the opening parenthesis is behind us.
    fn comprehension(
        &mut self,
        kind: Comprehension,
        range: NodeId,
        name: &str,
        position: Position,
    ) -> Parsed<NodeId> {
        if self.locals.len() >= self.limits.comprehensions {
            return Err(ConditionError::new(
                position,
                format!("`{name}` stands inside another comprehension"),
            )
            .hint("filter first: `list.filter(x, …).all(y, …)`"));
        }
        let local = match self.peek() {
            TokenKind::Identifier(local)
                if !RESERVED.contains(&&**local) && ValueKind::parse(local).is_none() =>
            {
                local.clone()
            }
            _ => {
                return Err(self
                    .unexpected("a variable name")
                    .hint(format!("write `{name}(x, …)`, where x stands for each element")));
            }
        };
        self.at += 1;
        self.expect(Sign::Comma)?;
        self.locals.push(local);
        let first = self.expression()?;
        let second = if kind == Comprehension::Map && self.eat(Sign::Comma) {
            Some(self.expression()?)
        } else {
            None
        };
        self.locals.pop();
        self.expect(Sign::CloseParen)?;
        let (filter, body) = match second {
            Some(body) => (Some(first), body),
            None => (None, first),
        };
        let decides = if kind == Comprehension::Map {
            filter
        } else {
            Some(body)
        };
        if let Some(decides) = decides {
            self.want_bool(decides, &format!("the test of `{name}`"))?;
        }
        self.push(
            Expr::Comprehension {
                kind,
                range,
                filter,
                body,
            },
            position,
        )
    }
}
