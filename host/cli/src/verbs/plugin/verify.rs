//! `mizzen plugin verify FILE [--key KEY | --trust FILE]`.

use crate::home::Home;
use crate::output;
use crate::verbs::trust::find_key;
use mizzen_catalog::key::PublicKey;
use mizzen_catalog::package::{MAX_PACKAGE, Package};
use mizzen_catalog::trust::{Policy, TrustStore, UnixTime};
use mizzen_model::manifest::Manifest;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugin verify text.wasm                        (do the signatures fit the bytes?)
  mizzen plugin verify text.wasm --key release          (and is one by this key?)
  mizzen plugin verify text.wasm --trust trust.toml     (and may these keys sign for its namespaces?)")]
pub(crate) struct Verify {
    /// The package
    file: PathBuf,
    /// Ask for a signature by this key: a name, a .pub file, or `ed25519:…`
    #[arg(long, conflicts_with = "trust")]
    key: Option<String>,
    /// Ask this trust.toml whether the keys may sign
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let verdict = self.verdict(home);
        let (signers, because) = match verdict {
            Ok(verdict) => verdict,
            Err(error) if self.json => {
                output::json(&json!({ "ok": false, "file": self.file, "problem": format!("{error:#}") }))?;
                return Ok(ExitCode::from(output::EXIT_REFUSED));
            }
            Err(error) => return Err(error),
        };
        let ids: Vec<String> = signers.iter().map(|signer| signer.id().to_string()).collect();
        if self.json {
            output::json(&json!({ "ok": true, "file": self.file, "signers": ids, "trust": because }))?;
        } else {
            println!("{}: the signatures hold: {}", self.file.display(), ids.join(", "));
            for line in because {
                println!("  {line}");
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn verdict(&self, home: &Home) -> anyhow::Result<(Vec<PublicKey>, Vec<String>)> {
        let package = Package::read(&self.file, MAX_PACKAGE)?;
        let signers = package.verify()?;
        if let Some(text) = &self.key {
            let wanted = find_key(home, text)?;
            anyhow::ensure!(
                signers.contains(&wanted.public_key),
                "the signatures hold, but none is by key {}; get a package that it signed",
                wanted.id
            );
        }
        let Some(path) = &self.trust else {
            return Ok((signers, Vec::new()));
        };
        anyhow::ensure!(
            path.exists(),
            "there is no {}; make it with `mizzen trust add`",
            path.display()
        );
        let manifest = Manifest::parse(package.manifest_text())?;
        let policy = Policy {
            store: TrustStore::load(path)?,
            ..Policy::default()
        };
        match policy.decide(
            manifest.namespaces(),
            &signers,
            &package.digest(),
            UnixTime::now(),
        ) {
            Ok(decision) => Ok((signers, decision.because)),
            Err(refusals) => {
                let lines: Vec<String> = refusals.iter().map(ToString::to_string).collect();
                Err(anyhow::anyhow!(lines.join("\n")))
            }
        }
    }
}
