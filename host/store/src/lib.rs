//! What the host remembers: plain types, the port that a backend implements, and the handle that callers hold.
//!
//! [`Store`] is that handle. Every write is data with a typed reply ([`Write`]), so a backend can gather writes and commit them
//! together; every read is a method of the trait of its aggregate ([`Sprites`], [`Runs`], …). A reply is sent only after the
//! write is durable: acknowledged means durable.
//!
//! Deliberately not here: SQL, files, threads (a backend's: `host/store-sqlite`), what a document means (documents come and go as
//! text with the few fields that are searched), ids and time (they come in from `ops`), and status codes.
//!
//! To add a read: a line in the trait of its aggregate; [`Store`] gets the method of the same name. To add a write: a struct, a
//! row in `write.rs`, a method of [`Store`]; no backend compiles until it performs it. To add a backend: implement [`Backend`]'s
//! traits for a type of a crate of its own, and run `conformance!` in its tests.

#![forbid(unsafe_code)]

mod api_keys;
mod audit;
#[cfg(feature = "conformance")]
pub mod conformance;
mod councils;
mod cursor;
mod erasures;
mod error;
mod governance;
mod idempotency;
mod outbox;
mod plugin_kv;
mod port;
mod run_history;
mod runs;
mod sprites;
mod stats;
mod store;
mod upkeep;
mod write;

pub use api_keys::{ApiKey, ApiKeys, CreateApiKey, NewApiKey, RevokeApiKey};
pub use audit::{Audit, AuditEntry, AuditFilter, AuditHead, AuditRecord, BadAuditHead, RecordAudit};
pub use councils::{
    CouncilChange, CouncilRecord, CouncilRefused, Councils, CreateCouncil, DeleteCouncil, KeptCouncil,
    NewCouncil, UpdateCouncil,
};
pub use cursor::{BadCursor, Cursor, Cursors, List, PAGE_BYTES, Page};
pub use erasures::{
    ERASED, Erasable, ErasablePage, EraseRuns, ErasureAudit, ErasureFilter, Erasures, NewErasure, RunErasure,
};
pub use error::{Durability, StoreError, WriteError};
pub use governance::{AddGoverningPacks, Governance, GoverningPack, ReplaceGoverningPacks};
pub use idempotency::{Idempotency, IdempotencyKeys, IdempotencyMismatch, Recorded, Written};
pub use outbox::{
    Delivery, DeliveryState, NewDelivery, Outbox, RecordDelivery, Redeliver, RedeliveryRefused,
};
pub use plugin_kv::{ClearKv, DeleteKv, KvLimits, KvRefused, KvUsage, PluginKv, SetKv};
pub use port::{Backend, Pending, Writes};
pub use run_history::{HISTORY_BYTES, RunFilter, RunHistory, RunPage, RunPlace, TOTAL_CAP};
pub use runs::{
    AppendRun, JOURNAL_BYTES, NewRun, OpenRun, RunEvent, RunRecord, RunRefused, RunStep, Runs, Sealed,
    Standing, StartRun,
};
pub use sprites::{
    CreateSprite, DeleteSprite, InUse, NewSprite, SpriteChange, SpriteFilter, SpriteRecord, SpriteRefused,
    Sprites, UpdateSprite,
};
pub use stats::{COMMIT_BUCKETS, Stats};
pub use store::Store;
pub use upkeep::{CheckReport, Upkeep};
pub use write::{Answer, Operation, Outcome, Request, Write};
