//! `mizzen ir diff`

use super::report;
use super::source::Reading;
use crate::output;
use mizzen_json::{Json, Object};
use mizzen_model::ir::{Change, IRDocument, diff};
use std::process::ExitCode;

/// Shows what changed between two documents by meaning: key order, defaults and syntax do not count.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen ir diff old.yaml new.json

Nodes, rules, tools, skills, stores and packs are matched by their id or name, so an insertion
moves nothing. Exit code: 0 the documents mean the same, 1 they differ or one is invalid, 2 wrong
usage or unreadable file.")]
pub(super) struct Diff {
    /// The document before; `-` is standard input
    #[arg(value_name = "A")]
    before: String,
    /// The document after; `-` is standard input
    #[arg(value_name = "B")]
    after: String,
    /// Print the changes as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// How much of a value is shown on one line.
const VALUE_CHARS: usize = 120;

impl Diff {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut documents = Vec::new();
        for file in [&self.before, &self.after] {
            let input = match self.reading.read(file) {
                Ok(input) => input,
                Err(error) => return Ok(output::usage_error(&error)),
            };
            let inspection = input.inspect();
            match &inspection.document {
                Some(document) => documents.push(document.clone()),
                None => report::show(&input, &inspection),
            }
        }
        let [before, after]: [IRDocument; 2] = match documents.try_into() {
            Ok(both) => both,
            Err(_) => return Ok(ExitCode::from(output::EXIT_REFUSED)),
        };
        let changes = diff(&before, &after);
        if self.json {
            let mut answer = Object::new();
            answer.insert("same", changes.is_empty().into());
            answer.insert(
                "changes",
                changes.iter().map(change_json).collect::<Vec<_>>().into(),
            );
            println!("{}", Json::Object(answer).to_pretty());
        } else {
            changes
                .iter()
                .for_each(|change| println!("{}", change_text(change)));
        }
        Ok(ExitCode::from(if changes.is_empty() {
            0
        } else {
            output::EXIT_REFUSED
        }))
    }
}

fn change_text(change: &Change) -> String {
    match change {
        Change::Added { path, after } => format!("+ {path}: {}", short(after)),
        Change::Removed { path, before } => format!("- {path}: {}", short(before)),
        Change::Changed { path, before, after } => format!("~ {path}: {} -> {}", short(before), short(after)),
        Change::Moved { from, path } => format!("> {path}: moved from {from}"),
    }
}

/// A value on one line. ASCII, so that nothing in a document can steer the terminal.
fn short(value: &Json) -> String {
    let text = value.to_canonical_ascii();
    match text.get(..VALUE_CHARS) {
        Some(start) if text.len() > VALUE_CHARS => format!("{start}…"),
        _ => text,
    }
}

fn change_json(change: &Change) -> Json {
    let mut members = Object::new();
    members.insert("change", change.kind().into());
    members.insert("path", change.path().into());
    match change {
        Change::Added { after, .. } => {
            members.insert("after", after.clone());
        }
        Change::Removed { before, .. } => {
            members.insert("before", before.clone());
        }
        Change::Changed { before, after, .. } => {
            members.insert("before", before.clone());
            members.insert("after", after.clone());
        }
        Change::Moved { from, .. } => {
            members.insert("from", from.as_str().into());
        }
    }
    Json::Object(members)
}
