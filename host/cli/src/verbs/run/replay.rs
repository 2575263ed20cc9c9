//! `mizzen run replay`.

use crate::account::{Layout, cut, shown};
use crate::data::Data;
use crate::output;
use anyhow::{Context, Result};
use mizzen_catalog::key::PublicKey;
use mizzen_model::id::ExecutionId;
use mizzen_ops::{Decided, Host, Recording, replay, verify_audit};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Go through a recorded execution again, without calling anything, and compare every decision
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen run replay 7a1e4c2b-9d30-4f6e-8b57-1c2d3e4f5a6b
  mizzen audit export 7a1e4c2b-9d30-4f6e-8b57-1c2d3e4f5a6b --output run.json
  mizzen run replay run.json --key ed25519:…
  mizzen run replay run.json --json

The journal is given to the engine again: what tools, packs, the gate agent and people answered is
taken from it, and everything that followed (rules, gates, what packs' verdicts came to, steps,
the result) is decided anew. No tool is called and no plugin is needed. An execution that is still
open is compared as far as it has come.

`audit verify` tells whether an export is what the host signed; a replay tells whether it follows
from its own journal. With --key both are checked.

Exit codes:
  0  every decision and the result came out as recorded
  1  something came out differently, or the seal does not hold
  2  called wrongly")]
pub(crate) struct Replay {
    /// An execution of the data folder, or a file of `mizzen audit export`
    #[arg(value_name = "RUN|FILE")]
    run: String,
    /// Check the seal of FILE first, with the host's public key: ed25519: and 64 hexadecimal digits
    #[arg(long, value_name = "PUB")]
    key: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: Data,
}

/// Journals are bounded by their chains; a file beyond this is not one.
const MAX_FILE: u64 = 1 << 30;

impl Replay {
    pub(super) fn run(self) -> Result<ExitCode> {
        let key = match self.key.as_deref().map(PublicKey::parse) {
            Some(None) => {
                return Ok(output::usage_error(
                    &"--key is not a public key: write ed25519: and 64 hexadecimal digits",
                ));
            }
            Some(Some(key)) => Some(key),
            None => None,
        };
        let (recording, seal) = match ExecutionId::parse(&self.run) {
            Ok(_) if key.is_some() => {
                return Ok(output::usage_error(
                    &"--key checks the seal of a file; export the execution with `mizzen audit export` first",
                ));
            }
            Ok(id) => {
                let id = id.uuid();
                let recording = self
                    .data
                    .with_existing_store(|store| async move { Ok(Host::new(store).recording(id).await?) })?;
                (recording, None)
            }
            Err(_) => {
                let text = read(&PathBuf::from(&self.run))?;
                let seal = key.map(|key| verify_audit(&text, &key).map_err(|error| error.to_string()));
                (Recording::from_export(&text)?, seal)
            }
        };
        let replayed = replay(&recording);
        let is_sealed = seal.as_ref().map(Result::is_ok);
        let is_same = replayed.difference.is_none();
        if self.json {
            let mut report = serde_json::to_value(&replayed)?;
            if let Some(members) = report.as_object_mut() {
                members.insert("ok".to_owned(), (is_same && is_sealed != Some(false)).into());
                if let Some(seal) = &seal {
                    let said = seal
                        .as_ref()
                        .map_or_else(|error| error.clone(), |_| "holds".to_owned());
                    members.insert("seal".to_owned(), said.into());
                }
            }
            output::json(&report)?;
        } else {
            if let Some(Err(error)) = &seal {
                eprintln!("error: {error}");
            }
            show(&replayed);
        }
        Ok(if is_same && is_sealed != Some(false) {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}

fn read(path: &Path) -> Result<String> {
    let unreadable = || {
        format!(
            "cannot read {}: name an execution's id, or a file of `mizzen audit export`",
            path.display()
        )
    };
    mizzen_catalog::files::read_text(path, MAX_FILE).with_context(unreadable)
}

/// A line for every entry and for everything that was decided because of it, then whether it is the same.
fn show(replayed: &mizzen_ops::Replay) {
    let width = Layout::of_stdout().width;
    println!("execution {}", replayed.execution_id);
    for it in &replayed.transitions {
        let at = format!("+{} ms", it.after_ms);
        println!(
            "{}",
            cut(
                &shown(&format!("{:>4}  {at:<10}  {}", it.seq, it.happened)),
                width
            )
        );
        for Decided { by, decision, reason } in &it.decided {
            let line = shown(&format!("{:18}{by:<30}  {decision:<11}  {reason}", ""));
            println!("{}", cut(line.trim_end(), width));
        }
    }
    if replayed.input_redacted {
        println!(
            "a pack redacted the input: a decision that followed from what is gone can come out differently"
        );
    }
    match &replayed.difference {
        Some(difference) => println!("differs at {}", shown(&difference.to_string())),
        None if replayed.ended => println!(
            "same: {}; {} entries, every decision and the result as recorded",
            replayed.status, replayed.entries
        ),
        None => println!(
            "same so far: {}; {} entries, every decision as recorded",
            replayed.status, replayed.entries
        ),
    }
}
