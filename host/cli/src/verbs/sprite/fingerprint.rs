//! `mizzen sprite fingerprint`.

use crate::document_file as source;
use crate::output;
use anyhow::Context as _;
use mizzen_model::fingerprint::{Fingerprint as Digest, FingerprintType};
use mizzen_model::json::{Json, Object};
use mizzen_model::sprite::system_prompt_reference;
use std::io::{BufRead as _, BufWriter, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

/// No line of a JSONL file is longer: one sprite, generously.
const MAX_LINE: u64 = 16 << 20;

/// Print the fingerprint of a sprite file.
///
/// The document is hashed as it stands, without `id`, `created`, `fingerprint` and `metadata.created`, as canonical JSON.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mizzen sprite fingerprint sol-forge.yaml\n  mizzen sprite fingerprint --jsonl sprites.jsonl\n  \
                  mizzen sprite fingerprint --algorithm sha256 --json sol-forge.json"
)]
pub(super) struct Fingerprint {
    /// The file; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Read lines {"name", "sprite"} and print lines {"name", "fingerprint"}, in the same order.
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
        let mut input = source::open(&self.file)?;
        let mut out = BufWriter::new(std::io::stdout().lock());
        let mut line = Vec::new();
        let mut failed = false;
        for number in 1u64.. {
            line.clear();
            let read = input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line);
            if read.with_context(|| format!("cannot read {}", self.file.display()))? == 0 {
                break;
            }
            anyhow::ensure!(
                line.len() as u64 <= MAX_LINE,
                "line {number} is longer than {MAX_LINE} bytes"
            );
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match self.line(&line) {
                Ok(answer) => writeln!(out, "{answer}")?,
                Err(error) => {
                    failed = true;
                    eprintln!("line {number}: {error}");
                }
            }
        }
        out.flush()?;
        Ok(if failed {
            ExitCode::from(output::EXIT_REFUSED)
        } else {
            ExitCode::SUCCESS
        })
    }

    fn line(&self, line: &[u8]) -> anyhow::Result<String> {
        let text = std::str::from_utf8(line).context("not UTF-8")?;
        let row = Json::parse(text)?;
        let name = row.get("name").context("there is no \"name\"")?;
        let sprite = row.get("sprite").context("there is no \"sprite\"")?;
        anyhow::ensure!(sprite.as_object().is_some(), "\"sprite\" is not an object");
        let mut answer = Object::new();
        answer.insert("name", name.clone());
        answer.insert(
            "fingerprint",
            Json::from(Digest::of(sprite, self.algorithm).to_string()),
        );
        Ok(Json::from(answer).to_compact())
    }
}
