//! What a call at an author's desk is given: trust, grants, settings and secrets, of a host's configuration or of the command line.

use crate::document_file;
use crate::home::{ConfigFile, Home};
use crate::workbench::Workbench;
use anyhow::{Context, Result, anyhow, bail};
use mizzen_catalog::files;
use mizzen_catalog::grants::{GrantPolicy, Grants};
use mizzen_catalog::package::{MAX_PACKAGE, Package};
use mizzen_catalog::{LoadFailure, Terms};
use mizzen_model::manifest::Manifest;
use mizzen_model::permission::{Permission, PermissionSet};
use mizzen_ops::outgoing::{Outgoing, OutgoingLimits, PrivateHosts, Purpose};
use mizzen_ops::toolbox::Outfit;
use mizzen_ops::{MAX_SECRET, read_secrets};
use mizzen_sandbox::Secret;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options.
#[derive(Debug, clap::Args)]
pub(super) struct Equipment {
    /// Run it as this host would: with its trust, grants, limits, settings and secrets, instead of yours
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A secret that the plugin may read: NAME=VALUE, or NAME=@FILE
    #[arg(long = "secret", value_name = "NAME=VALUE")]
    secrets: Vec<String>,
    /// A setting of the plugin, as in [config.NAME] of mizzen.toml: KEY=VALUE, where VALUE is JSON or a text
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Grant only this permission; repeat it for more [default: all that the plugin declares]
    #[arg(long = "grant", value_name = "PERMISSION")]
    grants: Vec<String>,
    /// Do not grant this permission, which the plugin declares
    #[arg(long = "deny", value_name = "PERMISSION")]
    denied: Vec<String>,
}

impl Equipment {
    /// Loads a package with it. The outer error is the caller's or ours, the inner one is the package's.
    pub(super) fn open(&self, file: &Path, home: &Home) -> Result<Result<Workbench, LoadFailure>> {
        let package = Package::read(file, MAX_PACKAGE)?;
        let manifest = Manifest::parse(package.manifest_text())
            .map_err(|problems| anyhow!("the manifest of {} is not valid: {problems}", file.display()))?;
        let (mut terms, mut outfit) = self.of_host(home)?;
        if !self.grants.is_empty() || !self.denied.is_empty() {
            terms.grants = self.granted(&manifest, &terms)?;
        }
        for text in &self.secrets {
            let (name, value) = pair(text, "--secret", "NAME=VALUE")?;
            outfit
                .secrets
                .insert(name.to_owned(), Secret::new(secret(value)?));
        }
        if !self.settings.is_empty() {
            let settings = outfit
                .settings
                .entry(manifest.name().clone())
                .or_insert_with(|| Value::Object(Map::new()));
            for text in &self.settings {
                let (key, value) = pair(text, "--set", "KEY=VALUE")?;
                let value = document_file::value_or_text(value)
                    .with_context(|| format!("--set {key} cannot be used"))?;
                if let Some(settings) = settings.as_object_mut() {
                    settings.insert(key.to_owned(), value);
                }
            }
        }
        Workbench::open_with(vec![file.to_owned()], &terms, outfit, home)
    }

    fn of_host(&self, home: &Home) -> Result<(Terms, Outfit)> {
        let reaching = |private_hosts: PrivateHosts| {
            let purpose = Purpose::Plugins(Arc::clone(&private_hosts));
            Outfit {
                http: Some(Arc::new(
                    Outgoing::system(OutgoingLimits::default()).serving(purpose),
                )),
                private_hosts,
                ..Outfit::default()
            }
        };
        let Some(config) = &self.config else {
            return Ok((home.author_terms()?, reaching(PrivateHosts::default())));
        };
        let file = ConfigFile {
            config: config.clone(),
        };
        let (config, terms) = file.terms(home)?;
        let outfit = Outfit {
            secrets: read_secrets(&config)?,
            settings: config.settings,
            ..reaching(Arc::new(config.private_hosts))
        };
        Ok((terms, outfit))
    }

    fn granted(&self, manifest: &Manifest, terms: &Terms) -> Result<GrantPolicy> {
        let read = |texts: &[String]| -> Result<PermissionSet> {
            let read =
                |text: &String| Permission::parse(text).with_context(|| format!("{text:?} is no permission"));
            texts.iter().map(read).collect()
        };
        let (asked, denied) = (read(&self.grants)?, read(&self.denied)?);
        let declared = manifest.permission_set();
        if let Some(stranger) = asked
            .iter()
            .find(|asked| !declared.iter().any(|declared| declared.overlaps(asked)))
        {
            bail!(
                "--grant {stranger}: the plugin does not declare that; it declares {}",
                listed(&declared)
            );
        }
        let granted = if self.grants.is_empty() {
            terms.grants.to_plugin(manifest)
        } else {
            asked
        };
        if let Some(stranger) = denied
            .iter()
            .find(|denied| !granted.iter().any(|given| given == *denied))
        {
            bail!(
                "--deny {stranger}: the plugin is not granted that; it is granted {}",
                listed(&granted)
            );
        }
        let rest = granted
            .iter()
            .filter(|given| !denied.iter().any(|denied| denied == *given))
            .cloned()
            .collect();
        Ok(GrantPolicy::Listed(Grants {
            plugin: [(manifest.name().clone(), rest)].into(),
            ..Grants::default()
        }))
    }
}

fn listed(permissions: &PermissionSet) -> String {
    let texts: Vec<String> = permissions.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [] => "nothing".to_owned(),
        texts => texts.join(", "),
    }
}

fn pair<'a>(text: &'a str, option: &str, form: &str) -> Result<(&'a str, &'a str)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name, value)),
        // What stands there may be a secret: it is not repeated.
        Some(_) | None => bail!("{option} takes {form}"),
    }
}

fn secret(value: &str) -> Result<String> {
    let Some(path) = value.strip_prefix('@') else {
        return Ok(value.to_owned());
    };
    let text = files::read_text(Path::new(path), MAX_SECRET)?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}
