//! Plugins of a real `mizzen serve`: what it refuses to start with, what it takes over HTTP, and what it notices in its
//! folders while it runs.

use crate::support::http::{Answer, Served, mizzen};
use crate::support::packages;
use crate::support::verb::bearer;
use mizzen_catalog::key::SecretKey;
use mizzen_catalog::package::{Package, embed_manifest};
use mizzen_catalog::signature::sign;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

fn key() -> SecretKey {
    SecretKey::from_seed(b"a key for tests of running plugs")
}

/// The text plugin as one version, asking for some permissions.
fn package(version: &str, permissions: &[&str]) -> Vec<u8> {
    package_with(version, permissions, "")
}

/// The same, with more lines in its manifest.
fn package_with(version: &str, permissions: &[&str], more: &str) -> Vec<u8> {
    let package = Package::parse(packages::plugin("plugins/text").bytes).unwrap();
    let lines: String = permissions
        .iter()
        .map(|text| format!("\"{text}\" = \"it is needed\"\n"))
        .collect();
    let manifest = format!(
        "[plugin]\nname = \"text\"\nversion = \"{version}\"\napi_version = \"1\"\nnamespaces = [\"text\"]\nprovides = [\"tool\"]\n[permissions]\n{lines}{more}"
    );
    sign(embed_manifest(package.component(), &manifest).unwrap(), &key()).unwrap()
}

/// A host's folder: configuration, trust in the tests' key, plugins, data.
struct Place(tempfile::TempDir);

impl Place {
    fn new(more: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("plugins")).unwrap();
        fs::create_dir(place.path("served")).unwrap();
        fs::write(
            place.path("mizzen.toml"),
            format!("[plugins]\nfolders = [\"plugins\"]\n{more}"),
        )
        .unwrap();
        fs::write(
            place.path("trust.toml"),
            format!(
                "[[keys]]\nid = \"{}\"\npublic_key = \"{}\"\nnamespaces = [\"text\"]\n",
                key().id(),
                key().public()
            ),
        )
        .unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn data(&self) -> PathBuf {
        self.path("served/data")
    }

    /// A server whose log goes into a file.
    fn serve(&self) -> Served {
        let mut command = self.serving();
        let log = fs::File::create(self.path("served/log")).unwrap();
        command.env("MIZZEN_LOG", "info").stderr(log);
        Served::spawn_quietly(command, &self.data())
    }

    fn serving(&self) -> Command {
        let mut command = mizzen();
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(self.data())
            .arg("--config")
            .arg(self.path("mizzen.toml"))
            .env("MIZZEN_HOME", self.path("home"));
        command
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("served/log")).unwrap()
    }

    /// What `mizzen serve` says when it does not start.
    fn refuses_to_serve(&self) -> String {
        let output = self.serving().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        assert!(output.stdout.is_empty(), "it did not listen: {said}");
        said
    }

    fn new_key(&self, grant: &str) -> String {
        bearer(&self.data(), &[grant])
    }

    fn installed(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path("plugins"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".wasm"))
            .collect();
        names.sort();
        names
    }
}

fn send(server: &Served, bearer: &str, method: &str, path: &str, body: &[u8]) -> Answer {
    let mut headers = vec![("authorization", bearer)];
    if !body.is_empty() {
        headers.push(("content-type", "application/wasm"));
    }
    server.send(method, path, &headers, body)
}

fn hash(server: &Served) -> Value {
    server.call("GET", "/health").json()["load_plan_hash"].clone()
}

#[test]
fn plugins_are_installed_upgraded_switched_and_removed_over_http() {
    let place = Place::new("");
    let (writer, admin, reader) = (
        place.new_key("plugins:write"),
        place.new_key("admin"),
        place.new_key("plugins:read"),
    );
    let server = place.serve();
    let empty = hash(&server);
    assert!(empty.is_string());
    let first = package("1.0.0", &[]);
    let send =
        |bearer: &str, method: &str, path: &str, body: &[u8]| send(&server, bearer, method, path, body);

    // Who may, and what is no package.
    let refused = send(&reader, "POST", "/v1/plugins", &first).expect(403, "FORBIDDEN");
    assert_eq!(refused["details"]["missing_grant"], "plugins:write");
    let as_json = [
        ("authorization", writer.as_str()),
        ("content-type", "application/json"),
    ];
    server
        .send("POST", "/v1/plugins", &as_json, b"{}")
        .expect(415, "UNSUPPORTED_MEDIA_TYPE");
    let mut flipped = first.clone();
    flipped[1000] ^= 1;
    for (bytes, code) in [(&flipped[..], "signature"), (b"not wasm at all", "package")] {
        let refused = send(&writer, "POST", "/v1/plugins", bytes).expect(422, "PLUGIN_REFUSED");
        assert_eq!(refused["details"]["errors"][0]["code"], code, "{refused}");
    }
    assert_eq!((hash(&server), place.installed()), (empty.clone(), vec![]));

    // Install.
    let installed = send(&writer, "POST", "/v1/plugins", &first);
    assert_eq!(installed.header("location"), Some("/v1/plugins/text"));
    let installed = installed.expect(201, "");
    assert_eq!(installed["plugin"], "text@1.0.0");
    assert_eq!(hash(&server), installed["load_plan_hash"]);
    assert_eq!(place.installed(), ["text-1.0.0.wasm"]);
    let tools = send(&reader, "GET", "/v1/tools", b"").expect(200, "");
    assert_eq!(tools["tools"][0]["plugin"], "text");
    send(&writer, "POST", "/v1/plugins", &first).expect(409, "PLUGIN_CONFLICT");

    // Tags choose.
    let tag = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|tool| tool["tags"][0].as_str());
    if let Some(tag) = tag {
        let tagged = send(&reader, "GET", &format!("/v1/tools?tag={tag}"), b"").expect(200, "");
        for tool in tagged["tools"].as_array().unwrap() {
            assert!(tool["tags"].as_array().unwrap().contains(&json!(tag)));
        }
        assert!(!tagged["tools"].as_array().unwrap().is_empty());
    }
    let none = send(&reader, "GET", "/v1/tools?tag=no-such-tag", b"").expect(200, "");
    assert_eq!(none["tools"], json!([]));

    // An upgrade that asks for more waits, with the difference.
    let second = package("1.1.0", &["kv:read"]);
    let before = hash(&server);
    let waiting = send(&writer, "POST", "/v1/plugins", &second).expect(409, "APPROVAL_NEEDED");
    assert_eq!(waiting["details"]["waiting"], json!(["kv:read"]));
    let added = &waiting["details"]["permissions"]["added"][0];
    assert_eq!(
        added,
        &json!({ "permission": "kv:read", "reason": "it is needed" })
    );
    let refused = send(&writer, "POST", "/v1/plugins?approve=true", &second).expect(403, "FORBIDDEN");
    assert_eq!(refused["details"]["missing_grant"], "admin");
    assert_eq!(
        (hash(&server), place.installed()),
        (before, vec!["text-1.0.0.wasm".to_owned()])
    );
    let upgraded = send(&admin, "POST", "/v1/plugins?approve=true", &second).expect(201, "");
    assert_eq!(upgraded["granted_now"], json!(["kv:read"]));
    assert_eq!(upgraded["replaced"], json!(["text-1.0.0.wasm"]));
    assert_eq!(place.installed(), ["text-1.1.0.wasm"]);
    assert!(
        fs::read_to_string(place.path("mizzen.toml"))
            .unwrap()
            .contains("kv:read")
    );
    send(&writer, "POST", "/v1/plugins", &first).expect(409, "PLUGIN_DOWNGRADE");
    let shown = send(&reader, "GET", "/v1/plugins/text", b"").expect(200, "");
    assert_eq!(shown["version"], "1.1.0");
    assert_eq!(shown["grants"], json!(["kv:read"]));

    // Off and on.
    let off = send(&writer, "POST", "/v1/plugins/text/disable", b"").expect(200, "");
    assert_eq!(off["state"], "disabled");
    assert_eq!(hash(&server), off["load_plan_hash"]);
    let tools = send(&reader, "GET", "/v1/tools", b"").expect(200, "");
    assert_eq!(tools["tools"], json!([]));
    let on = send(&writer, "POST", "/v1/plugins/text/enable", b"").expect(200, "");
    assert_eq!(on["load_plan_hash"], upgraded["load_plan_hash"]);
    send(&writer, "POST", "/v1/plugins/nobody/enable", b"").expect(404, "PLUGIN_NOT_FOUND");
    send(&writer, "POST", "/v1/plugins/..%2Ftext/disable", b"").expect(404, "PLUGIN_NOT_FOUND");

    // Two versions side by side: which one goes must be said.
    let third = package("2.0.0", &["kv:read"]);
    send(&writer, "POST", "/v1/plugins?keep=true", &third).expect(201, "");
    assert_eq!(place.installed(), ["text-1.1.0.wasm", "text-2.0.0.wasm"]);
    send(&writer, "DELETE", "/v1/plugins/text", b"").expect(409, "PLUGIN_CONFLICT");
    send(&writer, "DELETE", "/v1/plugins/text?version=1.1.0", b"").expect(204, "");
    send(&writer, "DELETE", "/v1/plugins/text?version=7.0.0", b"").expect(404, "PLUGIN_NOT_FOUND");
    send(&writer, "DELETE", "/v1/plugins/text", b"").expect(204, "");
    send(&writer, "DELETE", "/v1/plugins/text", b"").expect(404, "PLUGIN_NOT_FOUND");
    assert_eq!((hash(&server), place.installed()), (empty, vec![]));
    assert!(
        !fs::read_to_string(place.path("mizzen.toml"))
            .unwrap()
            .contains("kv:read"),
        "the grants go with the last version"
    );
}

/// R18: limits decide what a plugin can take from everybody else.
#[test]
fn raised_limits_take_approval_and_are_part_of_the_difference() {
    let place = Place::new("");
    let (writer, admin) = (place.new_key("plugins:write"), place.new_key("admin"));
    let server = place.serve();
    let send =
        |bearer: &str, method: &str, path: &str, body: &[u8]| send(&server, bearer, method, path, body);
    let installed = send(&writer, "POST", "/v1/plugins", &package("1.0.0", &[])).expect(201, "");
    let added = installed["tools"]["added"].as_array().unwrap();
    assert!(
        added.contains(&json!({"id": "text.case", "side_effects": "none"})),
        "{installed}"
    );
    assert_eq!(installed["namespaces"]["added"], json!(["text"]));
    let limits = "[limits]\nmemory = \"512MiB\"\ncpu = \"30s\"\nwall_clock = \"60s\"\n";
    let large = package_with("1.1.0", &[], limits);
    let waiting = send(&writer, "POST", "/v1/plugins", &large).expect(409, "APPROVAL_NEEDED");
    assert_eq!(
        waiting["details"]["limits"]["raised"][0],
        json!({"limit": "memory", "from": "64MiB", "to": "512MiB"})
    );
    send(&writer, "POST", "/v1/plugins?approve=true", &large).expect(403, "FORBIDDEN");
    assert_eq!(place.installed(), ["text-1.0.0.wasm"]);
    let approved = send(&admin, "POST", "/v1/plugins?approve=true", &large).expect(201, "");
    assert_eq!(approved["limits"]["raised"].as_array().unwrap().len(), 3);
    assert_eq!(
        approved["tools"],
        json!({"added": [], "removed": [], "side_effects": []})
    );
}

/// Ghost grants: what a version no longer asks for is not found again by the next one.
#[test]
fn a_permission_that_an_upgrade_drops_loses_its_grant() {
    let place = Place::new("");
    let (writer, admin) = (place.new_key("plugins:write"), place.new_key("admin"));
    let server = place.serve();
    let send =
        |bearer: &str, method: &str, path: &str, body: &[u8]| send(&server, bearer, method, path, body);
    let asks = ["clock", "net:GET@prices.example.com"];
    send(
        &admin,
        "POST",
        "/v1/plugins?approve=true",
        &package("0.2.0", &asks),
    )
    .expect(201, "");
    let dropped = send(&writer, "POST", "/v1/plugins", &package("0.3.0", &[])).expect(201, "");
    assert_eq!(dropped["grants_dropped"], json!(asks));
    assert!(
        !fs::read_to_string(place.path("mizzen.toml"))
            .unwrap()
            .contains("clock")
    );
    let again = package("0.4.0", &asks);
    let waiting = send(&writer, "POST", "/v1/plugins", &again).expect(409, "APPROVAL_NEEDED");
    assert_eq!(waiting["details"]["waiting"], json!(asks));
    assert_eq!(place.installed(), ["text-0.3.0.wasm"]);
}

/// R8: an older version is signed as well as a newer one, and has the holes that the newer one mended.
#[test]
fn a_step_back_to_an_older_version_takes_admin() {
    let place = Place::new("");
    let (writer, admin) = (place.new_key("plugins:write"), place.new_key("admin"));
    let server = place.serve();
    let send =
        |bearer: &str, method: &str, path: &str, body: &[u8]| send(&server, bearer, method, path, body);
    let (old, new) = (package("1.0.0", &[]), package("2.0.0", &[]));
    send(&writer, "POST", "/v1/plugins", &new).expect(201, "");
    for path in ["/v1/plugins", "/v1/plugins?keep=true"] {
        let refused = send(&writer, "POST", path, &old).expect(409, "PLUGIN_DOWNGRADE");
        assert_eq!(refused["details"]["newest"], "2.0.0", "{refused}");
        let separator = if path.contains('?') { '&' } else { '?' };
        let meant = format!("{path}{separator}downgrade=true");
        let refused = send(&writer, "POST", &meant, &old).expect(403, "FORBIDDEN");
        assert_eq!(refused["details"]["missing_grant"], "admin");
        send(&admin, "POST", path, &old).expect(409, "PLUGIN_DOWNGRADE");
        assert_eq!(place.installed(), ["text-2.0.0.wasm"]);
    }
    send(&admin, "POST", "/v1/plugins?keep=true&downgrade=true", &old).expect(201, "");
    let newest = "/v1/plugins/text?version=2.0.0";
    send(&writer, "DELETE", newest, b"").expect(409, "PLUGIN_DOWNGRADE");
    send(&writer, "DELETE", &format!("{newest}&downgrade=true"), b"").expect(403, "FORBIDDEN");
    // Off, the newer one away, on again: each step goes nowhere by itself.
    send(&writer, "POST", "/v1/plugins/text/disable", b"").expect(200, "");
    send(&writer, "DELETE", newest, b"").expect(204, "");
    send(&writer, "POST", "/v1/plugins/text/enable", b"").expect(409, "PLUGIN_DOWNGRADE");
    send(&writer, "POST", "/v1/plugins/text/enable?downgrade=true", b"").expect(403, "FORBIDDEN");
    send(&admin, "POST", "/v1/plugins/text/enable?downgrade=true", b"").expect(200, "");
    let shown = send(&admin, "GET", "/v1/plugins/text", b"").expect(200, "");
    assert_eq!(shown["version"], "1.0.0");
    // Everything away, and the older one again: the host remembers, also after a restart.
    send(&writer, "DELETE", "/v1/plugins/text", b"").expect(204, "");
    send(&writer, "POST", "/v1/plugins", &old).expect(409, "PLUGIN_DOWNGRADE");
    send(&writer, "POST", "/v1/plugins", &new).expect(201, "");
}

#[test]
fn a_host_without_a_configuration_has_no_place_for_plugins() {
    let (_folder, server) = Served::fresh();
    server
        .send(
            "POST",
            "/v1/plugins",
            &[("content-type", "application/wasm")],
            b"x",
        )
        .expect(409, "PLUGINS_NOT_CONFIGURED");
}

/// Asks until it is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn changes_in_the_folders_and_in_the_configuration_are_noticed() {
    let place = Place::new("watch = true\n");
    let server = place.serve();
    let version = || {
        let answer = server.call("GET", "/v1/plugins/text");
        (answer.status == 200).then(|| answer.json()["version"].as_str().unwrap().to_owned())
    };
    assert_eq!(version(), None);
    fs::write(place.path("plugins/one.wasm"), package("1.0.0", &[])).unwrap();
    until("installed", || version().as_deref() == Some("1.0.0"));

    // A bad file keeps the good one beside it out, and the running set stays; without it the good one comes in.
    let running = hash(&server);
    fs::write(place.path("plugins/bad.wasm"), b"not a package").unwrap();
    fs::write(place.path("plugins/two.wasm"), package("1.1.0", &[])).unwrap();
    until("refused", || place.log().contains("bad.wasm"));
    assert!(place.log().contains("the running one stays"), "{}", place.log());
    // W9: the host goes on and would not start again, so health and metrics must say so.
    let metric = |name: &str| -> u64 {
        let text = server.call("GET", "/metrics").text();
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    };
    let health = server.call("GET", "/health");
    assert_eq!(health.status, 503);
    let health = health.json();
    assert_eq!(health["checks"]["plugins"], "degraded", "{health}");
    let reason = health["reasons"][0].as_str().unwrap();
    assert!(
        reason.contains("[package]") && !reason.contains("bad.wasm"),
        "what is wrong, and no path: {reason}"
    );
    assert_eq!(metric("mizzen_plugin_set_current"), 0);
    assert!(metric("mizzen_plugin_reload_failures_total") > 0);
    assert_eq!((version().as_deref(), hash(&server)), (Some("1.0.0"), running));
    fs::remove_file(place.path("plugins/bad.wasm")).unwrap();
    until("upgraded", || version().as_deref() == Some("1.1.0"));
    let health = server.call("GET", "/health");
    assert_eq!((health.status, &health.json()["reasons"]), (200, &json!([])));
    assert_eq!(metric("mizzen_plugin_set_current"), 1);

    let config = fs::read_to_string(place.path("mizzen.toml")).unwrap();
    fs::write(
        place.path("mizzen.toml"),
        format!("{config}disabled = [\"text\"]\n"),
    )
    .unwrap();
    until("disabled", || version().is_none());
    fs::write(place.path("mizzen.toml"), config).unwrap();
    until("enabled", || version().as_deref() == Some("1.1.0"));
    fs::remove_file(place.path("plugins/two.wasm")).unwrap();
    until("gone back", || version().as_deref() == Some("1.0.0"));
    fs::remove_file(place.path("plugins/one.wasm")).unwrap();
    until("removed", || version().is_none());

    // A folder that is named later is watched too.
    fs::create_dir(place.path("more")).unwrap();
    let config = fs::read_to_string(place.path("mizzen.toml")).unwrap();
    let more = config.replace("[\"plugins\"]", "[\"plugins\", \"more\"]");
    let loads = || place.log().matches("plugins loaded").count();
    let before = loads();
    fs::write(place.path("mizzen.toml"), more).unwrap();
    until("loaded with the new folder", || loads() > before);
    fs::write(place.path("more/text.wasm"), package("3.0.0", &[])).unwrap();
    until("installed from the new folder", || {
        version().as_deref() == Some("3.0.0")
    });
}

/// S3 and W20: one load at start, and what a reload does not take over is said.
#[test]
fn a_watching_host_loads_once_and_names_what_takes_a_restart() {
    let place = Place::new("watch = true\n");
    let server = place.serve();
    until("watching", || place.log().contains("watching the plugin folders"));
    let loads = || place.log().matches("plugins loaded").count();
    assert_eq!(loads(), 1, "{}", place.log());
    // Renamed into its place, so that it is one change.
    let config = fs::read_to_string(place.path("mizzen.toml")).unwrap();
    let more = "[grants.plugin]\ntext = [\"clock\"]\n[server]\nrate_burst = 7\n[hooks]\nprivate_hosts = [\"a.example\"]\n";
    fs::write(place.path("next"), format!("{config}{more}")).unwrap();
    fs::rename(place.path("next"), place.path("mizzen.toml")).unwrap();
    until("noticed", || {
        place.log().contains("restart to apply: [hooks], [server]")
    });
    assert_eq!(loads(), 2, "{}", place.log());
    drop(server);
}

/// W32: what the README writes; the first install makes the folder.
#[test]
fn a_plugin_folder_that_is_not_there_counts_as_empty() {
    let place = Place::new("watch = true\n");
    fs::remove_dir(place.path("plugins")).unwrap();
    let listed = mizzen()
        .args(["plugins", "list", "--config"])
        .arg(place.path("mizzen.toml"))
        .env("MIZZEN_HOME", place.path("home"))
        .output()
        .unwrap();
    assert!(listed.status.success(), "{listed:?}");
    let said = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(said.contains("does not exist and counts as empty"), "{said}");
    let server = place.serve();
    assert!(place.log().contains("counts as empty"), "{}", place.log());
    // It is noticed when it comes.
    until("watching", || place.log().contains("watching the plugin folders"));
    fs::create_dir(place.path("coming")).unwrap();
    fs::write(place.path("coming/text.wasm"), package("1.0.0", &[])).unwrap();
    fs::rename(place.path("coming"), place.path("plugins")).unwrap();
    until("installed", || {
        server.call("GET", "/v1/plugins/text").status == 200
    });
}

#[test]
fn what_is_revoked_is_not_run_any_more_and_the_rest_goes_on() {
    let place = Place::new("watch = true\n");
    let trust = fs::read_to_string(place.path("trust.toml")).unwrap();
    fs::write(place.path("plugins/one.wasm"), package("1.0.0", &[])).unwrap();
    fs::write(place.path("plugins/two.wasm"), package("1.1.0", &[])).unwrap();
    let server = place.serve();
    let version = || server.call("GET", "/v1/plugins/text").json()["version"].clone();
    assert_eq!(version(), "1.1.0");
    let digest = Package::parse(package("1.1.0", &[])).unwrap().digest();
    let revoked = format!("{trust}\n[[revoked_digests]]\ndigest = \"{digest}\"\nreason = \"leaks\"\n");
    until("watched", || place.log().contains("watching the plugin folders"));
    fs::write(place.path("trust.toml"), revoked).unwrap();
    until("the revoked version is gone", || version() == "1.0.0");
    assert!(place.log().contains("revoked-digest"), "{}", place.log());
    let health = server.call("GET", "/health").json();
    assert!(
        health["reasons"][0]
            .as_str()
            .unwrap()
            .contains("[revoked-digest]"),
        "{health}"
    );
    drop(server);
    let said = place.refuses_to_serve();
    assert!(
        said.contains("revoked-digest") && said.contains("leaks"),
        "{said}"
    );
}

#[test]
fn a_bad_set_is_listed_with_all_its_problems_and_the_host_does_not_start() {
    let place = Place::new("");
    let good = package("1.0.0", &[]);
    let mut flipped = good.clone();
    flipped[2000] ^= 1;
    fs::write(place.path("plugins/flipped.wasm"), flipped).unwrap();
    fs::write(place.path("plugins/nonsense.wasm"), b"nonsense").unwrap();
    fs::write(place.path("plugins/text.wasm"), package("1.1.0", &["order"])).unwrap();
    let said = place.refuses_to_serve();
    for part in ["flipped.wasm", "nonsense.wasm", "text.wasm", "signature"] {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
fn the_log_has_the_hash_of_the_plan_that_health_shows() {
    let place = Place::new("");
    fs::write(place.path("plugins/text.wasm"), package("1.0.0", &[])).unwrap();
    let plan = mizzen()
        .args(["plugins", "plan", "--json", "--config"])
        .arg(place.path("mizzen.toml"))
        .env("MIZZEN_HOME", place.path("home"))
        .output()
        .unwrap();
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    let server = place.serve();
    assert_eq!(hash(&server), plan["hash"]);
    assert!(
        place.log().contains(plan["hash"].as_str().unwrap()),
        "{}",
        place.log()
    );
}

#[test]
fn a_cleared_host_needs_pinned_trust_and_keys() {
    for (mode, word) in [("dev", "pinned"), ("tofu", "pinned")] {
        let place = Place::new(&format!(
            "[trust]\nmode = \"{mode}\"\n[host]\nprofile = \"cleared\"\n"
        ));
        let said = place.refuses_to_serve();
        assert!(said.contains("API key"), "{said}");
        place.new_key("admin");
        let said = place.refuses_to_serve();
        assert!(said.contains(word) && said.contains(mode), "{said}");
    }
    let place = Place::new("[host]\nprofile = \"cleared\"\n");
    place.new_key("admin");
    drop(place.serve());
    let place = Place::new("[host]\nprofile = \"careless\"\n");
    assert!(place.refuses_to_serve().contains("careless"));
}
