use super::*;
use crate::fixture::{Plugin, dev_terms};
use crate::load::{LoadPlan, Sources, load_set};
use crate::requirement::ToolRequirement;
use mizzen_model::tool_spec::{ReplayPolicy, SideEffects};

fn plan_of(plugins: &[Plugin]) -> LoadPlan {
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
    let plan = plan_of(&[Plugin::new("a", &["acme"])]);
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
    let plan = plan_of(&[Plugin::new("a", &["acme.text"])]);
    for namespace in ["acme", "acme.texts", "other"] {
        assert_eq!(
            register_tools(&plan, vec![vec![tool(namespace, "count", "1.0.0")]]).err(),
            Some(vec!["outside-namespace"])
        );
    }
}

#[test]
fn a_tool_inside_of_another_plugins_closer_namespace_is_refused() {
    let plan = plan_of(&[Plugin::new("a", &["acme"]), Plugin::new("b", &["acme.text"])]);
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
    let plan = plan_of(&[Plugin::new("a", &["acme"])]);
    let twice = vec![tool("acme", "count", "1.0.0"), tool("acme", "count", "2.0.0")];
    assert_eq!(
        register_tools(&plan, vec![twice]).err(),
        Some(vec!["duplicate-tool"])
    );
}

#[test]
fn a_tool_that_asks_for_more_than_its_plugin_declares_is_refused() {
    let plan = plan_of(&[Plugin {
        permissions: &["net:*.example.com", "kv:read"],
        ..Plugin::new("a", &["acme"])
    }]);
    let asking = |permissions: &[&str]| {
        let permissions = permissions.iter().map(ToString::to_string).collect();
        register_tools(
            &plan,
            vec![vec![ToolDraft {
                permissions,
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
    let plan = plan_of(&[Plugin {
        permissions: &["kv:*"],
        ..Plugin::new("a", &["acme"])
    }]);
    let draft = ToolDraft {
        permissions: vec!["kv:read".to_owned()],
        ..tool("acme", "count", "1.0.0")
    };
    let registry = register_tools(&plan, vec![vec![draft]]).unwrap();
    let effective = registry.tools().next().unwrap().effective();
    assert!(effective.allows(&Use::Kv(Access::Read)) && !effective.allows(&Use::Kv(Access::Write)));
}

#[test]
fn failures_keep_their_stage_and_the_others_are_still_checked() {
    let plan = plan_of(&[
        Plugin::new("a", &["a"]),
        Plugin::new("b", &["b"]),
        Plugin::new("c", &["c"]),
        Plugin::new("d", &["d"]),
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
    let plan = plan_of(&[Plugin {
        more: "[tools.cuont.limits]\ncpu = \"1s\"\n",
        ..Plugin::new("a", &["acme"])
    }]);
    assert_eq!(
        register_tools(&plan, vec![vec![tool("acme", "count", "1.0.0")]]).err(),
        Some(vec!["descriptor-invalid"])
    );
}

#[test]
fn a_deprecated_tool_is_entered_with_a_warning() {
    let plan = plan_of(&[Plugin::new("a", &["acme"])]);
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
        plan_of(&[Plugin {
            more,
            ..Plugin::new("a", &["acme"])
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
    let plan = plan_of(&[Plugin {
        more: "[tools.count]\nside_effects = true\n[tools.look]\nside_effects = false\n",
        ..Plugin::new("a", &["acme"])
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
    let version = |version| Plugin {
        version,
        ..Plugin::new("text", &["acme"])
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
    let plan = plan_of(&[Plugin::new("a", &["acme"])]);
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
