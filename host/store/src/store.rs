//! The handle that everything else holds.

use crate::councils::KeptCouncils;
use crate::cursor::{BadCursor, Cursor, List};
use crate::error::{Durability, StoreError};
use crate::port::Backend;
use crate::stats::Stats;
use crate::write::{Operation, Outcome, Request, Write};
use std::sync::Arc;

/// An open store. Cheap to clone; the operations are in the modules of this crate, one per aggregate.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    councils: KeptCouncils,
    backend: Arc<dyn Backend>,
}

impl Store {
    /// A store that keeps everything in `backend`.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self {
            inner: Arc::new(Inner {
                councils: KeptCouncils::default(),
                backend,
            }),
        }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        self.inner.backend.as_ref()
    }

    pub(crate) fn kept_councils(&self) -> &KeptCouncils {
        &self.inner.councils
    }

    /// Has an operation performed, and waits until what came of it is durable.
    pub(crate) async fn write<O>(&self, operation: O) -> Outcome<O>
    where
        O: Operation,
        Write: From<Box<Request<O>>>,
    {
        let (request, answer) = Request::new(operation);
        self.backend().write(request.into()).await?;
        answer.wait().await.unwrap_or_else(|| Err(self.gone().into()))
    }

    /// Why a write has no answer.
    fn gone(&self) -> StoreError {
        match self.durability() {
            Durability::Unknown => StoreError::Unknown,
            Durability::Committed | Durability::Full => StoreError::Closed,
        }
    }

    /// Reads a cursor that [`Cursor::to_text`] wrote for the same list of this store.
    pub fn cursor(&self, list: List, text: &str) -> Result<Cursor, BadCursor> {
        let cursor = Cursor::parse(list, text)?;
        self.backend()
            .is_position(list, &cursor)
            .then_some(cursor)
            .ok_or(BadCursor)
    }

    /// What is known of the writes that were made.
    pub fn durability(&self) -> Durability {
        self.backend().durability()
    }

    /// Waits until the outcome of a commit is unknown; for ever when that does not happen.
    pub async fn durability_unknown(&self) {
        self.backend().durability_unknown().await;
    }

    /// What was counted since start.
    pub fn stats(&self) -> &Stats {
        self.backend().stats()
    }

    /// Finishes the writes that wait, and closes the store.
    pub async fn close(&self) {
        self.backend().close().await;
    }
}
