use super::*;
use crate::fixture::{NOW, PluginFixture, dev_terms, key};
use crate::grants::GrantPolicy;
use crate::load::{LoadPlan, Sources, Terms, load_set};
use crate::requirement::ToolRequirement;
use crate::trust::{Policy, TrustMode, TrustStore};
use mizzen_model::tool_spec::{ReplayPolicy, SideEffects};

fn plan_of(plugins: &[PluginFixture]) -> LoadPlan {
    let folder = tempfile::tempdir().unwrap();
    let files = plugins.iter().map(|plugin| plugin.write(folder.path())).collect();
    load_set(
        &Sources {
            files,
            ..Sources::default()
        },
        &dev_terms(),
    )
    .unwrap()
}

fn tool(namespace: &str, name: &str, version: &str) -> ToolDraft {
    ToolDraft {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        version: version.to_owned(),
        description: "Does something.".to_owned(),
        input_schema: "{}".to_owned(),
        output_schema: "{}".to_owned(),
        side_effects: SideEffects::None,
        replay_policy: ReplayPolicy::MustStub,
        permissions: vec![],
        idempotency_key: None,
        cost_estimate: None,
        examples: vec![],
        tags: vec![],
        deprecated: false,
    }
}

/// Each plugin of the plan describes the tools at its place.
fn register_tools(plan: &LoadPlan, tools: Vec<Vec<ToolDraft>>) -> Result<Registry, Vec<&'static str>> {
    let described = tools
        .into_iter()
        .map(|tools| Ok(Described { tools, items: vec![] }));
    register_all(plan, described.collect())
}

fn register_all(
    plan: &LoadPlan,
    outcomes: Vec<Result<Described, Failure>>,
) -> Result<Registry, Vec<&'static str>> {
    assert_eq!(plan.plugins().len(), outcomes.len());
    let descriptions = plan.plugins().iter().zip(outcomes);
    let descriptions = descriptions
        .map(|(planned, outcome)| Description {
            planned: planned.clone(),
            outcome,
        })
        .collect();
    register(descriptions).map_err(|errors| {
        assert!(
            errors
                .iter()
                .all(|error| error.plugin.is_some() && !error.help.is_empty())
        );
        errors.iter().map(|error| error.code.as_str()).collect()
    })
}

#[test]
fn tools_inside_of_claimed_namespaces_are_entered() {
    let plan = plan_of(&[PluginFixture::new("a", &["acme"])]);
    let registry = register_tools(
        &plan,
        vec![vec![
            tool("acme", "count", "1.0.0"),
            tool("acme.text", "count", "1.0.0"),
        ]],
    )
    .unwrap();
    let ids: Vec<String> = registry
        .tools()
        .map(|tool| tool.spec().id().to_string())
        .collect();
    assert_eq!(ids, ["acme.count", "acme.text.count"]);
}

#[test]
fn a_tool_outside_of_the_claimed_namespaces_is_refused() {
    let plan = plan_of(&[PluginFixture::new("a", &["acme.text"])]);
    for namespace in ["acme", "acme.texts", "other"] {
        assert_eq!(
            register_tools(&plan, vec![vec![tool(namespace, "count", "1.0.0")]]).err(),
            Some(vec!["outside-namespace"])
        );
    }
}

#[test]
fn a_tool_inside_of_another_plugins_closer_namespace_is_refused() {
    let plan = plan_of(&[
        PluginFixture::new("a", &["acme"]),
        PluginFixture::new("b", &["acme.text"]),
    ]);
    let one = vec![tool("acme.text.deep", "count", "1.0.0")];
    assert_eq!(
        register_tools(&plan, vec![one.clone(), vec![]]).err(),
        Some(vec!["namespace-conflict"])
    );
    assert!(register_tools(&plan, vec![vec![], one]).is_ok());
    assert!(register_tools(&plan, vec![vec![tool("acme.texts", "count", "1.0.0")], vec![]]).is_ok());
}

#[test]
fn a_tool_that_is_described_twice_is_refused() {
    let plan = plan_of(&[PluginFixture::new("a", &["acme"])]);
    let twice = vec![tool("acme", "count", "1.0.0"), tool("acme", "count", "2.0.0")];
    assert_eq!(
        register_tools(&plan, vec![twice]).err(),
        Some(vec!["duplicate-tool"])
    );
}

#[test]
fn a_tool_that_asks_for_more_than_its_plugin_declares_is_refused() {
    let plan = plan_of(&[PluginFixture {
        permissions: &["net:*.example.com", "kv:read"],
        ..PluginFixture::new("a", &["acme"])
    }]);
    let asking = |permissions: &[&str]| {
        let permissions = permissions.iter().map(ToString::to_string).collect();
        register_tools(
            &plan,
            vec![vec![ToolDraft {
                permissions,
                side_effects: SideEffects::External,
                ..tool("acme", "count", "1.0.0")
            }]],
        )
    };
    assert!(asking(&["net:api.example.com", "kv:read"]).is_ok());
    assert_eq!(asking(&["net:*"]).err(), Some(vec!["tool-permission"]));
    assert_eq!(asking(&["kv:*", "clock"]).err(), Some(vec!["tool-permission"; 2]));
    assert_eq!(asking(&["root"]).err(), Some(vec!["descriptor-invalid"]));
}

#[test]
fn a_tool_gets_only_what_it_asks_for() {
    use mizzen_model::permission::{Access, Use};
    let plan = plan_of(&[PluginFixture {
        permissions: &["kv:*"],
        ..PluginFixture::new("a", &["acme"])
    }]);
    let draft = ToolDraft {
        permissions: vec!["kv:read".to_owned()],
        side_effects: SideEffects::Read,
        ..tool("acme", "count", "1.0.0")
    };
    let registry = register_tools(&plan, vec![vec![draft]]).unwrap();
    let effective = registry.tools().next().unwrap().effective();
    assert!(effective.allows(&Use::Kv(Access::Read)) && !effective.allows(&Use::Kv(Access::Write)));
}

#[test]
fn failures_keep_their_stage_and_the_others_are_still_checked() {
    let plan = plan_of(&[
        PluginFixture::new("a", &["a"]),
        PluginFixture::new("b", &["b"]),
        PluginFixture::new("c", &["c"]),
        PluginFixture::new("d", &["d"]),
    ]);
    let outcomes = vec![
        Err(Failure::Compile("no".to_owned())),
        Err(Failure::Describe("trapped".to_owned())),
        Err(Failure::Schema("explodes".to_owned())),
        Ok(Described {
            tools: vec![tool("x", "y", "1")],
            items: vec![],
        }),
    ];
    let codes = register_all(&plan, outcomes).unwrap_err();
    assert_eq!(
        codes,
        [
            "compile-failed",
            "describe-failed",
            "schema-refused",
            "descriptor-invalid"
        ]
    );
}

#[test]
fn limits_for_a_tool_that_is_not_there_are_refused() {
    let plan = plan_of(&[PluginFixture {
        more: "[tools.cuont.limits]\ncpu = \"1s\"\n",
        ..PluginFixture::new("a", &["acme"])
    }]);
    assert_eq!(
        register_tools(&plan, vec![vec![tool("acme", "count", "1.0.0")]]).err(),
        Some(vec!["descriptor-invalid"])
    );
}

#[test]
fn a_deprecated_tool_is_entered_with_a_warning() {
    let plan = plan_of(&[PluginFixture::new("a", &["acme"])]);
    let registry = register_tools(
        &plan,
        vec![vec![ToolDraft {
            deprecated: true,
            ..tool("acme", "count", "1.0.0")
        }]],
    )
    .unwrap();
    assert_eq!(registry.warnings(), ["a@1.0.0: tool acme.count is deprecated"]);
}

#[test]
fn a_tool_does_not_have_more_side_effects_than_its_signed_manifest_states() {
    let effects = |side_effects| {
        vec![vec![ToolDraft {
            side_effects,
            ..tool("acme", "count", "1.0.0")
        }]]
    };
    let stated = |more| {
        plan_of(&[PluginFixture {
            more,
            ..PluginFixture::new("a", &["acme"])
        }])
    };
    let read = stated("[tools.count]\nside_effects = \"read\"\n");
    for fits in [SideEffects::None, SideEffects::Read] {
        assert!(
            register_tools(&read, effects(fits))
                .unwrap()
                .warnings()
                .is_empty()
        );
    }
    for more in [SideEffects::Write, SideEffects::External] {
        assert_eq!(
            register_tools(&read, effects(more)).err(),
            Some(vec!["descriptor-invalid"])
        );
    }
}

#[test]
fn the_legacy_form_of_side_effects_is_up_converted_with_one_warning() {
    let plan = plan_of(&[PluginFixture {
        more: "[tools.count]\nside_effects = true\n[tools.look]\nside_effects = false\n",
        ..PluginFixture::new("a", &["acme"])
    }]);
    let tools = |count, look| {
        let with = |name, side_effects| ToolDraft {
            side_effects,
            ..tool("acme", name, "1.0.0")
        };
        vec![vec![with("count", count), with("look", look)]]
    };
    let registry = register_tools(&plan, tools(SideEffects::Write, SideEffects::None)).unwrap();
    assert_eq!(registry.warnings().len(), 1, "{:?}", registry.warnings());
    assert!(registry.warnings()[0].contains("legacy"));
    for (count, look) in [
        (SideEffects::External, SideEffects::None),
        (SideEffects::Write, SideEffects::Write),
    ] {
        assert_eq!(
            register_tools(&plan, tools(count, look)).err(),
            Some(vec!["descriptor-invalid"])
        );
    }
}

#[test]
fn requirements_resolve_among_the_installed_versions() {
    let version = |version| PluginFixture {
        version,
        ..PluginFixture::new("text", &["acme"])
    };
    let plan = plan_of(&[version("1.2.0"), version("1.4.0"), version("2.0.0")]);
    let tools = ["1.2.0", "1.4.0", "2.0.0"].map(|version| vec![tool("acme", "count", version)]);
    let registry = register_tools(&plan, tools.into()).unwrap();
    let resolve = |text: &str| {
        let found = registry.resolve(&ToolRequirement::parse(text).unwrap());
        found
            .map(|tool| tool.plugin().version().to_string())
            .map_err(|error| error.to_string())
    };
    assert_eq!(resolve("acme.count").unwrap(), "2.0.0");
    assert_eq!(resolve("acme.count@^1.2").unwrap(), "1.4.0");
    assert_eq!(resolve("acme.count@=1.2.0").unwrap(), "1.2.0");
    assert!(
        resolve("acme.count@^3")
            .unwrap_err()
            .contains("installed: 1.2.0, 1.4.0, 2.0.0")
    );
    assert!(
        resolve("acme.other")
            .unwrap_err()
            .contains("no tool `acme.other`")
    );
}

#[test]
fn skills_stores_and_packs_are_held_to_the_same_namespaces() {
    let plan = plan_of(&[PluginFixture::new("a", &["acme"])]);
    let item = |kind, id: &str, version: Option<&str>| {
        let items = vec![ItemDraft {
            kind,
            id: id.to_owned(),
            version: version.map(str::to_owned),
            pack: None,
        }];
        register_all(&plan, vec![Ok(Described { tools: vec![], items })])
    };
    for (kind, id) in [
        (Provides::Skill, "acme.plan"),
        (Provides::Store, "acme.notes"),
        (Provides::Pack, "acme.routing"),
        (Provides::Pack, "acme"),
    ] {
        let registry = item(kind, id, None).unwrap();
        assert_eq!(registry.item(kind, id).unwrap().version.to_string(), "1.0.0");
        assert_eq!(registry.items(kind).count(), 1);
    }
    assert_eq!(
        item(Provides::Skill, "other.plan", None).err(),
        Some(vec!["outside-namespace"])
    );
    assert_eq!(
        item(Provides::Pack, "acmes", None).err(),
        Some(vec!["outside-namespace"])
    );
    assert_eq!(
        item(Provides::Pack, "../acme", None).err(),
        Some(vec!["descriptor-invalid"])
    );
    assert_eq!(
        item(Provides::Skill, "acme.plan", Some("one")).err(),
        Some(vec!["descriptor-invalid"])
    );
}

fn acting(name: &str, side_effects: SideEffects, permissions: &[&str]) -> ToolDraft {
    ToolDraft {
        side_effects,
        permissions: permissions.iter().map(ToString::to_string).collect(),
        ..tool("acme", name, "1.0.0")
    }
}

#[test]
fn a_claim_of_effects_is_at_least_what_the_permissions_allow() {
    let plan = plan_of(&[PluginFixture {
        permissions: &["net:*", "kv:*"],
        ..PluginFixture::new("a", &["acme"])
    }]);
    let claims = |side_effects, permissions: &[&str]| {
        register_tools(&plan, vec![vec![acting("act", side_effects, permissions)]]).err()
    };
    let understated = Some(vec!["side-effects-understated"]);
    // R4: the tool that says none, fetches and writes.
    assert_eq!(claims(SideEffects::None, &["net:127.0.0.1", "kv:*"]), understated);
    assert_eq!(
        claims(SideEffects::Write, &["net:127.0.0.1", "kv:*"]),
        understated
    );
    assert_eq!(claims(SideEffects::External, &["net:127.0.0.1", "kv:*"]), None);
    assert_eq!(claims(SideEffects::Read, &["net:GET@127.0.0.1", "kv:read"]), None);
    assert_eq!(
        claims(SideEffects::None, &[]),
        None,
        "what the plugin declares and the tool does not ask for is not the tool's"
    );
}

#[test]
fn a_tool_that_calls_others_claims_at_least_the_strongest_of_them() {
    use SideEffects::{External, None as Nothing, Read, Write};
    let plan = plan_of(&[PluginFixture {
        permissions: &["tools:*", "kv:*"],
        ..PluginFixture::new("a", &["acme"])
    }]);
    let refused = |tools: Vec<ToolDraft>| {
        let descriptions = vec![Description {
            planned: plan.plugins()[0].clone(),
            outcome: Ok(Described { tools, items: vec![] }),
        }];
        let errors = register(descriptions).err().unwrap_or_default();
        let messages = errors.iter().map(|error| {
            assert_eq!(error.code, LoadCode::SideEffectsUnderstated);
            error.help.split(',').next().unwrap_or_default().to_owned()
        });
        messages.collect::<Vec<_>>()
    };
    let pays = || acting("pay", External, &[]);
    let line = |name: &str, effects: &str| format!("write #[tool(side_effects = \"{effects}\")] for {name}");
    for (case, tools, expected) in [
        (
            "directly",
            vec![acting("a", Nothing, &["tools:acme.p*"]), pays()],
            vec![line("a", "external")],
        ),
        (
            "enough",
            vec![acting("a", External, &["tools:acme.p*"]), pays()],
            vec![],
        ),
        (
            "no match",
            vec![acting("a", Nothing, &["tools:other.*"]), pays()],
            vec![],
        ),
        (
            "itself",
            vec![acting("a", Nothing, &["tools:acme.a"]), pays()],
            vec![],
        ),
        (
            "through another",
            vec![
                acting("a", Nothing, &["tools:acme.b"]),
                acting("b", Read, &["tools:acme.c"]),
                acting("c", Write, &["kv:write"]),
            ],
            vec![line("a", "write"), line("b", "write")],
        ),
        (
            "in a circle",
            vec![
                acting("a", Nothing, &["tools:acme.b"]),
                acting("b", Nothing, &["tools:acme.a", "tools:acme.pay"]),
                pays(),
            ],
            vec![line("a", "external"), line("b", "external")],
        ),
        (
            "a circle of nothing",
            vec![
                acting("a", Nothing, &["tools:acme.b"]),
                acting("b", Nothing, &["tools:acme.*"]),
            ],
            vec![],
        ),
    ] {
        assert_eq!(refused(tools), expected, "{case}");
    }
}

#[test]
fn a_plugin_that_comes_later_is_judged_with_those_that_may_call_it() {
    let caller = PluginFixture {
        permissions: &["tools:*"],
        ..PluginFixture::new("a", &["acme"])
    };
    let calls = || vec![acting("calls", SideEffects::None, &["tools:later.*"])];
    assert!(register_tools(&plan_of(std::slice::from_ref(&caller)), vec![calls()]).is_ok());
    let later = |side_effects| {
        vec![ToolDraft {
            side_effects,
            ..tool("later", "act", "1.0.0")
        }]
    };
    let plan = plan_of(&[caller, PluginFixture::new("b", &["later"])]);
    assert!(register_tools(&plan, vec![calls(), later(SideEffects::None)]).is_ok());
    assert_eq!(
        register_tools(&plan, vec![calls(), later(SideEffects::Write)]).err(),
        Some(vec!["side-effects-understated"])
    );
}

#[test]
fn skills_and_stores_have_the_effects_that_their_plugin_declares_and_packs_none() {
    for (permissions, effects) in [
        (&[][..], SideEffects::None),
        (&["clock", "kv:read"], SideEffects::Read),
        (&["kv:*"], SideEffects::Write),
        (&["tools:acme.*"], SideEffects::External),
    ] {
        let plan = plan_of(&[PluginFixture {
            permissions,
            ..PluginFixture::new("a", &["acme"])
        }]);
        let item = |kind, id: &str| ItemDraft {
            kind,
            id: id.to_owned(),
            version: None,
            pack: None,
        };
        let items = vec![
            item(Provides::Skill, "acme.plan"),
            item(Provides::Store, "acme.notes"),
            item(Provides::Pack, "acme.guard"),
        ];
        let registry = register_all(&plan, vec![Ok(Described { tools: vec![], items })]).unwrap();
        let of = |kind, id| registry.item(kind, id).unwrap().side_effects;
        assert_eq!(of(Provides::Skill, "acme.plan"), effects);
        assert_eq!(of(Provides::Store, "acme.notes"), effects);
        assert_eq!(of(Provides::Pack, "acme.guard"), SideEffects::None);
    }
}

/// What a plugin comes to that claims `acme`, is signed with these keys, and describes something in a namespace below it.
fn described_below(
    mode: TrustMode,
    trust: &str,
    pins: &[(&str, u8)],
    keys: &'static [u8],
    described: &Described,
) -> Result<Registry, Vec<&'static str>> {
    let mut policy = Policy {
        mode,
        store: TrustStore::parse(trust).unwrap(),
        ..Policy::default()
    };
    for (namespace, seed) in pins {
        let namespace = Namespace::parse(namespace).unwrap();
        policy.pins.remember(namespace, key(*seed).id());
    }
    let folder = tempfile::tempdir().unwrap();
    let plugin = PluginFixture {
        keys,
        ..PluginFixture::new("a", &["acme"])
    };
    let sources = Sources {
        files: vec![plugin.write(folder.path())],
        ..Sources::default()
    };
    let plan = load_set(&sources, &Terms::new(policy, GrantPolicy::AsDeclared, NOW)).unwrap();
    register_all(&plan, vec![Ok(described.clone())])
}

/// One described thing of each kind, all in or at `acme.text`.
fn of_each_kind() -> Vec<Described> {
    let item = |kind, id: &str| Described {
        tools: vec![],
        items: vec![ItemDraft {
            kind,
            id: id.to_owned(),
            version: None,
            pack: None,
        }],
    };
    vec![
        Described {
            tools: vec![tool("acme.text", "hi", "1.0.0")],
            items: vec![],
        },
        item(Provides::Skill, "acme.text.plan"),
        item(Provides::Store, "acme.text.notes"),
        item(Provides::Pack, "acme.text"),
    ]
}

fn trusted(seed: u8, namespaces: &str) -> String {
    let key = key(seed).public();
    format!(
        "[[keys]]\nid = \"{}\"\npublic_key = \"{key}\"\nnamespaces = [{namespaces}]\n",
        key.id()
    )
}

#[test]
fn the_namespace_of_everything_described_needs_what_a_claim_of_it_needs() {
    // R5: two keys for `acme` and everything below it, and two signatures below it.
    let pair = format!(
        "{}{}[thresholds]\n\"acme.*\" = 2\n",
        trusted(1, "\"acme\", \"acme.*\""),
        trusted(2, "\"acme\", \"acme.*\"")
    );
    let exactly = trusted(1, "\"acme\"");
    let wide = trusted(1, "\"acme\", \"acme.*\"");
    let other = format!(
        "{wide}[[revoked_keys]]\nid = \"{}\"\nreason = \"x\"\n",
        key(9).id()
    );
    for described in of_each_kind() {
        let below =
            |trust: &str, keys| described_below(TrustMode::Pinned, trust, &[], keys, &described).err();
        assert_eq!(
            below(&pair, &[1]),
            Some(vec!["too-few-signatures"]),
            "{described:?}"
        );
        assert_eq!(below(&pair, &[1, 2]), None, "{described:?}");
        assert_eq!(
            below(&exactly, &[1]),
            Some(vec!["untrusted-key"]),
            "{described:?}"
        );
        assert_eq!(below(&wide, &[1]), None, "{described:?}");
        assert_eq!(below(&other, &[1]), None, "{described:?}");
    }
    let inside = Described {
        tools: vec![tool("acme", "hi", "1.0.0")],
        items: vec![],
    };
    assert!(described_below(TrustMode::Pinned, &pair, &[], &[1], &inside).is_ok());
}

#[test]
fn what_is_described_below_a_claim_is_held_to_the_pins_too() {
    for described in of_each_kind() {
        let below = |trust: &str, pins: &[(&str, u8)]| {
            described_below(TrustMode::Tofu, trust, pins, &[2], &described)
                .map(|registry| registry.new_pins().len())
        };
        // `acme` was Mallory's (key 2) before the first use below it; `acme.text` is Alice's (key 1).
        let split = [("acme", 2), ("acme.text", 1)];
        assert_eq!(below("", &split), Err(vec!["key-changed"]), "{described:?}");
        assert_eq!(
            below("", &[("acme", 2)]),
            Ok(0),
            "the pin above it holds: {described:?}"
        );
        assert_eq!(below("", &[]), Ok(0), "pinned with the claim: {described:?}");
        // Trusted for the claim alone: what is below is used for the first time, and remembered.
        assert_eq!(below(&trusted(2, "\"acme\""), &[]), Ok(1), "{described:?}");
    }
}

#[test]
fn a_pack_whose_id_could_not_be_claimed_is_refused() {
    let plan = plan_of(&[PluginFixture::new("a", &["acme"])]);
    for id in ["acme.1st", "acme._x", "acme..x", "acme.x."] {
        let items = vec![ItemDraft {
            kind: Provides::Pack,
            id: id.to_owned(),
            version: None,
            pack: None,
        }];
        assert_eq!(
            register_all(&plan, vec![Ok(Described { tools: vec![], items })]).err(),
            Some(vec!["descriptor-invalid"]),
            "{id}"
        );
    }
}
