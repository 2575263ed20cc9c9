//! `mizzen ir new`

use anyhow::Context as _;
use mizzen_json::{Json, Object};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Writes a small valid document to start from.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen ir new graph:triage > graph.yaml
  mizzen ir new graph:triage --output graph.json

The syntax follows the extension of --output; without it, YAML. An existing file is never
overwritten.")]
pub(super) struct New {
    /// The document's id
    #[arg(value_name = "ID", default_value = "graph:new")]
    id: String,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl New {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let is_json = self
            .output
            .as_ref()
            .is_some_and(|file| file.extension().is_some_and(|end| end == "json"));
        let text = if is_json {
            starter_json(&self.id)
        } else {
            starter_yaml(&self.id)
        };
        match self.output {
            None => print!("{text}"),
            Some(file) => {
                let shown = file.display();
                let mut new = std::fs::File::create_new(&file).with_context(|| {
                    format!("cannot create {shown}: choose a file that does not exist yet")
                })?;
                new.write_all(text.as_bytes())
                    .with_context(|| format!("cannot write {shown}"))?;
                println!("wrote {shown}; check it with: mizzen ir validate {shown}");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

const RULE: &str = "(severity ?s&:(>= ?s 4))";

fn starter_yaml(id: &str) -> String {
    // JSON strings are YAML strings, so any id can stand here.
    let id = Json::from(id).to_compact();
    format!(
        "# Nodes run in this order unless a rule says otherwise.\n\
         ir_version: \"1.0.0\"\n\
         id: {id}\n\
         nodes:\n\
         - {{ id: \"start\", kind: \"echo\" }}\n\
         - {{ id: \"escalate\", kind: \"echo\" }}\n\
         - {{ id: \"done\", kind: \"halt\" }}\n\
         rules:\n\
         # Every state field is a fact (field value); this rule fires when severity is at least 4.\n\
         - id: \"rule.escalate\"\n  \
           when: \"{RULE}\"\n  \
           then:\n  \
           - {{ kind: \"goto\", target: \"escalate\" }}\n\
         state_schema:\n  \
           message: \"str\"\n  \
           severity: \"int\"\n"
    )
}

fn starter_json(id: &str) -> String {
    let object = |members: &[(&str, Json)]| {
        Json::Object(
            members
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect::<Object>(),
        )
    };
    let node = |id: &str, kind: &str| object(&[("id", id.into()), ("kind", kind.into())]);
    let goto = object(&[("kind", "goto".into()), ("target", "escalate".into())]);
    let rule = object(&[
        ("id", "rule.escalate".into()),
        ("when", RULE.into()),
        ("then", vec![goto].into()),
    ]);
    let document = object(&[
        ("ir_version", "1.0.0".into()),
        ("id", id.into()),
        (
            "nodes",
            vec![
                node("start", "echo"),
                node("escalate", "echo"),
                node("done", "halt"),
            ]
            .into(),
        ),
        ("rules", vec![rule].into()),
        (
            "state_schema",
            object(&[("message", "str".into()), ("severity", "int".into())]),
        ),
    ]);
    format!("{}\n", document.to_pretty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_json::yaml;
    use mizzen_model::ir::{Options, inspect_tape};

    #[test]
    fn both_starters_are_valid_without_warnings_and_mean_the_same() {
        for id in ["graph:new", "ü: \"quoted\" #"] {
            let (yaml_text, json_text) = (starter_yaml(id), starter_json(id));
            let yaml_tape = yaml::parse(&yaml_text, mizzen_json::ReadLimits::default()).unwrap();
            let json_tape = mizzen_json::parse(&json_text, mizzen_json::ReadLimits::default()).unwrap();
            let from_yaml = inspect_tape(&yaml_tape, Options::default());
            let from_json = inspect_tape(&json_tape, Options::default());
            assert_eq!(
                (&from_yaml.errors, &from_yaml.warnings),
                (&Vec::new(), &Vec::new()),
                "{yaml_text}"
            );
            assert_eq!(from_yaml.document, from_json.document);
            assert_eq!(from_yaml.document.unwrap().id, id);
        }
    }
}
