//! `mizzen graph new`.

use anyhow::{Context as _, Result};
use mizzen_json::Json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a graph to start from: a rule, a parallel block and a question to a person
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen graph new graph:triage --output graph.yaml
  mizzen graph run graph.yaml --set severity=5 --respond '{\"approved\": true}'

It runs as it is, without plugins. An existing file is never overwritten.")]
pub(super) struct New {
    /// The document's id
    #[arg(value_name = "ID", default_value = "graph:new")]
    id: String,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl New {
    pub(super) fn run(self) -> Result<ExitCode> {
        let text = starter(&self.id);
        match self.output {
            None => print!("{text}"),
            Some(file) => {
                let shown = file.display();
                let mut new = std::fs::File::create_new(&file).with_context(|| {
                    format!("cannot create {shown}: choose a file that does not exist yet")
                })?;
                new.write_all(text.as_bytes())
                    .with_context(|| format!("cannot write {shown}"))?;
                println!("wrote {shown}; run it with: mizzen graph run {shown} --set severity=2");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn starter(id: &str) -> String {
    // JSON strings are YAML strings, so any id can stand here.
    let id = Json::from(id).to_compact();
    format!(
        "# Nodes run in this order unless a rule says otherwise. Replace an echo by the id of a tool, such as text.case.\n\
         ir_version: \"1.0.0\"\n\
         id: {id}\n\
         nodes:\n\
         \x20 - {{ id: receive, kind: echo }}\n\
         \x20 - {{ id: look_up, kind: echo }}\n\
         \x20 - {{ id: classify, kind: echo }}\n\
         \x20 - {{ id: handle, kind: echo }}\n\
         \x20 - {{ id: done, kind: halt }}\n\
         # Both run at the same time; the run goes on at `handle` when both have ended.\n\
         parallel:\n\
         \x20 - {{ targets: [look_up, classify], join: handle, strategy: all }}\n\
         rules:\n\
         \x20 # A severe case is shown to a person before it is handled.\n\
         \x20 - id: ask\n\
         \x20   when: (severity ?s&:(>= ?s 4)) (visit (node \"classify\"))\n\
         \x20   then:\n\
         \x20     - {{ kind: interrupt, prompt: \"Handle this case?\", timeout: PT1H, on_timeout: halt }}\n\
         \x20 - id: refused\n\
         \x20   when: (approved FALSE)\n\
         \x20   then:\n\
         \x20     - {{ kind: halt, reason: \"a person refused\" }}\n\
         state_schema:\n\
         \x20 severity: int\n\
         \x20 approved: bool\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_model::ir::{Options, inspect_tape};

    #[test]
    fn what_is_written_is_valid_whatever_its_id() {
        for id in ["graph:new", "x: \"y\" # z", "é"] {
            let text = starter(id);
            let tape = mizzen_json::yaml::parse(&text, mizzen_json::ReadLimits::default()).unwrap();
            let inspection = inspect_tape(&tape, Options::default());
            let document = inspection.document.unwrap();
            assert_eq!(
                (document.id.as_str(), inspection.warnings),
                (id, Vec::new()),
                "{text}"
            );
        }
    }
}
