//! Bosun packs in Rust: governance that looks at facts and can stop, redirect or annotate a run.
//!
//! ```
//! use mizzen_sdk::pack::{Descriptor, Evaluation, Moment, Pack, Verdict};
//!
//! struct Night;
//!
//! impl Pack for Night {
//!     fn describe() -> Descriptor {
//!         Descriptor::new("acme.night", "0.1.0", "Nothing is written at night.")
//!             .moments(&[Moment::BeforeStep])
//!             .reads(&["step"])
//!     }
//!
//!     fn evaluate(evaluation: &Evaluation, verdict: &mut Verdict) -> Result<(), mizzen_sdk::ToolError> {
//!         for step in evaluation.facts("step") {
//!             let hour = step.integer("time").unwrap_or(0) / 3_600_000 % 24;
//!             if step.text("side-effects") == Some("write") && hour < 6 {
//!                 verdict.veto("no-writes-at-night", "it is night").because(step);
//!             }
//!         }
//!         Ok(())
//!     }
//! }
//!
//! mizzen_sdk::export_pack!(Night);
//! # fn main() {
//! let verdict = mizzen_sdk::pack::evaluate::<Night>(
//!     r#"[{"template": "step", "slots": {"side-effects": "write", "time": 7200000}}]"#, 1_000_000).unwrap();
//! assert_eq!(verdict.decisions()[0].rule(), "no-writes-at-night");
//! # }
//! ```
//!
//! A pack that is only rules needs no Rust: `mizzen pack new`. Both are the same to the host.

#[doc(hidden)]
pub mod bindings;
mod export;
mod fact;
mod verdict;

#[doc(hidden)]
pub use export::Exported;
pub use fact::{Evaluation, Fact};
pub use verdict::{Action, Decision, Severity, Verdict};

use crate::ToolError;

/// A pack. It keeps nothing between calls: every evaluation gets a fresh sandbox.
pub trait Pack {
    /// What the pack says about itself: the same at every call.
    fn describe() -> Descriptor;

    /// Looks at the facts and concludes. An error counts as a veto where the pack is mounted as mandatory.
    ///
    /// # Errors
    /// When the pack cannot say.
    fn evaluate(evaluation: &Evaluation, verdict: &mut Verdict) -> Result<(), ToolError>;
}

/// Evaluates a pack natively, for tests.
///
/// # Errors
/// When the facts are not facts, or the pack cannot say.
pub fn evaluate<P: Pack>(facts: &str, budget: u64) -> Result<Verdict, ToolError> {
    let evaluation = Evaluation::read(facts, budget)?;
    let mut verdict = Verdict::default();
    P::evaluate(&evaluation, &mut verdict)?;
    Ok(verdict)
}

/// When a pack can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before anything of a run happens.
    BeforeRun,
    /// Before a step, its input known.
    BeforeStep,
    /// After a step that succeeded, its output known.
    AfterStep,
    /// After a step that failed.
    OnError,
    /// When the run has come to its end.
    AtEnd,
}

/// What a pack says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    pub(crate) id: &'static str,
    pub(crate) version: &'static str,
    pub(crate) description: &'static str,
    pub(crate) facts_version: &'static str,
    pub(crate) moments: &'static [Moment],
    pub(crate) reads: &'static [&'static str],
    pub(crate) writes: &'static [&'static str],
    pub(crate) shares: &'static [&'static str],
}

impl Descriptor {
    /// A pack by its id, its version (`env!("CARGO_PKG_VERSION")`) and what it governs. It is asked at every moment.
    #[must_use]
    pub const fn new(id: &'static str, version: &'static str, description: &'static str) -> Self {
        Self {
            id,
            version,
            description,
            facts_version: "1.0",
            moments: &[],
            reads: &[],
            writes: &[],
            shares: &[],
        }
    }

    /// When it wants to be asked; a moment that is not named costs nothing.
    #[must_use]
    pub const fn moments(mut self, moments: &'static [Moment]) -> Self {
        self.moments = moments;
        self
    }

    /// The fact templates that it reads: it is sent facts of these, the operator's settings and the run's ordered facts. One that names
    /// none is sent everything.
    #[must_use]
    pub const fn reads(mut self, templates: &'static [&'static str]) -> Self {
        self.reads = templates;
        self
    }

    /// The fact templates whose facts it hands on to later packs, as `ID::TEMPLATE`.
    #[must_use]
    pub const fn shares(mut self, templates: &'static [&'static str]) -> Self {
        self.writes = templates;
        self.shares = templates;
        self
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }
}
