//! `text.diff`.

mod hunks;
mod script;

use mizzen_sdk::prelude::*;
use script::Change;

/// Two versions of a text.
#[input]
pub struct Compare {
    /// The text as it was.
    before: String,
    /// The text as it is now.
    after: String,
    /// How many unchanged lines to show around a change, up to 100.
    #[serde(default = "default_context")]
    #[schemars(range(max = 100))]
    context: u32,
}

fn default_context() -> u32 {
    3
}

/// What changed between them.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// Whether the texts are the same, byte for byte.
    equal: bool,
    /// How many lines were added.
    added: usize,
    /// How many lines were removed.
    removed: usize,
    /// The changes as a unified diff without file names; empty when there are none.
    unified: String,
}

/// Compares two texts line by line and returns a unified diff.
#[tool(
    side_effects = "none",
    tags = ["compare", "patch"],
    example(
        name = "shows a changed line with its surroundings",
        input = { "before": "one\ntwo\nthree\n", "after": "one\n2\nthree\n" },
        output = { "equal": false, "added": 1, "removed": 1, "unified": "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" }
    ),
    example(
        name = "finds nothing in equal texts",
        input = { "before": "same", "after": "same" },
        output = { "equal": true, "added": 0, "removed": 0, "unified": "" }
    ),
    example(
        name = "tells a missing final line break",
        input = { "before": "end\n", "after": "end", "context": 0 },
        output = { "equal": false, "added": 1, "removed": 1, "unified": "@@ -1 +1 @@\n-end\n+end\n\\ No newline at end of file\n" }
    )
)]
pub fn diff(input: Compare) -> Result<Difference, ToolError> {
    if input.context > 100 {
        return Err(ToolError::invalid_input(
            "/context",
            format!("expected 0 to 100, found {}", input.context),
        ));
    }
    let before: Vec<&str> = input.before.split_inclusive('\n').collect();
    let after: Vec<&str> = input.after.split_inclusive('\n').collect();
    let changes = script::changes(&before, &after);
    let count = |kind: fn(&Change<'_>) -> bool| changes.iter().filter(|change| kind(change)).count();
    Ok(Difference {
        equal: input.before == input.after,
        added: count(|change| matches!(change, Change::Added(_))),
        removed: count(|change| matches!(change, Change::Removed(_))),
        unified: hunks::unified(&changes, usize::try_from(input.context).unwrap_or(usize::MAX)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(before: &str, after: &str) -> Difference {
        diff(Compare {
            before: before.to_owned(),
            after: after.to_owned(),
            context: 1,
        })
        .unwrap()
    }

    #[test]
    fn an_empty_side_is_shown_as_line_zero() {
        assert_eq!(run("", "a\n").unified, "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(run("a\n", "").unified, "@@ -1 +0,0 @@\n-a\n");
    }

    #[test]
    fn distant_changes_are_hunks_of_their_own() {
        let before = "a\nb\nc\nd\ne\nf\n";
        let after = "A\nb\nc\nd\ne\nF\n";
        assert_eq!(
            run(before, after).unified,
            "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -5,2 +5,2 @@\n e\n-f\n+F\n"
        );
    }

    #[test]
    fn near_changes_share_a_hunk() {
        assert_eq!(
            run("a\nb\nc\n", "A\nb\nC\n").unified,
            "@@ -1,3 +1,3 @@\n-a\n+A\n b\n-c\n+C\n"
        );
    }

    #[test]
    fn a_context_out_of_range_is_refused() {
        assert!(
            diff(Compare {
                before: String::new(),
                after: String::new(),
                context: 101
            })
            .is_err()
        );
    }
}
