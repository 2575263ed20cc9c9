//! The database, open: the backend that the modules of this crate implement, one per aggregate.

use crate::job::StoreJob;
use crate::readers::Readers;
use crate::writer::Writer;
use mizzen_store::{Durability, Pending, Stats, Write, Writes};
use rusqlite::Connection;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

/// One writer and some readers of one database.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    writer: Writer<StoreJob>,
    readers: Readers,
    stats: Arc<Stats>,
}

impl Database {
    pub(crate) fn new(path: PathBuf, writer: Writer<StoreJob>, readers: Readers, stats: Arc<Stats>) -> Self {
        Self {
            path,
            writer,
            readers,
            stats,
        }
    }

    /// Runs `work` on a connection of its own, on another thread.
    pub(crate) fn read<T, F>(&self, work: F) -> Pending<'_, T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        Box::pin(self.readers.run(work))
    }

    /// A read that one look into an index answers; see [`Readers::run_here`].
    pub(crate) fn look<T, F>(&self, work: F) -> Pending<'_, T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        Box::pin(self.readers.run_here(work))
    }

    pub(crate) fn writer(&self) -> &Writer<StoreJob> {
        &self.writer
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Writes for Database {
    fn write(&self, write: Write) -> Pending<'_, ()> {
        Box::pin(self.writer.send(StoreJob::Write(write)))
    }

    fn durability(&self) -> Durability {
        self.writer.durability()
    }

    fn durability_unknown(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.writer.poisoned())
    }

    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            self.readers.close();
            self.writer.close().await;
        })
    }
}
