//! `mizzen trust`: whose plugins a host trusts.

mod add;
mod check;
mod list;
mod revoke;
mod unpin;

use crate::home::{ConfigFile, Home};
use crate::output;
use anyhow::Context;
use mizzen_catalog::change::ChangeError;
use mizzen_catalog::files::{self, EditLock};
use mizzen_catalog::key::{KeyEntry, KeyName, PublicKey, read_public_file};
use mizzen_catalog::trust::{MAX_TRUST_FILE, Pins, TrustStore};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Trust {
    #[command(flatten)]
    home: Home,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Let a key sign for namespaces
    Add(add::Add),
    /// Show which keys may sign for what, which are pinned, and what is revoked
    List(list::List),
    /// Never trust a key or a package again
    Revoke(revoke::Revoke),
    /// Forget the key that tofu remembers of a namespace
    Unpin(unpin::Unpin),
    /// Explain what this host's trust says about a package
    Check(check::Check),
}

impl Trust {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Add(verb) => verb.run(&self.home),
            Verb::List(verb) => verb.run(),
            Verb::Revoke(verb) => verb.run(&self.home),
            Verb::Unpin(verb) => verb.run(&self.home),
            Verb::Check(verb) => verb.run(&self.home),
        }
    }
}

/// Which `trust.toml`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TrustFile {
    /// The trust file [default: the one of mizzen.toml if that is here, else trust.toml]
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
}

impl TrustFile {
    fn path(&self) -> anyhow::Result<PathBuf> {
        let config = PathBuf::from("mizzen.toml");
        match &self.trust {
            Some(path) => Ok(path.clone()),
            None if config.exists() => Ok(ConfigFile { config }.load()?.trust_file),
            None => Ok(PathBuf::from("trust.toml")),
        }
    }
}

impl TrustFile {
    /// What tofu remembers beside it: known where `mizzen.toml` says which files belong together.
    fn pins(&self) -> anyhow::Result<Pins> {
        let config = PathBuf::from("mizzen.toml");
        if self.trust.is_some() || !config.exists() {
            return Ok(Pins::default());
        }
        Ok(Pins::load(&ConfigFile { config }.load()?.pins_file)?)
    }
}

/// Prints a note when the host whose `mizzen.toml` is here does not load its set after a change of the trust file.
fn note_refused_set(file: &TrustFile, home: &Home) {
    let config = PathBuf::from("mizzen.toml");
    if file.trust.is_some() || !config.exists() {
        return;
    }
    if let Err(ChangeError::Refused(failure)) = (ConfigFile { config }).installation(home).plan() {
        eprintln!(
            "note: the host does not start with this set; `mizzen plugins plan` lists what is wrong ({})",
            output::counted(failure.errors.len(), "problem")
        );
    }
}

/// Reads the text of a trust file, changes it, and writes it only if the result is a valid trust file.
fn edit(path: &Path, change: impl FnOnce(&str) -> anyhow::Result<String>) -> anyhow::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::folder(folder)?;
    }
    let _lock = EditLock::of(path)?;
    let text = match files::read_text(path, MAX_TRUST_FILE) {
        Ok(text) => text,
        Err(error) if error.is_missing() => String::new(),
        Err(error) => return Err(error.into()),
    };
    TrustStore::parse(&text).with_context(|| format!("{} has problems; mend it first", path.display()))?;
    let changed = change(&text)?;
    TrustStore::parse(&changed)?;
    Ok(files::rewrite(path, changed.as_bytes(), 0o600)?)
}

/// A key from its name on this machine, from a `.pub` file, or from its text.
pub(super) fn find_key(home: &Home, text: &str) -> anyhow::Result<KeyEntry> {
    if text.starts_with("ed25519:") {
        let digits = text.trim_start_matches("ed25519:");
        let is_written_well = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let public_key = PublicKey::parse(text).with_context(|| {
            if is_written_well {
                "these 64 digits are not an ed25519 public key: no point of the curve, or a weak one; copy the key again from \
                 `mizzen key show`"
            } else {
                "that is not a public key: write ed25519: and 64 hexadecimal digits, as `mizzen key show` prints them"
            }
        })?;
        return Ok(KeyEntry {
            name: String::new(),
            id: public_key.id(),
            public_key,
            comment: String::new(),
        });
    }
    if text.ends_with(".pub") || text.contains('/') {
        return Ok(read_public_file(Path::new(text))?);
    }
    let name = KeyName::parse(text)
        .context("a key is named by its name on this machine, by a .pub file, or by its `ed25519:…` text")?;
    Ok(home.keys()?.public(&name)?)
}
