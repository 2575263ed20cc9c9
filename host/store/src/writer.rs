//! The one thread that writes.
//!
//! Writes that wait at the same time share a transaction, and all are answered after the commit. Refusals wait too: they may rest on
//! a row of the same transaction. Nearly all writes are kept, or refused before they have changed anything. One that has to be undone
//! makes the whole batch begin again with a savepoint around each: savepoints copy every page that is changed inside of them.
//!
//! A commit that fails is *unknown*, not rolled back (after a failed fsync the row may be on disk): the store is
//! poisoned and never writes again. Only "no room" is known to have left nothing, because the frame that would have made
//! the transaction valid was not written.

use crate::error::{Severity, Stop, StoreError, WriteError, is_refused_write, severity};
use crate::folder;
use crate::memory::Memory;
use crate::open::BUSY;
use crate::stats::Stats;
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

#[derive(Debug)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
    poisoned: watch::Receiver<bool>,
    full: Arc<AtomicBool>,
    /// Where there is no thread and no disk.
    memory: Option<Memory>,
}

enum Message {
    Write(Box<dyn Job>),
    Fold(oneshot::Sender<Result<bool, StoreError>>),
    Close(oneshot::Sender<()>),
}

/// What came of one unit of work.
enum Done {
    Keep,
    Undo,
    Failed(rusqlite::Error),
}

trait Job: Send {
    fn work(&mut self, connection: &Connection) -> Done;
    fn answer(self: Box<Self>, fault: Option<StoreError>);
}

struct Pending<T, R, F> {
    work: F,
    result: Option<Result<T, WriteError<R>>>,
    reply: oneshot::Sender<Result<T, WriteError<R>>>,
}

impl<T, R, F> Job for Pending<T, R, F>
where
    T: Send,
    R: Send,
    F: Fn(&Connection) -> Result<T, Stop<R>> + Send,
{
    fn work(&mut self, connection: &Connection) -> Done {
        match (self.work)(connection) {
            Ok(value) => {
                self.result = Some(Ok(value));
                Done::Keep
            }
            Err(Stop::Refused(refusal)) => {
                self.result = Some(Err(WriteError::Refused(refusal)));
                Done::Undo
            }
            Err(Stop::Sql(error)) => {
                self.result = Some(Err(WriteError::Store(StoreError::from(&error))));
                Done::Failed(error)
            }
        }
    }

    fn answer(self: Box<Self>, fault: Option<StoreError>) {
        let result = match (fault, self.result) {
            (Some(fault), _) => Err(WriteError::Store(fault)),
            (None, Some(result)) => result,
            (None, None) => Err(WriteError::Store(StoreError::Closed)),
        };
        // The caller may have stopped waiting; the write stands.
        drop(self.reply.send(result));
    }
}

impl Writer {
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
            full: Arc::default(),
            memory: Some(memory),
        }
    }

    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    pub(crate) async fn run<T, R, F>(&self, work: F) -> Result<T, WriteError<R>>
    where
        T: Send + 'static,
        R: Send + 'static,
        F: Fn(&Connection) -> Result<T, Stop<R>> + Send + 'static,
    {
        if let Some(memory) = &self.memory {
            return memory.write(work).await;
        }
        let (reply, answer) = oneshot::channel();
        let job = Pending {
            work,
            result: None,
            reply,
        };
        if self.queue.send(Message::Write(Box::new(job))).await.is_err() {
            return Err(self.gone().into());
        }
        answer.await.unwrap_or_else(|_| Err(self.gone().into()))
    }

    fn gone(&self) -> StoreError {
        if self.is_poisoned() {
            StoreError::Poisoned
        } else {
            StoreError::Closed
        }
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        *self.poisoned.borrow()
    }

    /// Whether the last transaction found no room.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
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
        let (done, closed) = oneshot::channel();
        if self.queue.send(Message::Close(done)).await.is_ok() {
            drop(closed.await);
        }
    }
}

struct Thread {
    connection: Connection,
    path: PathBuf,
    messages: mpsc::Receiver<Message>,
    poison: watch::Sender<bool>,
    full: Arc<AtomicBool>,
    stats: Arc<Stats>,
}

impl Thread {
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
                // Once for everybody who asked: their writes are all before it.
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
            return Err(StoreError::Poisoned);
        }
        let folded = self.connection.busy_timeout(FOLD_WAIT).and_then(|()| {
            self.connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        });
        let restored = self.connection.busy_timeout(BUSY);
        match folded.and_then(|busy| restored.map(|()| busy)) {
            Ok(busy) => Ok(busy == 0),
            Err(error) if severity(&error) == Severity::Busy => Ok(false),
            Err(error) => Err(StoreError::from(&error)),
        }
    }

    fn commit(&mut self, mut batch: Vec<Box<dyn Job>>) {
        if *self.poison.borrow() {
            for job in batch {
                job.answer(Some(StoreError::Poisoned));
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

    /// Runs every job and commits. A fault is everybody's; refusals stay with their job.
    fn transaction(&mut self, batch: &mut [Box<dyn Job>]) -> Option<StoreError> {
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
    fn together(&self, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<bool> {
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
    fn one_by_one(&self, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
        self.say("BEGIN IMMEDIATE")?;
        batch.iter_mut().try_for_each(|job| self.one(job.as_mut()))
    }

    fn one(&self, job: &mut dyn Job) -> rusqlite::Result<()> {
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
            Severity::Full | Severity::Busy | Severity::Statement => StoreError::from(error),
        }
    }

    fn poison(&self, error: &rusqlite::Error) -> StoreError {
        tracing::error!(%error, "the store is poisoned: the outcome of a commit is unknown");
        self.poison.send_replace(true);
        StoreError::Poisoned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Never;

    fn start(folder: &std::path::Path) -> (Writer, Arc<Stats>) {
        let path = folder.join("test.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;
                 CREATE TABLE parent (id INTEGER PRIMARY KEY);
                 CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
                 CREATE TABLE log (n INTEGER UNIQUE, body BLOB);",
            )
            .unwrap();
        let stats = Arc::new(Stats::default());
        (
            Writer::start(connection, path, Arc::clone(&stats)).unwrap(),
            stats,
        )
    }

    async fn insert(writer: &Writer, n: i64) -> Result<(), WriteError<Never>> {
        writer
            .run(move |connection| {
                connection.execute("INSERT INTO log (n) VALUES (?1)", [n])?;
                Ok(())
            })
            .await
    }

    #[tokio::test]
    async fn writes_that_wait_together_share_commits_and_each_gets_its_own_answer() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, stats) = start(folder.path());
        let writer = Arc::new(writer);
        let (held, hold) = std::sync::mpsc::channel::<()>();
        let (began, mut begun) = mpsc::unbounded_channel();
        let first = tokio::spawn({
            let writer = Arc::clone(&writer);
            async move {
                let blocked = writer.run::<(), Never, _>(move |_| {
                    let _ = began.send(());
                    hold.recv().unwrap();
                    Ok(())
                });
                blocked.await.is_ok()
            }
        });
        // Only now: the writer has taken the first write alone, so all the others wait together.
        begun.recv().await.unwrap();
        let tasks: Vec<_> = (0..100)
            .map(|n| {
                let writer = Arc::clone(&writer);
                // Every number twice: half of the writes break the unique index and must not take the others along.
                tokio::spawn(async move { insert(&writer, n / 2).await.is_ok() })
            })
            .collect();
        while writer.queue.capacity() > QUEUE - 100 {
            tokio::task::yield_now().await;
        }
        held.send(()).unwrap();
        assert!(first.await.unwrap());
        let mut done = 0;
        for task in tasks {
            done += usize::from(task.await.unwrap());
        }
        assert_eq!(done, 50);
        assert!(stats.commits() <= 3, "{} commits", stats.commits());
    }

    #[tokio::test]
    async fn a_refused_write_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, _) = start(folder.path());
        let refused: Result<(), WriteError<&str>> = writer
            .run(|connection| {
                connection.execute("INSERT INTO log (n) VALUES (1)", [])?;
                Err(Stop::Refused("no"))
            })
            .await;
        assert!(matches!(refused, Err(WriteError::Refused("no"))));
        insert(&writer, 1).await.unwrap();
    }

    #[tokio::test]
    async fn a_commit_that_fails_poisons_the_store_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, _) = start(folder.path());
        // A deferred constraint lets every statement succeed and fails COMMIT itself.
        let failed: Result<(), WriteError<Never>> = writer
            .run(|connection| {
                connection.execute("INSERT INTO child (id) VALUES (1)", [])?;
                Ok(())
            })
            .await;
        assert!(matches!(failed, Err(WriteError::Store(StoreError::Poisoned))));
        assert!(writer.is_poisoned());
        writer.poisoned().await;
        assert!(matches!(
            insert(&writer, 1).await,
            Err(WriteError::Store(StoreError::Poisoned))
        ));
    }

    #[tokio::test]
    async fn a_full_database_refuses_writes_and_takes_them_again_when_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let (writer, _) = start(folder.path());
        let limit = |pages: i64| {
            let writer = &writer;
            async move {
                writer
                    .run::<(), Never, _>(move |connection| {
                        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
                        Ok(())
                    })
                    .await
            }
        };
        let large = || {
            writer.run::<(), Never, _>(|connection| {
                connection.execute("INSERT INTO log (body) VALUES (zeroblob(1000000))", [])?;
                Ok(())
            })
        };
        limit(20).await.unwrap();
        assert!(matches!(
            large().await,
            Err(WriteError::Store(StoreError::Full { .. }))
        ));
        assert!(!writer.is_poisoned());
        limit(1_000_000).await.unwrap();
        large().await.unwrap();
    }
}
