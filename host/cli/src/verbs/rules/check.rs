//! `mizzen rules check FILE`.

use crate::output;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Example:
  mizzen rules check rules.clp

Exits 0 when the file is a rule program and 1 when it is not.";

#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Check {
    /// The rule file: deftemplate, deffacts and defrule.
    file: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match super::parse(&self.file)? {
            Ok(program) => {
                let rules: Vec<_> = program.rules().collect();
                let templates: Vec<_> = program.templates().map(|template| template.name()).collect();
                if self.json {
                    output::json(&json!({"ok": true, "rules": rules, "templates": templates}))?;
                } else {
                    println!(
                        "{}: {} rules, {} templates",
                        self.file.display(),
                        rules.len(),
                        templates.len()
                    );
                }
                Ok(ExitCode::SUCCESS)
            }
            Err((text, errors)) => {
                if self.json {
                    output::json(&super::refusal_json(&self.file, &errors))?;
                } else {
                    super::print_lone_errors(&self.file, &text, &errors);
                }
                Ok(ExitCode::from(output::EXIT_REFUSED))
            }
        }
    }
}
