//! Warnings: what a valid document probably did not mean. They never make it invalid.

mod duplicates;
mod reach;
mod rules;
mod targets;

use super::records::IRDocument;
use super::validate::member;
use mizzen_json::{Node, Problem, Span, View};
use std::borrow::Cow;

/// What is suspicious in a document, at most `limit` of it. With the document's root, every warning has its place in the source.
pub fn lint(document: &IRDocument, root: Option<Node<'_>>, limit: usize) -> Vec<Problem> {
    let mut notes = Notes {
        root,
        limit,
        warnings: Vec::new(),
    };
    targets::check(document, &mut notes);
    reach::check(document, &mut notes);
    rules::check(document, &mut notes);
    duplicates::check(document, &mut notes);
    notes.warnings
}

/// One step of a path to what a warning is about.
#[derive(Debug, Clone, Copy)]
enum Step {
    Key(&'static str),
    Index(usize),
}

struct Notes<'t> {
    root: Option<Node<'t>>,
    limit: usize,
    warnings: Vec<Problem>,
}

impl Notes<'_> {
    fn note(
        &mut self,
        code: &'static str,
        path: &[Step],
        message: String,
        hint: impl Into<Cow<'static, str>>,
    ) {
        self.note_at(code, path, message, hint, |node| node.span());
    }

    /// As `note`, for a piece of what the path leads to.
    fn note_at(
        &mut self,
        code: &'static str,
        path: &[Step],
        message: String,
        hint: impl Into<Cow<'static, str>>,
        place: impl FnOnce(Node<'_>) -> Span,
    ) {
        // Finding the place walks the source, so the limit also bounds that.
        if self.is_full() {
            return;
        }
        let pointer = path.iter().fold(String::new(), |text, step| match step {
            Step::Key(key) => format!("{text}/{key}"),
            Step::Index(index) => format!("{text}/{index}"),
        });
        let span = self.root.and_then(|root| locate(root, path)).map(place);
        self.warnings.push(Problem {
            span,
            ..Problem::new(pointer, code, message).with_help(hint)
        });
    }

    fn is_full(&self) -> bool {
        self.warnings.len() >= self.limit
    }
}

fn locate<'t>(root: Node<'t>, path: &[Step]) -> Option<Node<'t>> {
    let mut node = root;
    for step in path {
        node = match (step, node.view()) {
            (Step::Key(key), _) => member(node, key)?,
            (Step::Index(index), View::Array(mut items)) => items.nth(*index)?,
            _ => return None,
        };
    }
    Some(node)
}
