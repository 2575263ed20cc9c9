//! `mizzen audit verify`.

use crate::home::Home;
use crate::output;
use crate::verbs::trust::find_key;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check an export with the host's public key alone
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen audit verify run.json --key ed25519:…
  mizzen audit verify run.json --key .mizzen/keys/host.pub

Exits 1 when anything in it was edited, dropped, reordered, added or cut off, or when the key is
another one. Of an execution that was erased the hashes are checked, and who erased it when is printed.")]
pub(crate) struct Verify {
    /// The export
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The host's public key: `ed25519:` and 64 hexadecimal digits, a .pub file (keys/host.pub in the data folder), or the name of
    /// one of your keys
    #[arg(long, value_name = "PUB")]
    key: String,
    #[command(flatten)]
    home: Home,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Journals are bounded by their chains; a file beyond this is not one.
const MAX_FILE: u64 = 1 << 30;

impl Verify {
    pub(super) fn run(self) -> Result<ExitCode> {
        let key = match find_key(&self.home, &self.key) {
            Ok(entry) => entry.public_key,
            Err(error) => return Ok(output::usage_error(&format!("--key: {error:#}"))),
        };
        let text = mizzen_catalog::files::read_text(&self.file, MAX_FILE)?;
        match mizzen_ops::verify_audit(&text, &key) {
            Ok(verified) if self.json => {
                let mut report = serde_json::json!({
                    "ok": true, "execution_id": verified.execution_id, "status": verified.status,
                    "events": verified.events, "head": verified.head, "load_plan": verified.load_plan,
                });
                if let (Some(erased), Some(members)) = (&verified.erased, report.as_object_mut()) {
                    let erased = serde_json::json!({"at": erased.at, "by": erased.by});
                    members.insert("erased".to_owned(), erased);
                }
                output::json(&report)?;
            }
            Ok(verified) => {
                println!(
                    "ok: execution {} ({}), {} entries, head {}, load plan {}",
                    verified.execution_id,
                    verified.status,
                    verified.events,
                    verified.head,
                    verified.load_plan
                );
                if let Some(erased) = &verified.erased {
                    println!(
                        "erased at {} by {}: what its {} entries, its result and its council said is gone; their hashes are the sealed ones",
                        erased.at, erased.by, verified.events
                    );
                }
            }
            Err(error) => {
                if self.json {
                    output::json(&serde_json::json!({"ok": false, "error": error.to_string()}))?;
                } else {
                    eprintln!("error: {error}");
                }
                return Ok(ExitCode::from(output::EXIT_REFUSED));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
