//! `mizzen db check`.

use crate::data::Data;
use crate::output;
use anyhow::Result;
use std::process::ExitCode;

/// Verify the file, its references, the kept sums and the audit log
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen db check --data .mizzen

Exits 1 when something does not fit.")]
pub(crate) struct Check {
    #[command(flatten)]
    data: Data,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self) -> Result<ExitCode> {
        let report = self
            .data
            .with_existing_store(|store| async move { Ok(store.check().await?) })?;
        if self.json {
            output::json(&report)?;
        } else if report.problems.is_empty() {
            println!("ok: {} audit entries verified", report.audit_entries);
        } else {
            for problem in &report.problems {
                println!("{problem}");
            }
        }
        let fits = report.problems.is_empty();
        Ok(if fits {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}
