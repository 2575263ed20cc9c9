//! How fast Mizzen is: every number beside its reference, measured in the same run on the same machine.
//!
//! `cargo bench -p mizzen-bench` runs every subject and prints one table; `-- chain` runs the subjects that begin with the
//! word, `--quick` runs everything once with small sizes (a test does that), `--long` takes larger sizes. The table is also written
//! as Markdown and JSON below `target/bench`.
//!
//! Rules of measuring: something that is compared runs in turns with what it is compared with, round by round, so that a busy
//! machine hits both; the first round warms up and does not count; medians are compared, the slowest hundredth is shown.
//!
//! To add a number: a file below `subjects` with a function that gives [`Row`]s, and a line in `subjects.rs`. What it needs and
//! does not find becomes a row that says so ([`Row::skipped`]); it is never left out in silence.

mod echo;
mod filled;
mod harness;
mod http_load;
mod local;
mod machine;
mod misdeeds;
mod options;
mod places;
mod process;
mod python;
mod raw;
mod report;
mod row;
mod samples;
mod served;
mod site;
mod subjects;
mod turns;

pub use harness::main;
pub use row::Row;

/// As in `mizzen`: what is measured in this process, and its rivals, have the allocator that users have.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
