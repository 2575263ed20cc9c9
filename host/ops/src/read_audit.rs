//! Reads the audit log.

use crate::document::Documents;
use crate::error::OpError;
use crate::host::Host;
use mizzen_model::timestamp::Timestamp;
use mizzen_store::{AuditFilter, AuditRecord, Cursor, List};
use serde_json::{Value, json};

/// Every outcome that an entry of the audit log has.
pub const AUDIT_OUTCOMES: [&str; 3] = ["done", "denied", "unauthenticated"];

impl Host {
    /// A page of the audit log, newest first. A page may be empty and have a next one: each looks at a bounded part of the log.
    pub async fn read_audit(
        &self,
        filter: AuditFilter,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Documents, OpError> {
        let after = cursor.map(|text| Cursor::parse(List::Audit, text)).transpose()?;
        let page = self.store.list_audit(filter, after, limit).await?;
        Ok(Documents {
            items: page.items.iter().map(|record| body(record).to_string()).collect(),
            next_cursor: page.next.map(|next| next.to_text(List::Audit)),
        })
    }
}

fn body(record: &AuditRecord) -> Value {
    let AuditRecord { seq, entry, hash } = record;
    // Entries of our own making; one that is not JSON is shown as the text that it is.
    let detail = serde_json::from_str(&entry.detail).unwrap_or_else(|_| Value::from(entry.detail.as_str()));
    json!({
        "seq": seq, "at": Timestamp::from_unix_ms(u64::try_from(entry.at).unwrap_or(0)).as_str(), "actor": entry.actor,
        "action": entry.action, "subject": entry.subject, "outcome": entry.outcome, "request_id": entry.request_id,
        "detail": detail, "hash": blake3::Hash::from_bytes(*hash).to_hex().as_str(),
    })
}
