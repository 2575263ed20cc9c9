//! Why a document cannot be a graph of this host.

use serde::Serialize;

/// One problem of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{path}: {message}; {hint}")]
pub struct GraphProblem {
    /// RFC 6901 pointer into the document.
    pub path: String,
    /// A stable code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// Why the host does not have what a document names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// A stable code.
    pub code: &'static str,
    /// What is missing.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Missing {
    /// Where it is missed.
    pub(super) fn at(self, path: String) -> GraphProblem {
        GraphProblem {
            path,
            code: self.code,
            message: self.message,
            hint: self.hint,
        }
    }
}

/// The problems of one document, while they are collected.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<GraphProblem>);

/// Problems that are kept: more than a person reads, and few enough that a hostile document does not grow in memory.
const MOST: usize = 1_000;

impl Problems {
    pub(super) fn add(&mut self, path: String, code: &'static str, message: String, hint: &str) {
        self.push(GraphProblem {
            path,
            code,
            message,
            hint: hint.to_owned(),
        });
    }

    pub(super) fn push(&mut self, problem: GraphProblem) {
        if self.0.len() < MOST {
            self.0.push(problem);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_vec(self) -> Vec<GraphProblem> {
        self.0
    }
}
