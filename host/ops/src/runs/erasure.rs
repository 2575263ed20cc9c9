//! What is left of a run that is erased: a result without anything that callers or plugins wrote, and the host's signed statement of
//! what was there.
//!
//! A run is erased whole: every entry's hash covers all of its bytes, so an entry without its body would verify nothing.

use super::body::Body;
use super::seal::HostKey;
use crate::error::Fault;
use crate::runs::result_text;
use mizzen_model::execution::{ChainExecutionResult, Erased, ExecutionStatus};
use mizzen_model::journal::Link;
use mizzen_model::timestamp::Timestamp;
use mizzen_store::{Erasable, NewErasure, RunRecord};

/// What an erasure is signed for.
pub(super) const DOMAIN: &str = "mizzen/run-erasure/v1";

/// When something is erased, and who does it.
#[derive(Debug, Clone)]
pub(crate) struct Eraser {
    pub(crate) at_ms: i64,
    pub(crate) actor: String,
}

impl Eraser {
    /// What is to be left of a run.
    pub(crate) fn erase(&self, key: &HostKey, run: &Erasable) -> Result<NewErasure, Fault> {
        let record = &run.record;
        Ok(NewErasure {
            id: record.id,
            head: record.head,
            hashes: run.hashes.clone(),
            result: result_text(&self.stub(run)?),
            statement: key.signed(DOMAIN, &self.statement(run)),
        })
    }

    fn statement(&self, run: &Erasable) -> String {
        let record = &run.record;
        let mut statement = Body::default();
        statement.text("execution_id", &record.id.to_string());
        statement.text("status", &record.status);
        statement.model("erased_at", &time(self.at_ms));
        statement.text("erased_by", &self.actor);
        statement.number("events", events(record));
        statement.text("head", &Link::from_bytes(record.head).to_string());
        statement.text("hashes", &digest(&run.hashes));
        statement.text(
            "result",
            &digest(record.result.as_deref().unwrap_or_default().as_bytes()),
        );
        statement.text(
            "definition",
            &Link::from_bytes(record.definition_hash).to_string(),
        );
        statement.finish()
    }

    fn stub(&self, run: &Erasable) -> Result<ChainExecutionResult, Fault> {
        let record = &run.record;
        let status = ExecutionStatus::parse(&record.status)
            .ok_or_else(|| Fault::Internal(format!("run {} has no status that is one", record.id)))?;
        Ok(ChainExecutionResult {
            execution_id: record.id.into(),
            council_id: record.council_id.into(),
            chain_id: record.chain_id.into(),
            status,
            started_at: time(record.started_at),
            completed_at: Some(time(run.completed_at)),
            duration_ms: u64::try_from(run.completed_at.saturating_sub(record.started_at)).ok(),
            steps: Vec::new(),
            gates: Vec::new(),
            rules: Vec::new(),
            error: None,
            escalation: None,
            packs: None,
            tool: None,
            graph: None,
            erased: Some(Erased {
                at: time(self.at_ms),
                by: self.actor.clone(),
                entries: events(record),
            }),
        })
    }
}

fn events(record: &RunRecord) -> u64 {
    record.next_seq.saturating_sub(1)
}

fn time(unix_ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(u64::try_from(unix_ms).unwrap_or(0))
}

pub(super) fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}
