//! Connections that read, in parallel with each other and with the writer (WAL).

use crate::error::fault;
use crate::memory::Memory;
use crate::open::open_reader;
use mizzen_store::StoreError;
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

#[derive(Debug)]
pub(crate) struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    /// Where there are no threads and no disk.
    memory: Option<Memory>,
}

impl Readers {
    pub(crate) fn open(path: &Path, count: usize) -> rusqlite::Result<Self> {
        let connections = (0..count)
            .map(|_| open_reader(path))
            .collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(Self {
            idle: Arc::new(Mutex::new(connections)),
            permits: Arc::new(Semaphore::new(count)),
            memory: None,
        })
    }

    /// Reads from memory; see [`Memory`].
    pub(crate) fn in_memory(memory: Memory) -> Self {
        Self {
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(0)),
            memory: Some(memory),
        }
    }

    /// Runs `work` on a free connection. The work goes on when the caller stops waiting, so a connection is never lost.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        if let Some(memory) = &self.memory {
            return memory.read(work).await;
        }
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| StoreError::Closed)?;
        let idle = Arc::clone(&self.idle);
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let connection = idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop()
                .ok_or(StoreError::Closed)?;
            let answer = work(&connection).map_err(|error| fault(&error));
            idle.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
            answer
        });
        task.await
            .map_err(|error| StoreError::Fault(format!("a read did not finish: {error}")))?
    }

    /// Runs `work` at once, on the caller's own thread, if a connection is free. For what one look into an index answers: there the
    /// hop to another thread would cost several times the work. WAL readers do not wait for the writer.
    pub(crate) async fn run_here<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let Ok(_permit) = self.permits.try_acquire() else {
            return self.run(work).await;
        };
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = idle().pop().ok_or(StoreError::Closed)?;
        let answer = work(&connection).map_err(|error| fault(&error));
        idle().push(connection);
        answer
    }

    pub(crate) fn close(&self) {
        self.permits.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
