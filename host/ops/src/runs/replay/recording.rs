//! A run as it was recorded: from the store, or from an export.

use super::super::audit::{self, PIECE};
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use mizzen_model::id::ExecutionId;
use mizzen_model::journal::Link;
use serde_json::Value;
use uuid::Uuid;

/// Everything that a replay needs.
#[derive(Debug, Clone)]
pub struct Recording {
    pub(super) id: ExecutionId,
    /// The council as it was when the run began.
    pub(super) definition: String,
    pub(super) entries: Vec<RecordedEntry>,
    /// The result, JSON; none while the run is open.
    pub(super) result: Option<String>,
}

/// An entry of the journal, with the hash that was written beside it.
#[derive(Debug, Clone)]
pub(super) struct RecordedEntry {
    pub(super) bytes: String,
    pub(super) hash: String,
}

/// A text that a run cannot be read from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// It is something else.
    #[error("not an audit export: {0}; `mizzen audit export RUN` makes one")]
    NotAnExport(String),
    /// There is nothing to go through.
    #[error(
        "the execution was erased: its journal is gone, and only `mizzen audit verify` can still check its hashes"
    )]
    Erased,
}

impl Recording {
    /// Reads an export of `mizzen audit export`. Whether it is the one that was signed is [`verify`](crate::verify_audit)'s question.
    ///
    /// # Errors
    /// When it is not such a document.
    pub fn from_export(document: &str) -> Result<Self, RecordingError> {
        let wrong = |what: &str| RecordingError::NotAnExport(what.to_owned());
        let document = audit::read(document).map_err(RecordingError::NotAnExport)?;
        if document.get("erased").is_some() {
            return Err(RecordingError::Erased);
        }
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let id = text(&document, "execution_id").ok_or_else(|| wrong("it names no execution"))?;
        let id = ExecutionId::parse(&id).map_err(|error| wrong(&error.to_string()))?;
        let definition = text(&document, "definition").ok_or_else(|| wrong("it has no definition"))?;
        let entries = document.get("entries").and_then(Value::as_array);
        let entries = entries.ok_or_else(|| wrong("it has no entries"))?.iter();
        let entries = entries.map(|entry| {
            Some(RecordedEntry {
                bytes: text(entry, "bytes")?,
                hash: text(entry, "hash")?,
            })
        });
        let entries: Option<Vec<RecordedEntry>> = entries.collect();
        Ok(Self {
            id,
            definition,
            entries: entries.ok_or_else(|| wrong("an entry has no bytes or no hash"))?,
            result: text(&document, "result"),
        })
    }
}

impl Host {
    /// A stored run, whether it has ended or not.
    pub async fn recording(&self, id: Uuid) -> Result<Recording, OpError> {
        let record = self.store.run(id).await?.ok_or(Refusal::ExecutionNotFound(id))?;
        if record.is_erased() {
            return Err(Refusal::ExecutionErased(id).into());
        }
        let definition = self.store.run_definition(record.definition_hash).await?;
        let definition =
            definition.ok_or_else(|| Fault::Internal(format!("the definition of run {id} is gone")))?;
        let mut entries = Vec::new();
        let mut after = 0;
        // Up to where the record says that the journal goes: an open run may be written on meanwhile.
        while let Some(last) = record.next_seq.checked_sub(1).filter(|last| after < *last) {
            let piece = self.store.run_events(id, after, PIECE).await?;
            let Some(read) = piece.last().map(|event| event.seq) else {
                break;
            };
            after = read;
            let piece = piece.into_iter().filter(|event| event.seq <= last);
            entries.extend(piece.map(|event| RecordedEntry {
                bytes: event.bytes,
                hash: Link::from_bytes(event.hash).to_string(),
            }));
        }
        Ok(Recording {
            id: ExecutionId::from(id),
            definition,
            entries,
            result: record.result,
        })
    }
}
