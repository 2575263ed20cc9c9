//! `delivery.review_pull_request`.

use crate::language::Language;
use crate::review::{Finding, Severity, review};
use mizzen_sdk::prelude::*;

/// The code to review.
#[input]
pub struct Proposal {
    /// The code.
    #[schemars(length(max = 65_536))]
    code: String,
    /// The language it is written in.
    language: Language,
}

/// A review.
#[output]
#[derive(Debug, PartialEq)]
pub struct Review {
    /// Whether nothing stands against it.
    approved: bool,
    /// From 0 to 1: every finding takes some of it away.
    confidence: f64,
    /// Lines of code.
    lines: usize,
    /// What was found, from the top; at most 100.
    findings: Vec<Finding>,
}

const MOST_FINDINGS: usize = 100;

/// Reviews code by its text: balanced brackets, documentation, tests, unfinished or dangerous parts, hard-coded secrets. Approves when nothing is a blocker.
#[tool(
    side_effects = "none",
    tags = ["code", "review"],
    example(
        name = "approves documented and tested code",
        input = {
            "language": "python",
            "code": "def area(width: float, height: float) -> float:\n    \"\"\"The area of a rectangle.\"\"\"\n    return width * height\n\n\ndef test_area() -> None:\n    assert area(2.0, 3.0) == 6.0\n"
        },
        output = { "approved": true, "confidence": 1.0, "lines": 7, "findings": [] }
    ),
    example(
        name = "minds what is neither documented nor tested",
        input = { "language": "rust", "code": "pub fn twice(x: f64) -> f64 {\n    x * 2.0\n}\n" },
        output = {
            "approved": true, "confidence": 0.8, "lines": 3,
            "findings": [
                { "line": 1, "severity": "warning", "rule": "undocumented", "message": "say above `twice` what it is for" },
                { "line": 3, "severity": "warning", "rule": "untested", "message": "there is no test" }
            ]
        }
    ),
    example(
        name = "does not approve what is dangerous",
        input = { "language": "python", "code": "password = 'hunter22'\neval(password)\n" },
        output = {
            "approved": false, "confidence": 0.1, "lines": 2,
            "findings": [
                { "line": 1, "severity": "blocker", "rule": "secret", "message": "`password` holds a secret; ask the host for it" },
                { "line": 2, "severity": "blocker", "rule": "evaluates-text", "message": "text is executed as code" },
                { "line": 2, "severity": "warning", "rule": "untested", "message": "there is no test" }
            ]
        }
    )
)]
pub fn review_pull_request(input: Proposal) -> Review {
    let (lines, mut findings) = review(&input.code, input.language);
    let count = |severity: Severity| {
        findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let blockers = count(Severity::Blocker);
    let lost = blockers * 40 + count(Severity::Warning) * 10 + count(Severity::Note) * 2;
    let confidence = f64::from(u8::try_from(100_usize.saturating_sub(lost)).unwrap_or(0)) / 100.0;
    findings.truncate(MOST_FINDINGS);
    Review {
        approved: blockers == 0,
        confidence,
        lines,
        findings,
    }
}
