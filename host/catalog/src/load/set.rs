//! What must hold between plugins: one owner for a namespace, one plugin for a stated order, each version once.

use super::Sources;
use super::candidate::Candidate;
use crate::error::{LoadCode, PluginLoadError, Stage, Subject};
use mizzen_model::manifest::Manifest;
use std::collections::BTreeMap;

pub(super) fn check(candidates: &[Candidate], sources: &Sources) -> Vec<PluginLoadError> {
    let known: Vec<(&Subject, &Manifest)> = candidates
        .iter()
        .filter_map(|candidate| Some((&candidate.subject, candidate.manifest.as_deref()?)))
        .collect();
    let mut errors = Vec::new();
    duplicates(&known, &mut errors);
    strangers(&known, &mut errors);
    namespaces(&known, &mut errors);
    orders(&known, &mut errors);
    defaults(&known, sources, &mut errors);
    errors
}

fn file_of(subject: &Subject) -> String {
    subject
        .file
        .as_ref()
        .map(|file| file.display().to_string())
        .unwrap_or_default()
}

fn duplicates(known: &[(&Subject, &Manifest)], errors: &mut Vec<PluginLoadError>) {
    let mut seen: BTreeMap<(&str, &semver::Version), &Subject> = BTreeMap::new();
    for (subject, manifest) in known {
        if let Some(first) = seen.insert((manifest.name().as_str(), manifest.version()), subject) {
            errors.push(subject.error(
                Stage::Namespaces,
                LoadCode::DuplicatePlugin,
                format!("the same version is there twice, also in {}", file_of(first)),
                "remove one of the two files",
            ));
        }
    }
}

/// Whether two packages of one name are versions of one plugin. Names are free to choose, namespaces are not: a key must
/// be trusted for each. So a package of that name by another author cannot pass for the next version, nor inherit what
/// was granted to the name.
pub(super) fn is_same_plugin(a: &Manifest, b: &Manifest) -> bool {
    a.name() == b.name()
        && a.namespaces()
            .iter()
            .any(|namespace| b.namespaces().contains(namespace))
}

fn strangers(known: &[(&Subject, &Manifest)], errors: &mut Vec<PluginLoadError>) {
    let mut first_of: BTreeMap<&str, (&Subject, &Manifest)> = BTreeMap::new();
    for (subject, manifest) in known {
        let (first_subject, first) = *first_of
            .entry(manifest.name().as_str())
            .or_insert((subject, manifest));
        if !is_same_plugin(first, manifest) {
            errors.push(subject.error(
                Stage::Namespaces,
                LoadCode::DuplicatePlugin,
                format!(
                    "it has the name of another plugin ({}) and shares no namespace with it, so it is not a version of it",
                    file_of(first_subject)
                ),
                "remove one of the two; a plugin's versions share a namespace",
            ));
        }
    }
}

/// Two versions of one plugin share its namespaces; two plugins share none.
fn namespaces(known: &[(&Subject, &Manifest)], errors: &mut Vec<PluginLoadError>) {
    let mut owners: BTreeMap<&str, (&str, &Subject)> = BTreeMap::new();
    for (subject, manifest) in known {
        for namespace in manifest.namespaces() {
            let name = manifest.name().as_str();
            let (owner, first) = *owners.entry(namespace.as_str()).or_insert((name, subject));
            if owner != name {
                errors.push(subject.error(
                    Stage::Namespaces,
                    LoadCode::NamespaceConflict,
                    format!(
                        "namespace {namespace} is claimed by {owner} ({}) too",
                        file_of(first)
                    ),
                    "remove or disable one of the two plugins; a namespace has one owner",
                ));
            }
        }
    }
}

/// Only declared orders collide; plugins without one load by name.
fn orders(known: &[(&Subject, &Manifest)], errors: &mut Vec<PluginLoadError>) {
    let mut taken: BTreeMap<u16, (&str, &Subject)> = BTreeMap::new();
    for (subject, manifest) in known {
        let Some(order) = manifest.stated_order() else {
            continue;
        };
        let name = manifest.name().as_str();
        let (owner, first) = *taken.entry(order).or_insert((name, subject));
        if owner != name {
            errors.push(subject.error(
                Stage::Order,
                LoadCode::OrderCollision,
                format!("order = {order} is declared by {owner} ({}) too", file_of(first)),
                "give one of them another order, or leave it out: those without load by name",
            ));
        }
    }
}

fn defaults(known: &[(&Subject, &Manifest)], sources: &Sources, errors: &mut Vec<PluginLoadError>) {
    for (name, version) in &sources.defaults {
        let installed: Vec<String> = known
            .iter()
            .filter(|(_, manifest)| manifest.name() == name)
            .map(|(_, manifest)| manifest.version().to_string())
            .collect();
        if !installed.contains(&version.to_string()) {
            let installed = if installed.is_empty() {
                "none".to_owned()
            } else {
                installed.join(", ")
            };
            errors.push(
                Subject {
                    plugin: Some(name.to_string()),
                    file: None,
                }
                .error(
                    Stage::Order,
                    LoadCode::DefaultNotInstalled,
                    format!(
                        "version {version} is chosen as the default and not installed; installed: {installed}"
                    ),
                    "correct [plugins.default] in mizzen.toml, or install that version",
                ),
            );
        }
    }
}
