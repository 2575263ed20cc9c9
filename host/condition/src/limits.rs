//! Bounds on the text of a condition and on one evaluation.

use super::error::{EvalError, EvalErrorKind};

/// How large a condition may be. Every bound is checked before the parser or the evaluator could feel it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConditionLimits {
    /// Characters of the whole text.
    pub characters: usize,
    /// Operators, counted by the scan before parsing.
    pub operators: usize,
    /// Depth of brackets of any kind.
    pub nesting: usize,
    /// Nodes of the syntax tree.
    pub nodes: usize,
    /// Depth of `all`, `exists`, `exists_one`, `filter` and `map` inside each other.
    pub comprehensions: usize,
}

impl ConditionLimits {
    /// A gate's condition: 2,048 characters.
    pub const GATE: Self = Self {
        characters: 2048,
        operators: 256,
        nesting: 32,
        nodes: 512,
        comprehensions: 1,
    };
    /// A rule's condition: 4,096 characters, whatever YAML is around the expressions.
    pub const RULE: Self = Self {
        characters: 4096,
        ..Self::GATE
    };
}

/// The budget of one evaluation: about one unit per node, per element and per ten characters touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fuel {
    given: u64,
    left: u64,
}

impl Fuel {
    /// What an evaluation gets unless somebody says otherwise.
    pub const DEFAULT: u64 = 100_000;

    /// A full budget of `units`.
    #[must_use]
    pub fn new(units: u64) -> Self {
        Self {
            given: units,
            left: units,
        }
    }

    /// What has been spent of it.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.given.saturating_sub(self.left)
    }

    pub(crate) fn spend(&mut self, units: u64) -> Result<(), EvalError> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(EvalError::new(
                    EvalErrorKind::OutOfFuel,
                    format!("the condition needs more than its budget of {} units", self.given),
                ))
            }
        }
    }

    /// The price of looking at `bytes` of text or copying them.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.spend(u64::try_from(bytes / 10).unwrap_or(u64::MAX))
    }

    /// The price of touching `elements` of a list or map.
    pub(crate) fn spend_elements(&mut self, elements: usize) -> Result<(), EvalError> {
        self.spend(u64::try_from(elements).unwrap_or(u64::MAX))
    }
}

impl Default for Fuel {
    fn default() -> Self {
        Self::new(Self::DEFAULT)
    }
}
