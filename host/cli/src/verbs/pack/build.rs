//! `mizzen pack build [DIR]`.

use crate::home::Home;
use crate::verbs::plugin::build::{self as plugin, Making, Trial, signing_key};
use anyhow::Result;
use mizzen_builder::BuiltPlugin;
use mizzen_builder::pack::{PackProject, RULE_ENGINE, RULES_SECTION};
use mizzen_catalog::key::SecretKey;
use mizzen_sandbox::configured_pack;
use std::path::Path;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen pack build
  mizzen pack build night --key release

A folder with pack.toml and rules.clp needs no compiler: the rules go into the rule engine that
ships in this binary, which reads them once, here, and is kept as it is then. A folder with
Cargo.toml and plugin.toml is built like any plugin. Without --key it signs with the development
key, which it makes on first use.")]
pub(crate) struct Build {
    #[command(flatten)]
    making: Making,
}

impl Build {
    pub(super) fn run(self, home: &Home) -> Result<ExitCode> {
        let Making {
            folder, output, json, ..
        } = &self.making;
        let key = self.making.key(home)?;
        match build(folder, &key, output.as_deref(), *json, home)? {
            Ok(built) => self.making.report(&built),
            Err(code) => Ok(code),
        }
    }
}

/// Builds a pack of either kind. The inner error is an exit code: everything was said.
pub(super) fn build(
    folder: &Path,
    key: &SecretKey,
    output_folder: Option<&Path>,
    json: bool,
    home: &Home,
) -> Result<Result<BuiltPlugin, ExitCode>> {
    if !PackProject::is_one(folder) && folder.join("Cargo.toml").is_file() {
        return Ok(Ok(plugin::build(folder, key, output_folder, home)?));
    }
    let project = match super::open(folder, json)? {
        Ok(project) => project,
        Err(code) => return Ok(Err(code)),
    };
    if !json {
        let rules = project.ruleset()?.program().rules().count();
        eprintln!("embedding {}", crate::output::counted(rules, "rule"));
    }
    Ok(Ok(build_rules(&project, key, output_folder)?))
}

/// Gives the rule engine a pack's rules, and signs what comes of it.
pub(in crate::verbs) fn build_rules(
    project: &PackProject,
    key: &SecretKey,
    output_folder: Option<&Path>,
) -> Result<BuiltPlugin> {
    let component = configured_pack(
        RULE_ENGINE,
        &project.configuration(),
        (RULES_SECTION, project.rules().as_bytes()),
    )?;
    Ok(project.package(&component, key, output_folder)?)
}

/// The package of a folder, built to be tried, or the file itself.
pub(super) fn try_out(path: &Path, home: &Home, json: bool) -> Result<Result<Trial, ExitCode>> {
    if !path.is_dir() {
        return Ok(Ok(Trial::of_file(path)));
    }
    let key = signing_key(home, None)?;
    let scratch = tempfile::tempdir()?;
    let built = build(path, &key, Some(scratch.path()), json, home)?;
    Ok(built.map(|built| Trial::of_build(built, scratch)))
}
