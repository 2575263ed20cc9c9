//! What the host remembers: one SQLite file under the data folder.
//!
//! [`Store`] is a struct with typed operations; SQL, rows and `rusqlite` stay inside. One thread writes, many waiting
//! writes become one transaction (group commit), and an answer is given only after the commit is on disk: acknowledged means
//! durable. Readers run in parallel on their own connections.
//!
//! Deliberately not here: what a document means (documents come and go as text with the few fields that are searched),
//! ids and time (they come in from `ops`), and status codes.
//!
//! To add what is remembered: a numbered file in `migrations/` (never edit an old one, its digest is checked), a line in
//! `migrations.rs`, a module with an `impl Store` block. PostgreSQL can stand beside this with the same operations.

#![forbid(unsafe_code)]

mod api_keys;
mod audit;
mod councils;
mod cursor;
mod erasures;
mod error;
mod folder;
mod governance;
mod idempotency;
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
mod stats;
mod store;
mod upkeep;
mod writer;

pub use api_keys::{ApiKey, NewApiKey};
pub use audit::{AuditEntry, AuditFilter, AuditHead, AuditRecord, BadAuditHead};
pub use councils::{CouncilChange, CouncilRecord, CouncilRefused, KeptCouncil, NewCouncil};
pub use cursor::{BadCursor, Cursor, List, Page};
pub use erasures::{Erasable, ErasablePage, ErasureFilter, NewErasure, RunErasure};
pub use error::{StoreError, WriteError};
pub use folder::{FolderInUse, FolderLock};
pub use governance::GoverningPack;
pub use idempotency::{Idempotency, IdempotencyMismatch, Recorded, Written};
pub use memory::{Fate, Fates};
pub use migrations::latest as latest_migration;
pub use open::{OpenError, Options};
pub use outbox::{Delivery, DeliveryState, NewDelivery, RedeliveryRefused};
pub use plugin_kv::{KvLimits, KvRefused, KvUsage};
pub use run_history::{RunFilter, RunPage, RunPlace, TOTAL_CAP};
pub use runs::{NewRun, OpenRun, RunEvent, RunRecord, RunRefused, RunStep, Sealed};
pub use sprites::{InUse, NewSprite, SpriteChange, SpriteFilter, SpriteRecord, SpriteRefused};
pub use stats::{COMMIT_BUCKETS, Stats};
pub use store::Store;
pub use upkeep::{CheckReport, Info};
