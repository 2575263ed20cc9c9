//! What the sources themselves must keep to.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Every Rust file below a folder of the repository, built things left out.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![root().join(folder)];
    while let Some(path) = waiting.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                waiting.push(path);
            } else if name.ends_with(".rs") {
                found.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

/// Files in which a macro is called, comments left out.
fn calls(folder: &str, call: &str) -> Vec<PathBuf> {
    let code = |line: &&str| !line.trim_start().starts_with("//");
    let called = |text: &str| text.lines().filter(code).any(|line| line.contains(call));
    sources(folder)
        .into_iter()
        .filter(|(_, text)| called(text))
        .map(|(path, _)| path)
        .collect()
}

#[test]
fn there_is_one_bindgen_in_the_host_and_one_generate_for_each_world_of_the_sdk() {
    let host = calls("host", concat!("bindgen", "!("));
    assert_eq!(host.len(), 1, "{host:?}");
    // A pack imports nothing but the log, and a world's imports come with its bindings.
    let mut sdk = calls("sdk", concat!("generate", "!("));
    sdk.sort();
    assert_eq!(
        sdk,
        ["sdk/src/bindings.rs", "sdk/src/pack/bindings.rs"].map(|file| root().join(file))
    );
}

#[test]
fn unsafe_code_stands_in_one_reviewed_place() {
    let allowed = calls("host", concat!("allow(", "unsafe_code)"));
    assert_eq!(allowed, [root().join("host/sandbox/src/artifact.rs")]);
}

#[test]
fn no_module_file_is_called_mod_rs() {
    let wrong: Vec<_> = ["host", "sdk", "plugins", "examples", "tests"]
        .into_iter()
        .flat_map(sources)
        .filter(|(path, _)| path.ends_with("mod.rs"))
        .map(|(path, _)| path)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn architecture_md_names_every_crate_and_stays_short() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(text.lines().count() < 250, "{} lines", text.lines().count());
    for entry in std::fs::read_dir(root().join("host")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(
            text.contains(&format!("host/{name}")),
            "ARCHITECTURE.md does not name host/{name}"
        );
    }
}

#[test]
fn every_item_of_the_contract_is_documented() {
    for entry in std::fs::read_dir(root().join("wit/v1")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut before = "";
        for line in text.lines().map(str::trim) {
            let opens = ["interface ", "world ", "record ", "variant ", "enum ", "type "]
                .iter()
                .any(|k| line.starts_with(k));
            let field = line.contains(": ")
                && (line.ends_with(',') || line.ends_with(';'))
                && !line.starts_with("use ");
            if (opens || field) && !line.starts_with("///") {
                assert!(
                    before.starts_with("///"),
                    "{}: `{line}` has no documentation",
                    path.display()
                );
            }
            before = line;
        }
    }
}

/// Whether a function of this name is there, with an attribute right above it that makes it a test.
fn is_test_of(text: &str, name: &str) -> bool {
    let function = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let places = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains(&function));
    places.map(|(place, _)| place).any(|place| {
        let above = lines.get(..place).unwrap_or_default().iter().rev();
        above
            .take_while(|line| line.starts_with('#'))
            .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

/// SECURITY.md promises nothing without a test: each one that it names is a function of the tree.
#[test]
fn every_test_that_security_md_names_exists() {
    let page = std::fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_test = |word: &&str| word.len() > 20 && word.bytes().all(letter);
    let named: Vec<&str> = page.split('`').filter(is_test).collect();
    assert!(named.len() > 45, "{named:?}");
    let mut texts = sources("host");
    texts.extend(sources("tests"));
    texts.extend(sources("sdk"));
    for name in named {
        assert!(
            texts.iter().any(|(_, text)| is_test_of(text, name)),
            "SECURITY.md names {name}, and there is no such test"
        );
    }
}

/// The words of CONTRIBUTING's table "instead of", and how often they may stand in the sources of a crate, its tests in place included.
/// A crate that is not here has none. Lower a bound when you reword a file; never raise one.
const WORDS: [&str; 6] = ["nobody", "somebody", "whoever", "said", "told", "nonsense"];
const WORDS_LEFT: &[(&str, usize)] = &[
    ("host/cli", 97),
    ("host/condition", 7),
    ("host/engine", 188),
    ("host/json", 6),
    ("host/model", 61),
    ("host/ops", 215),
    ("host/server", 3),
    ("host/store", 20),
    ("host/store-sqlite", 8),
];

fn counted_words(text: &str) -> usize {
    let text = text.to_ascii_lowercase();
    text.split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| WORDS.contains(word))
        .count()
}

#[test]
fn the_prose_names_components_and_not_indefinite_people() {
    let mut counts = std::collections::BTreeMap::<String, (usize, Vec<String>)>::new();
    let mut add = |place: String, file: String, text: &str| {
        let found = counted_words(text);
        let count = counts.entry(place).or_default();
        count.0 += found;
        if found > 0 {
            count.1.push(format!("{file}: {found}"));
        }
    };
    for folder in ["host", "sdk"] {
        for (path, text) in sources(folder) {
            let file = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            match file.split('/').collect::<Vec<_>>()[..] {
                ["host", name, "src", ..] => add(format!("host/{name}"), file.clone(), &text),
                ["sdk", "src", ..] => add("sdk/src".to_owned(), file.clone(), &text),
                _ => {}
            }
        }
    }
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path).unwrap();
            add("docs".to_owned(), path.display().to_string(), &text);
        }
    }
    assert!(counts.len() > 9, "{:?}", counts.keys());
    for (place, (found, mut files)) in counts {
        let bound = WORDS_LEFT.iter().find(|(name, _)| *name == place);
        let bound = bound.map_or(0, |(_, bound)| *bound);
        files.sort();
        assert!(
            found <= bound,
            "{place} has {found} of the words {WORDS:?}, and {bound} are allowed: name the component or the role that acts \
             (\"the caller\", \"no plugin\"), the data (\"stderr\", \"message\", \"output\") or the verb (\"returned\", \"wrote\"); \
             CONTRIBUTING.md, \"Glossary\", has the table\n{}",
            files.join("\n")
        );
    }
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// What stands between backticks in a section of a page.
fn quoted(page: &str, heading: &str) -> Vec<String> {
    let section = page.split(heading).nth(1).unwrap().split("\n## ").next().unwrap();
    section.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A reader follows "Where do I add…" without asking: every path that it names is there.
#[test]
fn every_path_that_contributing_md_names_exists() {
    let page = page("CONTRIBUTING.md");
    let starts = [
        "host/",
        "sdk/",
        "wit/",
        "tests/",
        "plugins/",
        "docs/",
        "examples/",
    ];
    let named: Vec<String> = quoted(&page, "## Where do I add")
        .into_iter()
        .filter(|text| starts.iter().any(|start| text.starts_with(start)))
        .collect();
    assert!(named.len() > 20, "{named:?}");
    for path in named {
        assert!(
            root().join(&path).exists(),
            "CONTRIBUTING.md names {path}, which does not exist"
        );
    }
}

#[test]
fn every_dependency_of_the_workspace_has_a_reason() {
    let manifest = page("Cargo.toml");
    let declared: Vec<&str> = manifest
        .split("[workspace.dependencies]")
        .nth(1)
        .unwrap()
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once('=')?.0.trim()))
        .filter(|name| !name.starts_with('#') && !name.starts_with("mizzen-"))
        .collect();
    assert!(declared.len() > 40, "{declared:?}");
    let reasons = quoted(&page("CONTRIBUTING.md"), "## Why a dependency is there");
    let missing: Vec<_> = declared
        .iter()
        .filter(|name| !reasons.iter().any(|reason| reason == *name))
        .collect();
    assert!(missing.is_empty(), "add a row to CONTRIBUTING.md for {missing:?}");
}

/// A dependency that no crate of the workspace takes costs every reader a question.
#[test]
fn every_dependency_of_the_workspace_is_used() {
    let manifest = page("Cargo.toml");
    let mut manifests = String::new();
    let mut waiting = vec![root()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                waiting.push(path);
            } else if name == "Cargo.toml" && folder != root() {
                manifests += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let section = manifest.split("[workspace.dependencies]").nth(1).unwrap();
    for line in section.lines().take_while(|line| !line.starts_with('[')) {
        let Some((name, _)) = line.split_once('=') else {
            continue;
        };
        let name = name.trim();
        if !name.starts_with('#') {
            assert!(
                manifests.contains(&format!("\n{name}.workspace = true"))
                    || manifests.contains(&format!("\n{name} = {{ workspace = true")),
                "no crate uses {name}: remove it from [workspace.dependencies]"
            );
        }
    }
}
