//! `mizzen key api revoke`.

use crate::data::Data;
use crate::output;
use anyhow::Result;
use mizzen_ops::{Caller, Host};
use std::process::ExitCode;

/// Revoke a key; a running server refuses it at once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen key api revoke mzn_0123456789abcdef")]
pub(crate) struct Revoke {
    /// The key's id, as `mizzen key api list` shows it
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Revoke {
    pub(super) fn run(self, data: &Data) -> Result<ExitCode> {
        let id = self.id.clone();
        let revoked = data.with_existing_store(|store| async move {
            let host = Host::new(store);
            Ok(host
                .revoke_api_key(&Caller::local(host.new_request_id()), &id)
                .await?)
        })?;
        if revoked {
            if self.json {
                output::json(&serde_json::json!({"id": self.id, "revoked": true}))?;
            } else {
                println!("revoked {}", self.id);
            }
            return Ok(ExitCode::SUCCESS);
        }
        eprintln!(
            "error: there is no key {} that is not revoked yet; `mizzen key api list` shows them",
            self.id
        );
        Ok(ExitCode::from(output::EXIT_REFUSED))
    }
}
