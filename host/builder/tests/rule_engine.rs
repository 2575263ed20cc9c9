//! The rule engine that is committed was made from the sources that are there.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, found: &mut BTreeSet<String>, root: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found, root);
        } else {
            let relative = path.strip_prefix(root).unwrap();
            found.insert(relative.to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn the_rule_engine_was_made_from_the_sources_that_are_there() {
    let root = root();
    let text = std::fs::read_to_string(root.join("plugins/rule-engine/rule-engine.sha256")).unwrap();
    let mut listed = BTreeSet::new();
    let mut wrong = Vec::new();
    // The compiler and the dependencies are named in comments: `renew --check` builds with those that are there and compares bytes.
    let comments = text.lines().filter(|line| line.starts_with('#')).count();
    assert!(comments >= 3, "it does not name its compiler and dependencies");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (digest, path) = line.split_once("  ").unwrap();
        let bytes = std::fs::read(root.join(path)).unwrap_or_default();
        let actual: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if actual != digest {
            wrong.push(path.to_owned());
        }
        listed.insert(path.to_owned());
    }
    let mut there = BTreeSet::from(
        [
            "plugins/rule-engine/Cargo.toml",
            "plugins/rule-engine/renew",
            "plugins/rule-engine/rule-engine.wasm",
            "sdk/Cargo.toml",
            "sdk/macros/Cargo.toml",
            "sdk/rules/Cargo.toml",
            "sdk/src/pack.rs",
            "wit/v1/pack.wit",
            "wit/v1/types.wit",
        ]
        .map(str::to_owned),
    );
    for folder in [
        "plugins/rule-engine/src",
        "sdk/macros/src",
        "sdk/rules/src",
        "sdk/src/pack",
    ] {
        files(&root.join(folder), &mut there, &root);
    }
    wrong.extend(listed.symmetric_difference(&there).cloned());
    assert!(
        wrong.is_empty(),
        "rule-engine.wasm was made from other sources ({wrong:?}): run plugins/rule-engine/renew and commit what it writes"
    );
}

#[test]
fn the_rule_engine_names_no_folder_of_the_machine_that_built_it_and_imports_nothing() {
    let bytes = mizzen_builder::pack::RULE_ENGINE;
    for part in ["/root/", "/home/", "/work/", "/Users/"] {
        let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!found, "{part}");
    }
    let shape = mizzen_catalog::component::Shape::read(bytes).unwrap();
    let imports: Vec<&str> = shape.imports.iter().map(|import| import.name.as_str()).collect();
    // Types are named, and nothing that does anything is imported.
    assert_eq!(imports, ["mizzen:plugin/types@1.0.0"]);
}
