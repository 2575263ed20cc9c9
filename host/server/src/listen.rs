//! The listener: places for connections, and an end that lets requests finish.

mod places;

use crate::app::App;
use crate::config::Config;
use crate::connection::{self, Connection};
use crate::dispatch;
use crate::route::Route;
use crate::tls::{self, TlsError};
use axum::Router;
use mizzen_ops::Host;
use places::Places;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be bound.
    #[error(
        "{address} cannot be listened on: {source}; choose another address with --listen (port 0 picks a free port)"
    )]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A listener for others without keys.
    #[error(
        "{0} can be reached from other machines and no API key exists, so every client would have full access; \
         make a key first (`mizzen key api new --grant admin`), or listen on 127.0.0.1"
    )]
    NoKeys(SocketAddr),
    /// The certificate files cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The store could not be read.
    #[error("the store cannot be read: {0}")]
    Store(String),
}

/// A server that listens and does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    app: Arc<App>,
    config: Config,
    tls: Option<TlsAcceptor>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Server")
            .field("url", &self.url())
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Binds the address, after the check that others need a key.
    pub async fn bind(
        address: SocketAddr,
        host: Arc<Host>,
        config: Config,
        routes: Vec<Route>,
    ) -> Result<Self, ServeError> {
        if !address.ip().is_loopback() {
            let has_key = host
                .has_live_key()
                .await
                .map_err(|fault| ServeError::Store(fault.to_string()))?;
            if !has_key {
                return Err(ServeError::NoKeys(address));
            }
        }
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let bound = |source| ServeError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bound)?;
        let address = listener.local_addr().map_err(bound)?;
        let app = Arc::new(App::new(host, config.clone(), &routes));
        Ok(Self {
            listener,
            address,
            router: dispatch::router(Arc::clone(&app), routes),
            app,
            config,
            tls,
        })
    }

    /// The API without a listener: a request goes in, an answer comes out. What a connection is held to is not there.
    pub fn router(host: Arc<Host>, config: Config, routes: Vec<Route>) -> Router {
        let app = Arc::new(App::new(host, config, &routes));
        dispatch::router(app, routes)
    }

    /// The address, with the port that was chosen for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://ADDR:PORT`, or `https` with TLS.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until `stop` is done, then lets requests in flight finish.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let places = Places::new(self.config.connections, self.config.connections_per_address);
        let (stopping, stopped) = watch::channel(());
        let builder = Arc::new(connection::builder(&self.config));
        tokio::pin!(stop);
        loop {
            // A place first: connections beyond the limit wait in the system's queue instead of taking memory here.
            let place = tokio::select! {
                () = &mut stop => break,
                place = places.wait() => place,
            };
            let Some(place) = place else { break };
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Mostly for lack of file descriptors: without a pause this loop would take a whole core.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let Some(place) = places.give(place, peer.ip()) else {
                tracing::debug!(%peer, "a connection beyond the share of its address was closed");
                continue;
            };
            let connection = Connection {
                router: self.router.clone(),
                app: Arc::clone(&self.app),
                peer,
                builder: Arc::clone(&builder),
                stop: stopped.clone(),
                receive: self.config.receive,
            };
            let tls = self.tls.clone();
            tokio::spawn(async move {
                connection.run(stream, tls).await;
                drop(place);
            });
        }
        drop((self.listener, stopped));
        // Without a receiver every connection has ended.
        let _ = stopping.send(());
        if tokio::time::timeout(self.config.grace, stopping.closed())
            .await
            .is_err()
        {
            tracing::warn!("some requests did not finish within the grace period and were cut off");
        }
    }
}
