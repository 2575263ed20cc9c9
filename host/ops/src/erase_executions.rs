//! Erases executions that have ended: what callers and plugins wrote goes, hashes and a signed statement stay.
//!
//! Few executions to a transaction, with a pause after each that is as long as it took: other writes never wait for more than one.

use crate::caller::Caller;
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use crate::runs::Eraser;
use mizzen_model::timestamp::Timestamp;
use mizzen_store::{AuditEntry, Cursor, Erasable, ErasureAudit, ErasureFilter};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use uuid::Uuid;

/// Executions in one transaction.
const BATCH: usize = 100;
/// How long others have the writer to themselves after each.
const PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(500));
/// How often the log is asked for, that a reader may still need.
const TRIES: usize = 5;
/// Between two tries.
const TRY_AGAIN: Duration = Duration::from_millis(20);
/// Pieces of free space that are given back before a request is answered; the host gives the others back by itself.
const PIECES: usize = 8;

/// When dropped, says that there is something to settle. A caller who stops waiting does not stop the write, but what folds the log
/// afterwards stands behind it in the writer's queue.
struct Unsettled<'a>(&'a AtomicBool);

impl Drop for Unsettled<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Who erases by the operator's `[store] keep`.
const RETENTION: &str = "retention";

/// An erasure of many executions, a piece at a time.
#[derive(Debug, Clone)]
pub struct Sweep {
    filter: ErasureFilter,
    actor: String,
    request_id: String,
    after: Option<Cursor>,
}

impl Sweep {
    /// A caller's.
    pub fn of(caller: &Caller, filter: ErasureFilter) -> Self {
        Self {
            filter,
            actor: caller.actor().to_owned(),
            request_id: caller.request_id().to_owned(),
            after: None,
        }
    }

    /// The host's own, of everything that ended long enough ago. It can go on later with [`Sweep::up_to`].
    pub fn retention(request_id: String) -> Self {
        Self {
            filter: ErasureFilter::default(),
            actor: RETENTION.to_owned(),
            request_id,
            after: None,
        }
    }

    /// Goes on from where it has come to, for what ended before this time, in milliseconds since 1970.
    pub fn up_to(&mut self, before: i64) {
        self.filter.before = Some(before);
    }

    /// The entry for as many executions as are erased.
    fn audit(&self, at: i64) -> ErasureAudit {
        let ErasureFilter { council, before } = self.filter;
        let council = council.map(|id| id.to_string());
        let until = before.map(|at| Timestamp::from_unix_ms(u64::try_from(at).unwrap_or(0)));
        let entry = AuditEntry {
            at,
            actor: self.actor.clone(),
            action: "erase_executions".to_owned(),
            subject: council.unwrap_or_else(|| "executions".to_owned()),
            outcome: "done".to_owned(),
            request_id: self.request_id.clone(),
            detail: r#"{"executions":"#.to_owned(),
        };
        let until = json!(until.as_ref().map(Timestamp::as_str));
        ErasureAudit::Counted {
            entry,
            rest: format!(r#","until":{until}}}"#),
        }
    }
}

/// What a piece of a sweep came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// Executions that were erased by it.
    pub erased: u64,
    /// Whether there may be more.
    pub more: bool,
}

impl Host {
    /// Erases an execution that has ended. Erasing it twice is erasing it once.
    pub async fn erase_execution(&self, caller: &Caller, id: Uuid) -> Result<(), OpError> {
        let Some(run) = self.store.erasable_run(id).await? else {
            let record = self.store.run(id).await?.ok_or(Refusal::ExecutionNotFound(id))?;
            return match record.is_erased() {
                true => Ok(()),
                false => Err(Refusal::ExecutionOpen(id).into()),
            };
        };
        let audit = self.audit(caller, "erase_execution", id.to_string());
        self.erase(vec![run], caller.actor(), ErasureAudit::Entry(audit))
            .await?;
        self.settle(PIECES).await
    }

    /// Takes a sweep further by at most `most` executions, and pauses.
    pub async fn sweep(&self, sweep: &mut Sweep, most: usize) -> Result<Swept, OpError> {
        let began = self.steady();
        let page = self
            .store
            .erasable_runs(sweep.filter, sweep.after, most.min(BATCH))
            .await?;
        let mut erased = 0;
        if !page.runs.is_empty() {
            let audit = sweep.audit(self.now_ms());
            erased = self.erase(page.runs, &sweep.actor, audit).await?;
        }
        // Where there are no more now, the next piece looks from here on: what ends later stands behind it.
        sweep.after = page.next.or(page.last).or(sweep.after);
        if page.next.is_some() {
            let (least, most) = PAUSE;
            self.sleep(self.steady().saturating_sub(began).clamp(least, most))
                .await;
        }
        Ok(Swept {
            erased,
            more: page.next.is_some(),
        })
    }

    /// How many executions a sweep would erase, and how many it would pass over because they are open.
    pub async fn count_sweep(&self, filter: ErasureFilter) -> Result<(u64, u64), OpError> {
        Ok(self.store.count_erasable(filter).await?)
    }

    /// How many executions a sweep passes over because they are open.
    pub async fn count_open(&self, filter: ErasureFilter) -> Result<u64, OpError> {
        Ok(self.store.count_open(filter).await?)
    }

    async fn erase(&self, runs: Vec<Erasable>, actor: &str, audit: ErasureAudit) -> Result<u64, OpError> {
        let key = self
            .host_key()
            .ok_or_else(|| Fault::Internal("the host has no key to sign an erasure with".to_owned()))?;
        let eraser = Eraser {
            at_ms: self.now_ms(),
            actor: actor.to_owned(),
        };
        let erasures = runs
            .iter()
            .map(|run| eraser.erase(key, run))
            .collect::<Result<Vec<_>, Fault>>()?;
        let _unsettled = Unsettled(&self.unsettled);
        Ok(self
            .store
            .erase_runs(erasures, eraser.at_ms, eraser.actor, audit)
            .await?)
    }

    /// After a sweep that a caller waits for: the log is cut off, and some of the space given back.
    pub async fn settle_sweep(&self) -> Result<(), OpError> {
        self.settle(PIECES).await
    }

    /// Finishes what erasures have left to do: gives space back, and cuts off the log. Does nothing when there were none. False when
    /// somebody still reads the log, or writes to it: try again.
    pub async fn settle_erasures(&self) -> Result<bool, OpError> {
        if self.unsettled.load(Ordering::SeqCst) {
            self.settle(usize::MAX).await?;
        }
        Ok(!self.unsettled.load(Ordering::SeqCst))
    }

    async fn settle(&self, pieces: usize) -> Result<(), OpError> {
        self.unsettled.store(false, Ordering::SeqCst);
        let settled = self.settled(pieces).await;
        if !matches!(settled, Ok(true)) {
            self.unsettled.store(true, Ordering::SeqCst);
        }
        settled.map(drop)
    }

    async fn settled(&self, pieces: usize) -> Result<bool, OpError> {
        let (pause, _) = PAUSE;
        let mut more = true;
        for _ in 0..pieces {
            more = self.store.give_back().await?;
            if !more {
                break;
            }
            self.sleep(pause).await;
        }
        for _ in 0..TRIES {
            if self.store.purge_erased().await? {
                return Ok(!more);
            }
            self.sleep(TRY_AGAIN).await;
        }
        Ok(false)
    }
}
