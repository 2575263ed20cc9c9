//! `mizzen key api new`.

use crate::data::Data;
use crate::output;
use anyhow::Result;
use mizzen_ops::{ApiKeyRequest, Caller, Grant, Host};
use std::process::ExitCode;

/// Make a key; it is shown once and cannot be shown again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen key api new --grant admin
  mizzen key api new --name ci --grant runs:start --grant runs:read --days 90

From the first key on, every request needs one: Authorization: Bearer KEY. A running server
honours it at once.")]
pub(crate) struct New {
    /// What the key may do; repeat it for more (sprites:read, sprites:write, councils:read, councils:write, runs:start,
    /// runs:read, runs:cancel, runs:respond, runs:erase, tools:call, plugins:read, plugins:write, metrics:read, audit:read,
    /// admin)
    #[arg(long = "grant", value_name = "GRANT", required = true)]
    grants: Vec<Grant>,
    /// What you call it
    #[arg(long, default_value = "")]
    name: String,
    /// After how many days it stops working [default: never]
    // A key that no day is given to would never work; what lives longer than a century needs no end.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

impl New {
    pub(super) fn run(self, data: &Data) -> Result<ExitCode> {
        const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
        let request = ApiKeyRequest {
            name: self.name,
            grants: self.grants,
            lifetime_ms: self.days.map(|days| i64::from(days) * DAY_MS),
        };
        let key = data.with_store(|store| async move {
            let host = Host::new(store);
            Ok(host
                .create_api_key(&Caller::local(host.new_request_id()), request)
                .await?)
        })?;
        if self.json {
            output::json(&serde_json::json!({"id": key.id, "key": key.token}))?;
        } else {
            println!("{}", key.token);
            eprintln!(
                "id {}; keep the key, it is not stored and cannot be shown again",
                key.id
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
