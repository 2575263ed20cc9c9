//! What one evaluation may use. Every bound is an error when it is reached.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// The bounds of one evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Match operations: a fact looked at by a pattern, a step of a join, a part of an expression.
    pub operations: u64,
    /// Facts at the same time.
    pub facts: usize,
    /// Assert and retract cycles: how many firings may lead from one to the next.
    pub cycles: u32,
    /// Activations that wait or have fired.
    pub activations: usize,
    /// Matches at the same time: of facts with patterns, and of several facts with the first conditions of a rule.
    pub matches: usize,
    /// Bytes of text and values in facts, and what patterns remember of them.
    pub memory: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            operations: 1_000_000,
            facts: 10_000,
            cycles: 64,
            activations: 40_000,
            matches: 100_000,
            memory: 24 * 1024 * 1024,
        }
    }
}

/// Which bound was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// Too many match operations.
    Operations(u64),
    /// Too many facts.
    Facts(usize),
    /// Too long a chain of firings.
    Cycles(u32),
    /// Too many activations.
    Activations(usize),
    /// Too many matches.
    Matches(usize),
    /// Too much memory.
    Memory(usize),
    /// A text that a function makes is too long, in bytes.
    Text(usize),
    /// A fact has too many values.
    Values(usize),
    /// A regular expression that facts bring is too large, in bytes of its program.
    Pattern(usize),
    /// A fact's text is nested too deep.
    Nesting(usize),
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operations(limit) => write!(
                f,
                "the rules need more than the budget of {limit} match operations; join patterns by shared variables"
            ),
            Self::Facts(limit) => write!(f, "there are more than the budget of {limit} facts"),
            Self::Cycles(limit) => write!(
                f,
                "firings led to each other more than the budget of {limit} times; does a rule assert what it matches?"
            ),
            Self::Activations(limit) => write!(f, "the rules match more than the budget of {limit} times"),
            Self::Matches(limit) => write!(
                f,
                "the facts match patterns in more ways than the budget of {limit}; does a pattern with two `$?` look at long facts?"
            ),
            Self::Memory(limit) => write!(f, "the facts need more than the budget of {limit} bytes"),
            Self::Text(limit) => write!(
                f,
                "a rule makes a text of more than the budget of {limit} bytes; does it take its own text again?"
            ),
            Self::Values(limit) => write!(
                f,
                "a rule makes a fact of more than the budget of {limit} values; does it take its own values again?"
            ),
            Self::Pattern(limit) => write!(
                f,
                "a regular expression needs more than the budget of {limit} bytes, or is nested too deep"
            ),
            Self::Nesting(limit) => write!(f, "a fact is nested deeper than the budget of {limit}"),
        }
    }
}

impl std::error::Error for Exhausted {}

/// Patterns that the alternatives of all rules of a text have together. Each is remembered by itself, a kilobyte or more.
const PATTERNS: usize = 10_000;
/// Bytes of all regular expressions of a text.
const EXPRESSIONS: usize = 4 * 1024 * 1024;

/// What a rule file needs as a whole: each of its parts may be small, and there can be very many. Copies count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    patterns: Rc<Cell<usize>>,
    expressions: Rc<Cell<usize>>,
}

impl Room {
    /// Takes room for one more pattern; the budget where there is none.
    pub(crate) fn take_pattern(&self) -> Result<(), usize> {
        take(&self.patterns, 1, PATTERNS)
    }

    /// Takes room for a regular expression of that many bytes; the budget where there is none.
    pub(crate) fn take_expression(&self, bytes: usize) -> Result<(), usize> {
        take(&self.expressions, bytes, EXPRESSIONS)
    }
}

fn take(taken: &Cell<usize>, more: usize, most: usize) -> Result<(), usize> {
    taken.set(taken.get().saturating_add(more));
    match taken.get() > most {
        true => Err(most),
        false => Ok(()),
    }
}

/// What is left of a budget.
#[derive(Debug, Clone)]
pub(crate) struct Meter {
    pub(crate) budget: Budget,
    operations: u64,
    memory: usize,
    matches: usize,
}

impl Meter {
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            budget,
            operations: budget.operations,
            memory: budget.memory,
            matches: budget.matches,
        }
    }

    /// One more match, of that many bytes.
    pub(crate) fn add_match(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.matches = self
            .matches
            .checked_sub(1)
            .ok_or(Exhausted::Matches(self.budget.matches))?;
        self.reserve(bytes)
    }

    /// One match less.
    pub(crate) fn drop_match(&mut self, bytes: usize) {
        self.matches = (self.matches + 1).min(self.budget.matches);
        self.release(bytes);
    }

    pub(crate) fn spend(&mut self, operations: u64) -> Result<(), Exhausted> {
        match self.operations.checked_sub(operations) {
            Some(left) => {
                self.operations = left;
                Ok(())
            }
            None => {
                self.operations = 0;
                Err(Exhausted::Operations(self.budget.operations))
            }
        }
    }

    pub(crate) fn refill(&mut self, operations: u64) {
        self.budget.operations = operations;
        self.operations = operations;
    }

    /// The price of touching that many bytes.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.spend(u64::try_from(bytes / 16).unwrap_or(u64::MAX))
    }

    pub(crate) fn used(&self) -> u64 {
        self.budget.operations.saturating_sub(self.operations)
    }

    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.memory = self
            .memory
            .checked_sub(bytes)
            .ok_or(Exhausted::Memory(self.budget.memory))?;
        Ok(())
    }

    pub(crate) fn release(&mut self, bytes: usize) {
        self.memory = self.memory.saturating_add(bytes).min(self.budget.memory);
    }
}
