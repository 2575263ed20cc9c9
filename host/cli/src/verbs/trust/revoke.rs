//! `mizzen trust revoke KEY-ID|DIGEST --reason TEXT`.

use super::{TrustFile, edit, note_refused_set};
use crate::home::Home;
use crate::output;
use anyhow::{Context, bail};
use mizzen_catalog::key::KeyId;
use mizzen_catalog::package::Digest;
use mizzen_catalog::trust::{revoke_digest, revoke_key};
use serde_json::json;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen trust revoke mzk_0123456789abcdef0123456789abcdef --reason \"the laptop was stolen\"
  mizzen trust revoke blake3:… --reason \"leaks its input\"

A host does not start with what is revoked; one that watches its folders stops running it. Remove
the plugin too.")]
pub(crate) struct Revoke {
    /// A key's id (`mzk_…`), or a package's digest (`blake3:…`)
    what: String,
    /// Why, for whoever meets the refusal
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    file: TrustFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Revoke {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let path = self.file.path()?;
        if self.reason.trim().is_empty() {
            bail!("say why with --reason TEXT");
        }
        edit(&path, |text| {
            match (KeyId::parse(&self.what), Digest::parse(&self.what)) {
                (Some(id), _) => Ok(revoke_key(text, &id, &self.reason)?),
                (None, Some(digest)) => Ok(revoke_digest(text, &digest, &self.reason)?),
                (None, None) => bail!(
                    "`{}` is neither a key's id (mzk_ and 32 digits) nor a digest (blake3: and 64 digits)",
                    mizzen_json::shorten(&self.what)
                ),
            }
        })
        .context("the trust file was not changed")?;
        if self.json {
            output::json(&json!({ "file": path, "revoked": self.what }))?;
        } else {
            println!("{} is revoked ({})", self.what, path.display());
        }
        note_refused_set(&self.file, home);
        Ok(ExitCode::SUCCESS)
    }
}
