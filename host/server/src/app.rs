//! What every request shares.

use crate::config::Config;
use crate::public_documents::PublicDocuments;
use crate::rate::RateLimit;
use crate::route::Route;
use crate::unsent::Unsent;
use mizzen_ops::{Host, Quota, QuotaLimits};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Large bodies that are parsed at the same time: each takes a thread and many times its size.
const PARSED: usize = 4;

/// The server's state.
#[derive(Debug)]
pub struct App {
    /// The operations.
    pub host: Arc<Host>,
    /// How the server behaves.
    pub config: Config,
    /// The public documents.
    pub(crate) documents: PublicDocuments,
    /// Responses that clients have not read yet.
    pub(crate) unsent: Unsent,
    /// Places for event streams.
    pub(crate) event_streams: Arc<Quota>,
    /// Places for large bodies.
    pub(crate) parsed: Semaphore,
    /// Per key.
    pub(crate) keys: RateLimit,
    /// Per address, for requests without a working key: bounds how much they can grow the audit log.
    pub(crate) strangers: RateLimit,
    /// All of them together: addresses are cheap.
    pub(crate) all_strangers: RateLimit,
    /// Per key, for requests without the grant: bounds the audit log too.
    pub(crate) denials: RateLimit,
}

impl App {
    /// The state for some routes.
    pub fn new(host: Arc<Host>, config: Config, routes: &[Route]) -> Self {
        Self {
            documents: PublicDocuments::new(routes),
            unsent: Unsent::new(config.unsent_bytes),
            event_streams: Quota::new(QuotaLimits {
                all: config.event_streams,
                each: (config.event_streams / 4).max(1),
                kept: 0,
                little: 0,
            }),
            parsed: Semaphore::new(PARSED),
            keys: RateLimit::new(config.rate_per_second, config.rate_burst),
            strangers: RateLimit::new(2, 20),
            all_strangers: RateLimit::new(20, 200),
            denials: RateLimit::new(2, 20),
            host,
            config,
        }
    }
}
