//! The state diagram of the seed, and which of its transitions a result has taken.

use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus, GateDecision, StepStatus};
use mizzen_model::gate::GatePosition;

/// Every transition between two states, as the seed draws them.
pub(crate) const ALL: [&str; 11] = [
    "BeforeGates --> StepExecution",
    "BeforeGates --> Vetoed",
    "StepExecution --> AfterGates",
    "StepExecution --> OnErrorGates",
    "AfterGates --> NextStep",
    "AfterGates --> Vetoed",
    "OnErrorGates --> Vetoed",
    "OnErrorGates --> Continue",
    "NextStep --> StepExecution",
    "NextStep --> Completed",
    "Continue --> StepExecution",
];

/// Those that a result shows.
pub(crate) fn transitions(result: &ChainExecutionResult) -> Vec<&'static str> {
    let ran = |order: u32| {
        let step = result.steps.get(order as usize);
        step.is_some_and(|step| step.started_at.is_some())
    };
    let ended = |order: u32, status: StepStatus| {
        let step = result.steps.get(order as usize);
        step.is_some_and(|step| step.status == status)
    };
    let vetoed = result.status == ExecutionStatus::Vetoed;
    let mut taken = Vec::new();
    for gate in &result.gates {
        let allows = gate.decision == GateDecision::Allow;
        match (gate.position, gate.step) {
            (GatePosition::Before, None) if allows && ran(0) => taken.push(ALL[0]),
            (GatePosition::Before, _) if !allows && vetoed => taken.push(ALL[1]),
            (GatePosition::After, step) => {
                let last = u32::try_from(result.steps.len()).unwrap() - 1;
                if ended(step.unwrap_or(last), StepStatus::Completed) {
                    taken.push(ALL[2]);
                }
                if allows && step.is_some_and(|order| ran(order + 1)) {
                    taken.extend([ALL[4], ALL[8]]);
                }
                if allows && result.status == ExecutionStatus::Completed {
                    taken.push(ALL[9]);
                }
                if !allows && vetoed {
                    taken.push(ALL[5]);
                }
            }
            (GatePosition::OnError, Some(order)) => {
                if ended(order, StepStatus::Failed) {
                    taken.push(ALL[3]);
                }
                match allows {
                    false if vetoed => taken.push(ALL[6]),
                    true if ran(order + 1) => taken.extend([ALL[7], ALL[10]]),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    taken
}
