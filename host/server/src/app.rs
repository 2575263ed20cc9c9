//! What every request shares.

use crate::config::Config;
use crate::rate::RateLimit;
use crate::route::Route;
use mizzen_ops::Host;
use std::sync::Arc;

/// The server's state.
#[derive(Debug)]
pub struct App {
    /// The operations.
    pub host: Arc<Host>,
    /// How the server behaves.
    pub config: Config,
    /// The OpenAPI document, written once.
    pub openapi: String,
    /// Per key.
    pub(crate) keys: RateLimit,
    /// Per address, for requests without a working key: bounds what they can make the audit log grow.
    pub(crate) strangers: RateLimit,
}

impl App {
    /// The state for some routes.
    pub fn new(host: Arc<Host>, config: Config, routes: &[Route]) -> Self {
        Self {
            openapi: crate::openapi::document(routes),
            keys: RateLimit::new(config.rate_per_second, config.rate_burst),
            strangers: RateLimit::new(2, 20),
            host,
            config,
        }
    }
}
