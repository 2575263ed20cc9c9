//! `mizzen trust unpin NAMESPACE`.

use crate::home::{ConfigFile, Home};
use crate::output;
use anyhow::anyhow;
use mizzen_model::namespace::Namespace;
use serde_json::json;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen trust unpin acme.text

In tofu mode a host remembers the first key of each namespace, and refuses another one. Forget it when
the author has a new key and has told you so another way: the next key that is seen is remembered.")]
pub(crate) struct Unpin {
    /// The namespace, as `mizzen trust list` shows it
    namespace: String,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Unpin {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let namespace = Namespace::parse(&self.namespace)?;
        // A configuration that is not usable is explained before anything else.
        self.config.load()?;
        let pin = self.config.installation(home).unpin(&namespace)?;
        let pin = pin.ok_or_else(|| anyhow!("no key is pinned for {namespace}; see `mizzen trust list`"))?;
        if self.json {
            output::json(&json!({ "ok": true, "namespace": namespace, "key": pin.key }))?;
        } else {
            println!("{namespace} is no longer pinned to {}", pin.key);
        }
        Ok(ExitCode::SUCCESS)
    }
}
