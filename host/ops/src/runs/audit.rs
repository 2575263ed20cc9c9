//! A run's journal as one document that can be checked without the host: who trusts the public key can tell whether an entry
//! was edited, dropped, reordered or cut off.

mod erased;

use super::seal::DOMAIN;
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use mizzen_catalog::key::PublicKey;
use mizzen_json::{ReadLimits, parse};
use mizzen_model::hex;
use mizzen_model::id::ExecutionId;
use mizzen_model::journal::Link;
use mizzen_store::RunRecord;
use serde_json::{Value, json};
use uuid::Uuid;

/// The version of the document.
pub(super) const FORMAT: &str = "mizzen-audit/1";
/// What it has.
const PARTS: &[&str] = &[
    "definition",
    "entries",
    "erased",
    "execution_id",
    "format",
    "result",
    "seal",
];
/// As much as a file of an export may hold; journals are bounded by their chains.
const LIMITS: ReadLimits = ReadLimits {
    bytes: 1 << 30,
    depth: 8,
    values: 32_000_000,
};
/// Entries that are read at once.
pub(super) const PIECE: usize = 1_000;

/// What was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The run.
    pub execution_id: String,
    /// How it ended.
    pub status: String,
    /// How many entries its journal has.
    pub events: u64,
    /// The last hash.
    pub head: String,
    /// The plugins that were loaded.
    pub load_plan: String,
    /// That its entries and its result were erased, and only their hashes were verified.
    pub erased: Option<ErasedRun>,
}

/// That a run was erased, as its host signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedRun {
    /// When: RFC 3339.
    pub at: String,
    /// Who did it: the id of an API key, `local`, or `retention`.
    pub by: String,
}

/// Why a document does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// It is not such a document.
    #[error("not an audit export: {0}")]
    Malformed(String),
    /// It is not signed by the key.
    #[error("the seal is not signed by this key: the export is of another host, or was changed")]
    Signature,
    /// The statement of what was erased is not signed by the key.
    #[error(
        "the statement of what was erased is not signed by this key: the execution was not erased by its host"
    )]
    ErasureSignature,
    /// The statement of what was erased is about something else.
    #[error(
        "the statement of what was erased has another {0} than the seal: it is of another execution, or what was erased had been edited"
    )]
    Erasure(&'static str),
    /// The hashes are not those of the entries that were erased.
    #[error("the hashes are not those of the erased entries: they were edited")]
    Hashes,
    /// An entry is not what was written at its place.
    #[error("entry {0} was edited, dropped or moved: its hash does not follow from the one before")]
    Broken(u64),
    /// There are not as many entries as were sealed.
    #[error("{sealed} entries were sealed and {found} are here: entries were cut off or added")]
    Count {
        /// How many there were.
        sealed: u64,
        /// How many there are.
        found: u64,
    },
    /// The last hash is another than the sealed one.
    #[error("the last hash is not the sealed one: entries were changed")]
    Head,
    /// The result is another than the sealed one.
    #[error("the result is not the sealed one: it was edited")]
    Result,
    /// The council is another than the one that the journal was made with.
    #[error("the definition is not the one that the first entry names: it was edited")]
    Definition,
    /// A part that nobody signed says something else than what was signed.
    #[error("{0} is not what was sealed: it was edited")]
    Unsealed(&'static str),
}

impl Host {
    /// The journal of a run that has ended, with its seal.
    pub async fn export_audit(&self, id: Uuid) -> Result<String, OpError> {
        let record = self.store.run(id).await?.ok_or(Refusal::ExecutionNotFound(id))?;
        if record.seal.is_none() || record.result.is_none() {
            return Err(
                Refusal::BadRequest(format!("execution {id} has not ended: it has no seal yet")).into(),
            );
        }
        let document = self.document(record).await?;
        let document = document.map_err(|error| Fault::Internal(format!("run {id}: {error}")))?;
        Ok(document.to_string())
    }

    /// Whether what is stored of a run that has ended is what was signed.
    pub(crate) async fn verify_ended(
        &self,
        record: RunRecord,
        key: &PublicKey,
    ) -> Result<Result<Verified, AuditError>, OpError> {
        let document = self.document(record).await?;
        Ok(document.and_then(|document| verify_document(&document, key)))
    }

    async fn document(&self, record: RunRecord) -> Result<Result<Value, AuditError>, OpError> {
        if record.is_erased() {
            return self.erased_document(record).await;
        }
        let id = record.id;
        let mut entries = Vec::new();
        let mut after = 0;
        loop {
            let piece = self.store.run_events(id, after, PIECE).await?;
            let Some(last) = piece.last() else { break };
            after = last.seq;
            entries.extend(piece.into_iter().map(
                |event| json!({"bytes": event.bytes, "hash": Link::from_bytes(event.hash).to_string()}),
            ));
        }
        let Some(definition) = self.store.run_definition(record.definition_hash).await? else {
            return Ok(Err(AuditError::Malformed("its definition is gone".to_owned())));
        };
        Ok(seal_of(&record).map(|seal| {
            json!({
                "format": FORMAT, "execution_id": id.to_string(), "entries": entries, "result": record.result,
                "definition": definition, "seal": seal,
            })
        }))
    }

    async fn erased_document(&self, record: RunRecord) -> Result<Result<Value, AuditError>, OpError> {
        let id = record.id;
        let Some(erasure) = self.store.run_erasure(id).await? else {
            let gone = "its definition is gone, and nothing says that it was erased";
            return Ok(Err(AuditError::Malformed(gone.to_owned())));
        };
        let Ok(erased) = serde_json::from_str::<Value>(&erasure.statement) else {
            let unread = "the statement of what was erased cannot be read";
            return Ok(Err(AuditError::Malformed(unread.to_owned())));
        };
        let hashes = erasure.hashes.into_iter();
        let entries: Vec<Value> = hashes
            .map(|hash| json!({"hash": Link::from_bytes(hash).to_string()}))
            .collect();
        Ok(seal_of(&record).map(|seal| {
            json!({
                "format": FORMAT, "execution_id": id.to_string(), "entries": entries, "erased": erased, "seal": seal,
            })
        }))
    }
}

fn seal_of(record: &RunRecord) -> Result<Value, AuditError> {
    let seal = record.seal.as_deref().unwrap_or_default();
    serde_json::from_str(seal)
        .map_err(|_| AuditError::Malformed("it has no seal that can be read".to_owned()))
}

/// Reads an export. A key that stands twice, or a member that nobody signs, would be a place for what others read and this does
/// not: there is none.
pub(super) fn read(document: &str) -> Result<Value, String> {
    let tape = parse(document, LIMITS).map_err(|error| error.to_string())?;
    let document = tape.root().to_json_unique().map_err(|error| error.to_string())?;
    let document = document.to_serde().map_err(|error| error.to_string())?;
    if document.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err("its format is not mizzen-audit/1".to_owned());
    }
    only(&document, "it", PARTS)?;
    for (part, what) in [("seal", "the seal"), ("erased", "the erasure")] {
        if let Some(part) = document.get(part) {
            only(part, what, &["key", "signature", "statement"])?;
        }
    }
    for entry in document
        .get("entries")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        only(entry, "an entry", &["bytes", "hash"])?;
    }
    Ok(document)
}

fn only(value: &Value, what: &str, known: &[&str]) -> Result<(), String> {
    let object = value
        .as_object()
        .ok_or_else(|| format!("{what} is not an object"))?;
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{what} has {key:?}, which is no part of an export")),
        None => Ok(()),
    }
}

/// Checks an export against the public key of the host that made it. Needs nothing else.
///
/// # Errors
/// With the first thing that does not hold.
pub fn verify(document: &str, key: &PublicKey) -> Result<Verified, AuditError> {
    verify_document(&read(document).map_err(AuditError::Malformed)?, key)
}

fn verify_document(document: &Value, key: &PublicKey) -> Result<Verified, AuditError> {
    let malformed = |what: &str| AuditError::Malformed(what.to_owned());
    let seal = document.get("seal").ok_or_else(|| malformed("it has no seal"))?;
    let statement = signed(seal, DOMAIN, key)?.ok_or(AuditError::Signature)?;
    let sealed =
        |name: &str| text(&statement, name).ok_or_else(|| malformed("the statement is not complete"));
    let run = sealed("execution_id")?;
    let id = ExecutionId::parse(&run).map_err(|error| AuditError::Malformed(error.to_string()))?;
    // Not signed, and not read here, but read by others.
    if text(document, "execution_id").as_ref() != Some(&run) {
        return Err(AuditError::Unsealed("execution_id"));
    }
    if text(seal, "key") != Some(key.to_string()) {
        return Err(AuditError::Unsealed("the seal's key"));
    }
    if let Some(erased) = document.get("erased") {
        let erased = erased::verify(document, erased, &statement, key)?;
        return Ok(Verified {
            execution_id: run,
            status: sealed("status")?,
            events: statement.get("events").and_then(Value::as_u64).unwrap_or(0),
            head: sealed("head")?,
            load_plan: sealed("load_plan")?,
            erased: Some(erased),
        });
    }
    let entries = document
        .get("entries")
        .and_then(Value::as_array)
        .ok_or_else(|| malformed("it has no entries"))?;
    let mut link = Link::first(id);
    for (entry, number) in entries.iter().zip(1_u64..) {
        let bytes = entry
            .get("bytes")
            .and_then(Value::as_str)
            .ok_or(AuditError::Broken(number))?;
        link = link.next(bytes);
        if text(entry, "hash") != Some(link.to_string()) {
            return Err(AuditError::Broken(number));
        }
    }
    let found = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    let events = statement.get("events").and_then(Value::as_u64).unwrap_or(0);
    if found != events {
        return Err(AuditError::Count {
            sealed: events,
            found,
        });
    }
    if sealed("head")? != link.to_string() {
        return Err(AuditError::Head);
    }
    let result = text(document, "result").ok_or(AuditError::Result)?;
    if sealed("result")? != digest(&result) {
        return Err(AuditError::Result);
    }
    let first = entries.first().and_then(|entry| text(entry, "bytes"));
    let first: Option<Value> = first.and_then(|bytes| serde_json::from_str(&bytes).ok());
    let named = first.and_then(|first| text(&first, "definition"));
    let definition = text(document, "definition").map(|definition| digest(&definition));
    if named.is_none() || named != definition {
        return Err(AuditError::Definition);
    }
    Ok(Verified {
        execution_id: run,
        status: sealed("status")?,
        events,
        head: link.to_string(),
        load_plan: sealed("load_plan")?,
        erased: None,
    })
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The statement under a signature of the key; none when the signature is not the key's.
fn signed(part: &Value, domain: &str, key: &PublicKey) -> Result<Option<Value>, AuditError> {
    let malformed = |what: &str| AuditError::Malformed(what.to_owned());
    let statement =
        text(part, "statement").ok_or_else(|| malformed("a signature is there without a statement"))?;
    let signature = text(part, "signature")
        .and_then(|text| hex::decode(&text))
        .ok_or_else(|| malformed("a statement is there without a signature"))?;
    if !key.verifies_for(domain, statement.as_bytes(), &signature) {
        return Ok(None);
    }
    serde_json::from_str(&statement)
        .map(Some)
        .map_err(|error| AuditError::Malformed(error.to_string()))
}

fn digest(text: &str) -> String {
    format!("blake3:{}", blake3::hash(text.as_bytes()).to_hex())
}
