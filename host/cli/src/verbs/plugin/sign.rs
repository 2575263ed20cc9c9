//! `mizzen plugin sign FILE --key NAME`.

use crate::home::Home;
use crate::output;
use mizzen_catalog::files;
use mizzen_catalog::key::KeyName;
use mizzen_catalog::package::{MAX_PACKAGE, Package};
use mizzen_catalog::signature::{SignatureError, sign};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugin sign dist/text-0.1.0.wasm --key release

A package can carry several signatures; each covers every byte before it.")]
pub(crate) struct Sign {
    /// The package
    file: PathBuf,
    /// The name of one of your keys (see `mizzen key list`)
    #[arg(long, value_name = "NAME")]
    key: String,
    /// Write the signed package here instead of replacing FILE
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Sign {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let key = home.keys()?.secret(&KeyName::parse(&self.key)?)?;
        let bytes = files::read_bounded(&self.file, MAX_PACKAGE)?;
        let package = Package::parse(bytes.clone())?;
        match package.verify() {
            // Nobody should put a name under a package that was changed after another one signed it.
            Err(error) if error != SignatureError::Unsigned => return Err(error.into()),
            Ok(signers) if signers.iter().any(|signer| signer.id() == key.id()) => {
                return Err(anyhow::anyhow!(
                    "{} is already signed with key {}",
                    self.file.display(),
                    key.id()
                ));
            }
            _ => {}
        }
        let signed = sign(bytes, &key)?;
        let target = self.output.as_ref().unwrap_or(&self.file);
        files::rewrite(target, &signed, 0o644)?;
        if self.json {
            output::json(&json!({ "file": target, "digest": package.digest(), "key": key.id() }))?;
        } else {
            println!(
                "{} is signed with {} ({})",
                target.display(),
                key.id(),
                package.digest()
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
