//! Targets that do not exist, and strategies nobody knows (D16).

use super::{Notes, Step};
use crate::ir::error::describe_text;
use crate::ir::records::{Action, IRDocument};
use std::collections::HashSet;

use Step::{Index, Key};

pub(super) fn check(document: &IRDocument, notes: &mut Notes<'_>) {
    let nodes: HashSet<&str> = document.nodes.iter().map(|node| node.id.as_str()).collect();
    for (rule_index, rule) in document.rules.iter().enumerate() {
        for (action_index, action) in rule.then.iter().enumerate() {
            let at = |rest: &[Step]| {
                let mut path = vec![Key("rules"), Index(rule_index), Key("then"), Index(action_index)];
                path.extend_from_slice(rest);
                path
            };
            match action {
                Action::Goto(goto) => target(&nodes, &goto.target, &at(&[Key("target")]), notes),
                Action::Retry(retry) => target(&nodes, &retry.target, &at(&[Key("target")]), notes),
                Action::Parallel(parallel) => {
                    for (index, id) in parallel.targets.iter().enumerate() {
                        target(&nodes, id, &at(&[Key("targets"), Index(index)]), notes);
                    }
                    join(&nodes, &parallel.join, &at(&[Key("join")]), notes);
                    strategy(
                        &parallel.strategy,
                        parallel.targets.len(),
                        &at(&[Key("strategy")]),
                        notes,
                    );
                }
                Action::Interrupt(interrupt) => {
                    let path = at(&[Key("on_timeout")]);
                    match interrupt.timeout_target() {
                        Some(id) => target(&nodes, id, &path, notes),
                        None if interrupt.on_timeout != "halt" => notes.note(
                            "unknown_on_timeout",
                            &path,
                            format!(
                                "on_timeout {} is neither halt nor goto:<node id>",
                                describe_text(&interrupt.on_timeout)
                            ),
                            "write \"halt\" or \"goto:<node id>\"",
                        ),
                        None => {}
                    }
                }
                Action::Halt(_) | Action::Assert(_) | Action::Retract(_) => {}
            }
        }
    }
    for (index, block) in document.parallel.iter().enumerate() {
        for (target_index, id) in block.targets.iter().enumerate() {
            target(
                &nodes,
                id,
                &[Key("parallel"), Index(index), Key("targets"), Index(target_index)],
                notes,
            );
        }
        join(
            &nodes,
            &block.join,
            &[Key("parallel"), Index(index), Key("join")],
            notes,
        );
        strategy(
            &block.strategy,
            block.targets.len(),
            &[Key("parallel"), Index(index), Key("strategy")],
            notes,
        );
    }
}

fn target(nodes: &HashSet<&str>, id: &str, path: &[Step], notes: &mut Notes<'_>) {
    if !nodes.contains(id) {
        notes.note(
            "unknown_target",
            path,
            format!("there is no node {}", describe_text(id)),
            "add the node, or name one that exists",
        );
    }
}

fn join(nodes: &HashSet<&str>, id: &str, path: &[Step], notes: &mut Notes<'_>) {
    // Empty means the end of the block.
    if !id.is_empty() && !nodes.contains(id) {
        notes.note(
            "unknown_join",
            path,
            format!("there is no node {} to join at", describe_text(id)),
            "add the node, or leave join empty for the end of the block",
        );
    }
}

fn strategy(strategy: &str, targets: usize, path: &[Step], notes: &mut Notes<'_>) {
    let needed = match strategy.strip_prefix("quorum:") {
        Some(count) => count.parse::<usize>().ok().filter(|count| *count > 0),
        None if matches!(strategy, "all" | "any" | "race" | "quorum") => return,
        None => None,
    };
    match needed {
        Some(needed) if needed <= targets => {}
        Some(needed) => notes.note(
            "quorum_unreachable",
            path,
            format!("a quorum of {needed} can never be reached by {targets} targets"),
            "lower the quorum or add targets",
        ),
        None => notes.note(
            "unknown_strategy",
            path,
            format!("nobody knows the strategy {}", describe_text(strategy)),
            "use all, any, race, quorum or quorum:N",
        ),
    }
}
