//! Judging what is inside a council when it is written: what the tables cannot say.

use crate::error::{Fault, OpError, Refusal};
use mizzen_condition::{Condition, Context, Fuel, Variable};
use mizzen_model::council::{Council, Warning};
use mizzen_model::problem::Code;
use mizzen_model::rule::{Enforcement, RuleAction};

/// Judges structure, maps, conditions, and the rules that can be decided now. Returns what was accepted with a warning.
pub(crate) fn judge(council: &Council) -> Result<Vec<Warning>, OpError> {
    let mut review = council.structure();
    // A gate that somebody else than the gate agent evaluates has its own code (D3).
    if let Some(problem) = review
        .problems
        .iter()
        .find(|problem| problem.code == Code::InvalidGateAgent.as_str())
    {
        let gate_agents = vec![council.gate_agent.uuid()];
        return Err(Refusal::InvalidGateAgent {
            reason: problem.to_string(),
            gate_agents,
        }
        .into());
    }
    review.problems.extend(mizzen_engine::admit(council));
    // A refused council has no warnings of its own: they are listed with the problems, so that one reading finds everything.
    if !review.problems.is_empty() {
        review.problems.extend(std::mem::take(&mut review.warnings));
    }
    review
        .problems
        .into_result()
        .map_err(|problems| Refusal::Invalid {
            document: "council",
            problems,
        })?;
    let mut warnings: Vec<Warning> = review.warnings.iter().map(Warning::from).collect();
    decide(council, &mut warnings)?;
    Ok(warnings)
}

/// Evaluates the rules that speak of the council and of nothing else (D5). The first match decides; a rule that speaks of an
/// execution cannot be decided yet, and unless it only denies, what follows it cannot either. Constant conditions speak of no
/// council: they wait for executions too.
fn decide(council: &Council, warnings: &mut Vec<Warning>) -> Result<(), OpError> {
    let document = council
        .to_json()
        .to_serde()
        .map_err(|error| Fault::Internal(format!("a council cannot be evaluated: {error}")))?;
    for (index, rule) in council.rules.iter().enumerate() {
        let condition = Condition::compile_rule(&rule.condition)
            .map_err(|error| Fault::Internal(format!("an admitted condition does not compile: {error}")))?;
        let path = format!("/rules/{index}");
        let mut variables = condition.variables();
        let decidable = variables.next() == Some(Variable::Council) && variables.next().is_none();
        if !decidable {
            if rule.action == RuleAction::Deny {
                continue;
            }
            return Ok(());
        }
        let context = Context::new().with(Variable::Council, &document);
        let matches = condition.evaluate(&context, &mut Fuel::default());
        let denied = || Refusal::RuleDenied {
            rule_id: rule.id.clone(),
            rule_name: rule.name.clone(),
        };
        let warning = |code: &str, message: String| Warning {
            path: path.clone(),
            code: code.to_owned(),
            message,
        };
        match (matches, rule.enforcement(), rule.action) {
            (Ok(false), _, _) => {}
            // No answer: mandatory rules fail closed.
            (Err(_), Enforcement::Mandatory, _) | (Ok(true), Enforcement::Mandatory, RuleAction::Deny) => {
                return Err(denied().into());
            }
            (Err(error), Enforcement::Advisory, _) => {
                warnings.push(warning(
                    "rule_error",
                    format!("rule {:?} cannot be evaluated: {error}", rule.id),
                ));
            }
            (Ok(true), Enforcement::Advisory, RuleAction::Deny | RuleAction::Escalate) => {
                warnings.push(warning(
                    "rule_advises",
                    format!("rule {:?} ({}) advises against this council", rule.id, rule.name),
                ));
                return Ok(());
            }
            (Ok(true), Enforcement::Mandatory, RuleAction::Escalate) => {
                warnings.push(warning(
                    "rule_escalates",
                    format!("rule {:?} ({}) escalates every execution", rule.id, rule.name),
                ));
                return Ok(());
            }
            (Ok(true), _, RuleAction::Allow) => return Ok(()),
        }
    }
    Ok(())
}
