//! `mizzen sprite fingerprint`.

use crate::document_file as source;
use crate::jsonl::{Halves, Row, answer_lines};
use crate::output;
use anyhow::Context as _;
use mizzen_json::{Json, Object};
use mizzen_model::fingerprint::{Fingerprint as Digest, FingerprintType};
use mizzen_model::sprite::system_prompt_reference;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print the fingerprint of a sprite file.
///
/// The document is hashed as it stands, without `id`, `created`, `fingerprint` and `metadata.created`, as canonical JSON. A host
/// hashes what it stores: it fills in what the file leaves out, `metadata.updated` and the text of a `$ref:` prompt among it, so the
/// fingerprint of a stored sprite can differ from that of its file. To compare, fingerprint what GET /v1/sprites/ID returns.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mizzen sprite fingerprint sol-forge.yaml\n  mizzen sprite fingerprint --jsonl sprites.jsonl\n  \
                  mizzen sprite fingerprint --algorithm sha256 --json sol-forge.json"
)]
pub(super) struct Fingerprint {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Read lines {"name", "sprite"} and print lines {"name", "fingerprint"}, as many and in the same order; a line that holds no
    /// sprite gets "fingerprint": null and an "error".
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,
    /// The hash function: blake3 or sha256.
    #[arg(long, default_value = "blake3", value_parser = algorithm)]
    algorithm: FingerprintType,
    /// Print {"type", "hash", "fingerprint"}.
    #[arg(long)]
    json: bool,
}

fn algorithm(text: &str) -> Result<FingerprintType, String> {
    FingerprintType::parse(text).ok_or_else(|| "write blake3 or sha256".to_owned())
}

impl Fingerprint {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if self.jsonl {
            return self.lines();
        }
        let document = source::read(&self.file)?;
        anyhow::ensure!(
            document.as_object().is_some(),
            "{} is not an object: a sprite is one",
            self.file.display()
        );
        let prompt = document.get("system_prompt").and_then(Json::as_str);
        if prompt.and_then(system_prompt_reference).is_some() {
            eprintln!("note: the prompt is a reference; the server hashes the text that it stands for");
        }
        let digest = Digest::of(&document, self.algorithm);
        if self.json {
            let text = digest.to_string();
            output::json(
                &serde_json::json!({"type": digest.algorithm(), "hash": digest.hash(), "fingerprint": text}),
            )?;
        } else {
            println!("{digest}");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// One line at a time, so that a file of any length needs the memory of its longest line.
    fn lines(&self) -> anyhow::Result<ExitCode> {
        let mut hashed = true;
        answer_lines(
            source::open(&self.file)?,
            std::io::stdout().lock(),
            Halves::Refused,
            |row| {
                let mut answer = Object::new();
                let name = row.as_ref().ok().and_then(|row| row.get("name"));
                answer.insert("name", name.cloned().unwrap_or(Json::Null));
                match self.line(row) {
                    Ok(digest) => {
                        answer.insert("fingerprint", digest.to_string().into());
                    }
                    Err(reason) => {
                        hashed = false;
                        answer.insert("fingerprint", Json::Null);
                        answer.insert("error", reason.into());
                    }
                }
                Json::Object(answer)
            },
        )
        .with_context(|| format!("cannot read {}", self.file.display()))?;
        Ok(ExitCode::from(if hashed { 0 } else { output::EXIT_REFUSED }))
    }

    fn line(&self, row: &Row) -> Result<Digest, String> {
        let row = row
            .as_ref()
            .map_err(|error| format!("the line is not JSON: {error}"))?;
        row.get("name").ok_or("there is no \"name\"")?;
        let sprite = row.get("sprite").ok_or("there is no \"sprite\"")?;
        if sprite.as_object().is_none() {
            return Err("\"sprite\" is not an object".to_owned());
        }
        Ok(Digest::of(sprite, self.algorithm))
    }
}
