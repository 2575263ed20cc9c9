//! What a backend is.

use crate::api_keys::ApiKeys;
use crate::audit::Audit;
use crate::councils::Councils;
use crate::cursor::Cursors;
use crate::erasures::Erasures;
use crate::error::{Durability, StoreError};
use crate::governance::Governance;
use crate::idempotency::IdempotencyKeys;
use crate::outbox::Outbox;
use crate::plugin_kv::PluginKv;
use crate::run_history::RunHistory;
use crate::runs::Runs;
use crate::sprites::Sprites;
use crate::stats::Stats;
use crate::upkeep::Upkeep;
use crate::write::Write;
use std::future::Future;
use std::pin::Pin;

/// What a backend returns from every operation. Boxed: the host holds a backend as a trait object, and one small allocation does
/// not show beside a read of a database.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Takes writes, and knows what became of them.
pub trait Writes {
    /// Hands a write over, and waits while the backend has no place for it. The answer comes through the write's own request,
    /// after the transaction that it was part of is durable. A write that was handed over is done, whether or not anything still
    /// waits for its answer.
    fn write(&self, write: Write) -> Pending<'_, ()>;

    /// What is known of the writes that were made.
    fn durability(&self) -> Durability;

    /// Returns when the outcome of a commit is unknown; never when that does not happen.
    fn durability_unknown(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// What was counted since start.
    fn stats(&self) -> &Stats;

    /// Finishes the writes that wait, and ends. Nothing is read or written afterwards.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A place where everything is kept: every aggregate's reads, all writes, and what operators need.
pub trait Backend:
    Writes
    + Sprites
    + Councils
    + Runs
    + RunHistory
    + Erasures
    + Outbox
    + Audit
    + ApiKeys
    + IdempotencyKeys
    + PluginKv
    + Governance
    + Cursors
    + Upkeep
    + std::fmt::Debug
    + Send
    + Sync
    + 'static
{
}

impl<B> Backend for B where
    B: Writes
        + Sprites
        + Councils
        + Runs
        + RunHistory
        + Erasures
        + Outbox
        + Audit
        + ApiKeys
        + IdempotencyKeys
        + PluginKv
        + Governance
        + Cursors
        + Upkeep
        + std::fmt::Debug
        + Send
        + Sync
        + 'static
{
}

/// Declares the operations of an aggregate that are not writes once: as a trait that backends implement, and as methods of [`crate::Store`] that callers use.
macro_rules! port {
    (
        $(#[$of_trait:meta])*
        pub trait $aggregate:ident {
            $(
                $(#[$of_operation:meta])*
                fn $operation:ident($($argument:ident: $type:ty),* $(,)?) -> $reply:ty;
            )+
        }
    ) => {
        $(#[$of_trait])*
        pub trait $aggregate {
            $(
                $(#[$of_operation])*
                fn $operation(&self, $($argument: $type),*) -> $crate::port::Pending<'_, $reply>;
            )+
        }

        impl $crate::store::Store {
            $(
                $(#[$of_operation])*
                pub async fn $operation(&self, $($argument: $type),*) -> Result<$reply, $crate::error::StoreError> {
                    $aggregate::$operation(self.backend(), $($argument),*).await
                }
            )+
        }
    };
}
pub(crate) use port;
