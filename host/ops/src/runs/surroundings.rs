//! What a graph finds around it: the installed set when it is registered or begun, or what was recorded when its run is made again.

use super::resolve::{Found, MadeOf, Pin, Resolution, StepCall};
use crate::governance;
use crate::toolbox::Loaded;
use mizzen_catalog::requirement::ToolRequirement;
use mizzen_engine::graph::{GraphTarget, Missing, NodeKind, StateSchema, Surroundings};
use mizzen_engine::plan::{Repeatable, Target, Unresolved};
use mizzen_model::id::SpriteId;
use mizzen_model::ir::{IRDocument, NodeSpec, PackMount, SkillRef, StoreRef, ToolRef};
use mizzen_model::manifest::Provides;
use semver::VersionReq;
use serde_json::Value;

/// The code of a node that needs a model.
const MODEL_NOT_CONFIGURED: &str = "MODEL_NOT_CONFIGURED";

/// The installed set, for one document.
pub(super) struct InstalledSet<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) document: &'a IRDocument,
    pub(super) sprite_id: SpriteId,
    /// What was found, for the first entry of the journal.
    pub(super) resolutions: Vec<Resolution>,
}

/// What a journal says that was found.
pub(super) struct RecordedSet<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) of: &'a MadeOf,
    pub(super) sprite_id: SpriteId,
}

fn missing(code: &'static str, message: String, hint: &str) -> Missing {
    Missing {
        code,
        message,
        hint: hint.to_owned(),
    }
}

/// The call of what was found.
fn target(loaded: &Loaded, found: Found) -> Result<Target<StepCall>, Unresolved> {
    match found {
        Found::Nothing { code, message } => Err(Unresolved { code, message }),
        Found::Tool(pin) => Ok(Target {
            repeatable: match pin.repeatable {
                true => Repeatable::Yes,
                false => Repeatable::No,
            },
            call: StepCall {
                callable: loaded.callable(&pin.digest, &pin.tool),
                pin,
                sprite_name: String::new(),
                system_prompt: String::new(),
            },
        }),
    }
}

/// The fields that an input schema names; none where it names none and takes any.
fn fields(schema: &Value) -> Option<Vec<String>> {
    let properties = schema.get("properties")?.as_object()?;
    Some(properties.keys().cloned().collect())
}

impl InstalledSet<'_> {
    fn requirement(&self, id: &str, version: Option<&str>) -> Result<ToolRequirement, Missing> {
        let text = match version {
            None => id.to_owned(),
            // A pin of the document is that version and no other.
            Some(version) => format!("{id}@={version}"),
        };
        ToolRequirement::parse(&text).map_err(|error| {
            let hint = "write namespace.name, and a version such as 1.2.0";
            missing("bad_tool_id", error.to_string(), hint)
        })
    }

    fn pinned(&self, id: &str) -> Option<&str> {
        let normal = |tool: &&ToolRef| tool.id.replacen(':', ".", 1) == id;
        self.document.tools.iter().find(normal)?.version.as_deref()
    }

    fn find(&self, id: &str, version: Option<&str>) -> Result<(Pin, Option<Vec<String>>), Missing> {
        let wanted = self.requirement(id, version)?;
        let found = self.loaded.registry().resolve(&wanted).map_err(|error| {
            let hint = "install the plugin that provides it (`mizzen plugins add`), or name another tool";
            missing("tool_not_installed", error.to_string(), hint)
        })?;
        Ok((
            Pin::of(found.spec(), found.plugin()),
            fields(found.spec().input_schema()),
        ))
    }

    fn is_provided(&self, kind: Provides, id: &str, version: Option<&str>) -> bool {
        let wanted = version.map(|version| VersionReq::parse(&format!("={version}")));
        let installed = self.loaded.installed();
        installed.provided.iter().any(|item| {
            item.kind == kind
                && item.id == id
                && match &wanted {
                    None => true,
                    Some(wanted) => wanted.as_ref().is_ok_and(|wanted| wanted.matches(&item.version)),
                }
        })
    }

    fn record(&mut self, kind: &str, found: Found, fields: Option<Vec<String>>) {
        let resolution = Resolution {
            sprite_id: self.sprite_id.to_string(),
            capability: kind.to_owned(),
            fields,
            found,
        };
        // Nodes of one kind share it.
        if !self.resolutions.contains(&resolution) {
            self.resolutions.push(resolution);
        }
    }
}

impl Surroundings<StepCall> for InstalledSet<'_> {
    fn node(&mut self, node: &NodeSpec, kind: &NodeKind<'_>) -> Result<GraphTarget<StepCall>, Missing> {
        let (found, fields) = match kind {
            NodeKind::Named(id) => match self.find(id, self.pinned(id)) {
                Ok((pin, fields)) => (Found::Tool(pin), fields),
                Err(_) if self.is_provided(Provides::Skill, id, None) => {
                    let message = format!("{id} is a skill, and a node cannot call one");
                    return Err(missing("skill_not_callable", message, "name a tool"));
                }
                Err(missing) => return Err(missing),
            },
            NodeKind::Predict => {
                let found = Found::Nothing {
                    code: MODEL_NOT_CONFIGURED.to_owned(),
                    message: format!(
                        "node {:?} is a prediction of a model, and this host has neither the skill mizzen.predict nor a model: install \
                         the plugin that provides the skill and configure the model alias `default`",
                        node.id
                    ),
                };
                (found, None)
            }
            NodeKind::Graph(id) => {
                let message = format!(
                    "node {:?} runs the graph {id:?}, and a node cannot run a graph",
                    node.id
                );
                return Err(missing(
                    "graph_not_callable",
                    message,
                    "put its nodes into this document",
                ));
            }
            NodeKind::Echo | NodeKind::Halt | NodeKind::Unknown => {
                let message = format!("there is no node kind {:?}", node.kind);
                return Err(missing("unknown_kind", message, "name a tool"));
            }
        };
        self.record(&node.kind, found.clone(), fields.clone());
        Ok(GraphTarget {
            target: target(self.loaded, found),
            fields,
        })
    }

    fn tool(&mut self, tool: &ToolRef) -> Result<(), Missing> {
        let id = tool.id.replacen(':', ".", 1);
        self.find(&id, tool.version.as_deref()).map(drop)
    }

    fn skill(&mut self, skill: &SkillRef) -> Result<(), Missing> {
        let id = skill.id.replacen(':', ".", 1);
        if self.is_provided(Provides::Skill, &id, skill.version.as_deref()) {
            return Ok(());
        }
        let version = skill
            .version
            .as_deref()
            .map(|version| format!(" in version {version}"));
        let message = format!(
            "skill {:?} is not installed{}",
            skill.id,
            version.unwrap_or_default()
        );
        let hint = "install the plugin that provides it (`mizzen plugins add`), or take it out of `skills`";
        Err(missing("skill_not_installed", message, hint))
    }

    fn store(&mut self, store: &StoreRef) -> Result<(), Missing> {
        let message = format!(
            "the store {:?} of provider {:?} is not bound on this host",
            store.name, store.provider
        );
        let hint = "this version of the host binds no stores: take the entry out of `stores`";
        Err(missing("store_not_configured", message, hint))
    }

    fn pack(&mut self, pack: &PackMount) -> Result<(), Missing> {
        let mount = mizzen_model::governance::Mount::from(pack);
        governance::find(self.loaded, "", &mount)
            .map(drop)
            .map_err(|problem| {
                let code = match problem.code {
                    "incompatible" => "PACK_COMPAT",
                    _ => "pack_not_installed",
                };
                missing(
                    code,
                    problem.message,
                    "install a pack that fits, or take it out of `governance`",
                )
            })
    }

    fn state_class(&mut self, class: &str) -> Result<StateSchema, Missing> {
        let message = format!("no installed plugin ships a schema {class:?}");
        Err(missing(
            "state_class_unknown",
            message,
            "declare the fields in `state_schema`",
        ))
    }
}

impl Surroundings<StepCall> for RecordedSet<'_> {
    fn node(&mut self, node: &NodeSpec, _: &NodeKind<'_>) -> Result<GraphTarget<StepCall>, Missing> {
        let id = self.sprite_id.to_string();
        let mut recorded = self.of.resolutions.iter();
        let recorded = recorded.find(|found| found.sprite_id == id && found.capability == node.kind);
        let (found, fields) = match recorded {
            Some(recorded) => (recorded.found.clone(), recorded.fields.clone()),
            None => {
                let found = Found::Nothing {
                    code: "CAPABILITY_UNRESOLVED".to_owned(),
                    message: format!("nothing is recorded for {:?}", node.kind),
                };
                (found, None)
            }
        };
        Ok(GraphTarget {
            target: target(self.loaded, found),
            fields,
        })
    }

    // What else the document names was there when the run began.
    fn tool(&mut self, _: &ToolRef) -> Result<(), Missing> {
        Ok(())
    }

    fn skill(&mut self, _: &SkillRef) -> Result<(), Missing> {
        Ok(())
    }

    fn store(&mut self, _: &StoreRef) -> Result<(), Missing> {
        Ok(())
    }

    fn pack(&mut self, _: &PackMount) -> Result<(), Missing> {
        Ok(())
    }

    fn state_class(&mut self, class: &str) -> Result<StateSchema, Missing> {
        let message = format!("no schema {class:?} is recorded");
        Err(missing(
            "state_class_unknown",
            message,
            "declare the fields in `state_schema`",
        ))
    }
}
