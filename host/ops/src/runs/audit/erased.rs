//! An export of a run that was erased: the hashes of its entries, the seal that was made when it ended, and the host's statement of
//! what was erased. Who has a copy of an entry can still tell that it is one of them.

use super::super::erasure::{DOMAIN, digest};
use super::{AuditError, ErasedRun, signed, text};
use mizzen_catalog::key::PublicKey;
use mizzen_model::hex;
use serde_json::Value;

/// Checks the part of an export that says what was erased against the seal of the run, and the hashes against both.
pub(super) fn verify(
    document: &Value,
    erased: &Value,
    sealed: &Value,
    key: &PublicKey,
) -> Result<ErasedRun, AuditError> {
    let malformed = |what: &str| AuditError::Malformed(what.to_owned());
    let statement = signed(erased, DOMAIN, key)?.ok_or(AuditError::ErasureSignature)?;
    if text(erased, "key") != Some(key.to_string()) {
        return Err(AuditError::Unsealed("the key of the erasure"));
    }
    for name in ["execution_id", "status", "events", "head", "result"] {
        if statement.get(name).is_none() || statement.get(name) != sealed.get(name) {
            return Err(AuditError::Erasure(name));
        }
    }
    // Neither is signed any more, so there is none.
    for name in ["result", "definition"] {
        if document.get(name).is_some() {
            return Err(AuditError::Malformed(format!(
                "it says that the execution was erased, and has a {name}"
            )));
        }
    }
    let entries = document
        .get("entries")
        .and_then(Value::as_array)
        .ok_or_else(|| malformed("it has no entries"))?;
    let (mut hashes, mut last) = (Vec::new(), None);
    for (entry, number) in entries.iter().zip(1_u64..) {
        if entry.get("bytes").is_some() {
            return Err(AuditError::Malformed(format!(
                "it says that the execution was erased, and entry {number} has bytes"
            )));
        }
        let hash = text(entry, "hash").ok_or(AuditError::Broken(number))?;
        let bytes: Option<[u8; 32]> = hash.strip_prefix("blake3:").and_then(hex::decode);
        hashes.extend_from_slice(&bytes.ok_or(AuditError::Broken(number))?);
        last = Some(hash);
    }
    let found = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    let events = sealed.get("events").and_then(Value::as_u64).unwrap_or(0);
    if found != events {
        return Err(AuditError::Count {
            sealed: events,
            found,
        });
    }
    if last != text(sealed, "head") {
        return Err(AuditError::Head);
    }
    if text(&statement, "hashes") != Some(digest(&hashes)) {
        return Err(AuditError::Hashes);
    }
    let said = |name: &str| text(&statement, name).ok_or_else(|| malformed("the erasure is not complete"));
    Ok(ErasedRun {
        at: said("erased_at")?,
        by: said("erased_by")?,
    })
}
