//! `mizzen rules facts [TEMPLATE]`.

use crate::output;
use anyhow::Context as _;
use mizzen_model::facts::{FACTS_VERSION, VOCABULARY, published_at};
use mizzen_model::pack::Moment;
use mizzen_rules::{Program, Template};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Generated packs point here: their authors have the binary and not this repository.
const GUIDE: &str = include_str!("../../../../../docs/facts.md");

const HELP: &str = "\
Examples:
  mizzen rules facts
  mizzen rules facts evidence
  mizzen rules facts --json

Without a name it prints the guide to the vocabulary, docs/facts.md.";

#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Facts {
    /// A template of the host: print its slots and when it is there
    #[arg(value_name = "TEMPLATE")]
    template: Option<String>,
    /// Print the templates as JSON
    #[arg(long)]
    json: bool,
}

impl Facts {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let program = Program::parse(VOCABULARY)?;
        let named = match &self.template {
            None => None,
            Some(name) => Some(program.template(name).with_context(|| {
                let known: Vec<&str> = mizzen_model::facts::templates().collect();
                format!("the host has no template {name:?}; it has {}", known.join(", "))
            })?),
        };
        match (named, self.json) {
            (None, false) => print!("{GUIDE}"),
            (Some(template), false) => print_template(template),
            (named, true) => {
                let all = mizzen_model::facts::templates();
                let known = all.filter_map(|name| program.template(name));
                let asked = known.filter(|known| named.is_none_or(|named| named.name() == known.name()));
                let templates: Vec<Value> = asked.map(|template| to_json(template)).collect();
                output::json(&json!({"facts_version": FACTS_VERSION, "templates": templates}))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The moments at which facts of a template can be there.
fn moments(template: &Template) -> Vec<&'static str> {
    Moment::ALL
        .into_iter()
        .filter(|moment| published_at(*moment).any(|(name, _)| name == template.name()))
        .map(Moment::as_str)
        .collect()
}

fn to_json(template: &Template) -> Value {
    let slots: Vec<Value> = template
        .slots()
        .iter()
        .map(|slot| {
            json!({
                "name": slot.name(),
                "types": slot.types().iter().map(|kind| kind.name()).collect::<Vec<_>>(),
                "allowed": slot.allowed().iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({"name": template.name(), "moments": moments(template), "slots": slots})
}

fn print_template(template: &Template) {
    println!("{} (at {})", template.name(), moments(template).join(", "));
    for slot in template.slots() {
        let types: Vec<&str> = slot.types().iter().map(|kind| kind.name()).collect();
        let allowed: Vec<String> = slot.allowed().iter().map(ToString::to_string).collect();
        let allowed = match allowed.is_empty() {
            true => String::new(),
            false => format!(": {}", allowed.join(", ")),
        };
        let types = if types.is_empty() {
            "any".to_owned()
        } else {
            types.join(" or ")
        };
        println!("  {:<14} {types}{allowed}", slot.name());
    }
}
