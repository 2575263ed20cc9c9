//! What docs/operators.md, docs/governance.md and docs/authors.md show of configuration is what a host takes.

use crate::support::host::Host;
use crate::support::http::{Served, mizzen};
use crate::support::packages::checkout;
use mizzen_catalog::package::embed_manifest;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The first block of TOML of a page.
fn block(page: &str) -> String {
    let page = fs::read_to_string(checkout().join("docs").join(page)).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

fn serve(folder: &Path) -> Served {
    let path = |name: &str| -> String { folder.join(name).to_str().unwrap().to_owned() };
    let (config, home) = (path("mizzen.toml"), path("home"));
    Served::start_with(
        &folder.join("data"),
        &["--config", &config, "--home", &home],
        |command| {
            for name in ["GITHUB_TOKEN", "SLACK_SECRET", "OTLP_AUTHORIZATION"] {
                command.env(name, "a secret");
            }
            command
        },
    )
}

/// What a host says of a configuration that it does not take.
fn refused(folder: &Path, config: &str) -> String {
    fs::write(folder.join("mizzen.toml"), config).unwrap();
    let output = mizzen()
        .current_dir(folder)
        .args(["serve", "--listen", "127.0.0.1:0", "--data", "data"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{config}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_operators_configuration_starts_a_host_and_leaves_nothing_out() {
    let folder = tempfile::tempdir().unwrap();
    let shown = block("operators.md");
    for name in ["plugins", "prompts"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("trust.toml"), "").unwrap();

    // Everything that could be written stands there: the refusals list it.
    let sections = refused(folder.path(), "[nonsense]\n");
    let (_, sections) = sections.split_once("use one of: ").unwrap();
    let mut keys = 0;
    for section in sections.trim_end().split(", ") {
        // How packs are mounted is governance.md's.
        if section != "governance" {
            assert!(shown.contains(&format!("[{section}")), "[{section}] is missing");
        }
        let said = refused(folder.path(), &format!("[{section}]\nnonsense = 1\n"));
        let Some((_, listed)) = said.split_once("expected one of `") else {
            continue;
        };
        for key in listed
            .split('\n')
            .next()
            .unwrap()
            .trim_end_matches('`')
            .split("`, `")
        {
            assert!(shown.contains(&format!("{key} = ")), "{section}.{key} is missing");
            keys += 1;
        }
    }
    assert!(keys > 15, "only {keys} keys were listed");

    fs::write(folder.path().join("mizzen.toml"), shown).unwrap();
    let server = serve(folder.path());
    server.call("GET", "/v1/tools").expect(200, "");
}

#[test]
fn the_mounts_of_the_page_about_governance_can_be_mounted() {
    let mounts = block("governance.md");
    assert!(mounts.contains("[[governance]]"), "{mounts}");
    let host = Host::new()
        .pack("plugins/budgets")
        .pack("plugins/safety-pii")
        .config(&mounts);
    let server = host.serve();

    let page = fs::read_to_string(checkout().join("docs/governance.md")).unwrap();
    let (_, mount) = page.split_once("`\"governance\": ").unwrap();
    let mount: Value = serde_json::from_str(mount.split_once('`').unwrap().0).unwrap();
    let sprite = json!({
        "name": "GREETER-01", "version": "1.0.0", "system_prompt": "Be kind.",
        "capabilities": [{"name": "greet", "description": "Greets", "parameters": {"type": "object"}}],
        "metadata": {"author": "ada", "tags": []},
    });
    let sprite = server.call_json("POST", "/v1/sprites", &sprite).expect(201, "")["id"].clone();
    let council = json!({
        "domain": "welcome", "sprites": [sprite], "gate_agents": [sprite], "governance": mount,
    });
    let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    assert_eq!(council["governance"], mount);
}

#[test]
fn the_manifest_of_the_page_for_authors_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("weather.wasm");
    let component = wasm_encoder::Component::new().finish();
    fs::write(&file, embed_manifest(&component, &block("authors.md")).unwrap()).unwrap();
    let output = mizzen().args(["plugin", "inspect"]).arg(&file).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("plugin      weather@0.1.0"), "{said}");
    assert!(
        said.contains("memory 32MiB") && said.contains("wall clock 10s"),
        "{said}"
    );
}
