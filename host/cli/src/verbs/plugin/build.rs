//! `mizzen plugin build [DIR]`.

use crate::home::Home;
use crate::output;
use mizzen_builder::{BuildError, BuildRequest, BuiltPlugin, Progress, build_plugin};
use mizzen_catalog::key::{DEV_KEY, KeyName, SecretKey};
use mizzen_model::limits::Limits;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugin build
  mizzen plugin build hello --key release

Installs the target wasm32-wasip2 when it is missing, builds, embeds plugin.toml, signs, and
writes dist/NAME-VERSION.wasm. Without --key it signs with the development key, which it makes on
first use. What cargo compiles goes to one cache folder for all of your plugins
($XDG_CACHE_HOME/mizzen/target), unless CARGO_TARGET_DIR or the workspace names another.")]
pub(crate) struct Build {
    #[command(flatten)]
    making: Making,
}

/// What to make a package of, signed by whom, and where it goes: of a plugin and of a pack.
#[derive(Debug, clap::Args)]
pub(in crate::verbs) struct Making {
    /// The folder with the sources
    #[arg(default_value = ".", value_name = "DIR")]
    pub(in crate::verbs) folder: PathBuf,
    /// The name of one of your keys (see `mizzen key list`)
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    /// Write the package into this folder instead of dist
    #[arg(long, value_name = "DIR")]
    pub(in crate::verbs) output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(in crate::verbs) json: bool,
}

impl Making {
    /// The key that signs.
    pub(in crate::verbs) fn key(&self, home: &Home) -> anyhow::Result<SecretKey> {
        signing_key(home, self.key.as_deref())
    }

    /// Says what was made.
    pub(in crate::verbs) fn report(&self, built: &BuiltPlugin) -> anyhow::Result<ExitCode> {
        if self.json {
            output::json(&shown(built))?;
        } else {
            print(built);
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Build {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let key = self.making.key(home)?;
        let built = build(&self.making.folder, &key, self.making.output.as_deref(), home)?;
        self.making.report(&built)
    }
}

/// The named key, or the development key, which is made when it is not there.
pub(in crate::verbs) fn signing_key(home: &Home, name: Option<&str>) -> anyhow::Result<SecretKey> {
    let keys = home.keys()?;
    Ok(match name {
        Some(name) => keys.secret(&KeyName::parse(name)?)?,
        None => keys.secret_or_create(&KeyName::parse(DEV_KEY)?, "development key of this machine")?,
    })
}

/// A package to try: of a file, or of a folder, which is built into a place that is gone afterwards. Trying a plugin never writes
/// `dist`: the file there may carry the signature of a release, or several.
pub(in crate::verbs) struct Trial {
    /// The package.
    pub(in crate::verbs) file: PathBuf,
    /// What was built; none for a file.
    pub(in crate::verbs) built: Option<BuiltPlugin>,
    // Removed when the trial is over.
    _folder: Option<tempfile::TempDir>,
}

impl Trial {
    /// The package of a file.
    pub(in crate::verbs) fn of_file(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            built: None,
            _folder: None,
        }
    }

    /// A package that was built into a temporary folder.
    pub(in crate::verbs) fn of_build(built: BuiltPlugin, folder: tempfile::TempDir) -> Self {
        Self {
            file: built.path.clone(),
            built: Some(built),
            _folder: Some(folder),
        }
    }
}

/// Builds the plugin of a folder to try it, signed by the development key.
pub(super) fn try_out(folder: &Path, home: &Home) -> anyhow::Result<Trial> {
    let key = signing_key(home, None)?;
    let scratch = tempfile::tempdir()?;
    let built = build(folder, &key, Some(scratch.path()), home)?;
    Ok(Trial::of_build(built, scratch))
}

/// Builds with progress on standard error.
pub(in crate::verbs) fn build(
    folder: &Path,
    key: &SecretKey,
    output_folder: Option<&Path>,
    home: &Home,
) -> anyhow::Result<BuiltPlugin> {
    let shared = home.target_folder();
    let request = BuildRequest {
        folder,
        key,
        target_folder: None,
        shared_target_folder: shared.as_deref(),
        output_folder,
    };
    build_plugin(request, &mut show_progress).map_err(|error| match error {
        // What cargo said has just been shown, line by line.
        BuildError::Cargo { hint, .. } => anyhow::anyhow!("cargo could not build the plugin{hint}"),
        other => other.into(),
    })
}

fn show_progress(progress: Progress<'_>) {
    match progress {
        Progress::SdkRefreshed(folder) => eprintln!("{} now holds the SDK of this mizzen", folder.display()),
        Progress::InstallingTarget => eprintln!("installing the target {}", mizzen_builder::GUEST_TARGET),
        Progress::Waiting(folder) => eprintln!("waiting for another build in {}", folder.display()),
        Progress::Building(name) => eprintln!("building {name}"),
        Progress::Line(line) => eprintln!("{line}"),
        Progress::Packaging => eprintln!("packaging and signing"),
    }
}

fn shown(built: &BuiltPlugin) -> serde_json::Value {
    let permissions: serde_json::Map<String, serde_json::Value> = built
        .manifest
        .permissions()
        .iter()
        .map(|(permission, reason)| (permission.to_string(), json!(reason)))
        .collect();
    json!({
        "file": built.path,
        "name": built.manifest.name(),
        "version": built.manifest.version(),
        "size": built.size,
        "digest": built.digest,
        "key": built.key,
        "imports": built.imports,
        "refused_imports": built.refused.iter().map(|(import, _)| import).collect::<Vec<_>>(),
        "undeclared_imports": built.undeclared.iter().map(|(import, _)| import).collect::<Vec<_>>(),
        "permissions": permissions,
        "unchanged": built.unchanged,
    })
}

/// For people.
fn print(built: &BuiltPlugin) {
    let state = if built.unchanged { " (unchanged)" } else { "" };
    println!("{}{state}", built.path.display());
    print_contents(built);
}

/// Imports that no host links, gathered by the reason: a toolchain that emits one of sockets emits seven.
fn by_reason(refused: &[(String, String)]) -> Vec<(&str, Vec<String>)> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (import, reason) in refused {
        let import = mizzen_json::shorten(import);
        match reasons.iter_mut().find(|(known, _)| *known == reason.as_str()) {
            Some((_, imports)) => imports.push(import),
            None => reasons.push((reason, vec![import])),
        }
    }
    reasons
}

/// What a package holds. The imports that every component has are counted; those of the contract are named.
pub(super) fn print_contents(built: &BuiltPlugin) {
    println!("  size         {} bytes", built.size);
    println!("  digest       {}", built.digest);
    println!("  signed by    {}", built.key);
    let is_refused = |import: &&String| built.refused.iter().any(|(name, _)| name == *import);
    let (wasi, contract): (Vec<&String>, Vec<&String>) = built
        .imports
        .iter()
        .filter(|import| !is_refused(import))
        .partition(|import| import.starts_with("wasi:"));
    let closed =
        (!wasi.is_empty()).then(|| format!("{} of WASI, answered by closed implementations", wasi.len()));
    let imports: Vec<&str> = closed
        .as_deref()
        .into_iter()
        .chain(contract.into_iter().map(String::as_str))
        .collect();
    for (index, import) in imports.iter().enumerate() {
        let label = if index == 0 { "imports" } else { "" };
        println!("  {label:<11}  {import}");
    }
    for (reason, imports) in by_reason(&built.refused) {
        println!(
            "  warning: no host loads it: it imports {}; {reason}",
            imports.join(", ")
        );
    }
    for (import, examples) in &built.undeclared {
        let import = mizzen_json::shorten(import);
        let lines: Vec<String> = examples
            .iter()
            .map(|example| format!("\"{example}\" = \"why it is needed\""))
            .collect();
        println!(
            "  warning: no host loads it: it imports {import}, and plugin.toml declares no permission for it; add to \
             [permissions]: {}",
            lines.join(" and/or ")
        );
    }
    for clamped in built.manifest.limits().clamped(Limits::CEILING) {
        println!("  warning: {clamped}");
    }
    if built.manifest.permissions().is_empty() {
        println!("  permissions  none");
    }
    for (index, (permission, reason)) in built.manifest.permissions().iter().enumerate() {
        let label = if index == 0 { "permissions" } else { "" };
        println!("  {label:<11}  {permission}: {}", output::harmless(reason));
    }
}
