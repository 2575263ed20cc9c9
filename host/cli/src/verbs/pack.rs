//! `mizzen pack`: one governance pack, from its rules to a verdict. One line for each verb, here and in the two places below.

mod build;
mod cases;
mod check;
mod explain;
mod facts;
mod new;
mod run;
mod test;

pub(super) use build::build_rules;

use crate::home::Home;
use crate::output;
use mizzen_builder::pack::{PackProject, PackProjectError};
use mizzen_engine::pack::Redaction;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Pack {
    #[command(flatten)]
    home: Home,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Start a new pack of rules in a folder of its own
    New(new::New),
    /// Make a signed package of a pack; rules need no compiler
    Build(build::Build),
    /// Read a pack's files and say what is wrong, and where
    Check(check::Check),
    /// Run a pack's cases in the sandbox
    Test(test::Test),
    /// Ask a pack for its verdict on facts, in the sandbox
    Run(run::Run),
    /// Say which rules fired on which facts, and why others did not
    Explain(explain::Explain),
}

impl Pack {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::New(verb) => verb.run(),
            Verb::Build(verb) => verb.run(&self.home),
            Verb::Check(verb) => verb.run(&self.home),
            Verb::Test(verb) => verb.run(&self.home),
            Verb::Run(verb) => verb.run(&self.home),
            Verb::Explain(verb) => verb.run(),
        }
    }
}

/// Reads a rule pack's folder, or says what is wrong with it. The inner error is an exit code: everything was said.
fn open(folder: &Path, json: bool) -> anyhow::Result<Result<PackProject, ExitCode>> {
    anyhow::ensure!(
        !folder.is_file(),
        "{} is a file: this verb reads the folder that a pack is made from; for a package there are `mizzen pack run`, \
         `mizzen pack test` and `mizzen plugin check`",
        folder.display()
    );
    anyhow::ensure!(
        PackProject::is_one(folder) || !folder.join("Cargo.toml").is_file(),
        "{} is a pack in Rust, which has no rules to look at: `cargo test` checks it, `mizzen pack test` and \
         `mizzen pack run` build and ask it",
        folder.display()
    );
    let project = match PackProject::open(folder) {
        Ok(project) => project,
        Err(error) => return Ok(Err(refused(&error, json)?)),
    };
    let rules = project.ruleset()?;
    let unusable: Vec<String> = rules
        .redaction_patterns()
        .filter_map(|(rule, pattern)| {
            let problem = Redaction::check_pattern(pattern).err()?;
            Some(format!(
                "{}: rule {rule} redacts by {pattern:?}, and the host cannot: {problem}",
                folder.join("rules.clp").display()
            ))
        })
        .collect();
    if unusable.is_empty() {
        return Ok(Ok(project));
    }
    if json {
        output::json(&json!({"ok": false, "error": {"message": unusable.join("\n")}}))?;
    } else {
        unusable
            .iter()
            .for_each(|message| eprintln!("error: {}", output::harmless(message)));
    }
    Ok(Err(ExitCode::from(output::EXIT_REFUSED)))
}

/// Reports everything that is wrong with a rule pack, each with the line of the rule file that it is about.
fn refused(error: &PackProjectError, json: bool) -> anyhow::Result<ExitCode> {
    match error {
        PackProjectError::Rules { path, errors, .. } if json => {
            output::json(&super::rules::refusal_json(path, errors))?;
        }
        PackProjectError::Rules { path, text, errors } => {
            super::rules::print_errors(path, text, errors);
            if errors.iter().any(super::rules::lacks_template) {
                let names: Vec<&str> = mizzen_model::facts::templates().collect();
                eprintln!("  note: the host's templates are {}", names.join(", "));
            }
        }
        other if json => output::json(&json!({"ok": false, "error": {"message": other.to_string()}}))?,
        other => eprintln!("error: {other}"),
    }
    Ok(ExitCode::from(output::EXIT_REFUSED))
}
