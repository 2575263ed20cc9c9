//! How the server behaves. Read from `mizzen.toml`, `[server]`, by the command line.

use crate::tls::{self, TlsError};
use std::path::PathBuf;
use std::time::Duration;

/// Settings; each is enforced.
#[derive(Debug, Clone)]
pub struct Config {
    /// Requests a second that one API key may make on average.
    pub rate_per_second: u32,
    /// Requests that one API key may make at once.
    pub rate_burst: u32,
    /// Connections at the same time; further ones wait in the system's queue.
    pub connections: usize,
    /// Connections of one address (of one /64 of IPv6); further ones are closed. None: a quarter of all, and no share for loopback.
    pub connections_per_address: Option<usize>,
    /// Bytes of large responses that are kept for clients who have not read them; one connection may have a sixteenth of it, one key a
    /// quarter.
    pub unsent_bytes: usize,
    /// Event streams at the same time; one key may have a quarter of them.
    pub event_streams: usize,
    /// Bytes of a request's header.
    pub header_bytes: usize,
    /// Header fields of a request.
    pub header_fields: usize,
    /// Characters of a request's target.
    pub target_chars: usize,
    /// How long a client may take to send a header, and then a body; and to read some of a response.
    pub receive: Duration,
    /// How long requests in flight may take after the signal to stop.
    pub grace: Duration,
    /// Certificate chain and private key (PEM) for TLS.
    pub tls: Option<TlsFiles>,
    /// Origins that browsers may call from; none by default.
    pub cors_origins: Vec<String>,
}

/// The files for TLS.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate chain, PEM.
    pub certificate: PathBuf,
    /// The private key, PEM.
    pub key: PathBuf,
}

impl Config {
    /// Reads the files for TLS, as [`crate::Server::bind`] does, and drops them: a host that cannot use them need not load
    /// its plugins first.
    ///
    /// # Errors
    /// When they cannot be used.
    pub fn check_tls(&self) -> Result<(), TlsError> {
        self.tls.as_ref().map(tls::acceptor).transpose().map(drop)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            rate_per_second: 200,
            rate_burst: 400,
            connections: 4_096,
            connections_per_address: None,
            unsent_bytes: 256 << 20,
            event_streams: 1_024,
            header_bytes: 16 << 10,
            header_fields: 64,
            target_chars: 8 << 10,
            receive: Duration::from_secs(15),
            grace: Duration::from_secs(10),
            tls: None,
            cors_origins: Vec::new(),
        }
    }
}
