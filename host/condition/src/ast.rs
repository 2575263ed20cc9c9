//! The syntax tree of a condition: nodes in one vector, names already resolved, so that evaluation looks nothing up.

use super::error::Position;
use super::function::Function;
use super::pattern::Pattern;
use super::value::ValueKind;
use super::variable::Variable;

/// Which node. Ids are made by [`Ast::push`] only, and children are always older than their parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) expr: Expr,
    pub(crate) position: Position,
}

#[derive(Debug, Clone)]
pub(crate) enum Expr {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Box<str>),
    Bytes(Box<[u8]>),
    /// A type as a value, such as `int` in `type(x) == int`.
    Type(ValueKind),
    Variable(Variable),
    /// The variable of the comprehension around it; there is one level only, so there is one slot.
    Local,
    Select {
        of: NodeId,
        field: Box<str>,
    },
    Has {
        of: NodeId,
        field: Box<str>,
    },
    Index {
        of: NodeId,
        at: NodeId,
    },
    List(Box<[NodeId]>),
    Map(Box<[(NodeId, NodeId)]>),
    /// `!` several times: the type is checked even where two of them cancel out.
    Not {
        of: NodeId,
        times: u32,
    },
    Negate {
        of: NodeId,
        times: u32,
    },
    Binary {
        operator: Binary,
        left: NodeId,
        right: NodeId,
    },
    /// `a && b && …`, flat, so that a long chain is not a deep tree.
    All(Box<[NodeId]>),
    /// `a || b || …`.
    Any(Box<[NodeId]>),
    Choose {
        test: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    Call {
        function: Function,
        arguments: Box<[NodeId]>,
    },
    /// `matches` with a literal pattern, compiled once.
    Matches {
        of: NodeId,
        pattern: Box<Pattern>,
    },
    Comprehension {
        kind: Comprehension,
        range: NodeId,
        filter: Option<NodeId>,
        body: NodeId,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
}

impl Binary {
    pub(crate) fn spelling(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
        }
    }

    pub(crate) fn is_relation(self) -> bool {
        !matches!(
            self,
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comprehension {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

impl Comprehension {
    pub(crate) const NAMES: [(&'static str, Self); 5] = [
        ("all", Self::All),
        ("exists", Self::Exists),
        ("exists_one", Self::ExistsOne),
        ("filter", Self::Filter),
        ("map", Self::Map),
    ];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| *kind)
    }
}

/// The tree. Several expressions of one rule share it, and so share the bound on nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ast {
    nodes: Vec<Node>,
}

impl Ast {
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    pub(crate) fn push(&mut self, expr: Expr, position: Position) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { expr, position });
        id
    }

    pub(crate) fn get(&self, id: NodeId) -> &Node {
        /// Stands in for an id of another tree, which nothing makes; it evaluates to null, and so to an error.
        static NOWHERE: Node = Node {
            expr: Expr::Null,
            position: Position::START,
        };
        self.nodes.get(id.0 as usize).unwrap_or(&NOWHERE)
    }

    /// Whether the expression can never be a boolean, and what it is instead.
    pub(crate) fn never_bool(&self, id: NodeId) -> Option<&'static str> {
        match &self.get(id).expr {
            Expr::Null => Some("null"),
            Expr::Int(_) | Expr::Uint(_) | Expr::Double(_) | Expr::Negate { .. } => Some("a number"),
            Expr::String(_) => Some("a string"),
            Expr::Bytes(_) => Some("bytes"),
            Expr::Type(_) => Some("a type"),
            Expr::List(_) => Some("a list"),
            Expr::Map(_) => Some("a map"),
            Expr::Binary { operator, .. } if !operator.is_relation() => Some(if *operator == Binary::Add {
                "a sum"
            } else {
                "a number"
            }),
            Expr::Call { function, .. } => function.never_bool(),
            Expr::Comprehension {
                kind: Comprehension::Filter | Comprehension::Map,
                ..
            } => Some("a list"),
            _ => None,
        }
    }
}
