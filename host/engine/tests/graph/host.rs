//! What the graphs of the cases find around them.

use mizzen_engine::graph::{GraphTarget, Missing, NodeKind, StateSchema, Surroundings};
use mizzen_engine::plan::{Repeatable, Target, Unresolved};
use mizzen_model::ir::{NodeSpec, PackMount, SkillRef, StoreRef, ToolRef, check_pack_compat};

/// Everything is there that is not called `gone`.
pub(crate) struct Host;

fn gone(what: &str, id: &str, version: Option<&str>) -> Result<(), Missing> {
    if id.ends_with("gone") || version == Some("9.9.9") {
        return Err(Missing {
            code: "not_installed",
            message: format!("{what} {id} is not installed"),
            hint: "install it".to_owned(),
        });
    }
    Ok(())
}

impl Surroundings<String> for Host {
    fn node(&mut self, node: &NodeSpec, kind: &NodeKind<'_>) -> Result<GraphTarget<String>, Missing> {
        let id = match kind {
            NodeKind::Named(id) => id.to_string(),
            NodeKind::Predict => "dspy".to_owned(),
            _ => node.kind.clone(),
        };
        gone("tool", &id, None)?;
        let target = match id.as_str() {
            "t.unconfigured" => Err(Unresolved {
                code: "MODEL_NOT_CONFIGURED".to_owned(),
                message: "configure a model".to_owned(),
            }),
            id => Ok(Target {
                call: id.to_owned(),
                repeatable: if id == "t.pay" {
                    Repeatable::No
                } else {
                    Repeatable::Yes
                },
            }),
        };
        Ok(GraphTarget {
            target,
            fields: (id == "t.strict").then(|| vec!["severity".to_owned(), "absent".to_owned()]),
        })
    }

    fn tool(&mut self, tool: &ToolRef) -> Result<(), Missing> {
        gone("tool", &tool.id, tool.version.as_deref())
    }

    fn skill(&mut self, skill: &SkillRef) -> Result<(), Missing> {
        gone("skill", &skill.id, skill.version.as_deref())
    }

    fn store(&mut self, store: &StoreRef) -> Result<(), Missing> {
        gone("store", &store.name, None)
    }

    fn pack(&mut self, pack: &PackMount) -> Result<(), Missing> {
        check_pack_compat(pack, "1.0", "1").map_err(|error| Missing {
            code: "PACK_COMPAT",
            message: error.to_string(),
            hint: "use another version".to_owned(),
        })?;
        gone("pack", &pack.id, pack.version.as_deref())
    }

    fn state_class(&mut self, class: &str) -> Result<StateSchema, Missing> {
        gone("schema", class, None)?;
        Ok(StateSchema::parse([("message", "str")].into_iter()).0)
    }
}
