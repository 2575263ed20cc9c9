//! `mizzen trust add KEY --namespace NAMESPACE`.

use super::{TrustFile, edit, find_key, note_refused_set};
use crate::home::Home;
use crate::output;
use anyhow::{Context, bail};
use mizzen_catalog::trust::{NewKey, TrustStore, add_key, set_threshold};
use mizzen_model::namespace::NamespacePattern;
use serde_json::json;
use std::process::ExitCode;
use toml::value::Datetime;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen trust add acme.pub --namespace acme --namespace 'acme.*' --comment \"Acme release key\"
  mizzen trust add ed25519:… --namespace acme --not-after 2027-01-01T00:00:00Z --signatures 2")]
pub(crate) struct Add {
    /// A .pub file, `ed25519:…`, or the name of one of your keys
    key: String,
    /// What it may sign for: `acme`, or `acme.*` for everything below (may be given several times)
    #[arg(long = "namespace", value_name = "NAMESPACE", required = true)]
    namespaces: Vec<String>,
    /// One line about the key
    #[arg(long)]
    comment: Option<String>,
    /// It does not count before this moment, such as 2026-01-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    not_before: Option<Datetime>,
    /// It does not count after this moment
    #[arg(long, value_name = "TIME")]
    not_after: Option<Datetime>,
    /// How many signatures a package for these namespaces needs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    signatures: Option<u8>,
    #[command(flatten)]
    file: TrustFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Add {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let key = find_key(home, &self.key)?;
        let patterns: Result<Vec<NamespacePattern>, _> = self
            .namespaces
            .iter()
            .map(|text| NamespacePattern::parse(text))
            .collect();
        let patterns = patterns?;
        let path = self.file.path()?;
        edit(&path, |text| {
            let store = TrustStore::parse(text).ok();
            // What is revoked is refused whoever trusts it: saying that it may sign would be untrue.
            if let Some(revoked) = store.as_ref().and_then(|store| store.revoked_keys.get(&key.id)) {
                bail!(
                    "{} has been revoked: {}; trust another key, or take it out of [[revoked_keys]] by hand first",
                    key.id,
                    revoked.reason
                );
            }
            // A key that is there keeps its comment, unless another one is given.
            let known = store.is_some_and(|store| store.keys.contains_key(&key.id));
            let own = if known { "" } else { &key.comment };
            let comment = self.comment.as_deref().unwrap_or(own);
            let mut text = add_key(
                text,
                &NewKey {
                    public_key: &key.public_key,
                    comment,
                    namespaces: &patterns,
                    not_before: self.not_before,
                    not_after: self.not_after,
                },
            )?;
            for pattern in &patterns {
                if let Some(needed) = self.signatures {
                    text = set_threshold(&text, pattern, needed)?;
                }
            }
            Ok(text)
        })
        .context("the trust file was not changed")?;
        let shown: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        if self.json {
            output::json(&json!({ "file": path, "key": key.id, "namespaces": shown }))?;
        } else {
            println!(
                "{} may sign for {} ({})",
                key.id,
                shown.join(", "),
                path.display()
            );
        }
        note_refused_set(&self.file, home);
        Ok(ExitCode::SUCCESS)
    }
}
