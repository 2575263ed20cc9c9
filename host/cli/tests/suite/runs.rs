//! Runs of chains and tools: results, journals, hooks, crashes, erasure.

mod chain_run;
mod durability;
mod erasure;
mod executions;
mod faults;
mod guests;
mod hooks;
mod kill_9;
mod nested_calls;
mod open_runs;
mod replay;
mod tool_calls;
