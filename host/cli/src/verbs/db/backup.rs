//! `mizzen db backup`.

use crate::data::Data;
use crate::output;
use anyhow::{Result, bail};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Copy the database into a new file, consistent and complete, also while a server uses it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen db backup --data .mizzen backup.db

The host's key is not in it: keep a copy of the folder keys/ of the data folder too, as secret as it
is there. It signs what has ended, and a host without it cannot show that its records are its own.

To restore: stop the server, put the file into an empty data folder as mizzen.db and keys/ beside
it, ask `mizzen doctor`, start.")]
pub(crate) struct Backup {
    #[command(flatten)]
    data: Data,
    /// The file to make; nothing is overwritten
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Backup {
    pub(super) fn run(self) -> Result<ExitCode> {
        if self.file.exists() {
            bail!(
                "{} exists already; name a file that does not",
                self.file.display()
            );
        }
        let file = self.file.clone();
        self.data
            .with_database(|database| async move { Ok(database.backup(&file).await?) })?;
        let keys = self.data.folder().join("keys");
        if self.json {
            output::json(&json!({ "file": self.file, "not_in_it": [keys] }))?;
        } else {
            println!("{}", self.file.display());
            eprintln!(
                "the host's key is not in it: keep a copy of {} too",
                keys.display()
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
