//! The network: which steps a fact goes through to match a pattern, and which joins a match goes through to become one of a rule.
//!
//! It is Rete as CLIPS builds it: what rules begin with in common is there once, what is added later is visited first. Rules fire
//! in the order in which their matches are found, so the order here is part of what a program means. The network does not change
//! after the program is read; what it remembers is in the session.

mod build;

use crate::condition::Sense;
use crate::fact::Map;
use crate::pattern::{Length, StepKind};
use crate::place::{Getter, Place};
use crate::rule::Test;
use crate::value::Value;

/// Which step of the network.
pub(crate) type NodeId = usize;
/// Which join.
pub(crate) type JoinId = usize;
/// Which memory of facts that match a pattern.
pub(crate) type AlphaId = usize;

/// What a node looks at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeTest {
    All(Vec<Test>),
    /// The value of this place leads to one of the nodes below.
    Select(Getter),
    /// The value that leads here.
    Value(Value),
}

/// A step that patterns share.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: StepKind,
    pub(crate) slot: usize,
    field: usize,
    ends_slot: bool,
    pub(crate) length: Option<Length>,
    pub(crate) test: NodeTest,
    /// Where a pattern ends here: the values by which its matches are found.
    key: Vec<Getter>,
    /// The latest comes last, and is visited first.
    pub(crate) below: Vec<NodeId>,
    /// Where a pattern ends here.
    pub(crate) alpha: Option<AlphaId>,
}

impl Node {
    /// How many fields stand before it in its slot, where no `$?` does.
    pub(crate) fn before(&self) -> usize {
        self.field.saturating_sub(1)
    }
}

/// A pattern of which matches are remembered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alpha {
    pub(crate) key: Vec<Getter>,
    /// The joins that its matches enter. The latest comes last, and is entered first.
    pub(crate) joins: Vec<JoinId>,
}

/// From which side a match enters a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Left,
    Right,
}

/// What enters a join from the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Nothing: a test alone, or the end of a rule.
    Nothing,
    Facts(AlphaId),
    /// Matches of a group.
    Group(JoinId),
}

/// Where what enters from the left meets what enters from the right.
#[derive(Debug, Clone)]
pub(crate) struct Join {
    /// Nothing enters from the left.
    pub(crate) is_first: bool,
    pub(crate) input: Input,
    pub(crate) sense: Sense,
    pub(crate) tests: Vec<Test>,
    pub(crate) after: Vec<Test>,
    pub(crate) left_key: Vec<Place>,
    pub(crate) right_key: Vec<Place>,
    /// How many conditions a match has that enters from the left.
    pub(crate) left_length: usize,
    /// How many a match of the group has that enters from the right.
    pub(crate) right_length: usize,
    /// In the order in which a match goes on to them.
    pub(crate) next: Vec<(JoinId, Entry)>,
    /// The last join of an alternative of a rule.
    pub(crate) ends: Option<BranchId>,
}

impl Join {
    /// Whether what enters from the right stands in the way of what enters from the left.
    pub(crate) fn is_blocked_from_right(&self) -> bool {
        self.sense == Sense::Negated
    }

    /// Whether it needs a match from the left to begin with, although nothing enters there.
    pub(crate) fn has_beginning(&self) -> bool {
        self.is_first && self.sense != Sense::Positive
    }
}

/// Which alternative of which rule.
pub(crate) type BranchId = usize;

/// An alternative of a rule in the network.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub(crate) rule: usize,
    pub(crate) branch: usize,
    pub(crate) salience: i32,
    /// The joins of its conditions, in order, and the last one.
    pub(crate) path: Vec<JoinId>,
}

/// The whole network of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Network {
    /// By the name of a fact: the first steps, the latest last.
    pub(crate) roots: Map<Box<str>, Vec<NodeId>>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) alphas: Vec<Alpha>,
    pub(crate) joins: Vec<Join>,
    pub(crate) endings: Vec<Ending>,
    /// Joins of rules that begin without a fact, and of rules that begin with `not`; the latest last.
    pub(crate) begin_right: Vec<JoinId>,
    pub(crate) begin_left: Vec<JoinId>,
}
