//! `mizzen db info`.

use crate::data::Data;
use crate::output;
use anyhow::Result;
use std::process::ExitCode;

/// Show what is in the database
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen db info --data .mizzen")]
pub(crate) struct Info {
    #[command(flatten)]
    data: Data,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

impl Info {
    pub(super) fn run(self) -> Result<ExitCode> {
        let info = self
            .data
            .with_database(|database| async move { Ok(database.info().await?) })?;
        if self.json {
            output::json(&info)?;
            return Ok(ExitCode::SUCCESS);
        }
        println!("{:<18}{}", "file", info.path.display());
        println!(
            "{:<18}{} (this build knows {})",
            "migration",
            info.migration,
            mizzen_store_sqlite::latest_migration()
        );
        println!(
            "{:<18}{} bytes, {} of them free",
            "size", info.bytes, info.free_bytes
        );
        println!("{:<18}{} bytes", "write-ahead log", info.wal_bytes);
        println!("{:<18}{}", "sqlite", info.sqlite);
        for (table, rows) in &info.rows {
            println!("{table:<18}{rows} rows");
        }
        Ok(ExitCode::SUCCESS)
    }
}
