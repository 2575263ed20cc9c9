//! What the kind of a node means (D14, D32).

use std::borrow::Cow;

/// The prefix of a node that is another graph.
const GRAPH: &str = "graph:";

/// The kind of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind<'k> {
    /// Passes the state on.
    Echo,
    /// Ends the run.
    Halt,
    /// A typed prediction by the first-party skill `mizzen.predict`.
    Predict,
    /// A tool or a skill, by its id `namespace.name`.
    Named(Cow<'k, str>),
    /// Another graph, by its id.
    Graph(&'k str),
    /// Nothing that there is.
    Unknown,
}

impl<'k> NodeKind<'k> {
    /// Reads a kind.
    pub fn parse(kind: &'k str) -> Self {
        if let Some(id) = kind.strip_prefix(GRAPH) {
            return Self::Graph(id);
        }
        match kind {
            "echo" => Self::Echo,
            "halt" => Self::Halt,
            "dspy" => Self::Predict,
            _ => match kind.split_once(':') {
                Some((namespace, name)) if is_name(namespace) && is_name(name) && !name.contains('.') => {
                    Self::Named(Cow::Owned(format!("{namespace}.{name}")))
                }
                None if kind.contains('.') && is_name(kind) => Self::Named(Cow::Borrowed(kind)),
                _ => Self::Unknown,
            },
        }
    }
}

fn is_name(text: &str) -> bool {
    let letter =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.');
    !text.is_empty()
        && text.len() <= 256
        && text.bytes().all(letter)
        && text.split('.').all(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_a_word_of_the_host_or_an_id() {
        let named = |id: &str| NodeKind::Named(Cow::Owned(id.to_owned()));
        let cases = [
            ("echo", NodeKind::Echo),
            ("halt", NodeKind::Halt),
            ("dspy", NodeKind::Predict),
            ("text.case", named("text.case")),
            ("acme.text.case", named("acme.text.case")),
            ("acme.text:case", named("acme.text.case")),
            ("text:case", named("text.case")),
            ("graph:triage", NodeKind::Graph("triage")),
            ("module.path:ClassName", NodeKind::Unknown),
            ("text:a.b", NodeKind::Unknown),
            ("text:", NodeKind::Unknown),
            ("text..case", NodeKind::Unknown),
            ("teleport", NodeKind::Unknown),
            ("", NodeKind::Unknown),
        ];
        for (text, kind) in cases {
            assert_eq!(NodeKind::parse(text), kind, "{text}");
        }
    }
}
