//! `mizzen sprite validate`.

use crate::document_file as source;
use crate::output;
use mizzen_engine::admit_sprite;
use mizzen_json::Json;
use mizzen_model::problem::Problems;
use mizzen_model::sprite::{Sprite, SpriteBody, SpriteDraft};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Check sprite files: every field, pattern and length, and the JSON Schemas of their capabilities.
///
/// A file with an `id` or a `fingerprint` is a whole sprite and must have both; a file with neither is a draft, as it is
/// sent to POST /v1/sprites. Exit code 1 when a file is not valid.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mizzen sprite validate sol-forge.yaml\n  mizzen sprite validate --json - < sprite.json"
)]
pub(super) struct Validate {
    /// The files; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON document with every file's problems.
    #[arg(long)]
    json: bool,
}

struct Report {
    file: String,
    kind: &'static str,
    about: String,
    problems: Problems,
    warnings: Vec<String>,
}

impl Validate {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut reports = Vec::new();
        for file in &self.files {
            reports.push(judge(file, &source::read(file)?));
        }
        let valid = reports.iter().all(|report| report.problems.is_empty());
        if self.json {
            let reports: Vec<serde_json::Value> = reports.iter().map(Report::to_json).collect();
            output::json(&serde_json::json!({"valid": valid, "files": reports}))?;
        } else {
            reports.iter().for_each(Report::print);
        }
        Ok(if valid {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}

fn judge(file: &Path, document: &Json) -> Report {
    let whole = document.get("id").is_some() || document.get("fingerprint").is_some();
    let mut warnings = Vec::new();
    let body: Result<SpriteBody, Problems> = if whole {
        Sprite::parse(document).map(|sprite| {
            let computed = sprite.computed_fingerprint();
            if computed != sprite.fingerprint {
                warnings.push(format!(
                    "the fingerprint is stale: {} is stated, {computed} is computed",
                    sprite.fingerprint
                ));
            }
            sprite.body
        })
    } else {
        SpriteDraft::parse(document).map(|draft| draft.body)
    };
    let (about, mut problems) = match body {
        Ok(body) => (format!("{} {}", body.name, body.version), body.structure()),
        Err(problems) => (String::new(), problems),
    };
    problems.extend(admit_sprite(document));
    let kind = if whole { "sprite" } else { "draft" };
    Report {
        file: file.display().to_string(),
        kind,
        about,
        problems,
        warnings,
    }
}

impl Report {
    fn print(&self) {
        for problem in &self.problems {
            println!("{}: {problem}", self.file);
        }
        if self.problems.omitted() > 0 {
            println!("{}: and {} more", self.file, self.problems.omitted());
        }
        for warning in &self.warnings {
            println!("{}: warning: {warning}", self.file);
        }
        if self.problems.is_empty() {
            println!("{}: valid {} {}", self.file, self.kind, self.about);
        } else {
            let count = self.problems.len() + self.problems.omitted();
            println!(
                "{}: not valid, {count} {}",
                self.file,
                if count == 1 { "problem" } else { "problems" }
            );
        }
    }

    fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "file": self.file,
            "kind": self.kind,
            "valid": self.problems.is_empty(),
            "problems": self.problems.iter().collect::<Vec<_>>(),
            "omitted": self.problems.omitted(),
            "warnings": self.warnings,
        })
    }
}
