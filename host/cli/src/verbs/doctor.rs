//! `mizzen doctor`.

use crate::data::Data;
use crate::output;
use anyhow::Result;
use mizzen_ops::Host;
use std::process::ExitCode;
use std::sync::Arc;

/// Look for what keeps the host from doing its work: damaged data, executions that nobody can continue
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen doctor --data .mizzen

May run beside the server. Exits 1 when something is wrong.")]
pub(crate) struct Doctor {
    #[command(flatten)]
    data: Data,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn run(self) -> Result<ExitCode> {
        let (report, runs) = self.data.with_existing_store(|store| async move {
            let report = store.check().await?;
            let runs = Arc::new(Host::new(store)).examine_runs().await?;
            Ok((report, runs))
        })?;
        let mut problems = report.problems.clone();
        let mut open = Vec::new();
        for (id, state) in runs {
            match state {
                Ok(state) => open.push(serde_json::json!({"execution_id": id.to_string(), "state": state})),
                Err(error) => problems.push(format!("execution {id} cannot be continued: {error}")),
            }
        }
        if self.json {
            output::json(&serde_json::json!({"open": open, "problems": problems}))?;
        } else {
            println!("{} open executions", open.len());
            for run in &open {
                println!(
                    "  {}  {}",
                    run["execution_id"].as_str().unwrap_or_default(),
                    run["state"].as_str().unwrap_or_default()
                );
            }
            for problem in &problems {
                println!("problem: {problem}");
            }
            if problems.is_empty() {
                println!("ok: {} audit entries verified", report.audit_entries);
            }
        }
        Ok(if problems.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}
