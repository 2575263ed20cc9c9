//! `mizzen trust list`.

use super::TrustFile;
use crate::output;
use mizzen_catalog::trust::TrustStore;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mizzen trust list --trust trust.toml")]
pub(crate) struct List {
    #[command(flatten)]
    file: TrustFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let path = self.file.path()?;
        let store = TrustStore::load(&path)?;
        if self.json {
            output::json(&store)?;
            return Ok(ExitCode::SUCCESS);
        }
        if store == TrustStore::default() {
            println!(
                "{} trusts nobody; add a key with `mizzen trust add KEY --namespace NAMESPACE`",
                path.display()
            );
        }
        for (id, key) in &store.keys {
            let namespaces: Vec<String> = key.namespaces.iter().map(ToString::to_string).collect();
            let comment = match key.comment.as_str() {
                "" => String::new(),
                // A key comes with the comment that its owner wrote.
                comment => format!("  {}", output::harmless(&comment)),
            };
            println!("{id}  may sign for {}{comment}", namespaces.join(", "));
            if let Some(start) = key.not_before {
                println!("  from {start}");
            }
            if let Some(end) = key.not_after {
                println!("  until {end}");
            }
        }
        for (pattern, needed) in &store.thresholds {
            println!("{pattern}  needs {needed} signatures");
        }
        for (id, revoked) in &store.revoked_keys {
            println!("{id}  REVOKED: {}", output::harmless(&revoked.reason));
        }
        for (digest, revoked) in &store.revoked_digests {
            println!("{digest}  REVOKED: {}", output::harmless(&revoked.reason));
        }
        Ok(ExitCode::SUCCESS)
    }
}
