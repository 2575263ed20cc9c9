//! Changes of a running set: calls in flight finish on what they started with, refused changes change nothing, and what
//! a plugin keeps survives.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_catalog::load::load_set;
use mizzen_catalog::{LoadPlan, Sources};
use mizzen_engine::{CallPolicy, Profile};
use mizzen_isolation::{Network, build, call, outfit, outfit_reaching, rebuilt, root, terms};
use mizzen_model::namespace::PluginName;
use mizzen_ops::toolbox::{CallError, MemoryKv, Outfit, StoreKv, Toolbox};
use mizzen_sandbox::{KeyValue, Sandbox, Settings};
use mizzen_store::{KvLimits, Options, Store};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests")
}

fn guest(name: &str) -> Vec<u8> {
    std::fs::read(build(&root().join("tests/guests").join(name), &scratch()).unwrap()).unwrap()
}

fn sandbox() -> Arc<Sandbox> {
    let settings = Settings {
        slots: 8,
        cache: Some(scratch().join("artifacts")),
        ..Settings::default()
    };
    Arc::new(Sandbox::start(settings).unwrap())
}

/// A folder of packages.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn take(&self, name: &str) {
        std::fs::remove_file(self.0.path().join(name)).unwrap();
    }

    fn plan(&self) -> Result<LoadPlan, mizzen_catalog::LoadFailure> {
        let sources = Sources {
            folders: vec![self.0.path().to_owned()],
            ..Sources::default()
        };
        load_set(&sources, &terms())
    }
}

fn memory() -> Arc<mizzen_ops::toolbox::OpenKv> {
    Arc::new(|_: &str| Arc::new(MemoryKv::new(1 << 20)) as Arc<dyn KeyValue>)
}

/// The same plugin, one version on, and saying so.
fn next_edition(package: &[u8]) -> Vec<u8> {
    rebuilt(package, |mut component, manifest| {
        exchange(&mut component, b"edition-1", b"edition-2");
        // The tool's own version, as it stands among the component's constants.
        exchange(&mut component, b"0.1.0", b"0.2.0");
        (
            component,
            manifest.replace("version = \"0.1.0\"", "version = \"0.2.0\""),
        )
    })
    .unwrap()
}

fn exchange(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let places: Vec<usize> = (0..bytes.len())
        .filter(|at| bytes[*at..].starts_with(from))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
}

const WAITS: &str = "hostile.waits-and-tells.attack";

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_flight_finish_on_the_version_they_started_with() {
    let network = Network::gated();
    let toolbox = Toolbox::new(sandbox(), outfit(&network, memory()));
    let folder = Folder::new();
    let first = guest("waits-and-tells");
    folder.put("one.wasm", &first);
    toolbox.load(&folder.plan().unwrap()).await.unwrap();

    let in_flight = |expected: &'static str| {
        let toolbox = Arc::clone(&toolbox);
        tokio::spawn(async move {
            let result = call(&toolbox, WAITS, json!({})).await.unwrap();
            assert_eq!(result.output, json!({ "edition": expected }));
        })
    };
    let arrived = async |count: usize| {
        while network.connected() < count {
            tokio::task::yield_now().await;
        }
    };
    let started_on_the_first = in_flight("edition-1");
    arrived(1).await;

    // Upgrade while it waits.
    folder.take("one.wasm");
    folder.put("two.wasm", &next_edition(&first));
    toolbox.load(&folder.plan().unwrap()).await.unwrap();
    let started_on_the_second = in_flight("edition-2");
    arrived(2).await;

    // Remove while both wait.
    folder.take("two.wasm");
    toolbox.load(&folder.plan().unwrap()).await.unwrap();
    let error = call(&toolbox, WAITS, json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Unknown(_)), "{error}");

    network.open_gate();
    started_on_the_first.await.unwrap();
    started_on_the_second.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_change_leaves_the_running_set_exactly_as_it_was() {
    let network = Network::open();
    let toolbox = Toolbox::new(sandbox(), outfit(&network, memory()));
    let folder = Folder::new();
    folder.put("one.wasm", &guest("waits-and-tells"));
    toolbox.load(&folder.plan().unwrap()).await.unwrap();
    let before = toolbox.loaded();
    // Each passes the static stages and is refused for its description.
    for bad in [
        "describes-foreign-tool",
        "traps-in-describe",
        "describes-bad-schema",
        "asks-for-more",
        "spins-in-describe",
    ] {
        folder.put("bad.wasm", &guest(bad));
        let plan = folder.plan().unwrap();
        let failure = toolbox.load(&plan).await.err().expect(bad);
        assert!(!failure.errors.is_empty());
        assert!(Arc::ptr_eq(&before, &toolbox.loaded()), "{bad}");
        let result = call(&toolbox, WAITS, json!({})).await.unwrap();
        assert_eq!(result.output, json!({ "edition": "edition-1" }), "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_versions_run_side_by_side_and_requirements_choose_between_them() {
    let network = Network::open();
    let toolbox = Toolbox::new(sandbox(), outfit(&network, memory()));
    let folder = Folder::new();
    let first = guest("waits-and-tells");
    folder.put("one.wasm", &first);
    folder.put("two.wasm", &next_edition(&first));
    toolbox.load(&folder.plan().unwrap()).await.unwrap();
    for (tool, edition) in [
        (WAITS.to_owned(), "edition-2"),
        (format!("{WAITS}@^0.1"), "edition-1"),
        (format!("{WAITS}@=0.1.0"), "edition-1"),
        (format!("{WAITS}@>=0.1"), "edition-2"),
        (format!("{WAITS}@^0.2"), "edition-2"),
    ] {
        let result = call(&toolbox, &tool, json!({})).await.unwrap();
        assert_eq!(result.output["edition"], edition, "{tool}");
    }
    let error = call(&toolbox, &format!("{WAITS}@^3"), json!({}))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Unknown(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cleared_host_refuses_tools_that_change_the_world_whatever_the_caller_asks() {
    let network = Network::open();
    let cleared = Outfit {
        policy: CallPolicy {
            profile: Profile::Cleared,
            ..CallPolicy::default()
        },
        ..outfit(&network, memory())
    };
    let toolbox = Toolbox::new(sandbox(), cleared);
    let folder = Folder::new();
    folder.put("external.wasm", &guest("waits-and-tells"));
    folder.put("write.wasm", &guest("keeps-keys"));
    folder.put("read.wasm", &guest("reads-anothers-keys"));
    folder.put("forwards.wasm", &guest("calls-itself"));
    toolbox.load(&folder.plan().unwrap()).await.unwrap();
    // The request itself has the profile `open`, as requests do.
    for (tool, refused) in [
        (WAITS, true),
        ("hostile.keeps-keys.attack", true),
        ("hostile.reads-anothers-keys.attack", false),
    ] {
        match call(&toolbox, tool, json!({})).await {
            Ok(_) => assert!(!refused, "{tool}"),
            Err(CallError::Refused { refused: reason, .. }) => {
                assert_eq!(reason.code, "PROFILE_REFUSED", "{tool}: {reason}");
                assert!(refused, "{tool}");
            }
            Err(error) => panic!("{tool}: {error}"),
        }
    }
    assert_eq!(network.take_connects(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_plugin_keeps_is_there_after_a_restart_and_for_its_next_version() {
    let data = tempfile::tempdir().unwrap();
    let package = guest("keeps-keys");
    let upgraded = rebuilt(&package, |component, manifest| {
        (
            component,
            manifest.replace("version = \"0.1.0\"", "version = \"0.2.0\""),
        )
    })
    .unwrap();
    for (package, before) in [(&package, false), (&package, true), (&upgraded, true)] {
        let store = Store::open(data.path(), &Options::default()).unwrap();
        let kept = store.clone();
        let kv = Arc::new(move |owner: &str| {
            Arc::new(StoreKv::new(kept.clone(), owner, KvLimits::default())) as Arc<dyn KeyValue>
        });
        let toolbox = Toolbox::new(sandbox(), outfit(&Network::open(), kv));
        let folder = Folder::new();
        folder.put("keeps.wasm", package);
        toolbox.load(&folder.plan().unwrap()).await.unwrap();
        let result = call(&toolbox, "hostile.keeps-keys.attack", json!({}))
            .await
            .unwrap();
        assert_eq!(result.output, json!({ "before": before, "kept": true }));
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_must_fit_the_plugins_schema_and_new_ones_reach_the_running_plugin() {
    let package = rebuilt(&guest("tells-its-settings"), |component, manifest| {
        (component, manifest)
    })
    .unwrap();
    let folder = Folder::new();
    folder.put("tells.wasm", &package);
    let plan = folder.plan().unwrap();
    let with = |settings: Value| Outfit {
        settings: [(PluginName::parse("tells-its-settings").unwrap(), settings)].into(),
        ..Outfit::default()
    };
    let toolbox = Toolbox::new(sandbox(), with(json!({ "port": "starboard" })));
    let failure = toolbox.load(&plan).await.err().unwrap();
    assert_eq!(failure.errors[0].code.as_str(), "config-invalid", "{failure}");
    for port in [1, 2] {
        toolbox
            .load_with(&plan, with(json!({ "port": port })))
            .await
            .unwrap();
        let result = call(&toolbox, "hostile.tells-its-settings.attack", json!({}))
            .await
            .unwrap();
        assert_eq!(result.output, json!({ "port": port }));
    }
    let failure = toolbox
        .load_with(&plan, with(json!({ "post": 3 })))
        .await
        .err()
        .unwrap();
    assert_eq!(failure.errors[0].code.as_str(), "config-invalid", "{failure}");
    let result = call(&toolbox, "hostile.tells-its-settings.attack", json!({}))
        .await
        .unwrap();
    assert_eq!(
        result.output,
        json!({ "port": 2 }),
        "the refused settings are not used"
    );
}

/// A plugin that did not change is taken over as it runs: it must not keep a host that the operator has taken from the list.
#[tokio::test(flavor = "multi_thread")]
async fn a_private_host_that_is_taken_from_the_list_is_out_of_reach_at_once() {
    let network = Network::open();
    let listed = |hosts: &[&str]| {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        outfit_reaching(&network, memory(), &hosts)
    };
    let toolbox = Toolbox::new(sandbox(), listed(&["inside.example.com"]));
    let folder = Folder::new();
    folder.put("one.wasm", &guest("reaches-a-host-by-its-name"));
    let plan = folder.plan().unwrap();
    toolbox.load(&plan).await.unwrap();
    let reach = || call(&toolbox, "hostile.reaches-a-host-by-its-name.attack", json!({}));
    assert_eq!(reach().await.unwrap().output, json!({ "status": 200 }));
    assert_eq!(network.take_connects(), ["10.1.2.3:80"]);
    toolbox.load_with(&plan, listed(&[])).await.unwrap();
    let error = reach().await.unwrap_err().to_string();
    assert!(error.contains("private_hosts of [plugins]"), "{error}");
    assert_eq!(network.connected(), 0);
}
