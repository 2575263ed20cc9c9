//! A database in memory whose process dies when it is told to: for simulations of what a crash leaves behind.
//!
//! The SQL is the real one. There is no thread and no disk: a write happens when it is polled, so that a simulation is the same
//! every time. What a death interrupts is never answered, as in a process that is gone; [`Store::after_death`] is the next one.

use crate::error::{Stop, StoreError, WriteError};
use crate::readers::Readers;
use crate::stats::Stats;
use crate::store::Store;
use crate::writer::Writer;
use crate::{OpenError, migrations};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is done and answered.
    Done,
    /// There is no room for it.
    NoRoom,
    /// The process dies before it.
    DiesBefore,
    /// The process dies after it: it is done, and nobody hears of it.
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
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("dead", &self.dead)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// A database in memory.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn in_memory(fates: Arc<dyn Fates>) -> Result<Self, OpenError> {
        let mut connection = Connection::open_in_memory()?;
        connection.set_prepared_statement_cache_capacity(128);
        connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")?;
        migrations::apply(&mut connection, 0)?;
        Ok(Memory::store(Arc::new(Mutex::new(connection)), fates))
    }

    /// The same database for the process that comes next. None when this one is not in memory.
    pub fn after_death(&self, fates: Arc<dyn Fates>) -> Option<Self> {
        let memory = self.memory()?;
        memory.dead.store(true, Ordering::SeqCst);
        Some(Memory::store(Arc::clone(&memory.connection), fates))
    }

    /// Whether the process that this database belonged to has died.
    pub fn is_dead(&self) -> bool {
        self.memory()
            .is_some_and(|memory| memory.dead.load(Ordering::SeqCst))
    }
}

impl Memory {
    fn store(connection: Arc<Mutex<Connection>>, fates: Arc<dyn Fates>) -> Store {
        let memory = Self {
            connection,
            fates,
            dead: Arc::default(),
        };
        Store::new(
            PathBuf::from(":memory:"),
            Writer::in_memory(memory.clone()),
            Readers::in_memory(memory),
            Arc::new(Stats::default()),
        )
    }

    /// Never returns in a process that is dead.
    async fn survive(&self) {
        if self.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) async fn write<T, R, F>(&self, work: F) -> Result<T, WriteError<R>>
    where
        F: FnOnce(&Connection) -> Result<T, Stop<R>>,
    {
        // Others get their turn, as they do while a thread writes.
        tokio::task::yield_now().await;
        self.survive().await;
        let fate = self.fates.next();
        if fate == Fate::DiesBefore {
            self.dead.store(true, Ordering::SeqCst);
            self.survive().await;
        }
        if fate == Fate::NoRoom {
            return Err(WriteError::Store(StoreError::Full {
                detail: "as told".to_owned(),
            }));
        }
        let result = self.transaction(work);
        if fate == Fate::DiesAfter {
            self.dead.store(true, Ordering::SeqCst);
            self.survive().await;
        }
        tokio::task::yield_now().await;
        self.survive().await;
        result
    }

    fn transaction<T, R, F>(&self, work: F) -> Result<T, WriteError<R>>
    where
        F: FnOnce(&Connection) -> Result<T, Stop<R>>,
    {
        let fault = |error: rusqlite::Error| WriteError::Store(StoreError::from(&error));
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.execute_batch("BEGIN").map_err(fault)?;
        match work(&connection) {
            Ok(value) => {
                connection.execute_batch("COMMIT").map_err(fault)?;
                Ok(value)
            }
            Err(stop) => {
                connection.execute_batch("ROLLBACK").map_err(fault)?;
                Err(match stop {
                    Stop::Refused(refusal) => WriteError::Refused(refusal),
                    Stop::Sql(error) => fault(error),
                })
            }
        }
    }

    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T>,
    {
        tokio::task::yield_now().await;
        self.survive().await;
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| StoreError::from(&error))
    }
}
