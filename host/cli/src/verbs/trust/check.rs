//! `mizzen trust check FILE`.

use crate::home::{ConfigFile, Home};
use crate::output;
use mizzen_catalog::package::{MAX_PACKAGE, Package};
use mizzen_catalog::trust::{Policy, TrustMode, TrustStore, UnixTime};
use mizzen_model::manifest::Manifest;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen trust check text.wasm --trust trust.toml
  refused: key mzk_… may not sign for namespace acme; if you trust its author, run `mizzen trust add …`

It decides about the namespaces that the package claims. Those in which it describes tools, skills, stores
or packs are decided the same way when a host loads it.")]
pub(crate) struct Check {
    /// The package
    file: PathBuf,
    /// Decide by this trust file alone (mode pinned)
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let policy = match &self.trust {
            Some(path) => Policy {
                mode: TrustMode::Pinned,
                store: TrustStore::load(path)?,
                ..Policy::default()
            },
            None => self.config.terms(home)?.1.policy,
        };
        let package = Package::read(&self.file, MAX_PACKAGE)?;
        let signers = package.verify()?;
        let manifest = Manifest::parse(package.manifest_text())?;
        let decided = policy.decide(
            manifest.namespaces(),
            &signers,
            &package.digest(),
            UnixTime::now(),
        );
        let (ok, lines) = match decided {
            Ok(decision) => (
                true,
                decision
                    .because
                    .iter()
                    .map(|line| format!("trusted: {line}"))
                    .collect::<Vec<_>>(),
            ),
            Err(refusals) => (false, refusals.iter().map(ToString::to_string).collect()),
        };
        if self.json {
            output::json(&json!({ "ok": ok, "file": self.file, "mode": policy.mode, "decision": lines }))?;
        } else {
            lines.iter().for_each(|line| println!("{line}"));
        }
        Ok(if ok {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}
