//! What the host remembers, in one SQLite file under the data folder: a backend of `host/store`.
//!
//! [`SqliteStore`] opens the file and gives the [`mizzen_store::Store`] that everything else holds. SQL, rows and `rusqlite` stay
//! inside. One thread writes, many waiting writes become one transaction (group commit), and a write is answered only after the
//! commit is on disk. Readers run in parallel on their own connections. [`MemoryStore`] has the same SQL without a thread or a
//! disk, for simulations.
//!
//! What only SQLite has is here and not in the port: the file's path, its backup, its space, the lock of the data folder.
//!
//! To add what is remembered: its types and operations in `host/store`, a numbered file in `migrations/` (never edit an old one,
//! its digest is checked), a line in `migrations.rs`, and the SQL in the module of its aggregate.

#![forbid(unsafe_code)]

mod api_keys;
mod audit;
mod backup;
mod councils;
mod cursor;
mod database;
mod erasures;
mod error;
mod folder;
mod governance;
mod idempotency;
mod job;
mod memory;
mod migrations;
mod open;
mod outbox;
mod plugin_kv;
mod readers;
mod run_history;
mod runs;
mod space;
mod sprites;
mod sqlite_store;
mod upkeep;
mod writer;

pub use cursor::cursor_at;
pub use folder::{FolderInUse, FolderLock};
pub use memory::{Fate, Fates, MemoryStore};
pub use migrations::latest as latest_migration;
pub use open::{OpenError, Options};
pub use sqlite_store::SqliteStore;
pub use upkeep::Info;
