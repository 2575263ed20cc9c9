//! Nodes that no run can come to.

use super::{Notes, Step};
use crate::ir::error::describe_text;
use crate::ir::records::{Action, IRDocument};
use std::collections::HashSet;

pub(super) fn check(document: &IRDocument, notes: &mut Notes<'_>) {
    let targets = targets(document);
    // The engine walks nodes in declared order until one halts; a rule may jump to its target from anywhere.
    let mut reachable = true;
    for (index, node) in document.nodes.iter().enumerate() {
        reachable = reachable || targets.contains(node.id.as_str());
        if !reachable {
            notes.note(
                "unreachable_node",
                &[Step::Key("nodes"), Step::Index(index)],
                format!(
                    "no run can come to node {}: it stands behind a halt and nothing goes to it",
                    describe_text(&node.id)
                ),
                "move it before the halt, or add a rule that goes to it",
            );
        }
        if node.kind == "halt" {
            reachable = false;
        }
    }
}

fn targets(document: &IRDocument) -> HashSet<&str> {
    let mut targets = HashSet::new();
    for action in document.rules.iter().flat_map(|rule| &rule.then) {
        match action {
            Action::Goto(goto) => {
                targets.insert(goto.target.as_str());
            }
            Action::Retry(retry) => {
                targets.insert(retry.target.as_str());
            }
            Action::Parallel(parallel) => {
                targets.extend(parallel.targets.iter().map(String::as_str));
                targets.insert(parallel.join.as_str());
            }
            Action::Interrupt(interrupt) => targets.extend(interrupt.timeout_target()),
            Action::Halt(_) | Action::Assert(_) | Action::Retract(_) => {}
        }
    }
    for block in &document.parallel {
        targets.extend(block.targets.iter().map(String::as_str));
        targets.insert(block.join.as_str());
    }
    targets
}
