//! `mizzen db backup`.

use crate::data::Data;
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;

/// Copy the database into a new file, consistent and complete, also while a server uses it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen db backup --data .mizzen backup.db

To restore: stop the server, put the file into an empty data folder as mizzen.db, start.")]
pub(crate) struct Backup {
    #[command(flatten)]
    data: Data,
    /// The file to make; nothing is overwritten
    file: PathBuf,
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
            .with_existing_store(|store| async move { Ok(store.backup(&file).await?) })?;
        println!("{}", self.file.display());
        Ok(ExitCode::SUCCESS)
    }
}
