#![forbid(unsafe_code)]
//! The rule language of Bosun packs and of the IR's `when` strings: a safe subset of CLIPS.
//!
//! A [`Program`] is a parsed rule file (`deftemplate`, `deffacts`, `defrule`); a [`Session`] holds facts and runs the
//! rules over them; [`When`] is the left-hand side alone, for the IR. Nothing here does IO, reads a clock or is random;
//! every loop spends a [`Budget`], and an exhausted budget is an error, never a quiet non-match.
//!
//! Deliberately not here: everything of CLIPS that prints, loops, calls out or defines code (`printout`, `while`,
//! `system`, `deffunction`, objects, modules). Such a word is refused by name, with its place and a hint.
//!
//! CLIPS 6.4.2 decides what a program means: which rules fire, in which order, and when one fires again. The network is built as
//! CLIPS builds it, because the order follows from that; `tests/clips.rs` compares both. What differs is an error and never
//! another answer; docs/packs.md lists it.
//!
//! To add a function: a row in `function.rs`. To add a conditional element: `condition.rs`.

mod agenda;
mod budget;
mod condition;
mod constraint;
pub mod dialect;
mod error;
mod explain;
mod expression;
mod fact;
mod function;
#[cfg(feature = "json")]
pub mod json;
mod matches;
mod network;
#[cfg(feature = "json")]
pub mod pack;
mod pattern;
mod place;
mod program;
mod reader;
mod rete;
mod rule;
mod session;
mod shared;
mod sugar;
mod template;
mod value;
mod when;

pub use budget::{Budget, Exhausted};
pub use error::{Position, RuleError, RuleErrorKind, RunError};
pub use explain::{Explanation, Firing, Report};
pub use fact::{Fact, FactId};
pub use program::Program;
pub use session::Session;
pub use shared::{Lasting, Text};
pub use template::{Slot, SlotType, Template};
pub use value::Value;
pub use when::{Match, Need, When, WhenOutcome};
