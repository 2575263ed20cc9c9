//! docs/packs.md, run as a reader runs it.

use std::path::Path;
use std::process::Command;

#[test]
fn every_command_of_the_guide_to_packs_works_in_an_empty_folder_in_order() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/packs.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mizzen = Path::new(env!("CARGO_BIN_EXE_mizzen")).parent().unwrap();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(mizzen.to_owned()).chain(std::env::split_paths(&rest));
    let path = std::env::join_paths(path).unwrap();
    let mut said = String::new();
    let mut commands = 0;
    for block in guide.split("```sh\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            let output = Command::new("sh")
                .args(["-c", line])
                .current_dir(folder.path())
                .env("PATH", &path)
                .env("MIZZEN_HOME", folder.path().join("home"))
                .output()
                .unwrap();
            let problem = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{line}: {problem}");
            said.push_str(&String::from_utf8_lossy(&output.stdout));
            commands += 1;
        }
    }
    assert!(commands >= 8, "only {commands} commands were found");
    for part in [
        "2 passed, 0 failed",
        "veto (violation) by too-many-attempts",
        "fired too-many-attempts on",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// The vocabulary has a row for every template, and no others; a row has every slot, and who says such facts.
#[test]
fn the_page_about_facts_names_every_template_slot_and_origin() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/facts.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("| template | there |").unwrap();
    let documented: Vec<&str> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    // Every slot of a template is in its row, but for those that all of them have.
    let vocabulary = mizzen_rules::Program::parse(mizzen_model::facts::VOCABULARY).unwrap();
    let provenance = ["origin", "source", "run-id", "step", "time"];
    for template in vocabulary.templates() {
        let row = format!("| `{}` |", template.name());
        let row = table.lines().find(|line| line.starts_with(&row)).unwrap();
        for slot in template.slots().iter().map(|slot| slot.name()) {
            let row = if provenance.contains(&slot) {
                page.as_str()
            } else {
                row
            };
            assert!(row.contains(&format!("`{slot}`")), "{slot}: {row}");
        }
        // Who says it, when the fact does not: the template's default.
        let origin =
            mizzen_rules::json::fact(&serde_json::json!({"template": template.name()}), &vocabulary).unwrap();
        let origin = origin.slot("origin").unwrap().to_string();
        let documented = row.trim_end_matches('|').rsplit('|').next().unwrap().trim();
        assert!(documented.starts_with(&origin), "{origin}: {row}");
    }
    let there: Vec<&str> = mizzen_model::facts::templates().collect();
    let mut sorted = documented.clone();
    sorted.sort_unstable();
    let mut wanted = there.clone();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted);
    assert!(page.contains(&format!("version {}", mizzen_model::facts::FACTS_VERSION)));
}
