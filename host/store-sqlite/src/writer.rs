//! The one thread that writes.
//!
//! Writes that wait at the same time share a transaction, and all are answered after the commit. Refusals wait too: they may rest on
//! a row of the same transaction. Nearly all writes are kept, or refused before they have changed anything. One that has to be undone
//! makes the whole batch begin again with a savepoint around each: savepoints copy every page that is changed inside of them.
//!
//! A commit that fails is *unknown*, not rolled back (after a failed fsync the row may be on disk): the store is
//! poisoned and never writes again. Only "no room" is known to have left nothing, because the frame that would have made
//! the transaction valid was not written.

use crate::error::{Severity, fault, is_refused_write, severity};
use crate::folder;
use crate::memory::Memory;
use crate::open::BUSY;
use mizzen_store::{Durability, Operation, Outcome, Request, Stats, StoreError};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};

/// Writes that may wait in the queue; further callers wait for a place.
const QUEUE: usize = 4_096;
/// Writes in one transaction. Bounds how long the first one waits for the last one.
const BATCH: usize = 256;
/// How long folding the log waits for readers. Every write waits with it.
const FOLD_WAIT: Duration = Duration::from_millis(50);

/// Hands units of work to the thread.
pub(crate) struct Writer<J> {
    queue: mpsc::Sender<Message<J>>,
    poisoned: watch::Receiver<bool>,
    full: Arc<AtomicBool>,
    /// Where there is no thread and no disk.
    memory: Option<Memory>,
}

impl<J> std::fmt::Debug for Writer<J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("poisoned", &self.poisoned)
            .field("full", &self.full)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

enum Message<J> {
    Write(J),
    Fold(oneshot::Sender<Result<bool, StoreError>>),
    Close(oneshot::Sender<()>),
}

/// What came of one unit of work.
pub(crate) enum Done {
    Keep,
    Undo,
    Failed(rusqlite::Error),
}

/// One unit of work. Performed once or twice inside of a transaction, and answered after its end.
pub(crate) trait Job: Send + 'static {
    fn work(&mut self, connection: &Connection) -> Done;
    fn answer(self, fault: Option<StoreError>);
}

impl<J: Job> Writer<J> {
    pub(crate) fn start(connection: Connection, path: PathBuf, stats: Arc<Stats>) -> std::io::Result<Self> {
        let (queue, messages) = mpsc::channel(QUEUE);
        let (poison, poisoned) = watch::channel(false);
        let full = Arc::new(AtomicBool::new(false));
        let thread = Thread {
            connection,
            path,
            messages,
            poison,
            full: Arc::clone(&full),
            stats,
        };
        std::thread::Builder::new()
            .name("mizzen-store-writer".into())
            .spawn(move || thread.run())?;
        Ok(Self {
            queue,
            poisoned,
            full,
            memory: None,
        })
    }

    /// Writes into memory; see [`Memory`].
    pub(crate) fn in_memory(memory: Memory) -> Self {
        Self {
            queue: mpsc::channel(1).0,
            poisoned: watch::channel(false).1,
            full: memory.full(),
            memory: Some(memory),
        }
    }

    /// Hands a unit of work over; it is answered when it is durable.
    pub(crate) async fn send(&self, job: J) -> Result<(), StoreError> {
        if let Some(memory) = &self.memory {
            memory.write(job).await;
            return Ok(());
        }
        self.queue
            .send(Message::Write(job))
            .await
            .map_err(|_| self.gone())
    }

    /// Has an operation of SQLite's own performed among the writes.
    pub(crate) async fn run<O: Operation>(
        &self,
        operation: O,
        job: impl FnOnce(Box<Request<O>>) -> J,
    ) -> Outcome<O> {
        let (request, answer) = Request::new(operation);
        self.send(job(request)).await?;
        answer.wait().await.unwrap_or_else(|| Err(self.gone().into()))
    }

    fn gone(&self) -> StoreError {
        if self.is_poisoned() {
            StoreError::Unknown
        } else {
            StoreError::Closed
        }
    }

    fn is_poisoned(&self) -> bool {
        *self.poisoned.borrow()
    }

    /// What is known of the writes so far; full when the last transaction found no room.
    pub(crate) fn durability(&self) -> Durability {
        if self.is_poisoned() {
            Durability::Unknown
        } else if self.full.load(Ordering::Relaxed) {
            Durability::Full
        } else {
            Durability::Committed
        }
    }

    pub(crate) async fn poisoned(&self) {
        let mut poisoned = self.poisoned.clone();
        if poisoned.wait_for(|poisoned| *poisoned).await.is_err() {
            // The writer ended in peace: it can no longer be poisoned.
            std::future::pending::<()>().await;
        }
    }

    /// Folds the log into the file and cuts it off. False when a reader stood in the way.
    pub(crate) async fn fold(&self) -> Result<bool, StoreError> {
        if self.memory.is_some() {
            return Ok(true);
        }
        let (reply, answer) = oneshot::channel();
        if self.queue.send(Message::Fold(reply)).await.is_err() {
            return Err(self.gone());
        }
        answer.await.unwrap_or_else(|_| Err(self.gone()))
    }

    pub(crate) async fn close(&self) {
        if let Some(memory) = &self.memory {
            return memory.close();
        }
        let (done, closed) = oneshot::channel();
        if self.queue.send(Message::Close(done)).await.is_ok() {
            drop(closed.await);
        }
    }
}

struct Thread<J> {
    connection: Connection,
    path: PathBuf,
    messages: mpsc::Receiver<Message<J>>,
    poison: watch::Sender<bool>,
    full: Arc<AtomicBool>,
    stats: Arc<Stats>,
}

impl<J: Job> Thread<J> {
    fn run(mut self) {
        let mut closing = None;
        while let Some(message) = self.messages.blocking_recv() {
            let (mut batch, mut folds) = (Vec::new(), Vec::new());
            let mut next = Some(message);
            while let Some(message) = next {
                match message {
                    Message::Write(job) => batch.push(job),
                    Message::Fold(reply) => folds.push(reply),
                    Message::Close(done) => {
                        closing = Some(done);
                        self.messages.close();
                    }
                }
                next = if batch.len() < BATCH {
                    self.messages.try_recv().ok()
                } else {
                    None
                };
            }
            if !batch.is_empty() {
                self.commit(batch);
            }
            if !folds.is_empty() {
                // Once for all that asked: their writes are all before it.
                let folded = self.fold();
                for reply in folds {
                    let _ = reply.send(folded.clone());
                }
            }
        }
        if !*self.poison.borrow() {
            // Leaves one file behind, without a log beside it. A reader that is still open only delays that.
            let folded = self
                .connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            if let Err(error) = folded {
                tracing::warn!(%error, "the write-ahead log was not folded into the database at close");
            }
        }
        drop(self.connection);
        if let Some(done) = closing {
            let _ = done.send(());
        }
    }

    fn fold(&self) -> Result<bool, StoreError> {
        if *self.poison.borrow() {
            return Err(StoreError::Unknown);
        }
        let folded = self.connection.busy_timeout(FOLD_WAIT).and_then(|()| {
            self.connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        });
        let restored = self.connection.busy_timeout(BUSY);
        match folded.and_then(|busy| restored.map(|()| busy)) {
            Ok(busy) => Ok(busy == 0),
            Err(error) if severity(&error) == Severity::Busy => Ok(false),
            Err(error) => Err(fault(&error)),
        }
    }

    fn commit(&mut self, mut batch: Vec<J>) {
        if *self.poison.borrow() {
            for job in batch {
                job.answer(Some(StoreError::Unknown));
            }
            return;
        }
        let started = Instant::now();
        let fault = self.transaction(&mut batch);
        self.full
            .store(matches!(fault, Some(StoreError::Full { .. })), Ordering::Relaxed);
        match &fault {
            None => self.stats.committed(batch.len(), started.elapsed()),
            Some(fault) => {
                self.stats.failed();
                tracing::error!(%fault, writes = batch.len(), "a transaction was not committed");
            }
        }
        for job in batch {
            job.answer(fault.clone());
        }
    }

    /// Runs every job and commits. A fault is that of all jobs; refusals stay with their job.
    fn transaction(&mut self, batch: &mut [J]) -> Option<StoreError> {
        let done = match self.together(batch) {
            Ok(true) => Ok(()),
            Ok(false) => self.one_by_one(batch),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            return Some(self.before_commit(&error));
        }
        match self.say("COMMIT") {
            Ok(()) => None,
            Err(error) if self.is_full(&error) => Some(self.before_commit(&error)),
            Err(error) => Some(self.poison(&error)),
        }
    }

    /// Runs every job. False when one of them has to be undone: nothing is left of any then.
    fn together(&self, batch: &mut [J]) -> rusqlite::Result<bool> {
        self.say("BEGIN IMMEDIATE")?;
        for job in batch {
            let before = self.connection.total_changes();
            match job.work(&self.connection) {
                Done::Keep => {}
                Done::Undo if self.connection.total_changes() == before => {}
                Done::Failed(error) if severity(&error) != Severity::Statement => return Err(error),
                Done::Undo | Done::Failed(_) => {
                    self.say("ROLLBACK")?;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Runs every job by itself, so that one that is undone leaves the others alone.
    fn one_by_one(&self, batch: &mut [J]) -> rusqlite::Result<()> {
        self.say("BEGIN IMMEDIATE")?;
        batch.iter_mut().try_for_each(|job| self.one(job))
    }

    fn one(&self, job: &mut J) -> rusqlite::Result<()> {
        self.say("SAVEPOINT job")?;
        match job.work(&self.connection) {
            Done::Keep => {}
            Done::Undo => self.say("ROLLBACK TO job")?,
            Done::Failed(error) if severity(&error) == Severity::Statement => {
                tracing::error!(%error, "a write failed in the database");
                self.say("ROLLBACK TO job")?;
            }
            Done::Failed(error) => return Err(error),
        }
        self.say("RELEASE job")
    }

    /// A statement about transactions. They are the most frequent ones, so they are not parsed again.
    fn say(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(|_| ())
    }

    fn is_full(&self, error: &rusqlite::Error) -> bool {
        severity(error) == Severity::Full || is_refused_write(error) && folder::is_out_of_room(&self.path)
    }

    /// Rolls back a transaction that was not committed. What broke decides whether the store can go on.
    fn before_commit(&self, error: &rusqlite::Error) -> StoreError {
        // SQLite may have rolled back by itself already.
        if !self.connection.is_autocommit()
            && let Err(rollback) = self.connection.execute_batch("ROLLBACK")
            && !self.connection.is_autocommit()
        {
            return self.poison(&rollback);
        }
        if self.is_full(error) {
            return StoreError::Full {
                detail: error.to_string(),
            };
        }
        match severity(error) {
            Severity::Broken => self.poison(error),
            Severity::Full | Severity::Busy | Severity::Statement => fault(error),
        }
    }

    fn poison(&self, error: &rusqlite::Error) -> StoreError {
        tracing::error!(%error, "the store is poisoned: the outcome of a commit is unknown");
        self.poison.send_replace(true);
        StoreError::Unknown
    }
}

#[cfg(test)]
mod tests;
