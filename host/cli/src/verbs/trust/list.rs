//! `mizzen trust list`.

use super::TrustFile;
use crate::output;
use mizzen_catalog::trust::TrustStore;
use serde_json::json;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen trust list
  mizzen trust list --trust trust.toml     (of that file alone, without what tofu has pinned)")]
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
        let pins = self.file.pins()?;
        if self.json {
            let mut shown = serde_json::to_value(&store)?;
            if let Some(fields) = shown.as_object_mut() {
                let pins: serde_json::Map<String, serde_json::Value> = pins
                    .iter()
                    .map(|(namespace, pin)| {
                        let since = pin.since.map(|since| since.to_string());
                        (namespace.to_string(), json!({ "key": pin.key, "since": since }))
                    })
                    .collect();
                fields.insert("pins".to_owned(), pins.into());
            }
            output::json(&shown)?;
            return Ok(ExitCode::SUCCESS);
        }
        if store == TrustStore::default() && pins.iter().next().is_none() {
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
        for (namespace, pin) in pins.iter() {
            let since = pin
                .since
                .map_or_else(String::new, |since| format!(", first seen {since}"));
            println!("{}  pinned for {namespace} (tofu{since})", pin.key);
        }
        for (pattern, needed) in &store.thresholds {
            println!("{pattern}  needs {}", output::counted(*needed, "signature"));
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
