//! Judging what is inside a council when it is written: what the tables cannot say.

use crate::error::{OpError, Refusal};
use mizzen_model::council::{Council, Warning};
use mizzen_model::problem::Code;

/// Judges structure, conditions and rules. Returns what was accepted with a warning.
pub(crate) fn judge(council: &Council) -> Result<Vec<Warning>, OpError> {
    let review = council.structure();
    // A gate that somebody else than the gate agent evaluates has its own code (D3).
    if let Some(problem) = review.problems.iter().find(|problem| problem.code == Code::InvalidGateAgent) {
        return Err(Refusal::InvalidGateAgent {
            reason: problem.to_string(),
            gate_agents: vec![council.gate_agent.uuid()],
        }
        .into());
    }
    review
        .problems
        .into_result()
        .map_err(|problems| Refusal::Invalid { document: "council", problems })?;
    Ok(review.warnings.iter().map(Warning::from).collect())
}
