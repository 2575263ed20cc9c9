//! `mizzen plugins grants [PLUGIN] [--add PERMISSION] [--remove PERMISSION]`.

use super::trial::Trial;
use crate::home::{ConfigFile, Home};
use crate::output;
use anyhow::ensure;
use mizzen_catalog::LoadFailure;
use mizzen_catalog::change::{Breakage, ChangeError, GrantsChange};
use mizzen_catalog::load::scan;
use mizzen_model::namespace::PluginName;
use mizzen_model::permission::Permission;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugins grants
  mizzen plugins grants text --add kv:read --add net:api.example.com
  mizzen plugins grants text --remove kv:read

A plugin can do what it declares AND what is granted; by default nothing is granted. Taking back what
the set does not load without is refused; --force does it, and the host does not start until the
plugin is gone or granted it again.")]
pub(crate) struct Grants {
    /// The plugin; without it, all are shown
    plugin: Option<String>,
    /// Grant this permission
    #[arg(long, value_name = "PERMISSION", requires = "plugin")]
    add: Vec<String>,
    /// Take this permission back
    #[arg(long, value_name = "PERMISSION", requires = "plugin")]
    remove: Vec<String>,
    /// Take it back although the set does not load without it
    #[arg(long, requires = "remove")]
    force: bool,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Grants {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let wanted = self.plugin.as_deref().map(PluginName::parse).transpose()?;
        let parse = |texts: &[String]| {
            texts
                .iter()
                .map(|text| Permission::parse(text))
                .collect::<Result<Vec<_>, _>>()
        };
        let (add, remove) = (parse(&self.add)?, parse(&self.remove)?);
        if let Some(plugin) = wanted.clone().filter(|_| !add.is_empty() || !remove.is_empty()) {
            let change = GrantsChange {
                plugin,
                add,
                remove,
                breakage: if self.force {
                    Breakage::Accepted
                } else {
                    Breakage::Refused
                },
            };
            if let Err(failure) = self.change(&change, home)? {
                if !self.json {
                    eprintln!(
                        "error: without this grant the host does not start; --force takes it back all the same. Nothing was changed"
                    );
                }
                return output::load_failure(&failure, self.json.into());
            }
        }
        let config = self.config.load()?;
        let mut rows: Vec<Value> = Vec::new();
        for found in scan(&config.sources, config.max_package) {
            let Some(manifest) = found
                .manifest
                .filter(|manifest| wanted.as_ref().is_none_or(|name| name == manifest.name()))
            else {
                continue;
            };
            let (granted, declared) = (config.grants.to_plugin(&manifest), manifest.permission_set());
            let effective: Vec<&Permission> = declared
                .iter()
                .filter(|permission| granted.covers(permission))
                .collect();
            rows.push(json!({
                "plugin": format!("{}@{}", manifest.name(), manifest.version()),
                "declared": declared, "granted": granted,
                "covered": effective, "not_granted": granted.missing(&declared), "not_declared": declared.missing(&granted),
            }));
        }
        let listed = wanted.as_ref().map(|name| config.grants.plugin.get(name));
        ensure!(
            !rows.is_empty() || wanted.is_none() || listed.flatten().is_some(),
            "{} is not installed and has no grants",
            self.plugin.unwrap_or_default()
        );
        if self.json {
            output::json(&json!({ "ok": true, "grants": config.grants, "plugins": rows }))?;
            return Ok(ExitCode::SUCCESS);
        }
        if rows.is_empty()
            && let Some(name) = &wanted
        {
            eprintln!("note: no plugin {name} is installed; the grants wait for one of that name");
        }
        for (name, granted) in &config.grants.plugin {
            if wanted.as_ref().is_none_or(|wanted| wanted == name) {
                let granted: Vec<String> = granted.iter().map(ToString::to_string).collect();
                println!("plugin {name}: {}", granted.join(", "));
            }
        }
        if wanted.is_none() {
            for (pattern, granted) in &config.grants.namespace {
                let granted: Vec<String> = granted.iter().map(ToString::to_string).collect();
                println!("namespace {pattern}: {}", granted.join(", "));
            }
        }
        let texts = |row: &Value, key: &str| -> String {
            let items = row
                .get(key)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            items
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(", ")
        };
        for row in &rows {
            println!(
                "{}",
                row.get("plugin").and_then(Value::as_str).unwrap_or_default()
            );
            for (key, label) in [
                ("covered", "may do"),
                ("not_granted", "declares, not granted in full"),
                ("not_declared", "granted, not declared"),
            ] {
                let shown = texts(row, key);
                if !shown.is_empty() {
                    println!("  {label}: {shown}");
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the change, unless the set would no longer load.
    fn change(&self, change: &GrantsChange, home: &Home) -> anyhow::Result<Result<(), LoadFailure>> {
        self.config.load()?;
        let installation = self.config.installation(home);
        let mut prepared = match installation.prepare_grants(change) {
            Ok(prepared) => prepared,
            Err(ChangeError::Refused(failure)) => return Ok(Err(failure)),
            Err(error) => return Err(error.into()),
        };
        let trial = Trial::of(&self.config, home)?;
        if change.must_load() {
            if let Err(failure) = trial.without(&installation, &mut prepared)? {
                return Ok(Err(failure));
            }
        } else {
            trial.regardless(&mut prepared)?;
        }
        prepared.write()?;
        super::note_broken(&prepared);
        Ok(Ok(()))
    }
}
