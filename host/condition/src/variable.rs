//! The variables that a condition can name, and the values they have at one moment of a run.

use serde_json::Value;

/// A variable of D2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// What the chain was started with.
    Input,
    /// What happened so far: a list, one entry per step.
    Steps,
    /// The output of the step that ended last.
    Output,
    /// The error that `on_error` gates decide about.
    Error,
    /// The chain: its id, name, steps.
    Chain,
    /// The council: its id, domain, sprites.
    Council,
}

impl Variable {
    /// Every variable, in the order in which help texts list them.
    pub const ALL: [Self; 6] = [
        Self::Input,
        Self::Steps,
        Self::Output,
        Self::Error,
        Self::Chain,
        Self::Council,
    ];

    /// Its name in a condition.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Steps => "steps",
            Self::Output => "output",
            Self::Error => "error",
            Self::Chain => "chain",
            Self::Council => "council",
        }
    }

    /// The variable of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variable| variable.name() == name)
    }
}

/// Which variables a condition may use. A rule runs before the first step, so it has no `output` to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variables(&'static [Variable]);

impl Variables {
    /// What a gate can look at (D2).
    pub const GATE: Self = Self(&Variable::ALL);
    /// What a rule can look at (D5): what is known before an execution starts.
    pub const RULE: Self = Self(&[Variable::Input, Variable::Chain, Variable::Council]);

    /// Whether the variable may be used.
    #[must_use]
    pub fn contains(self, variable: Variable) -> bool {
        self.0.contains(&variable)
    }

    /// The variables, in order.
    pub fn iter(self) -> impl Iterator<Item = Variable> {
        self.0.iter().copied()
    }
}

/// The values of the variables at one moment. It borrows: an evaluation never copies the run's documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    values: [Option<&'a Value>; Variable::ALL.len()],
}

impl<'a> Context<'a> {
    /// A context in which no variable has a value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same context, with a value for one variable.
    #[must_use]
    pub fn with(mut self, variable: Variable, value: &'a Value) -> Self {
        if let Some(slot) = self.values.get_mut(variable as usize) {
            *slot = Some(value);
        }
        self
    }

    /// The value, if the variable has one now.
    #[must_use]
    pub fn get(&self, variable: Variable) -> Option<&'a Value> {
        self.values.get(variable as usize).copied().flatten()
    }
}
