//! Stored documents on their way to a caller.

use crate::error::{Fault, OpError, Refusal};
use crate::host::IdempotencyKey;
use mizzen_json::{Json, ReadLimits};
use serde_json::{Value, json};
use uuid::Uuid;

/// A document as it is answered: what it is, and at which revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: Uuid,
    /// Counts its changes; the entity tag.
    pub revision: u64,
    /// The body, JSON.
    pub json: String,
}

/// One page of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documents {
    /// The bodies, JSON, in order.
    pub items: Vec<String>,
    /// Where the next page begins; none on the last one.
    pub next_cursor: Option<String>,
}

/// What a change asks of the revision it replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// Nothing: the last writer wins.
    Any,
    /// It must be one of these.
    Revisions(Vec<u64>),
}

impl IfMatch {
    /// Refuses when the revision is not one that the caller knows.
    pub(crate) fn check(&self, revision: u64) -> Result<(), Refusal> {
        match self {
            IfMatch::Any => Ok(()),
            IfMatch::Revisions(known) if known.contains(&revision) => Ok(()),
            IfMatch::Revisions(_) => Err(Refusal::Changed { revision }),
        }
    }
}

/// What a caller says about protected things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// `?force=true`: do it all the same.
    Yes,
    /// Refuse.
    No,
}

/// How often a change without `If-Match` is tried again when somebody else was faster.
pub(crate) const ATTEMPTS: usize = 16;

/// Reads a document that this host stored.
pub(crate) fn stored(text: &str) -> Result<Json, Fault> {
    mizzen_json::parse(text, ReadLimits::default())
        .map(|tape| tape.root().to_json())
        .map_err(|error| Fault::Internal(format!("a stored document cannot be read: {error}")))
}

/// An answer as it is recorded under an idempotency key.
pub(crate) fn to_answer(document: &Document) -> String {
    json!({"id": document.id.to_string(), "revision": document.revision, "json": document.json}).to_string()
}

/// An answer that its caller has had before.
pub(crate) fn replayed(key: Option<&IdempotencyKey>, document: Document) -> Document {
    if let Some(key) = key {
        key.replayed.set();
    }
    document
}

/// An answer that was recorded under an idempotency key.
pub(crate) fn recorded(answer: &str) -> Result<Document, OpError> {
    let read = || {
        let answer: Value = serde_json::from_str(answer).ok()?;
        Some(Document {
            id: Uuid::try_parse(answer.get("id")?.as_str()?).ok()?,
            revision: answer.get("revision")?.as_u64()?,
            json: answer.get("json")?.as_str()?.to_owned(),
        })
    };
    read().ok_or_else(|| Fault::Internal("a recorded answer cannot be read".to_owned()).into())
}
