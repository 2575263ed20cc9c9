//! SQLite with nothing of ours around it: one thread that writes, one commit for whatever waits, as durable as the host's store.

use anyhow::{Result, anyhow};
use rusqlite::Connection;
use std::path::Path;
use std::sync::mpsc as blocking;
use tokio::sync::oneshot;

/// What waits for its commit.
type Waiting = (Vec<u8>, oneshot::Sender<()>);

/// A writer. Ends when it is dropped.
#[derive(Clone)]
pub(crate) struct Database {
    queue: blocking::Sender<Waiting>,
}

/// As many as the host's writer takes together.
const BATCH: usize = 256;

impl Database {
    /// Opens a database in a folder, with the pragmas of the host's store.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let connection = Connection::open(folder.join("raw.db"))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA temp_store = MEMORY;
             PRAGMA journal_size_limit = 67108864;
             CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL);",
        )?;
        connection.set_prepared_statement_cache_capacity(16);
        let (queue, waiting) = blocking::channel::<Waiting>();
        std::thread::Builder::new()
            .name("raw-writer".into())
            .spawn(move || write(&connection, &waiting))?;
        Ok(Self { queue })
    }

    /// Writes some bytes; they are durable when this returns.
    pub(crate) async fn append(&self, bytes: Vec<u8>) -> Result<()> {
        let (done, answer) = oneshot::channel();
        self.queue
            .send((bytes, done))
            .map_err(|_| anyhow!("the raw writer has stopped"))?;
        answer.await.map_err(|_| anyhow!("the raw writer failed"))
    }
}

fn write(connection: &Connection, waiting: &blocking::Receiver<Waiting>) {
    while let Ok(first) = waiting.recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH {
            match waiting.try_recv() {
                Ok(next) => batch.push(next),
                Err(_) => break,
            }
        }
        // A waiting caller sees a failure as a dropped channel.
        if commit(connection, &batch).is_err() {
            return;
        }
        for (_, done) in batch {
            let _ = done.send(());
        }
    }
}

fn commit(connection: &Connection, batch: &[Waiting]) -> rusqlite::Result<()> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    for (bytes, _) in batch {
        connection
            .prepare_cached("INSERT INTO events (bytes) VALUES (?1)")?
            .execute([bytes])?;
    }
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}
