//! The verbs of `mizzen`, as a person or a script runs them.

mod author;
mod catalog_verbs;
mod concurrent_edits;
mod condition;
mod first_minutes;
mod graph_run;
mod ir;
mod packs;
mod rules;
mod runs_client;
mod same_loader;
mod sprite;
mod sprite_test;
mod tool_check;
mod would_start;
