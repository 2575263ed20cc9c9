//! The handle of an open SQLite store: the port, and what only SQLite has.

use crate::database::Database;
use mizzen_store::Store;
use std::path::Path;
use std::sync::Arc;

/// The database in a data folder, open. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    database: Arc<Database>,
    store: Store,
}

impl SqliteStore {
    pub(crate) fn new(database: Database) -> Self {
        let database = Arc::new(database);
        let store = Store::new(Arc::clone(&database) as _);
        Self { database, store }
    }

    /// What the host holds.
    pub fn store(&self) -> Store {
        self.store.clone()
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }
}
