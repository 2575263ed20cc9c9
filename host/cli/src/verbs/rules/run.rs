//! `mizzen rules run FILE --facts FACTS.json`.

use crate::output;
use anyhow::Context as _;
use mizzen_rules::json::{fact_to_json, facts};
use mizzen_rules::{Budget, Explanation, Firing, Program, Report, RunError, Session};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Example:
  echo '{\"severity\": 5}' > facts.json
  mizzen rules run rules.clp --facts facts.json --trace

The facts are an array, each \"(severity 5)\", {\"name\": \"severity\", \"fields\": [5]} or
{\"template\": \"step\", \"slots\": {…}}; or an object, a state, whose fields become the facts (field
value).

Exits 0 when the rules ran, 1 when the file or the facts are refused, a budget is spent or a test
has no value.";

/// Firings that are shown of a run that ends in an error: the last ones say what goes round.
const LAST: usize = 20;

/// One firing as JSON; `mizzen pack explain` shows the same.
pub(in crate::verbs) fn fired(firing: &Firing) -> Value {
    json!({
        "rule": *firing.rule,
        "facts": firing.facts.iter().map(|(_, fact)| fact_to_json(fact)).collect::<Vec<_>>(),
        "asserted": firing.asserted.iter().map(|(_, fact)| fact_to_json(fact)).collect::<Vec<_>>(),
        "retracted": firing.retracted.iter().map(|id| format!("f-{id}")).collect::<Vec<_>>(),
    })
}

#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Run {
    /// The rule file: deftemplate, deffacts and defrule.
    file: PathBuf,
    /// A JSON file with the facts.
    #[arg(long, value_name = "FACTS.json")]
    facts: Option<PathBuf>,
    /// Say of every rule on which facts it fired, or why it did not.
    #[arg(long)]
    trace: bool,
    /// The budget of match operations.
    #[arg(long, default_value_t = Budget::default().operations)]
    operations: u64,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let program = match super::parse(&self.file)? {
            Ok(program) => program,
            Err((text, errors)) => {
                if self.json {
                    output::json(&super::refusal_json(&self.file, &errors))?;
                } else {
                    super::print_lone_errors(&self.file, &text, &errors);
                }
                return Ok(ExitCode::from(output::EXIT_REFUSED));
            }
        };
        let given = match &self.facts {
            Some(path) => {
                let document: Value = serde_json::from_str(&super::read(path)?)
                    .with_context(|| format!("the facts {} are not JSON", path.display()))?;
                facts(&document, &program)
                    .with_context(|| format!("the facts {} do not fit", path.display()))?
            }
            None => Vec::new(),
        };
        match self.evaluate(&program, given) {
            Ok((report, why)) => self.report(&report, &why),
            Err((error, firings)) => {
                let shown = firings.iter().rev().take(LAST).rev();
                if self.json {
                    let mut document = json!({
                        "ok": false,
                        "error": {"code": error.code(), "message": error.to_string()},
                    });
                    if self.trace
                        && let Some(document) = document.as_object_mut()
                    {
                        document.insert("fired".to_owned(), shown.map(fired).collect());
                    }
                    output::json(&document)?;
                } else {
                    if self.trace {
                        if let Some(more) = firings.len().checked_sub(LAST).filter(|more| *more > 0) {
                            println!("… {more} more");
                        }
                        shown.for_each(|firing| println!("fired {}", output::harmless(firing)));
                    }
                    eprintln!("error: {}", output::harmless(&error));
                }
                Ok(ExitCode::from(output::EXIT_REFUSED))
            }
        }
    }

    /// Runs the rules. What ends in an error comes with what fired before it.
    fn evaluate(
        &self,
        program: &Program,
        given: Vec<mizzen_rules::Fact>,
    ) -> Result<(Report, Vec<Explanation>), (RunError, Vec<Firing>)> {
        let budget = Budget {
            operations: self.operations,
            ..Budget::default()
        };
        let early = |error: RunError| (error, Vec::new());
        let mut session = Session::new(program, budget).map_err(early)?;
        for fact in given {
            session.assert(fact).map_err(early)?;
        }
        let ran = match self.trace {
            true => session.run_explained(),
            false => session.run_here().map(|report| (report, Vec::new())),
        };
        ran.map_err(|error| (error, session.firings().to_vec()))
    }

    fn report(&self, report: &Report, why: &[Explanation]) -> anyhow::Result<ExitCode> {
        if self.json {
            let fired: Vec<_> = report.firings.iter().map(fired).collect();
            let mut document = json!({
                "ok": report.errors.is_empty(),
                "fired": fired,
                "facts": report.facts.iter().map(|(_, fact)| fact_to_json(fact)).collect::<Vec<_>>(),
                "errors": report.errors,
                "operations": report.operations,
            });
            if self.trace
                && let Some(document) = document.as_object_mut()
            {
                let reasons: Vec<_> = why
                    .iter()
                    .map(|why| json!({"rule": why.rule, "reasons": why.reasons}))
                    .collect();
                document.insert("not_fired".to_owned(), Value::Array(reasons));
            }
            output::json(&document)?;
        } else {
            if self.trace {
                for firing in &report.firings {
                    println!("fired {}", output::harmless(firing));
                }
                for why in why {
                    println!(
                        "did not fire: {}: {}",
                        why.rule,
                        output::harmless(&why.reasons.join("; or "))
                    );
                }
                println!("{} match operations", report.operations);
            } else {
                for (_, fact) in report.firings.iter().flat_map(|firing| &firing.asserted) {
                    println!("{}", output::harmless(fact));
                }
                if report.firings.is_empty() && report.errors.is_empty() {
                    eprintln!("no rule fired; --trace says what stood in the way");
                }
            }
            for error in &report.errors {
                eprintln!("error: {}", output::harmless(&error));
            }
        }
        Ok(if report.errors.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}
