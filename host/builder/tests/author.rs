//! The author's path, with a real cargo: a new folder becomes a signed package, and a second build does nothing.

#![allow(missing_docs, clippy::expect_used)]

use mizzen_builder::{
    BuildError, BuildRequest, BuiltPlugin, NewProject, Progress, ProjectKind, build_plugin, new_project,
};
use mizzen_catalog::key::SecretKey;
use mizzen_catalog::package::Package;
use mizzen_model::namespace::PluginName;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The tests share a target folder, and a build between two others can make cargo build again what it shares with them.
/// So a test that counts what is compiled runs alone.
static BUILDING: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    BUILDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kept between test runs, so that only the first one compiles the dependencies.
fn target_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest")
}

fn build(folder: &Path, lines: &mut Vec<String>) -> Result<BuiltPlugin, BuildError> {
    let key = SecretKey::from_seed(&[7; 32]);
    let target_folder = target_folder();
    let request = BuildRequest {
        folder,
        key: &key,
        target_folder: Some(&target_folder),
        shared_target_folder: None,
        output_folder: None,
    };
    build_plugin(request, &mut |progress| {
        if let Progress::Line(line) = progress {
            lines.push(line.to_owned());
        }
    })
}

fn project(root: &Path, name: &str) -> PathBuf {
    let folder = root.join(name);
    let plugin = PluginName::parse(name).expect("a plugin name");
    new_project(NewProject {
        name: &plugin,
        kind: ProjectKind::Tool,
        folder: &folder,
    })
    .expect("a new project");
    folder
}

#[test]
fn a_new_folder_becomes_a_signed_package_and_stays_the_same() {
    let _alone = alone();
    let root = tempfile::tempdir().expect("a folder");
    let folder = project(root.path(), "steady");

    let built = build(&folder, &mut Vec::new()).expect("the template builds");
    assert_eq!(
        built.path,
        folder
            .canonicalize()
            .expect("a path")
            .join("dist/steady-0.1.0.wasm")
    );
    assert!(!built.unchanged);
    let bytes = std::fs::read(&built.path).expect("the package");
    assert_eq!(built.size, bytes.len() as u64);
    let machine = root.path().to_str().expect("a path");
    assert!(
        !String::from_utf8_lossy(&bytes).contains(machine),
        "the package names a folder of this machine"
    );
    let package = Package::parse(bytes.clone()).expect("a package");
    assert_eq!(package.verify().expect("a signature").len(), 1);
    assert_eq!(package.digest(), built.digest);
    assert_eq!(
        package.manifest_text(),
        std::fs::read_to_string(folder.join("plugin.toml")).expect("the manifest")
    );

    let mut lines = Vec::new();
    let again = build(&folder, &mut lines).expect("a second build");
    assert!(again.unchanged);
    assert!(!lines.iter().any(|line| line.contains("Compiling")), "{lines:?}");
    assert_eq!(std::fs::read(&again.path).expect("the package"), bytes);
}

#[test]
fn plain_cargo_test_passes_in_a_new_project_inside_of_another_workspace() {
    let root = tempfile::tempdir().expect("a folder");
    std::fs::write(root.path().join("Cargo.toml"), "[workspace]\nmembers = []\n")
        .expect("a workspace around it");
    let folder = project(root.path(), "hello");
    let output = std::process::Command::new(env!("CARGO"))
        .args(["test", "--lib"])
        .current_dir(&folder)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("native"),
        )
        .output()
        .expect("cargo");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("2 passed"),
        "{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn what_cargo_says_reaches_the_author() {
    let _alone = alone();
    let root = tempfile::tempdir().expect("a folder");
    let folder = project(root.path(), "broken");
    let source = folder.join("src/lib.rs");
    let text = std::fs::read_to_string(&source).expect("the source");
    std::fs::write(
        &source,
        text.replace("side_effects = \"none\",", "side_effects = \"some\","),
    )
    .expect("a change");
    match build(&folder, &mut Vec::new()) {
        Err(BuildError::Cargo { output, .. }) => {
            assert!(output.contains("not a side effect"), "{output}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_that_is_no_plugin_is_refused_before_cargo_runs() {
    let _alone = alone();
    let root = tempfile::tempdir().expect("a folder");
    assert!(matches!(
        build(root.path(), &mut Vec::new()),
        Err(BuildError::NotAPlugin {
            missing: "plugin.toml",
            ..
        })
    ));
    assert!(matches!(
        build(&root.path().join("nowhere"), &mut Vec::new()),
        Err(BuildError::NoFolder { .. })
    ));

    let folder = project(root.path(), "versions");
    let manifest = folder.join("plugin.toml");
    let text = std::fs::read_to_string(&manifest).expect("the manifest");
    std::fs::write(&manifest, text.replace("0.1.0", "0.2.0")).expect("a change");
    assert!(matches!(
        build(&folder, &mut Vec::new()),
        Err(BuildError::VersionsDiffer { .. })
    ));
    // Left out, it is that of Cargo.toml.
    let without: String = text
        .lines()
        .filter(|line| !line.starts_with("version"))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&manifest, without).expect("a change");
    let opened = mizzen_builder::Project::open(&folder, &mut |_| ()).expect("a plugin");
    assert_eq!(opened.manifest().version().to_string(), "0.1.0");
    std::fs::write(&manifest, text.replace("api_version", "api_versions")).expect("a change");
    assert!(matches!(
        build(&folder, &mut Vec::new()),
        Err(BuildError::Manifest { .. })
    ));
}
