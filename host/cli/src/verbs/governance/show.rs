//! `mizzen governance show`.

use crate::data::Data;
use crate::output;
use anyhow::Result;
use mizzen_ops::timestamp;
use std::process::ExitCode;

/// Show the mandatory packs that govern a data folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mizzen governance show --data .mizzen")]
pub(crate) struct Show {
    #[command(flatten)]
    data: Data,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> Result<ExitCode> {
        let packs = self
            .data
            .with_existing_store(|store| async move { Ok(store.governing_packs().await?) })?;
        if self.json {
            let rows: Vec<_> = packs
                .iter()
                .map(|pack| serde_json::json!({"id": pack.id, "signers": pack.signers, "since": pack.since}))
                .collect();
            output::json(&rows)?;
            return Ok(ExitCode::SUCCESS);
        }
        if packs.is_empty() {
            println!("no pack governs {}", self.data.folder().display());
        }
        for pack in packs {
            let signers = match pack.signers.as_slice() {
                [] => "not loaded yet".to_owned(),
                signers => format!("signed with {}", signers.join(", ")),
            };
            let since = timestamp(pack.since);
            println!("{}  since {since}, {signers}", output::harmless(&pack.id));
        }
        Ok(ExitCode::SUCCESS)
    }
}
