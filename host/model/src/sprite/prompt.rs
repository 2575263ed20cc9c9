//! System prompts that stand in another place (D10). Reading them is IO and happens elsewhere; here is only what a
//! reference is.

/// The longest system prompt, in characters, inline or dereferenced.
pub const PROMPT_MAX: usize = 65_536;

const PREFIX: &str = "$ref:";

/// Where a prompt stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptReference {
    /// `file:///…`: the absolute path, still percent-encoded as it was written.
    File(String),
    /// `https://…`: the whole URL.
    Https(String),
    /// Any other scheme. It is refused, and the message can name it.
    Unsupported(String),
}

/// The reference that a prompt is, or none when the prompt is inline. A prompt is a reference when it starts with
/// `$ref:`; one that merely contains the word is not.
pub fn system_prompt_reference(prompt: &str) -> Option<PromptReference> {
    let uri = prompt.strip_prefix(PREFIX)?.trim();
    let reference = if let Some(path) = uri.strip_prefix("file://") {
        // An authority between the slashes would name another machine.
        match path.strip_prefix("localhost").unwrap_or(path) {
            path if path.starts_with('/') => PromptReference::File(path.to_owned()),
            _ => PromptReference::Unsupported(uri.to_owned()),
        }
    } else if uri.starts_with("https://") {
        PromptReference::Https(uri.to_owned())
    } else {
        PromptReference::Unsupported(uri.to_owned())
    };
    Some(reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_told_from_prompts() {
        let file = |path: &str| Some(PromptReference::File(path.to_owned()));
        let https = |url: &str| Some(PromptReference::Https(url.to_owned()));
        let unsupported = |uri: &str| Some(PromptReference::Unsupported(uri.to_owned()));
        for (prompt, expected) in [
            ("Write small functions.", None),
            ("see $ref: https://a/b", None),
            ("$ref: https://a.example/p.md", https("https://a.example/p.md")),
            ("$ref:https://a.example/p.md\n", https("https://a.example/p.md")),
            ("$ref: file:///prompts/a.md", file("/prompts/a.md")),
            ("$ref: file://localhost/a.md", file("/a.md")),
            ("$ref: file://other/a.md", unsupported("file://other/a.md")),
            ("$ref: http://a/b", unsupported("http://a/b")),
            ("$ref:", unsupported("")),
        ] {
            assert_eq!(system_prompt_reference(prompt), expected, "{prompt}");
        }
    }
}
