//! `mizzen key api list`.

use crate::data::Data;
use crate::output;
use anyhow::Result;
use mizzen_ops::{Host, timestamp};
use std::process::ExitCode;

/// List the keys, without their secrets
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen key api list
  mizzen key api list --data .mizzen --json")]
pub(crate) struct List {
    /// Print them as JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self, data: &Data) -> Result<ExitCode> {
        let (keys, now) = data.with_existing_store(|store| async move {
            let host = Host::new(store);
            Ok((host.list_api_keys().await?, host.now_ms()))
        })?;
        let time = |at: Option<i64>| at.map(|at| timestamp(at).to_string());
        if self.json {
            let keys: Vec<_> = keys
                .iter()
                .map(|key| {
                    serde_json::json!({
                        "id": key.id,
                        "name": key.name,
                        "grants": key.grants,
                        "live": key.is_live(now),
                        "created_at": time(Some(key.created_at)),
                        "expires_at": time(key.expires_at),
                        "revoked_at": time(key.revoked_at),
                    })
                })
                .collect();
            output::json(&keys)?;
            return Ok(ExitCode::SUCCESS);
        }
        for key in &keys {
            let state = match (key.revoked_at, key.is_live(now)) {
                (Some(_), _) => "revoked",
                (None, true) => "live",
                (None, false) => "expired",
            };
            let until = time(key.expires_at).map_or_else(String::new, |at| format!("  until {at}"));
            let name = if key.name.is_empty() { "" } else { "  " };
            println!(
                "{}  {state:<8}{}{until}{name}{}",
                key.id,
                key.grants.join(" "),
                key.name
            );
        }
        if keys.is_empty() {
            println!("no keys: whoever reaches the server on this machine may do everything");
        }
        Ok(ExitCode::SUCCESS)
    }
}
