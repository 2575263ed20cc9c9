//! Loading a set: every static stage, for every plugin, with all the problems together.
//!
//! The stages are those of [`Stage`]; the last three (compile, describe, register) need the sandbox, which takes the
//! [`LoadPlan`] from here and passes its descriptions to [`crate::register`]. Files are read in the order of their paths and decided
//! in the order of name and version, so that the same input gives the same plan and the same problems.

mod candidate;
mod plan;
mod set;
mod settings;
mod upgrade;

pub use plan::{LoadPlan, PlannedPlugin};
pub use settings::unread_settings;
pub use upgrade::waiting_upgrades;

use crate::error::{LoadCode, PluginLoadError, Stage, Subject};
use crate::grants::GrantPolicy;
use crate::package::{MAX_PACKAGE, Package};
use crate::trust::{Policy, UnixTime};
use crate::verified::VerifiedPlugin;
use candidate::Candidate;
use mizzen_model::limits::Limits;
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::PluginName;
use semver::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More packages than one folder or one set is expected to hold.
const MAX_PLUGINS: usize = 10_000;

/// On what terms plugins are accepted.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Who may sign for what.
    pub policy: Policy,
    /// What is granted.
    pub grants: GrantPolicy,
    /// The ceilings of all plugins' limits.
    pub ceiling: Limits,
    /// The largest package that is read.
    pub max_package: u64,
    /// The time against which keys are valid or not.
    pub now: UnixTime,
}

impl Terms {
    /// These policies, with the default limits.
    pub const fn new(policy: Policy, grants: GrantPolicy, now: UnixTime) -> Self {
        Self {
            policy,
            grants,
            ceiling: Limits::CEILING,
            max_package: MAX_PACKAGE,
            now,
        }
    }
}

/// Which plugins to load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Folders; every `*.wasm` file directly in them.
    pub folders: Vec<PathBuf>,
    /// Single files.
    pub files: Vec<PathBuf>,
    /// Plugins that stay where they are and are not loaded: by name, or by name and version.
    pub disabled: BTreeSet<(PluginName, Option<Version>)>,
    /// Which version of a plugin is the default, when it should not be the highest one.
    pub defaults: BTreeMap<PluginName, Version>,
}

impl Sources {
    /// The folder that installs go to, when it is not there. It counts as empty: the first install makes it.
    pub fn missing_folder(&self) -> Option<&Path> {
        let folder = self.folders.first()?;
        let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        folder
            .metadata()
            .is_err_and(is_missing)
            .then_some(folder.as_path())
    }

    /// Whether a version of a plugin is not loaded, by its name alone or by both.
    pub fn is_disabled(&self, plugin: &PluginName, version: &Version) -> bool {
        let named = |version: Option<Version>| self.disabled.contains(&(plugin.clone(), version));
        named(None) || named(Some(version.clone()))
    }
}

/// Everything that is wrong with a set. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LoadFailure {
    /// All problems, by plugin and stage.
    pub errors: Vec<PluginLoadError>,
}

impl std::fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.errors.len();
        write!(
            f,
            "the plugin set has {count} {}:",
            if count == 1 { "problem" } else { "problems" }
        )?;
        self.errors.iter().try_for_each(|error| write!(f, "\n{error}"))
    }
}

impl std::error::Error for LoadFailure {}

/// Takes one file through every stage that does not need the others.
///
/// # Errors
/// With all its problems.
pub fn verify_file(file: &Path, terms: &Terms) -> Result<VerifiedPlugin, LoadFailure> {
    verify(Candidate::read(file, terms), terms)
}

/// Takes the bytes of one file through every stage that does not need the others; `file` is for messages.
///
/// # Errors
/// With all its problems.
pub fn verify_bytes(file: &Path, bytes: Vec<u8>, terms: &Terms) -> Result<VerifiedPlugin, LoadFailure> {
    verify(Candidate::parse(file, bytes, terms), terms)
}

fn verify(mut candidate: Candidate, terms: &Terms) -> Result<VerifiedPlugin, LoadFailure> {
    let mut policy = terms.policy.clone();
    for (namespace, key) in candidate.decide(&terms.policy, terms) {
        policy.pins.remember(namespace, key);
    }
    candidate
        .finish(&Arc::new(policy), terms.now)
        .map_err(|errors| LoadFailure { errors })
}

/// Whether two manifests of one name are versions of one plugin: they share a namespace, for which both keys were
/// trusted. Check it before one replaces the other.
pub fn is_same_plugin(a: &Manifest, b: &Manifest) -> bool {
    set::is_same_plugin(a, b)
}

/// A change of a set, tried before any file is touched.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The bytes of a new package, and the path that it would have.
    pub add: Option<(PathBuf, Vec<u8>)>,
    /// Files that would be removed.
    pub remove: Vec<PathBuf>,
}

/// A package of a set as a file; nothing is verified.
#[derive(Debug, Clone)]
pub struct Found {
    /// The file.
    pub file: PathBuf,
    /// Its manifest, if it can be read.
    pub manifest: Option<Manifest>,
}

/// What is installed, whether it could be loaded or not: to show it, or to remove it.
pub fn scan(sources: &Sources, max_package: u64) -> Vec<Found> {
    let read = |file: PathBuf| {
        let package = Package::read(&file, max_package).ok();
        Found {
            file,
            manifest: package.and_then(|package| Manifest::parse(package.manifest_text()).ok()),
        }
    };
    find_files(sources).0.into_iter().map(read).collect()
}

/// Takes a set through all static stages.
///
/// # Errors
/// With all problems of all plugins and of the set.
pub fn load_set(sources: &Sources, terms: &Terms) -> Result<LoadPlan, LoadFailure> {
    load_changed(sources, &Change::default(), terms)
}

/// Takes a set through all static stages as it would be after a change.
///
/// # Errors
/// With all problems of all plugins and of the set.
pub fn load_changed(sources: &Sources, change: &Change, terms: &Terms) -> Result<LoadPlan, LoadFailure> {
    let (files, mut errors) = find_files(sources);
    let added = change.add.as_ref();
    let stays =
        |file: &&PathBuf| !change.remove.contains(file) && added.is_none_or(|(path, _)| path != *file);
    let there = files
        .iter()
        .filter(stays)
        .map(|file| Candidate::read(file, terms));
    let new = added.map(|(path, bytes)| Candidate::parse(path, bytes.clone(), terms));
    let (disabled, mut candidates): (Vec<Candidate>, Vec<Candidate>) = there
        .chain(new)
        .partition(|candidate| candidate.is_disabled(sources));
    candidates.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    // A working copy: what one plugin pins applies to the next, and nothing is stored before the whole set has passed.
    let mut policy = terms.policy.clone();
    for candidate in &mut candidates {
        for (namespace, key) in candidate.decide(&policy, terms) {
            policy.pins.remember(namespace, key);
        }
    }
    errors.extend(set::check(&candidates, sources));
    let policy = Arc::new(policy);
    let mut verified = Vec::new();
    for candidate in candidates {
        match candidate.finish(&policy, terms.now) {
            Ok(plugin) => verified.push(plugin),
            Err(problems) => errors.extend(problems),
        }
    }
    if errors.is_empty() {
        let disabled = disabled.into_iter().filter_map(|candidate| candidate.manifest);
        return Ok(LoadPlan::new(verified, disabled.collect(), sources, terms));
    }
    errors.sort_by(|a, b| (&a.plugin, &a.file, a.stage).cmp(&(&b.plugin, &b.file, b.stage)));
    Err(LoadFailure { errors })
}

/// The files of the set, each once, in the order of their paths.
fn find_files(sources: &Sources) -> (Vec<PathBuf>, Vec<PluginLoadError>) {
    let mut found: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut errors = Vec::new();
    let mut add = |path: PathBuf| {
        // One file that is named twice, or through a link, is one plugin. What cannot be resolved is reported on reading.
        let same = path.canonicalize().unwrap_or_else(|_| path.clone());
        found.entry(same).or_insert(path);
    };
    let missing = sources.missing_folder();
    for folder in sources
        .folders
        .iter()
        .filter(|folder| missing != Some(folder.as_path()))
    {
        let problem = |message: String| {
            let help = "create the folder, or correct `folders` under [plugins] in mizzen.toml";
            Subject::of_file(folder).error(Stage::Read, LoadCode::Unreadable, message, help)
        };
        let entries = std::fs::read_dir(folder).and_then(|entries| {
            let paths = entries.map(|entry| entry.map(|entry| entry.path()));
            let is_package = |path: &io::Result<PathBuf>| {
                path.as_ref().map_or(true, |path| {
                    path.extension().is_some_and(|extension| extension == "wasm")
                })
            };
            paths
                .filter(is_package)
                .take(MAX_PLUGINS + 1)
                .collect::<io::Result<Vec<PathBuf>>>()
        });
        match entries {
            Ok(paths) if paths.len() > MAX_PLUGINS => {
                errors.push(problem(format!(
                    "the plugin folder has more than {MAX_PLUGINS} packages"
                )));
            }
            Ok(paths) => paths.into_iter().for_each(&mut add),
            Err(error) => errors.push(problem(format!("cannot read the plugin folder: {error}"))),
        }
    }
    sources.files.iter().cloned().for_each(add);
    (found.into_values().collect(), errors)
}

#[cfg(test)]
mod tests;
