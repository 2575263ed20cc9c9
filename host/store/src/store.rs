//! The handle that everything else holds.

use crate::councils::KeptCouncils;
use crate::error::{Never, Stop, StoreError, WriteError};
use crate::folder;
use crate::memory::Memory;
use crate::readers::Readers;
use crate::stats::Stats;
use crate::writer::Writer;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The database, open. Cheap to clone; the operations are in the modules of this crate, one per table.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    writer: Writer,
    readers: Readers,
    stats: Arc<Stats>,
    councils: KeptCouncils,
}

impl Store {
    pub(crate) fn new(path: PathBuf, writer: Writer, readers: Readers, stats: Arc<Stats>) -> Self {
        Self {
            inner: Arc::new(Inner {
                path,
                writer,
                readers,
                stats,
                councils: KeptCouncils::default(),
            }),
        }
    }

    pub(crate) async fn write<T, R, F>(&self, work: F) -> Result<T, WriteError<R>>
    where
        T: Send + 'static,
        R: Send + 'static,
        F: Fn(&Connection) -> Result<T, Stop<R>> + Send + 'static,
    {
        self.inner.writer.run(work).await
    }

    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.inner.readers.run(work).await
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.inner.writer
    }

    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.inner.writer.memory()
    }

    /// A read that one look into an index answers; see [`Readers::run_here`].
    pub(crate) async fn look<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.inner.readers.run_here(work).await
    }

    pub(crate) fn kept_councils(&self) -> &KeptCouncils {
        &self.inner.councils
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// What the writer counted since start.
    pub fn stats(&self) -> &Stats {
        &self.inner.stats
    }

    /// Whether a commit failed: nothing is written any more, and the process should end.
    pub fn is_poisoned(&self) -> bool {
        self.inner.writer.is_poisoned()
    }

    /// Waits until the store is poisoned; for ever when that does not happen.
    pub async fn poisoned(&self) {
        self.inner.writer.poisoned().await;
    }

    /// Asks the database whether it still answers; after a full disk also whether it takes writes again.
    pub async fn probe(&self) -> Result<(), StoreError> {
        if self.is_poisoned() {
            return Err(StoreError::Poisoned);
        }
        if self.inner.writer.is_full() {
            // The probe is smaller than any document, so it may still fit where nothing else does.
            if folder::is_out_of_room(&self.inner.path) {
                return Err(StoreError::Full {
                    detail: "less than a megabyte is left".to_owned(),
                });
            }
            // The smallest write there is: a number in the file's header that nothing reads.
            let probe = self.write::<(), Never, _>(|connection| {
                connection.execute_batch("PRAGMA user_version = 1")?;
                Ok(())
            });
            probe.await?;
        }
        self.read(|connection| connection.query_row("SELECT count(*) FROM migrations", [], |_| Ok(())))
            .await
    }

    /// Whether sprites can be read.
    pub async fn probe_sprites(&self) -> Result<(), StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT document FROM sprites LIMIT 1")?
                .exists([])
        })
        .await?;
        Ok(())
    }

    /// Whether councils can be read.
    pub async fn probe_councils(&self) -> Result<(), StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT document FROM councils LIMIT 1")?
                .exists([])
        })
        .await?;
        Ok(())
    }

    /// Finishes the writes that wait, folds the write-ahead log into the file and closes it.
    pub async fn close(&self) {
        self.inner.readers.close();
        self.inner.writer.close().await;
    }
}
