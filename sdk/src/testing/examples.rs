//! The declared examples as native tests.

use crate::{Context, Plugin, Value};
use std::fmt::Write;

/// Runs every declared example of every tool, and panics with all that do not hold. `mizzen plugin test` runs the same
/// examples in the real sandbox; this is the quick check.
///
/// # Panics
///
/// When an example fails, or its output differs from the declared one.
#[allow(clippy::panic)] // a test's assertion
pub fn check_examples(plugin: Plugin) {
    let mut problems = String::new();
    for tool in plugin.describe() {
        for example in tool.examples {
            let problem = match plugin.invoke(tool.name, example.input, &Context::default()) {
                Err(error) => Some(error.to_string()),
                Ok(found) => example.output.and_then(|expected| difference(expected, &found)),
            };
            if let Some(problem) = problem {
                let _ = writeln!(problems, "{}, example `{}`: {problem}", tool.name, example.name);
            }
        }
    }
    assert!(problems.is_empty(), "examples that do not hold:\n{problems}");
}

fn difference(expected: &str, found: &str) -> Option<String> {
    let read = |text: &str| serde_json::from_str::<Value>(text);
    match (read(expected), read(found)) {
        (Ok(wanted), Ok(got)) if wanted == got => None,
        (Err(error), _) => Some(format!("the declared output is not JSON: {error}")),
        _ => Some(format!("expected {expected}, found {found}")),
    }
}
