mod changes;

use super::*;
use crate::fixture::{NOW, PluginFixture, TOOL, dev_terms, key};
use crate::grants::Grants;
use crate::trust::{TrustMode, TrustStore};
use mizzen_model::permission::{Permission, PermissionSet};

fn set_of(plugins: &[PluginFixture]) -> (tempfile::TempDir, Sources) {
    let folder = tempfile::tempdir().unwrap();
    for plugin in plugins {
        plugin.write(folder.path());
    }
    let sources = Sources {
        folders: vec![folder.path().to_owned()],
        ..Sources::default()
    };
    (folder, sources)
}

fn codes(result: Result<LoadPlan, LoadFailure>) -> Vec<&'static str> {
    match result {
        Ok(_) => vec![],
        Err(failure) => failure.errors.iter().map(|error| error.code.as_str()).collect(),
    }
}

fn load(plugins: &[PluginFixture]) -> Result<LoadPlan, LoadFailure> {
    let (_folder, sources) = set_of(plugins);
    load_set(&sources, &dev_terms())
}

fn order_of(plan: &LoadPlan) -> Vec<String> {
    plan.plugins()
        .iter()
        .map(|planned| planned.plugin().id())
        .collect()
}

#[test]
fn a_good_set_is_planned_in_its_order() {
    let plan = load(&[
        PluginFixture {
            order: Some(9_000),
            ..PluginFixture::new("aaa", &["aaa"])
        },
        PluginFixture {
            order: Some(10),
            ..PluginFixture::new("zzz", &["zzz"])
        },
        PluginFixture::new("nnn", &["nnn"]),
        PluginFixture::new("mmm", &["mmm"]),
    ])
    .unwrap();
    assert_eq!(
        order_of(&plan),
        ["zzz@1.0.0", "mmm@1.0.0", "nnn@1.0.0", "aaa@1.0.0"]
    );
}

#[test]
fn a_stated_order_collides_with_a_stated_one_and_not_with_the_default() {
    let stated = |name, namespaces| PluginFixture {
        order: Some(5_000),
        ..PluginFixture::new(name, namespaces)
    };
    assert_eq!(
        codes(load(&[stated("a", &["a"]), stated("b", &["b"])])),
        ["order-collision"]
    );
    assert_eq!(
        codes(load(&[
            stated("a", &["a"]),
            PluginFixture::new("b", &["b"]),
            PluginFixture::new("c", &["c"])
        ])),
        [""; 0]
    );
}

#[test]
fn two_plugins_cannot_claim_one_namespace() {
    let result = load(&[
        PluginFixture::new("a", &["acme", "x"]),
        PluginFixture::new("b", &["acme", "y"]),
    ]);
    let failure = result.unwrap_err();
    assert_eq!(failure.errors.len(), 1);
    assert_eq!(failure.errors[0].code, LoadCode::NamespaceConflict);
    assert!(failure.errors[0].message.contains("acme") && failure.errors[0].message.contains("a-1.0.0.wasm"));
    assert_eq!(
        codes(load(&[
            PluginFixture::new("a", &["acme"]),
            PluginFixture::new("b", &["acme.text"])
        ])),
        [""; 0]
    );
}

#[test]
fn two_versions_of_one_plugin_live_side_by_side_and_one_is_the_default() {
    let version = |version| PluginFixture {
        version,
        order: Some(7),
        ..PluginFixture::new("text", &["acme"])
    };
    let plugins = [version("1.2.0"), version("1.10.0"), version("2.0.0-rc.1")];
    let (_folder, mut sources) = set_of(&plugins);
    let defaults = |plan: &LoadPlan| -> Vec<String> {
        plan.plugins()
            .iter()
            .filter(|planned| planned.is_default())
            .map(|planned| planned.plugin().id())
            .collect()
    };
    let plan = load_set(&sources, &dev_terms()).unwrap();
    assert_eq!(defaults(&plan), ["text@1.10.0"], "the highest release");
    assert_eq!(plan.find("text", None).unwrap().plugin().id(), "text@1.10.0");
    assert_eq!(
        plan.find("text", Some(&Version::new(1, 2, 0)))
            .unwrap()
            .plugin()
            .id(),
        "text@1.2.0"
    );
    let name = PluginName::parse("text").unwrap();
    sources.defaults.insert(name.clone(), Version::new(1, 2, 0));
    assert_eq!(
        defaults(&load_set(&sources, &dev_terms()).unwrap()),
        ["text@1.2.0"]
    );
    sources.defaults.insert(name, Version::new(9, 0, 0));
    assert_eq!(codes(load_set(&sources, &dev_terms())), ["default-not-installed"]);
}

#[test]
fn the_same_version_twice_is_refused_and_the_same_file_twice_is_one() {
    let (folder, mut sources) = set_of(&[PluginFixture::new("a", &["a"])]);
    let file = folder.path().join("a-1.0.0.wasm");
    sources.files = vec![file.clone(), folder.path().join("./a-1.0.0.wasm")];
    assert_eq!(load_set(&sources, &dev_terms()).unwrap().plugins().len(), 1);
    std::fs::copy(&file, folder.path().join("copy.wasm")).unwrap();
    assert_eq!(codes(load_set(&sources, &dev_terms())), ["duplicate-plugin"]);
}

#[test]
fn all_problems_of_a_set_are_reported_together_with_plugin_stage_and_help() {
    let (folder, sources) = set_of(&[
        PluginFixture {
            order: Some(1),
            ..PluginFixture::new("a", &["acme"])
        },
        PluginFixture {
            order: Some(1),
            keys: &[9],
            ..PluginFixture::new("b", &["acme"])
        },
        PluginFixture {
            imports: &["mizzen:plugin/kv@1.0.0"],
            provides: "\"tool\", \"pack\"",
            ..PluginFixture::new("c", &["c"])
        },
        PluginFixture {
            more: "[extra]\n",
            ..PluginFixture::new("d", &["d"])
        },
        PluginFixture {
            keys: &[],
            ..PluginFixture::new("e", &["e"])
        },
    ]);
    std::fs::write(folder.path().join("f.wasm"), b"not wasm").unwrap();
    std::fs::write(folder.path().join("g.txt"), b"not looked at").unwrap();
    let failure = load_set(&sources, &dev_terms()).unwrap_err();
    let found: Vec<(Option<&str>, &str, &str)> = failure
        .errors
        .iter()
        .map(|error| (error.plugin.as_deref(), error.stage.as_str(), error.code.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (None, "manifest", "manifest"),
            (None, "read", "package"),
            (Some("b@1.0.0"), "trust", "untrusted-key"),
            (Some("b@1.0.0"), "namespaces", "namespace-conflict"),
            (Some("b@1.0.0"), "order", "order-collision"),
            (Some("c@1.0.0"), "imports", "import-not-permitted"),
            (Some("c@1.0.0"), "provides", "provides-mismatch"),
            (Some("e@1.0.0"), "signature", "signature"),
        ]
    );
    assert!(
        failure
            .errors
            .iter()
            .all(|error| !error.help.is_empty() && error.file.is_some())
    );
    assert_eq!(
        load_set(&sources, &dev_terms()).unwrap_err(),
        failure,
        "the same every time"
    );
}

#[test]
fn an_import_without_a_permission_names_the_line_to_add() {
    for (imports, line) in [
        (
            &["mizzen:plugin/kv@1.0.0"][..],
            "\"kv:read\" = \"why this plugin needs it\"",
        ),
        (
            &["mizzen:plugin/http@1.0.0"],
            "\"net:HOST\" = \"why this plugin needs it\"",
        ),
        (
            &["mizzen:plugin/clock@1.0.0"],
            "\"clock\" = \"why this plugin needs it\"",
        ),
    ] {
        let failure = load(&[PluginFixture {
            imports,
            ..PluginFixture::new("a", &["a"])
        }])
        .unwrap_err();
        assert_eq!(failure.errors.len(), 1);
        assert_eq!(failure.errors[0].code, LoadCode::ImportNotPermitted);
        assert!(
            failure.errors[0].help.contains("[permissions]\n"),
            "{}",
            failure.errors[0].help
        );
        assert!(
            failure.errors[0].help.contains(line),
            "{}",
            failure.errors[0].help
        );
    }
    let covered = PluginFixture {
        imports: &["mizzen:plugin/kv@1.0.0"],
        permissions: &["kv:read"],
        ..PluginFixture::new("a", &["a"])
    };
    assert_eq!(codes(load(&[covered])), [""; 0]);
    let refused = PluginFixture {
        imports: &["wasi:sockets/tcp@0.2.6"],
        ..PluginFixture::new("a", &["a"])
    };
    assert_eq!(codes(load(&[refused])), ["import-not-permitted"]);
}

fn granting(texts: &[&str]) -> Terms {
    let set: PermissionSet = texts
        .iter()
        .map(|text| Permission::parse(text).unwrap())
        .collect();
    let grants = Grants {
        plugin: [(PluginName::parse("a").unwrap(), set)].into(),
        ..Grants::default()
    };
    Terms {
        grants: GrantPolicy::Listed(grants),
        ..dev_terms()
    }
}

#[test]
fn an_import_that_is_not_granted_refuses_the_load_and_names_the_grant() {
    let plugin = PluginFixture {
        imports: &["mizzen:plugin/kv@1.0.0", "mizzen:plugin/http@1.0.0"],
        permissions: &["kv:read", "kv:write", "net:api.example.com"],
        ..PluginFixture::new("a", &["a"])
    };
    let (_folder, sources) = set_of(&[plugin]);
    let failure = load_set(&sources, &granting(&[])).unwrap_err();
    assert_eq!(
        failure.errors.iter().map(|error| error.code).collect::<Vec<_>>(),
        [LoadCode::PermissionNotGranted]
    );
    assert!(
        failure.errors[0]
            .help
            .contains("run: mizzen plugins grants a --add kv:read --add kv:write --add net:api.example.com"),
        "{failure}"
    );
    assert_eq!(
        codes(load_set(&sources, &granting(&["kv:read", "net:other.com"]))),
        ["permission-not-granted"]
    );
    let plan = load_set(&sources, &granting(&["kv:read", "net:*.example.com", "clock"])).unwrap();
    let plugin = plan.plugins()[0].plugin();
    assert_eq!(plugin.warnings().len(), 1, "{:?}", plugin.warnings());
    assert!(plugin.warnings()[0].contains("kv:write"));
    use mizzen_model::permission::{Access, Use};
    let effective = plugin.effective();
    assert!(effective.allows(&Use::Kv(Access::Read)));
    assert!(
        !effective.allows(&Use::Kv(Access::Write)),
        "declared and not granted"
    );
    assert!(!effective.allows(&Use::Clock), "granted and not declared");
}

#[test]
fn what_is_provided_must_be_what_is_exported_both_ways() {
    let plugin = |provides, exports| PluginFixture {
        provides,
        exports,
        ..PluginFixture::new("a", &["a"])
    };
    assert_eq!(codes(load(&[plugin("\"tool\"", &[TOOL])])), [""; 0]);
    assert_eq!(
        codes(load(&[plugin("\"tool\", \"skill\"", &[TOOL])])),
        ["provides-mismatch"]
    );
    assert_eq!(
        codes(load(&[plugin("\"tool\"", &[TOOL, "mizzen:plugin/pack@1.0.0"])])),
        ["provides-mismatch"]
    );
    assert_eq!(
        codes(load(&[plugin("\"store\"", &[TOOL])])),
        ["provides-mismatch"; 2]
    );
    assert_eq!(
        codes(load(&[plugin("\"tool\"", &["mizzen:plugin/tool@2.0.0"])])),
        ["provides-mismatch"; 2]
    );
}

#[test]
fn another_api_version_has_its_own_code() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = PluginFixture::new("a", &["a"]);
    let manifest = plugin
        .manifest()
        .replace("api_version = \"1\"", "api_version = \"2\"");
    let component = crate::fixture::component(plugin.imports, plugin.exports);
    let bytes = crate::package::embed_manifest(&component, &manifest).unwrap();
    let bytes = crate::signature::sign(bytes, &key(1)).unwrap();
    let failure = verify_bytes(&folder.path().join("a.wasm"), bytes, &dev_terms()).unwrap_err();
    assert_eq!(
        (failure.errors[0].code, failure.errors[0].stage),
        (LoadCode::ApiVersion, Stage::ApiVersion)
    );
}

#[test]
fn the_plan_hash_depends_on_files_trust_and_grants_and_on_nothing_else() {
    let plugins = [
        PluginFixture {
            permissions: &["kv:read"],
            ..PluginFixture::new("a", &["a"])
        },
        PluginFixture::new("b", &["b"]),
    ];
    let hash = |plugins: &[PluginFixture], terms: &Terms| {
        let (_folder, sources) = set_of(plugins);
        load_set(&sources, terms).unwrap().hash().to_owned()
    };
    let base = hash(&plugins, &granting(&["kv:read"]));
    assert!(base.starts_with("blake3:") && base.len() == 71);
    let reversed: Vec<PluginFixture> = plugins.iter().rev().cloned().collect();
    assert_eq!(
        hash(&reversed, &granting(&["kv:read"])),
        base,
        "another folder, another order of writing"
    );
    let later = Terms {
        now: UnixTime(NOW.0 + 1_000),
        ..granting(&["kv:read"])
    };
    assert_eq!(hash(&plugins, &later), base, "another time");
    assert_ne!(
        hash(&plugins, &granting(&["kv:read", "clock"])),
        base,
        "other grants"
    );
    assert_ne!(hash(&plugins[..1], &granting(&["kv:read"])), base, "other files");
    let mut other_trust = granting(&["kv:read"]);
    other_trust.policy.store = TrustStore::parse("[thresholds]\nzzz = 2\n").unwrap();
    assert_ne!(hash(&plugins, &other_trust), base, "other trust");
    let mut tighter = granting(&["kv:read"]);
    tighter.ceiling.memory = mizzen_model::limits::ByteSize::mib(1);
    assert_ne!(hash(&plugins, &tighter), base, "other limits");
}

#[test]
fn tofu_pins_for_the_whole_set_at_once_and_only_when_it_passed() {
    let tofu = || {
        let policy = Policy {
            mode: TrustMode::Tofu,
            ..Policy::default()
        };
        Terms::new(policy, GrantPolicy::AsDeclared, NOW)
    };
    let good = [
        PluginFixture {
            keys: &[3],
            ..PluginFixture::new("a", &["acme"])
        },
        PluginFixture {
            keys: &[4],
            ..PluginFixture::new("b", &["b"])
        },
    ];
    let (_folder, sources) = set_of(&good);
    let plan = load_set(&sources, &tofu()).unwrap();
    assert_eq!(plan.new_pins().len(), 2);
    let mut again = tofu();
    for (namespace, key) in plan.new_pins() {
        again.policy.pins.remember(namespace.clone(), key.clone());
    }
    let second = load_set(&sources, &again).unwrap();
    assert_eq!((second.new_pins().len(), second.hash()), (0, plan.hash()));
    let changed = [PluginFixture {
        keys: &[5],
        ..PluginFixture::new("a", &["acme"])
    }];
    let (_folder, sources) = set_of(&changed);
    assert_eq!(codes(load_set(&sources, &again)), ["key-changed"]);
    let two_keys = [
        PluginFixture {
            keys: &[3],
            ..PluginFixture::new("a", &["acme"])
        },
        PluginFixture {
            keys: &[4],
            version: "2.0.0",
            ..PluginFixture::new("a", &["acme"])
        },
    ];
    let (_folder, sources) = set_of(&two_keys);
    assert_eq!(
        codes(load_set(&sources, &tofu())),
        ["key-changed"],
        "the second version by another key"
    );
}

#[test]
fn disabled_plugins_are_not_loaded() {
    let version = |version| PluginFixture {
        version,
        ..PluginFixture::new("a", &["acme"])
    };
    let (_folder, mut sources) = set_of(&[
        version("1.0.0"),
        version("2.0.0"),
        PluginFixture::new("b", &["acme"]),
    ]);
    sources.disabled.insert((PluginName::parse("b").unwrap(), None));
    sources
        .disabled
        .insert((PluginName::parse("a").unwrap(), Some(Version::new(2, 0, 0))));
    assert_eq!(order_of(&load_set(&sources, &dev_terms()).unwrap()), ["a@1.0.0"]);
}

#[test]
fn limits_are_the_authors_within_the_operators() {
    let plugin = PluginFixture {
        more: "[limits]\nmemory = \"128MiB\"\ncpu = \"1s\"\n[tools.count.limits]\ncpu = \"100ms\"\noutput = \"8MiB\"\n",
        ..PluginFixture::new("a", &["a"])
    };
    let (_folder, sources) = set_of(&[plugin]);
    let mut terms = dev_terms();
    terms.ceiling.memory = mizzen_model::limits::ByteSize::mib(16);
    let plan = load_set(&sources, &terms).unwrap();
    let plugin = plan.plugins()[0].plugin();
    assert_eq!(plugin.limits().memory.to_string(), "16MiB");
    assert_eq!(plugin.limits().cpu.to_string(), "1s");
    assert_eq!(plugin.tool_limits("count").cpu.to_string(), "100ms");
    assert_eq!(
        plugin.tool_limits("count").output,
        plugin.limits().output,
        "a tool can only narrow"
    );
    assert_eq!(plugin.tool_limits("other"), plugin.limits());
}

#[test]
fn loading_is_proportional_to_the_number_of_plugins() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<&'static str> = (0..400)
        .map(|n| &*Box::leak(format!("p{n}").into_boxed_str()))
        .collect();
    for name in &names {
        PluginFixture::new(name, Box::leak(vec![*name].into_boxed_slice())).write(folder.path());
    }
    let time = |count: usize| {
        let files = names
            .iter()
            .take(count)
            .map(|name| folder.path().join(format!("{name}-1.0.0.wasm")))
            .collect();
        let sources = Sources {
            files,
            ..Sources::default()
        };
        // The best of a few: other work on the machine only ever adds.
        (0..3)
            .map(|_| {
                let start = std::time::Instant::now();
                assert_eq!(load_set(&sources, &dev_terms()).unwrap().plugins().len(), count);
                start.elapsed()
            })
            .min()
            .unwrap()
    };
    let (few, many) = (time(20), time(400));
    // Ten times the slack, for a busy machine; a quadratic load would be four hundred times as long.
    assert!(many < few * 20 * 10, "20 plugins took {few:?}, 400 took {many:?}");
}
