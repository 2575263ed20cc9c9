//! The records of the IR, one file per table of the seed.

mod action;
mod document;
mod fact;
mod pack;
mod plugin;
mod skill;
mod store;
mod tool;

pub use action::{
    Action, AssertAction, GotoAction, HaltAction, InterruptAction, ParallelAction, RetractAction, RetryAction,
};
pub use document::{IRDocument, MigrateBlock, NodeSpec, ParallelBlock, RuleSpec};
pub use fact::{FactTemplate, SlotDef};
pub use pack::{PackMount, PackRequires};
pub use plugin::{LoadOrder, PluginApiVersion, PluginManifest, Provides};
pub use skill::{SkillKind, SkillRef, SkillSpec};
pub use store::{Protocol, StoreRef, StoreSpec};
pub use tool::{ReplayPolicy, SideEffects, ToolRef, ToolSpec};
