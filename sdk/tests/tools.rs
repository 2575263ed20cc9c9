//! What an author writes, and what the host gets to see of it.

#![allow(missing_docs, clippy::unwrap_used)]

use mizzen_sdk::prelude::*;
use mizzen_sdk::{Context, ReplayPolicy, SideEffects, ToolError, Value};
use std::time::Duration;

/// An order.
#[input]
#[derive(Debug)]
struct Order {
    /// What is ordered.
    items: Vec<Item>,
    #[serde(default)]
    note: Option<String>,
}

#[input]
#[output]
#[derive(Debug, Clone, PartialEq)]
struct Item {
    name: String,
    #[serde(default = "one")]
    count: u32,
}

fn one() -> u32 {
    1
}

#[output]
struct Receipt {
    items: Vec<Item>,
    total: u32,
    note: Option<String>,
}

/// Takes an order
/// over two lines.
///
/// And a second paragraph.
#[tool(
    name = "place-order",
    namespace = "shop.orders",
    version = "2.1.0-rc.1",
    side_effects = "external",
    permissions = ["net:api.example.com", "kv:write"],
    tags = ["shop"],
    idempotency_key = "note",
    cost_estimate = "0.0025",
    deprecated,
    example(name = "one oar", input = { "items": [{ "name": "oar" }] })
)]
fn order(input: Order, context: &Context) -> Result<Receipt, ToolError> {
    if input.items.is_empty() {
        return Err(ToolError::invalid_input("/items", "nothing is ordered"));
    }
    if context.deadline < Duration::from_millis(10) {
        return Err(ToolError::unavailable("no time left"));
    }
    Ok(Receipt {
        total: input.items.iter().map(|item| item.count).sum(),
        items: input.items,
        note: input.note,
    })
}

/// Says who asks.
#[tool(side_effects = "read")]
fn whoami(context: &Context) -> Value {
    json!({ "sprite": context.sprite_name, "step": context.step })
}

/// Answers without being asked anything.
#[tool(side_effects = "write", replay = "fail-loud")]
fn ping() -> &'static str {
    "pong"
}

struct OwnError;

impl From<OwnError> for ToolError {
    fn from(_: OwnError) -> Self {
        ToolError::failed("OWN", "in the author's own words")
    }
}

/// Fails in the author's own words.
#[tool(side_effects = "none")]
fn fails(_input: Item) -> Result<Value, OwnError> {
    Err(OwnError)
}

mizzen_sdk::export_plugin! { namespace: "shop", tools: [order, whoami, ping, fails] }

fn context() -> Context {
    Context {
        sprite_name: "bosun".to_owned(),
        step: Some(3),
        deadline: Duration::from_secs(1),
        ..Context::default()
    }
}

fn invoke(tool: &str, input: &str) -> Result<Value, ToolError> {
    plugin()
        .invoke(tool, input, &context())
        .map(|text| text.parse().unwrap())
}

#[test]
fn everything_an_author_states_reaches_the_description() {
    let tools = plugin().describe();
    let order = &tools[0];
    assert_eq!(
        (order.name, order.namespace, order.version),
        ("place-order", Some("shop.orders"), "2.1.0-rc.1")
    );
    assert_eq!(
        order.description,
        "Takes an order over two lines.\n\nAnd a second paragraph."
    );
    assert_eq!(order.side_effects, SideEffects::External);
    assert_eq!(order.replay_policy, ReplayPolicy::MustStub);
    assert_eq!(order.permissions, ["net:api.example.com", "kv:write"]);
    assert_eq!((order.tags, order.deprecated), (&["shop"][..], true));
    assert_eq!(
        (order.idempotency_key, order.cost_estimate),
        (Some("note"), Some("0.0025"))
    );
    assert_eq!(
        (order.examples[0].input, order.examples[0].output),
        (r#"{"items":[{"name":"oar"}]}"#, None)
    );
}

#[test]
fn what_an_author_leaves_out_has_its_default() {
    let tools = plugin().describe();
    assert_eq!(
        (tools[1].name, tools[1].namespace, tools[1].version),
        ("whoami", None, env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(tools[1].replay_policy, ReplayPolicy::RecordedResult);
    assert_eq!(tools[2].replay_policy, ReplayPolicy::FailLoud);
    assert!(tools[1].permissions.is_empty() && tools[1].examples.is_empty() && !tools[1].deprecated);
}

#[test]
fn schemas_come_from_the_types() {
    let tools = plugin().describe();
    let input: Value = tools[0].input_schema.parse().unwrap();
    assert_eq!(input["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(input["required"], json!(["items"]));
    assert_eq!(input["additionalProperties"], false);
    assert_eq!(input["properties"]["items"]["description"], "What is ordered.");
    assert_eq!(input["$defs"]["Item"]["required"], json!(["name"]));
    let output: Value = tools[0].output_schema.parse().unwrap();
    // What has a default need not be given, but is always written.
    assert_eq!(output["$defs"]["Item"]["required"], json!(["name", "count"]));
    assert_eq!(output["required"], json!(["items", "total", "note"]));
    let nothing: Value = tools[2].input_schema.parse().unwrap();
    assert_eq!(
        (&nothing["type"], &nothing["additionalProperties"]),
        (&json!("object"), &json!(false))
    );
}

#[test]
fn the_description_is_the_same_every_time() {
    assert_eq!(plugin().describe(), plugin().describe());
}

#[test]
fn tools_are_called_by_name_with_their_context() {
    let receipt = invoke(
        "place-order",
        r#"{"items":[{"name":"oar","count":2},{"name":"sail"}],"note":"x"}"#,
    )
    .unwrap();
    assert_eq!(receipt["total"], 3);
    assert_eq!(
        invoke("whoami", "{}").unwrap(),
        json!({ "sprite": "bosun", "step": 3 })
    );
    assert_eq!(invoke("ping", "{}").unwrap(), "pong");
    assert_eq!(
        invoke("fails", r#"{"name":"x"}"#),
        Err(ToolError::failed("OWN", "in the author's own words"))
    );
    assert!(matches!(invoke("unknown", "{}"), Err(ToolError::Failed { code, .. }) if code == "UNKNOWN_TOOL"));
}

#[test]
fn input_that_does_not_fit_is_refused_with_its_place() {
    for (input, place, part) in [
        (
            r#"{"items":[{"name":"a"},{"name":1}]}"#,
            "/items/1/name",
            "expected a string",
        ),
        (r#"{"items":[{"name":"a","count":-1}]}"#, "/items/0/count", "u32"),
        (r#"{"items":[{"nme":"a"}]}"#, "/items/0/nme", "unknown field"),
        (r#"{"items":[{}]}"#, "/items/0", "missing field `name`"),
        (r#"{}"#, "", "missing field `items`"),
        (r#"{"items":[]"#, "", "EOF"),
        (r#"{"items":[]} 1"#, "", "trailing"),
        ("", "", "EOF"),
        ("[]", "", "invalid"),
    ] {
        match invoke("place-order", input) {
            Err(ToolError::InvalidInput { path, message }) => {
                assert_eq!(path, place, "{input}: {message}");
                assert!(message.contains(part), "{input}: {message}");
            }
            other => panic!("{input}: {other:?}"),
        }
    }
    assert!(invoke("ping", r#"{"x":1}"#).is_err());
}

#[test]
fn input_nested_without_end_is_refused() {
    let deep = format!(r#"{{"items":{}"#, "[".repeat(100_000));
    assert!(matches!(
        invoke("place-order", &deep),
        Err(ToolError::InvalidInput { .. })
    ));
}

#[test]
fn keys_in_a_path_are_escaped() {
    #[input]
    struct Named {
        #[allow(dead_code)]
        table: std::collections::BTreeMap<String, u8>,
    }

    /// Takes a table.
    #[tool(side_effects = "none")]
    fn take(_input: Named) {}

    let error = <take as mizzen_sdk::Tool>::invoke(r#"{"table":{"a/b~c":"x"}}"#, &Context::default());
    assert!(matches!(error, Err(ToolError::InvalidInput { path, .. }) if path == "/table/a~1b~0c"));
}

#[test]
#[should_panic(expected = "example `wrong`: expected 2, found 1")]
fn an_example_that_does_not_hold_fails_its_test() {
    mod other {
        use mizzen_sdk::prelude::*;

        /// Says one.
        #[tool(side_effects = "none", example(name = "wrong", input = {}, output = 2))]
        pub(super) fn say() -> u8 {
            1
        }

        mizzen_sdk::export_plugin! { namespace: "other", tools: [say] }
    }
    mizzen_sdk::testing::check_examples(other::plugin());
}

/// What the warning of the legacy form is about; everywhere else it is to be seen.
#[allow(deprecated)]
mod legacy {
    use mizzen_sdk::prelude::*;

    /// Changes something.
    #[tool(side_effects = true)]
    pub(super) fn changes() -> Value {
        json!({})
    }

    /// Changes nothing.
    #[tool(side_effects = false)]
    pub(super) fn looks() -> Value {
        json!({})
    }
}

#[test]
fn the_legacy_form_of_side_effects_is_up_converted() {
    use mizzen_sdk::Tool;
    let (changes, looks) = (
        <legacy::changes as Tool>::describe(),
        <legacy::looks as Tool>::describe(),
    );
    assert_eq!(
        (changes.side_effects, changes.replay_policy),
        (SideEffects::Write, ReplayPolicy::MustStub)
    );
    assert_eq!(
        (looks.side_effects, looks.replay_policy),
        (SideEffects::None, ReplayPolicy::RecordedResult)
    );
    assert_eq!((legacy::changes(), legacy::looks()), (json!({}), json!({})));
}
