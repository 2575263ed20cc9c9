//! Who may depend on whom, read from cargo's own metadata.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// For every package of ours, the packages of ours that it may use. A package that is not here fails the test.
const MAY_USE: &[(&str, &[&str])] = &[
    ("mizzen-rules", &[]),
    ("mizzen-json", &[]),
    ("mizzen-model", &["mizzen-json", "mizzen-rules"]),
    (
        "mizzen-condition",
        &["mizzen-json", "mizzen-model", "mizzen-rules"],
    ),
    ("mizzen-catalog", &["mizzen-json", "mizzen-model"]),
    (
        "mizzen-builder",
        &["mizzen-model", "mizzen-catalog", "mizzen-rules"],
    ),
    (
        "mizzen-engine",
        &[
            "mizzen-json",
            "mizzen-model",
            "mizzen-condition",
            "mizzen-catalog",
            "mizzen-rules",
        ],
    ),
    (
        "mizzen-sandbox",
        &["mizzen-json", "mizzen-model", "mizzen-catalog", "mizzen-engine"],
    ),
    ("mizzen-store", &["mizzen-model"]),
    ("mizzen-store-sqlite", &["mizzen-store"]),
    (
        "mizzen-ops",
        &[
            "mizzen-json",
            "mizzen-model",
            "mizzen-condition",
            "mizzen-catalog",
            "mizzen-engine",
            "mizzen-sandbox",
            "mizzen-store",
        ],
    ),
    ("mizzen-server", &["mizzen-json", "mizzen-model", "mizzen-ops"]),
    (
        "mizzen-cli",
        &[
            "mizzen-json",
            "mizzen-model",
            "mizzen-condition",
            "mizzen-rules",
            "mizzen-catalog",
            "mizzen-builder",
            "mizzen-engine",
            "mizzen-sandbox",
            "mizzen-store",
            "mizzen-store-sqlite",
            "mizzen-ops",
            "mizzen-server",
        ],
    ),
    ("mizzen-sdk", &["mizzen-sdk-macros"]),
    ("mizzen-sdk-macros", &[]),
    ("mizzen-rule-engine", &["mizzen-sdk", "mizzen-rules"]),
    ("mizzen-plugin-text", &["mizzen-sdk"]),
    ("mizzen-plugin-json", &["mizzen-sdk", "mizzen-rules"]),
    ("mizzen-plugin-delivery", &["mizzen-sdk"]),
    ("hello", &["mizzen-sdk"]),
    ("mizzen-architecture", &[]),
    (
        "mizzen-isolation",
        &[
            "mizzen-model",
            "mizzen-catalog",
            "mizzen-builder",
            "mizzen-engine",
            "mizzen-sandbox",
            "mizzen-store",
            "mizzen-ops",
        ],
    ),
    (
        "mizzen-bench",
        &[
            "mizzen-json",
            "mizzen-model",
            "mizzen-condition",
            "mizzen-rules",
            "mizzen-catalog",
            "mizzen-builder",
            "mizzen-engine",
            "mizzen-sandbox",
            "mizzen-store",
            "mizzen-store-sqlite",
            "mizzen-ops",
            "mizzen-server",
            "mizzen-isolation",
        ],
    ),
];

/// Crates of others that only these packages may name. The benchmarks compare with the bare engine, server and database.
const ONLY: &[(&str, &[&str])] = &[
    ("wasmtime", &["mizzen-sandbox", "mizzen-bench"]),
    ("wasmtime-wasi", &["mizzen-sandbox"]),
    ("wasmtime-wasi-io", &["mizzen-sandbox"]),
    ("axum", &["mizzen-server", "mizzen-bench"]),
    ("rusqlite", &["mizzen-store-sqlite", "mizzen-bench"]),
    ("wit-bindgen", &["mizzen-sdk"]),
    ("clap", &["mizzen-cli"]),
    ("clap_complete", &["mizzen-cli"]),
];

/// What would let time, chance, disks or threads into the pure crates.
const IMPURE: &[&str] = &[
    "tokio",
    "getrandom",
    "rand",
    "rusqlite",
    "hyper",
    "notify",
    "rustix",
];
const PURE: &[&str] = &[
    "mizzen-json",
    "mizzen-model",
    "mizzen-condition",
    "mizzen-engine",
    "mizzen-rules",
    "mizzen-sdk-macros",
];

/// Every package of the workspace with its ordinary dependencies (tests may use what they like).
fn packages() -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let package = |package: &Value| {
        let ordinary = |d: &&Value| d["kind"].is_null();
        let used = package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(ordinary)
            .map(name)
            .collect();
        (name(package), used)
    };
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(package)
        .collect()
}

#[test]
fn every_package_depends_only_on_those_below_it() {
    let packages = packages();
    let mut wrong = Vec::new();
    for (package, used) in &packages {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| name == package) else {
            wrong.push(format!("{package} has no row in MAY_USE: say what it may use"));
            continue;
        };
        for other in used.iter().filter(|other| packages.contains_key(*other)) {
            if !allowed.contains(&other.as_str()) {
                wrong.push(format!("{package} may not depend on {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A rule about a package that was renamed or removed would hold for ever.
#[test]
fn every_package_that_a_rule_names_exists() {
    let packages = packages();
    let ruled = MAY_USE.iter().flat_map(|(package, may_use)| {
        let named = may_use.iter().copied();
        std::iter::once(*package).chain(named)
    });
    let missing: BTreeSet<&str> = ruled.filter(|name| !packages.contains_key(*name)).collect();
    assert!(missing.is_empty(), "MAY_USE is out of date: {missing:?}");
    for (dependency, owners) in ONLY {
        for owner in *owners {
            let used = packages
                .get(*owner)
                .is_some_and(|used| used.contains(*dependency));
            assert!(
                used,
                "ONLY is out of date: {owner} does not depend on {dependency}"
            );
        }
    }
}

#[test]
fn engines_servers_and_databases_are_named_in_one_crate_each() {
    let mut wrong = Vec::new();
    for (package, used) in packages() {
        for (dependency, owners) in ONLY {
            if used.contains(*dependency) && !owners.contains(&package.as_str()) {
                wrong.push(format!(
                    "{package} may not depend on {dependency}; only {owners:?} may"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pure_crates_have_no_way_to_time_chance_or_disks() {
    let packages = packages();
    for package in PURE {
        let used = packages
            .get(*package)
            .unwrap_or_else(|| panic!("there is no package {package}: PURE is out of date"));
        for impure in IMPURE {
            assert!(!used.contains(*impure), "{package} depends on {impure}");
        }
    }
}
