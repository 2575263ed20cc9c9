//! A database in memory whose process dies when it is told to: for simulations of what a crash leaves behind.
//!
//! The SQL is the real one. There is no thread and no disk: a write happens when it is polled, so that a simulation is the same
//! every time. What a death interrupts is never answered, as in a process that is gone; [`MemoryStore::after_death`] is the next one.

use crate::database::Database;
use crate::error::fault;
use crate::readers::Readers;
use crate::writer::{Done, Job, Writer};
use crate::{OpenError, migrations};
use mizzen_store::{Stats, Store, StoreError};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is done and answered.
    Done,
    /// There is no room for it.
    NoRoom,
    /// The process dies before it.
    DiesBefore,
    /// The process dies after it: it is done, and never answered.
    DiesAfter,
}

/// Says what becomes of every write, in order.
pub trait Fates: Send + Sync {
    /// Of the next one.
    fn next(&self) -> Fate;
}

#[derive(Clone)]
pub(crate) struct Memory {
    connection: Arc<Mutex<Connection>>,
    fates: Arc<dyn Fates>,
    dead: Arc<AtomicBool>,
    closed: Arc<AtomicBool>,
    /// The last write found no room.
    full: Arc<AtomicBool>,
    stats: Arc<Stats>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("dead", &self.dead)
            .finish_non_exhaustive()
    }
}

/// A database in memory, as one process has it.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    memory: Memory,
    store: Store,
}

impl MemoryStore {
    /// A new database.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn new(fates: Arc<dyn Fates>) -> Result<Self, OpenError> {
        let mut connection = Connection::open_in_memory()?;
        connection.set_prepared_statement_cache_capacity(128);
        connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")?;
        migrations::apply(&mut connection, 0)?;
        Ok(Self::of(Arc::new(Mutex::new(connection)), fates))
    }

    fn of(connection: Arc<Mutex<Connection>>, fates: Arc<dyn Fates>) -> Self {
        let memory = Memory {
            connection,
            fates,
            dead: Arc::default(),
            closed: Arc::default(),
            full: Arc::default(),
            stats: Arc::default(),
        };
        let database = Database::new(
            PathBuf::from(":memory:"),
            Writer::in_memory(memory.clone()),
            Readers::in_memory(memory.clone()),
            Arc::clone(&memory.stats),
        );
        let store = Store::new(Arc::new(database));
        Self { memory, store }
    }

    /// What the process's host holds.
    pub fn store(&self) -> Store {
        self.store.clone()
    }

    /// The same database for another process beside this one.
    pub fn beside(&self, fates: Arc<dyn Fates>) -> Self {
        Self::of(Arc::clone(&self.memory.connection), fates)
    }

    /// The same database for the process that comes next; this one dies.
    pub fn after_death(&self, fates: Arc<dyn Fates>) -> Self {
        self.memory.dead.store(true, Ordering::SeqCst);
        self.beside(fates)
    }

    /// Whether the process has died.
    pub fn is_dead(&self) -> bool {
        self.memory.dead.load(Ordering::SeqCst)
    }
}

impl Memory {
    /// Never returns in a process that is dead.
    async fn survive(&self) {
        if self.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    /// Whether the last write found no room; shared with the writer.
    pub(crate) fn full(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.full)
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) async fn write<J: Job>(&self, mut job: J) {
        // Others get their turn, as they do while a thread writes.
        tokio::task::yield_now().await;
        self.survive().await;
        if self.is_closed() {
            return job.answer(Some(StoreError::Closed));
        }
        let fate = self.fates.next();
        if fate == Fate::DiesBefore {
            self.dead.store(true, Ordering::SeqCst);
            self.survive().await;
        }
        self.full.store(fate == Fate::NoRoom, Ordering::SeqCst);
        if fate == Fate::NoRoom {
            self.stats.failed();
            return job.answer(Some(StoreError::Full {
                detail: "as told".to_owned(),
            }));
        }
        let fault = self.transaction(&mut job).err().map(|error| fault(&error));
        match &fault {
            None => self.stats.committed(1, Duration::ZERO),
            Some(_) => self.stats.failed(),
        }
        if fate == Fate::DiesAfter {
            self.dead.store(true, Ordering::SeqCst);
            self.survive().await;
        }
        tokio::task::yield_now().await;
        self.survive().await;
        job.answer(fault);
    }

    fn transaction<J: Job>(&self, job: &mut J) -> rusqlite::Result<()> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.execute_batch("BEGIN")?;
        connection.execute_batch(match job.work(&connection) {
            Done::Keep => "COMMIT",
            Done::Undo | Done::Failed(_) => "ROLLBACK",
        })
    }

    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T>,
    {
        tokio::task::yield_now().await;
        self.survive().await;
        if self.is_closed() {
            return Err(StoreError::Closed);
        }
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| fault(&error))
    }
}
