//! What a parsed path selects.

use super::path::{Segment, Selector};
use crate::pointer;
use mizzen_sdk::{ToolError, Value};

/// Every node that is looked at or kept counts. Repeated descents multiply; a document of 1 MiB does not come near this
/// with an honest path.
const MOST_NODES: usize = 500_000;

/// A place in the document.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    pub(crate) pointer: String,
    pub(crate) value: &'a Value,
}

struct Budget(usize);

impl Budget {
    fn spend(&mut self) -> Result<(), ToolError> {
        let exhausted = || {
            ToolError::failed(
                "TOO_MANY_NODES",
                format!("the path looks at more than {MOST_NODES} nodes"),
            )
        };
        self.0 = self.0.checked_sub(1).ok_or_else(exhausted)?;
        Ok(())
    }
}

/// All nodes that the path selects, in document order.
pub(crate) fn all<'a>(document: &'a Value, segments: &[Segment]) -> Result<Vec<Node<'a>>, ToolError> {
    let mut budget = Budget(MOST_NODES);
    let mut nodes = vec![Node {
        pointer: String::new(),
        value: document,
    }];
    for segment in segments {
        let mut selected = Vec::new();
        for node in nodes {
            if segment.descends {
                let mut waiting = vec![node];
                while let Some(node) = waiting.pop() {
                    select(&node, &segment.selectors, &mut selected, &mut budget)?;
                    let mut children = Vec::new();
                    push_children(&node, &mut children, &mut budget)?;
                    waiting.extend(children.into_iter().rev());
                }
            } else {
                select(&node, &segment.selectors, &mut selected, &mut budget)?;
            }
        }
        nodes = selected;
    }
    Ok(nodes)
}

fn select<'a>(
    node: &Node<'a>,
    selectors: &[Selector],
    into: &mut Vec<Node<'a>>,
    budget: &mut Budget,
) -> Result<(), ToolError> {
    for selector in selectors {
        budget.spend()?;
        match (selector, node.value) {
            (Selector::Wildcard, _) => push_children(node, into, budget)?,
            (Selector::Name(name), Value::Object(fields)) => {
                into.extend(fields.get(name).map(|value| Node {
                    pointer: pointer::field(&node.pointer, name),
                    value,
                }));
            }
            (Selector::Index(index), Value::Array(items)) => {
                let position = if *index < 0 { index + length(items) } else { *index };
                push_item(node, items, position, into);
            }
            (Selector::Slice { start, end, step }, Value::Array(items)) => {
                for position in positions(*start, *end, *step, length(items)) {
                    budget.spend()?;
                    push_item(node, items, position, into);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn push_children<'a>(
    node: &Node<'a>,
    into: &mut Vec<Node<'a>>,
    budget: &mut Budget,
) -> Result<(), ToolError> {
    match node.value {
        Value::Object(fields) => {
            for (name, value) in fields {
                budget.spend()?;
                into.push(Node {
                    pointer: pointer::field(&node.pointer, name),
                    value,
                });
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                budget.spend()?;
                into.push(Node {
                    pointer: pointer::item(&node.pointer, index),
                    value,
                });
            }
        }
        _ => {}
    }
    Ok(())
}

fn push_item<'a>(node: &Node<'a>, items: &'a [Value], position: i64, into: &mut Vec<Node<'a>>) {
    if let Ok(index) = usize::try_from(position) {
        into.extend(items.get(index).map(|value| Node {
            pointer: pointer::item(&node.pointer, index),
            value,
        }));
    }
}

fn length(items: &[Value]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

/// The indexes of a slice, as RFC 9535 §2.3.4.2 computes them.
fn positions(start: Option<i64>, end: Option<i64>, step: i64, length: i64) -> impl Iterator<Item = i64> {
    let normal = |index: i64| if index < 0 { length + index } else { index };
    let (first, stop) = if step >= 0 {
        (
            normal(start.unwrap_or(0)).clamp(0, length),
            normal(end.unwrap_or(length)).clamp(0, length),
        )
    } else {
        let last = length - 1;
        (
            normal(start.unwrap_or(last)).clamp(-1, last),
            end.map_or(-1, |end| normal(end).clamp(-1, last)),
        )
    };
    let mut next = Some(first).filter(|_| step != 0);
    std::iter::from_fn(move || {
        let here = next.filter(|&here| if step > 0 { here < stop } else { here > stop })?;
        next = here.checked_add(step);
        Some(here)
    })
}
