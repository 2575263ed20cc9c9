//! Code, line by line: what is code, what is comment, what is text. One pass, nothing nested.

use crate::language::Language;

/// One line, taken apart.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Line {
    /// The code, without comments and with every text left out.
    pub code: String,
    /// The comments.
    pub comment: String,
    /// What stands between quotation marks.
    pub texts: Vec<String>,
    /// Characters.
    pub width: usize,
}

/// What the reader is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Code,
    LineComment,
    BlockComment,
    /// A text that ends with this mark, which may go over lines or not.
    Text {
        mark: &'static str,
        over_lines: bool,
    },
}

/// The beginnings of texts; longer ones first.
const fn marks(language: Language) -> &'static [(&'static str, bool)] {
    match language {
        Language::Rust => &[("\"", true)],
        Language::Python => &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
        Language::Typescript => &[("\"", false), ("'", false), ("`", true)],
    }
}

/// Takes code apart.
pub fn split(code: &str, language: Language) -> Vec<Line> {
    let line_comment = if language == Language::Python { "#" } else { "//" };
    let mut inside = Inside::Code;
    let mut lines = Vec::new();
    for text in code.lines() {
        let mut line = Line {
            width: text.chars().count(),
            ..Line::default()
        };
        let mut current = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            match inside {
                Inside::LineComment => {
                    line.comment.push_str(rest);
                    break;
                }
                Inside::BlockComment => match rest.strip_prefix("*/") {
                    Some(after) => {
                        inside = Inside::Code;
                        rest = after;
                    }
                    None => {
                        line.comment.push(c);
                        rest = after;
                    }
                },
                Inside::Text { mark, .. } => match rest.strip_prefix(mark) {
                    Some(after) => {
                        line.texts.push(std::mem::take(&mut current));
                        inside = Inside::Code;
                        rest = after;
                    }
                    None => {
                        current.push(c);
                        // What stands behind a backslash cannot end the text.
                        let escaped = if c == '\\' { after.chars().next() } else { None };
                        current.extend(escaped);
                        rest = after.get(escaped.map_or(0, char::len_utf8)..).unwrap_or_default();
                    }
                },
                Inside::Code => {
                    if let Some(after) = rest.strip_prefix(line_comment) {
                        inside = Inside::LineComment;
                        rest = after;
                    } else if let Some(after) =
                        rest.strip_prefix("/*").filter(|_| language != Language::Python)
                    {
                        inside = Inside::BlockComment;
                        rest = after;
                    } else if let Some(after) = character(rest).filter(|_| language == Language::Rust) {
                        rest = after;
                    } else if let Some((mark, over_lines, after)) = marks(language)
                        .iter()
                        .find_map(|(mark, over_lines)| Some((*mark, *over_lines, rest.strip_prefix(mark)?)))
                    {
                        inside = Inside::Text { mark, over_lines };
                        rest = after;
                    } else {
                        line.code.push(c);
                        rest = after;
                    }
                }
            }
        }
        inside = match inside {
            Inside::LineComment => Inside::Code,
            Inside::Text { over_lines, .. } => {
                line.texts.push(current);
                if over_lines { inside } else { Inside::Code }
            }
            Inside::Code | Inside::BlockComment => inside,
        };
        lines.push(line);
    }
    lines
}

/// What follows a character such as `'('` in Rust; a lifetime is none.
fn character(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('\'')?;
    let inside = inside.strip_prefix('\\').unwrap_or(inside);
    let one = inside.chars().next()?;
    inside.get(one.len_utf8()..)?.strip_prefix('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_texts_and_code_are_told_apart() {
        let lines = split(
            "let a = \"x // \\\" y\"; // why\n/* one\ntwo */ let b = '\"'; let c: &'a u8;",
            Language::Rust,
        );
        let code: Vec<&str> = lines.iter().map(|line| line.code.trim()).collect();
        assert_eq!(code, ["let a = ;", "", "let b = ; let c: &'a u8;"]);
        assert_eq!(lines[0].texts, ["x // \\\" y"]);
        assert_eq!(
            (lines[0].comment.as_str(), lines[2].comment.as_str()),
            (" why", "two ")
        );
    }

    #[test]
    fn a_text_may_go_over_lines_or_may_not() {
        let lines = split("a = '''one\ntwo''' + b\nc = 'open\nd", Language::Python);
        let code: Vec<&str> = lines.iter().map(|line| line.code.trim()).collect();
        assert_eq!(code, ["a =", "+ b", "c =", "d"]);
    }
}
