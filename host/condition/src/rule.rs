//! Rule conditions (D5): YAML around CEL. A scalar is an expression; a mapping combines with `all`, `any` and `not`,
//! and several of these keys in one mapping must all hold. Events of the YAML parser are folded with an explicit stack;
//! anchors, aliases, tags and further documents are refused, so nothing can multiply.

use super::ast::{Ast, Expr, NodeId};
use super::error::{ConditionError, Position};
use super::lexer::{self, Count};
use super::limits::ConditionLimits;
use super::parser;
use super::variable::Variables;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

/// Why the text is no YAML condition, and whether it was YAML that was meant.
pub(crate) struct Refusal {
    pub(crate) error: ConditionError,
    pub(crate) meant_yaml: bool,
}

/// Compiles the YAML `text` into `ast`.
pub(crate) fn compile(
    text: &str,
    ast: &mut Ast,
    variables: Variables,
    limits: ConditionLimits,
) -> Result<NodeId, Refusal> {
    let mut builder = Builder {
        ast,
        variables,
        limits,
        count: Count::default(),
        frames: Vec::new(),
        root: None,
        documents: 0,
        meant_yaml: false,
        flow: text.trim_start().starts_with(['[', '{']),
    };
    let result = builder.read(text);
    result.map_err(|error| Refusal {
        error,
        meant_yaml: builder.meant_yaml,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combinator {
    All,
    Any,
    Not,
}

impl Combinator {
    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Any => "any",
            Self::Not => "not",
        }
    }
}

enum Frame {
    Mapping {
        key: Option<Combinator>,
        seen: Vec<Combinator>,
        parts: Vec<NodeId>,
        position: Position,
    },
    Sequence {
        combinator: Combinator,
        items: Vec<NodeId>,
        position: Position,
    },
}

/// What kind of YAML a finished condition was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Scalar,
    Sequence,
    Mapping,
}

/// Makes the node that combines conditions.
type Make = fn(Box<[NodeId]>) -> Expr;

struct Builder<'a> {
    ast: &'a mut Ast,
    variables: Variables,
    limits: ConditionLimits,
    count: Count,
    frames: Vec<Frame>,
    root: Option<NodeId>,
    documents: usize,
    meant_yaml: bool,
    /// Whether the text starts with a bracket, which begins values of CEL too.
    flow: bool,
}

impl Builder<'_> {
    fn read(&mut self, text: &str) -> Result<NodeId, ConditionError> {
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| {
                ConditionError::new(
                    position_of(*error.marker()),
                    format!("the YAML is broken: {}", error.info()),
                )
                .hint("put the expression into a block: `|` and the expression on the next line")
            })?;
            self.event(event, span)?;
        }
        self.root
            .ok_or_else(|| ConditionError::new(Position::START, "the condition is empty"))
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), ConditionError> {
        let position = position_of(span.start);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(ConditionError::new(position, "a condition is one YAML document"));
                }
                Ok(())
            }
            Event::Alias(_) => {
                self.meant_yaml |= !self.frames.is_empty();
                Err(
                    ConditionError::new(position, "aliases are not allowed in a condition")
                        .hint("quote an expression that starts with `*` or `&`"),
                )
            }
            Event::Scalar(_, _, anchor, tag) if anchor != 0 || tag.is_some() => Err(self.marked(position)),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag)
                if anchor != 0 || tag.is_some() =>
            {
                Err(self.marked(position))
            }
            Event::Scalar(text, style, ..) => self.scalar(&text, style, position),
            Event::SequenceStart(..) => self.sequence(position),
            Event::MappingStart(..) => self.mapping(position),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
        }
    }

    fn marked(&mut self, position: Position) -> ConditionError {
        self.meant_yaml |= !self.frames.is_empty();
        ConditionError::new(position, "YAML tags and anchors are not allowed in a condition")
            .hint("quote an expression that starts with `!` or `&`: '!has(input.x)'")
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, position: Position) -> Result<(), ConditionError> {
        if let Some(Frame::Mapping {
            key: key @ None,
            seen,
            ..
        }) = self.frames.last_mut()
        {
            let combinator = match text {
                "all" => Combinator::All,
                "any" => Combinator::Any,
                "not" => Combinator::Not,
                other => {
                    let name: String = other.chars().take(40).collect();
                    return Err(ConditionError::new(position, format!("`{name}` does not combine conditions"))
                        .hint("a mapping has the keys `all`, `any` and `not`; quote an expression that contains `: `"));
                }
            };
            self.meant_yaml = true;
            if seen.contains(&combinator) {
                return Err(ConditionError::new(position, format!("`{text}` is there twice")));
            }
            seen.push(combinator);
            *key = Some(combinator);
            return Ok(());
        }
        self.meant_yaml |= style != ScalarStyle::Plain;
        let start = match style {
            ScalarStyle::Plain => position,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Position {
                column: position.column.saturating_add(1),
                ..position
            },
            ScalarStyle::Literal | ScalarStyle::Folded => Position {
                line: position.line.saturating_add(1),
                column: 1,
            },
        };
        self.count.nesting = self.frames.len();
        let tokens = lexer::tokens(text, start, self.limits, &mut self.count)?;
        let node = parser::parse(&tokens, self.ast, self.variables, self.limits)?;
        want_bool(self.ast, node)?;
        self.deliver(node, From::Scalar, position)
    }

    fn sequence(&mut self, position: Position) -> Result<(), ConditionError> {
        let combinator = match self.frames.last() {
            Some(Frame::Mapping {
                key: Some(combinator @ (Combinator::All | Combinator::Any)),
                ..
            }) => *combinator,
            Some(Frame::Mapping {
                key: Some(Combinator::Not),
                ..
            }) => {
                return Err(ConditionError::new(position, "`not` takes one condition")
                    .hint("write `not: {any: [ … ]}`"));
            }
            Some(Frame::Mapping { key: None, .. }) => {
                return Err(ConditionError::new(position, "a list cannot be a key"));
            }
            Some(Frame::Sequence { .. }) | None => {
                // `[1, 2].exists(…)` starts like a list of YAML; only a dash can mean nothing else.
                self.meant_yaml |= !self.flow;
                return Err(
                    ConditionError::new(position, "a list does not say how its conditions combine")
                        .hint("put it under `all:` or `any:`"),
                );
            }
        };
        self.push(
            Frame::Sequence {
                combinator,
                items: Vec::new(),
                position,
            },
            position,
        )
    }

    fn mapping(&mut self, position: Position) -> Result<(), ConditionError> {
        match self.frames.last() {
            Some(Frame::Mapping { key: None, .. }) => {
                return Err(ConditionError::new(position, "a mapping cannot be a key"));
            }
            Some(Frame::Mapping {
                key: Some(combinator @ (Combinator::All | Combinator::Any)),
                ..
            }) => {
                return Err(ConditionError::new(
                    position,
                    format!("`{}` takes a list", combinator.name()),
                ));
            }
            _ => {}
        }
        self.push(
            Frame::Mapping {
                key: None,
                seen: Vec::new(),
                parts: Vec::new(),
                position,
            },
            position,
        )
    }

    fn push(&mut self, frame: Frame, position: Position) -> Result<(), ConditionError> {
        if self.frames.len() >= self.limits.nesting {
            return Err(ConditionError::new(
                position,
                format!("conditions are nested deeper than {}", self.limits.nesting),
            ));
        }
        self.frames.push(frame);
        Ok(())
    }

    fn end(&mut self) -> Result<(), ConditionError> {
        let (parts, make, from, position): (_, Make, _, _) = match self.frames.pop() {
            None => return Ok(()),
            Some(Frame::Mapping { parts, position, .. }) => (parts, Expr::All, From::Mapping, position),
            Some(Frame::Sequence {
                combinator: Combinator::Any,
                items,
                position,
            }) => (items, Expr::Any, From::Sequence, position),
            Some(Frame::Sequence { items, position, .. }) => (items, Expr::All, From::Sequence, position),
        };
        let node = match *parts {
            [] => {
                return Err(ConditionError::new(position, "there is no condition in it")
                    .hint("an empty list would always or never match; write `true` or `false`"));
            }
            [only] => only,
            _ => self.add(make(parts.into()), position)?,
        };
        self.deliver(node, from, position)
    }

    fn deliver(&mut self, node: NodeId, from: From, position: Position) -> Result<(), ConditionError> {
        match self.frames.last_mut() {
            None => {
                self.root = Some(node);
                Ok(())
            }
            Some(Frame::Sequence { items, .. }) => {
                items.push(node);
                Ok(())
            }
            Some(Frame::Mapping { key, parts, .. }) => match key.take() {
                Some(Combinator::Not) => {
                    let negated = self.add(Expr::Not { of: node, times: 1 }, position)?;
                    if let Some(Frame::Mapping { parts, .. }) = self.frames.last_mut() {
                        parts.push(negated);
                    }
                    Ok(())
                }
                Some(_) if from == From::Sequence => {
                    parts.push(node);
                    Ok(())
                }
                Some(combinator) => {
                    Err(
                        ConditionError::new(position, format!("`{}` takes a list", combinator.name())).hint(
                            format!("write `{}:` and one `- condition` per line", combinator.name()),
                        ),
                    )
                }
                None => Err(ConditionError::new(position, "a condition cannot be a key")),
            },
        }
    }

    fn add(&mut self, expr: Expr, position: Position) -> Result<NodeId, ConditionError> {
        if self.ast.len() >= self.limits.nodes {
            return Err(ConditionError::new(
                position,
                format!("the condition has more than {} parts", self.limits.nodes),
            ));
        }
        Ok(self.ast.push(expr, position))
    }
}

/// A condition decides; an expression that can only be a number, a text or the like is a mistake.
pub(crate) fn want_bool(ast: &Ast, node: NodeId) -> Result<(), ConditionError> {
    match ast.never_bool(node) {
        None => Ok(()),
        Some(kind) => Err(ConditionError::new(
            ast.get(node).position,
            format!("the condition is {kind}, which is neither true nor false"),
        )
        .hint("compare it with something, such as `output.confidence >= 0.85`")),
    }
}

/// Marks count lines from one and columns from zero.
fn position_of(mark: Marker) -> Position {
    Position {
        line: u32::try_from(mark.line()).unwrap_or(u32::MAX),
        column: u32::try_from(mark.col()).unwrap_or(u32::MAX).saturating_add(1),
    }
}
