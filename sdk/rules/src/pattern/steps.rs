//! The steps of a pattern: what the network looks at, one after another, before a fact matches.
//!
//! What fits every fact makes no step: a variable, or a `$?` that has its slot for itself.

use crate::place::Getter;
use crate::rule::Test;
use crate::value::Value;

/// What a step looks at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StepTest {
    /// All of them hold.
    All(Vec<Test>),
    /// The place has this value. Steps at the same place are found by it.
    Constant(Getter, Value),
}

/// Whether it is about one field or lays a `$?` over the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepKind {
    Field,
    /// A `$?` of a slot that has another, with the number of fields that are not theirs behind it.
    Span {
        leave: usize,
    },
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) slot: usize,
    /// Which field of the slot, from one; 0 for a slot with one value.
    pub(crate) field: usize,
    /// Whether it is the last step of a slot with several values.
    pub(crate) ends_slot: bool,
    /// How many values the slot must have: exactly, or at least.
    pub(crate) length: Option<Length>,
    pub(crate) test: StepTest,
}

/// How many values a slot must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Exactly(usize),
    AtLeast(usize),
}

impl Length {
    pub(crate) fn fits(self, length: usize) -> bool {
        match self {
            Self::Exactly(wanted) => length == wanted,
            Self::AtLeast(least) => length >= least,
        }
    }
}

impl Step {
    /// The only step of a pattern that every fact of its name matches.
    pub(crate) fn any() -> Self {
        Self {
            kind: StepKind::Field,
            slot: 0,
            field: usize::MAX,
            ends_slot: false,
            length: None,
            test: StepTest::All(Vec::new()),
        }
    }

    /// The step of a slot with one value, where it says anything.
    pub(crate) fn of_slot(
        slot: usize,
        getter: Getter,
        constant: Option<Value>,
        tests: Vec<Test>,
    ) -> Option<Self> {
        let test = test(getter, constant, tests);
        let is_any = matches!(&test, StepTest::All(tests) if tests.is_empty());
        (!is_any).then_some(Self {
            field: 0,
            slot,
            test,
            ..Self::any()
        })
    }
}

fn test(getter: Getter, constant: Option<Value>, tests: Vec<Test>) -> StepTest {
    match constant {
        Some(value) => StepTest::Constant(getter, value),
        None => StepTest::All(tests),
    }
}

/// The steps of a slot with several values.
#[derive(Debug)]
pub(crate) struct SlotSteps {
    slot: usize,
    spans: Vec<bool>,
    steps: Vec<Step>,
}

impl SlotSteps {
    /// For a slot whose items are, or are not, `$?`.
    pub(crate) fn new(slot: usize, spans: Vec<bool>) -> Self {
        Self {
            slot,
            spans,
            steps: Vec::new(),
        }
    }

    /// Takes the next item.
    pub(crate) fn push(&mut self, item: usize, getter: Getter, constant: Option<Value>, tests: Vec<Test>) {
        let spans = self.spans.iter().filter(|span| **span).count();
        let fields = self.spans.len() - spans;
        let length = match spans {
            _ if item > 0 || fields == 0 => None,
            0 => Some(Length::Exactly(fields)),
            _ => Some(Length::AtLeast(fields)),
        };
        let is_span = self.spans.get(item).copied().unwrap_or_default();
        let kind = match is_span && spans > 1 {
            true => StepKind::Span {
                leave: self.spans.iter().skip(item).filter(|span| !**span).count(),
            },
            false => StepKind::Field,
        };
        let test = test(getter, constant, tests);
        let is_any = matches!(&test, StepTest::All(tests) if tests.is_empty());
        if is_any && length.is_none() && kind == StepKind::Field {
            return;
        }
        self.steps.push(Step {
            kind,
            slot: self.slot,
            field: item + 1,
            ends_slot: false,
            length,
            test,
        });
    }

    /// All of them. A slot without items must be empty.
    pub(crate) fn end(mut self) -> Vec<Step> {
        if self.spans.is_empty() {
            return vec![Step {
                slot: self.slot,
                field: 1,
                length: Some(Length::Exactly(0)),
                ..Step::any()
            }];
        }
        if let Some(last) = self.steps.last_mut() {
            last.ends_slot = true;
        }
        self.steps
    }
}
