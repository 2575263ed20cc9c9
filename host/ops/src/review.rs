//! Judging what is inside a council when it is written: what the tables cannot say.

use crate::error::{OpError, Refusal};
use mizzen_engine::condition::{Condition, Context, Fuel, Variable};
use mizzen_model::council::{Council, Warning};
use mizzen_model::problem::{Code, Problems};
use mizzen_model::rule::{Action, Enforcement};

/// Judges structure, conditions and rules. Returns what was accepted with a warning.
pub(crate) fn judge(council: &Council) -> Result<Vec<Warning>, OpError> {
    let mut review = council.structure();
    // A gate that somebody else than the gate agent evaluates has its own code, and the seed gives it precedence.
    if let Some(problem) = review.problems.iter().find(|problem| problem.code == Code::InvalidGateAgent) {
        return Err(Refusal::InvalidGateAgent {
            reason: problem.to_string(),
            gate_agents: vec![council.gate_agent.uuid()],
        }
        .into());
    }
    compile_gates(council, &mut review.problems);
    compile_maps(council, &mut review.problems);
    let rules = compile_rules(council, &mut review.problems);
    review
        .problems
        .into_result()
        .map_err(|problems| Refusal::Invalid { document: "council", problems })?;
    let mut warnings: Vec<Warning> = review.warnings.iter().map(Warning::from).collect();
    warnings.extend(decide(council, &rules)?);
    Ok(warnings)
}
