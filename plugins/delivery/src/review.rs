//! What a reviewer looks for in the text of code.

mod lines;

use crate::language::Language;
use lines::{Line, split};
use mizzen_sdk::prelude::*;

/// Characters of a line.
const WIDEST: usize = 120;

/// How much a finding matters.
#[output]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It cannot go in like this.
    Blocker,
    /// A person should look at it.
    Warning,
    /// A matter of taste.
    Note,
}

/// One thing that was found.
#[output]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    line: usize,
    /// How much it matters.
    pub severity: Severity,
    /// Which of the reviewer's rules found it.
    rule: String,
    /// What it is and what to do.
    message: String,
}

fn finding(line: usize, severity: Severity, rule: &str, message: impl Into<String>) -> Finding {
    Finding {
        line,
        severity,
        rule: rule.to_owned(),
        message: message.into(),
    }
}

/// A pattern in the code of a line (not in its comments and texts) that stands for something.
struct Pattern {
    language: Language,
    text: &'static str,
    severity: Severity,
    rule: &'static str,
    message: &'static str,
}

const fn pattern(
    language: Language,
    text: &'static str,
    severity: Severity,
    rule: &'static str,
    message: &'static str,
) -> Pattern {
    Pattern {
        language,
        text,
        severity,
        rule,
        message,
    }
}

const PATTERNS: &[Pattern] = &[
    pattern(
        Language::Rust,
        ".unwrap()",
        Severity::Warning,
        "panics",
        "return an error instead of stopping the program",
    ),
    pattern(
        Language::Rust,
        ".expect(",
        Severity::Warning,
        "panics",
        "return an error instead of stopping the program",
    ),
    pattern(
        Language::Rust,
        "panic!(",
        Severity::Warning,
        "panics",
        "return an error instead of stopping the program",
    ),
    pattern(
        Language::Rust,
        "todo!(",
        Severity::Blocker,
        "unfinished",
        "it is not written yet",
    ),
    pattern(
        Language::Rust,
        "unimplemented!(",
        Severity::Blocker,
        "unfinished",
        "it is not written yet",
    ),
    pattern(
        Language::Rust,
        "unsafe ",
        Severity::Blocker,
        "unsafe-code",
        "the compiler does not check memory safety here",
    ),
    pattern(
        Language::Python,
        "eval(",
        Severity::Blocker,
        "evaluates-text",
        "text is executed as code",
    ),
    pattern(
        Language::Python,
        "exec(",
        Severity::Blocker,
        "evaluates-text",
        "text is executed as code",
    ),
    pattern(
        Language::Python,
        "except:",
        Severity::Blocker,
        "silenced-error",
        "name the errors that are expected",
    ),
    pattern(
        Language::Python,
        "NotImplementedError",
        Severity::Blocker,
        "unfinished",
        "it is not written yet",
    ),
    pattern(
        Language::Typescript,
        "eval(",
        Severity::Blocker,
        "evaluates-text",
        "text is executed as code",
    ),
    pattern(
        Language::Typescript,
        "catch {}",
        Severity::Blocker,
        "silenced-error",
        "an error is thrown away",
    ),
    pattern(
        Language::Typescript,
        ": any",
        Severity::Warning,
        "untyped",
        "say which type it is",
    ),
];

/// What a name holds that should not stand in code.
const SECRETS: &[&str] = &["password", "passwd", "secret", "token", "api_key", "apikey"];

/// Reviews code: how many lines it has, and what was found in them, from the top.
pub fn review(code: &str, language: Language) -> (usize, Vec<Finding>) {
    let lines = split(code, language);
    let mut findings = Vec::new();
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut tested = false;
    for (index, line) in lines.iter().enumerate() {
        let number = index + 1;
        // What tests do is their own affair: they are allowed to stop.
        let in_tests = tested && language == Language::Rust;
        tested |= is_test(&line.code);
        if !in_tests {
            findings.extend(matches_of(line, language, number));
        }
        findings.extend(secret(line, number));
        if ["TODO", "FIXME", "XXX"]
            .iter()
            .any(|mark| line.comment.contains(mark))
        {
            findings.push(finding(
                number,
                Severity::Warning,
                "unfinished",
                "something is left to do",
            ));
        }
        if line.width > WIDEST {
            let message = format!("it is {} characters wide", line.width);
            findings.push(finding(number, Severity::Note, "wide-line", message));
        }
        if let Some(name) = undocumented(&lines, index, language) {
            let message = format!("say above `{name}` what it is for");
            findings.push(finding(number, Severity::Warning, "undocumented", message));
        }
        findings.extend(brackets(&line.code, number, &mut open));
    }
    if let Some((bracket, number)) = open.first() {
        findings.push(finding(
            *number,
            Severity::Blocker,
            "unbalanced",
            format!("`{bracket}` is never closed"),
        ));
    }
    if !tested && !lines.is_empty() {
        findings.push(finding(
            lines.len(),
            Severity::Warning,
            "untested",
            "there is no test",
        ));
    }
    findings.sort_by_key(|finding| finding.line);
    (lines.len(), findings)
}

fn matches_of(line: &Line, language: Language, number: usize) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for pattern in PATTERNS.iter().filter(|pattern| pattern.language == language) {
        let reported = found.iter().any(|earlier| earlier.rule == pattern.rule);
        if !reported && stands_in(&line.code, pattern.text) {
            found.push(finding(number, pattern.severity, pattern.rule, pattern.message));
        }
    }
    found
}

/// Whether a pattern stands in code, and not as the end of a longer name.
fn stands_in(code: &str, pattern: &str) -> bool {
    code.match_indices(pattern).any(|(place, _)| {
        let named = pattern.starts_with(|c: char| c.is_ascii_alphabetic());
        let before = code.get(..place).and_then(|before| before.chars().next_back());
        !(named && before.is_some_and(|c| c.is_alphanumeric() || c == '_'))
    })
}

fn is_test(code: &str) -> bool {
    let code = code.trim_start();
    let code = code.strip_prefix("export ").unwrap_or(code);
    code.contains("#[cfg(test)]")
        || code.contains("#[test]")
        || code.starts_with("def test_")
        || code.starts_with("function test")
        || code.starts_with("test(")
}

/// `password = "…"`: a name that suggests a secret, and a text that could be one.
fn secret(line: &Line, number: usize) -> Option<Finding> {
    let (left, right) = line.code.split_once('=')?;
    // `==` compares; nothing is kept there.
    if right.starts_with('=') || !line.texts.iter().any(|text| text.chars().count() >= 4) {
        return None;
    }
    let left = left.split(':').next().unwrap_or(left).trim_end();
    let name = left.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    let lower = name.to_lowercase();
    SECRETS.iter().any(|secret| lower.contains(secret)).then(|| {
        let shown: String = name.chars().take(40).collect();
        finding(
            number,
            Severity::Blocker,
            "secret",
            format!("`{shown}` holds a secret; ask the host for it"),
        )
    })
}

/// The public function that begins on this line, when it has no documentation.
fn undocumented(lines: &[Line], index: usize, language: Language) -> Option<String> {
    let line = lines.get(index)?;
    let keyword = match language {
        Language::Rust => "pub fn ",
        Language::Python => "def ",
        Language::Typescript => "export function ",
    };
    let rest = line.code.strip_prefix(keyword)?;
    let name = rest.split('(').next()?.trim();
    let is_public = !name.starts_with("test") && !name.starts_with('_');
    let documented = match language {
        Language::Python => lines
            .get(index + 1)
            .is_some_and(|next| next.code.trim().is_empty() && !next.texts.is_empty()),
        Language::Rust | Language::Typescript => index
            .checked_sub(1)
            .and_then(|above| lines.get(above))
            .is_some_and(|above| {
                !above.comment.trim().is_empty() || above.code.trim_start().starts_with("#[")
            }),
    };
    (is_public && !documented).then(|| name.chars().take(40).collect())
}

fn brackets(code: &str, number: usize, open: &mut Vec<(char, usize)>) -> Option<Finding> {
    let mut wrong = None;
    for c in code.chars() {
        let opening = match c {
            '(' | '[' | '{' => {
                open.push((c, number));
                continue;
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => continue,
        };
        if open.last().is_some_and(|(last, _)| *last == opening) {
            open.pop();
        } else {
            let message = format!("`{c}` closes nothing");
            wrong = wrong.or_else(|| Some(finding(number, Severity::Blocker, "unbalanced", message)));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(code: &str, language: Language) -> Vec<String> {
        let (_, findings) = review(code, language);
        findings
            .into_iter()
            .map(|finding| format!("{}:{}", finding.line, finding.rule))
            .collect()
    }

    #[test]
    fn each_rule_finds_what_it_is_for_and_nothing_else() {
        let documented = "/// A.\npub fn a() {}\n#[cfg(test)]\n#[test]\n";
        let cases: &[(Language, &str, &[&str])] = &[
            (Language::Rust, documented, &[]),
            (Language::Rust, "", &[]),
            (Language::Rust, "fn a() { b.unwrap() }\n#[test]", &["1:panics"]),
            (Language::Rust, "#[test]\nfn a() { b.unwrap() }", &[]),
            (
                Language::Rust,
                "// b.unwrap() is bad\nlet a = \".unwrap()\";\n#[test]",
                &[],
            ),
            (Language::Rust, "fn a() { todo!() }\n#[test]", &["1:unfinished"]),
            (Language::Rust, "// TODO later\n#[test]", &["1:unfinished"]),
            (
                Language::Rust,
                "fn a() { (] }\n#[test]",
                &["1:unbalanced", "1:unbalanced"],
            ),
            (
                Language::Rust,
                "fn a<'a>(b: &'a str) -> char { '(' }\n#[test]",
                &[],
            ),
            (Language::Rust, "let api_key = \"abcd\";\n#[test]", &["1:secret"]),
            (
                Language::Rust,
                "let api_key = secrets.get(name);\nif token == \"none\" {}\n#[test]",
                &[],
            ),
            (
                Language::Python,
                "def test_a():\n    retrieval(1)\n    try:\n        pass\n    except:\n        pass",
                &["5:silenced-error"],
            ),
            (Language::Python, "def test_a():\n    '''eval(it) {'''\n", &[]),
            (
                Language::Python,
                "def a():\n    return 1\ndef test_a(): pass",
                &["1:undocumented"],
            ),
            (
                Language::Typescript,
                "export function a(b: any) {}\nfunction test_a() {}",
                &["1:undocumented", "1:untyped"],
            ),
            (
                Language::Typescript,
                "/** A. */\nexport function a() { return `(`; }\ntest(a)",
                &[],
            ),
        ];
        for (language, code, expected) in cases {
            let mut found = rules(code, *language);
            found.sort();
            assert_eq!(found, *expected, "{code}");
        }
    }

    #[test]
    fn a_wide_line_is_a_note() {
        assert_eq!(
            rules(&format!("// {}\n#[test]", "x".repeat(WIDEST)), Language::Rust),
            ["1:wide-line"]
        );
    }

    #[test]
    fn code_of_any_shape_is_read_in_one_pass() {
        let hostile = "\"'`#/*{".repeat(9_000);
        for language in [Language::Rust, Language::Python, Language::Typescript] {
            assert!(!review(&hostile, language).1.is_empty());
        }
    }
}
