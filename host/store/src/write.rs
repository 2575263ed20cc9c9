//! Writes as data.
//!
//! A write is what is to be done, with a place for its reply. Nothing of it depends on a backend, so a backend may gather writes,
//! perform them in one transaction, and perform one again when the transaction has to begin anew.

use crate::api_keys::{CreateApiKey, RevokeApiKey};
use crate::audit::RecordAudit;
use crate::councils::{CouncilRefused, CreateCouncil, DeleteCouncil, UpdateCouncil};
use crate::erasures::EraseRuns;
use crate::error::{StoreError, WriteError};
use crate::governance::{AddGoverningPacks, ReplaceGoverningPacks};
use crate::idempotency::Written;
use crate::outbox::{Delivery, RecordDelivery, Redeliver, RedeliveryRefused};
use crate::plugin_kv::{ClearKv, DeleteKv, KvRefused, SetKv};
use crate::runs::{AppendRun, RunRefused, StartRun};
use crate::sprites::{CreateSprite, DeleteSprite, SpriteRefused, UpdateSprite};
use std::convert::Infallible;
use std::fmt;
use tokio::sync::oneshot;

/// One kind of write.
pub trait Operation: Send + 'static {
    /// What it returns.
    type Reply: Send + 'static;
    /// Why it is refused; [`Infallible`] when it never is.
    type Refusal: Send + 'static;
}

/// What came of an operation.
pub type Outcome<O> = Result<<O as Operation>::Reply, WriteError<<O as Operation>::Refusal>>;

/// An operation with the place of its reply.
pub struct Request<O: Operation> {
    operation: O,
    outcome: Option<Outcome<O>>,
    reply: oneshot::Sender<Outcome<O>>,
}

impl<O: Operation> Request<O> {
    /// A request, and where its answer arrives. Boxed, so that what is written is not moved again.
    pub fn new(operation: O) -> (Box<Self>, Answer<O>) {
        let (reply, answer) = oneshot::channel();
        let request = Box::new(Self {
            operation,
            outcome: None,
            reply,
        });
        (request, Answer(answer))
    }

    /// What is to be done.
    pub fn operation(&self) -> &O {
        &self.operation
    }

    /// Keeps what came of it until the transaction is durable. The last outcome counts, when it is performed again.
    pub fn settle(&mut self, outcome: Outcome<O>) {
        self.outcome = Some(outcome);
    }

    /// Sends the outcome, or the fault of the transaction that it was part of.
    pub fn answer(self, fault: Option<StoreError>) {
        let outcome = match (fault, self.outcome) {
            (Some(fault), _) => Err(WriteError::Store(fault)),
            (None, Some(outcome)) => outcome,
            (None, None) => Err(WriteError::Store(StoreError::Closed)),
        };
        // The caller may have stopped waiting; the write stands.
        drop(self.reply.send(outcome));
    }
}

/// Where the answer to a request arrives.
pub struct Answer<O: Operation>(oneshot::Receiver<Outcome<O>>);

impl<O: Operation> Answer<O> {
    /// Waits for it. None when the backend ended without one.
    pub async fn wait(self) -> Option<Outcome<O>> {
        self.0.await.ok()
    }
}

macro_rules! writes {
    ($($(#[$doc:meta])* $name:ident -> $reply:ty, $refusal:ty;)+) => {
        /// A write of any kind.
        pub enum Write {
            $($(#[$doc])* $name(Box<Request<$name>>),)+
        }

        impl Write {
            /// See [`Request::answer`].
            pub fn answer(self, fault: Option<StoreError>) {
                match self {
                    $(Self::$name(request) => request.answer(fault),)+
                }
            }

            /// The name of its kind, for logs.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => stringify!($name),)+
                }
            }
        }

        $(
            impl Operation for $name {
                type Reply = $reply;
                type Refusal = $refusal;
            }

            impl From<Box<Request<$name>>> for Write {
                fn from(request: Box<Request<$name>>) -> Self {
                    Self::$name(request)
                }
            }
        )+
    };
}

writes! {
    /// Stores a new sprite.
    CreateSprite -> Written, SpriteRefused;
    /// Replaces a sprite; replies with its new revision.
    UpdateSprite -> u64, SpriteRefused;
    /// Deletes a sprite.
    DeleteSprite -> (), SpriteRefused;
    /// Stores a new council.
    CreateCouncil -> Written, CouncilRefused;
    /// Replaces a council; replies with its new revision.
    UpdateCouncil -> u64, CouncilRefused;
    /// Deletes a council.
    DeleteCouncil -> (), CouncilRefused;
    /// Begins a run.
    StartRun -> Written, RunRefused;
    /// Takes a run further.
    AppendRun -> (), RunRefused;
    /// Erases runs that have ended; replies with how many.
    EraseRuns -> u64, Infallible;
    /// Puts a delivery that was given up back into the outbox; replies with it as it is then.
    Redeliver -> Delivery, RedeliveryRefused;
    /// Records what came of a delivery.
    RecordDelivery -> (), Infallible;
    /// Records something that changed nothing else.
    RecordAudit -> (), Infallible;
    /// Stores an API key.
    CreateApiKey -> (), Infallible;
    /// Revokes an API key; replies whether there was one that was not revoked yet.
    RevokeApiKey -> bool, Infallible;
    /// Sets a plugin's key.
    SetKv -> (), KvRefused;
    /// Removes a plugin's key; replies whether there was one.
    DeleteKv -> bool, Infallible;
    /// Removes everything a plugin keeps.
    ClearKv -> (), Infallible;
    /// Adds mandatory packs of the host, or their signers.
    AddGoverningPacks -> (), Infallible;
    /// Replaces the mandatory packs of the host.
    ReplaceGoverningPacks -> (), Infallible;
}

impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without what is written: documents and digests of keys do not belong into a log.
        f.write_str(self.name())
    }
}
