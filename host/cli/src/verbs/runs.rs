//! `mizzen runs`: the executions of a running host, over its HTTP API.

mod cancel;
mod decide;
mod list;
mod show;
mod watch;

use crate::output;
use anyhow::Result;
use serde_json::Value;
use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Runs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Approve(decide::Approve),
    Cancel(cancel::Cancel),
    Deny(decide::Deny),
    List(list::List),
    Show(show::Show),
    Watch(watch::Watch),
}

impl Runs {
    pub(super) fn run(self) -> Result<ExitCode> {
        match self.verb {
            Verb::Approve(verb) => verb.run(),
            Verb::Cancel(verb) => verb.run(),
            Verb::Deny(verb) => verb.run(),
            Verb::List(verb) => verb.run(),
            Verb::Show(verb) => verb.run(),
            Verb::Watch(verb) => verb.run(),
        }
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// One line of a list.
fn line(run: &Value) -> String {
    let mut line = format!(
        "{}  {:<17}  {}",
        text(run, "/execution_id"),
        text(run, "/status"),
        text(run, "/started_at")
    );
    if let Some(code) = run.pointer("/error/code").and_then(Value::as_str) {
        line.push_str("  ");
        line.push_str(code);
    }
    line
}

/// Everything that a person needs to decide: the steps with what they call, and the open question.
fn describe(run: &Value) -> Vec<String> {
    let mut lines = vec![line(run)];
    for step in run.get("steps").and_then(Value::as_array).into_iter().flatten() {
        let order = step.get("order").and_then(Value::as_u64).unwrap_or_default();
        lines.push(format!(
            "  step {order}  {:<9}  {}",
            text(step, "/status"),
            text(step, "/action")
        ));
        for (name, pointer) in [("input", "/input"), ("output", "/output")] {
            if let Some(value) = step.pointer(pointer) {
                lines.push(format!("    {name}: {value}"));
            }
        }
        if step.get("error").is_some() {
            lines.push(format!(
                "    {}: {}",
                text(step, "/error/code"),
                text(step, "/error/message")
            ));
        }
    }
    if run.get("error").is_some() {
        lines.push(format!(
            "  {}: {}",
            text(run, "/error/code"),
            text(run, "/error/message")
        ));
    }
    if run.get("escalation").is_some() {
        lines.push(format!(
            "  rule {} asks: {}",
            text(run, "/escalation/rule_id"),
            text(run, "/escalation/reason")
        ));
        match run.pointer("/escalation/answer") {
            Some(answer) => lines.push(format!(
                "    answered: {} ({})",
                text(answer, "/decision"),
                text(answer, "/reason")
            )),
            None => lines.push(format!(
                "    escalation {}",
                text(run, "/escalation/escalation_id")
            )),
        }
    }
    lines
}

/// Prints an execution for a person or a program.
fn print(run: &Value, json: bool) -> Result<()> {
    if json {
        return output::json(run);
    }
    for line in describe(run) {
        println!("{}", output::harmless(&line));
    }
    Ok(())
}
