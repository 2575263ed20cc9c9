//! The listener: connections, their limits, TLS, and an end that lets requests finish.

use crate::app::App;
use crate::config::Config;
use crate::dispatch::{self, Peer};
use crate::pace::Paced;
use crate::route::Route;
use crate::tls::{self, TlsError};
use crate::unparsed::Enveloped;
use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use mizzen_ops::Host;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

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
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A listener for others without keys.
    #[error(
        "{0} can be reached from other machines and no API key exists, so everybody could do everything; \
         make a key first (`mizzen key api new --grant admin`), or listen on 127.0.0.1"
    )]
    NoKeys(SocketAddr),
    /// The certificate files cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The store could not be asked.
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
        let places = Arc::new(Semaphore::new(self.config.connections.max(1)));
        let graceful = GracefulShutdown::new();
        let builder = Arc::new(connection_builder(&self.config));
        tokio::pin!(stop);
        loop {
            // A place first: connections beyond the limit wait in the system's queue instead of taking memory here.
            let place = tokio::select! {
                () = &mut stop => break,
                place = Arc::clone(&places).acquire_owned() => place,
            };
            let Ok(place) = place else { break };
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, mostly: without a pause this loop would take a whole core.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let connection = Connection {
                router: self.router.clone(),
                app: Arc::clone(&self.app),
                peer,
                builder: Arc::clone(&builder),
                watcher: graceful.watcher(),
                receive: self.config.receive,
            };
            let tls = self.tls.clone();
            tokio::spawn(async move {
                connection.run(stream, tls).await;
                drop(place);
            });
        }
        drop(self.listener);
        if tokio::time::timeout(self.config.grace, graceful.shutdown())
            .await
            .is_err()
        {
            tracing::warn!("some requests did not finish within the grace period and were cut off");
        }
    }
}

fn connection_builder(config: &Config) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.receive)
        // Wider than the configured limits, so that they can say by how much; what is beyond these is hyper's to refuse.
        .max_headers(config.header_fields.saturating_mul(4).max(100))
        .max_buf_size(config.header_bytes.saturating_mul(4).max(64 << 10));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(128)
        .max_header_list_size(u32::try_from(config.header_bytes.saturating_mul(4)).unwrap_or(u32::MAX))
        .max_pending_accept_reset_streams(32)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}

struct Connection {
    router: Router,
    app: Arc<App>,
    peer: SocketAddr,
    builder: Arc<Builder<TokioExecutor>>,
    watcher: Watcher,
    receive: Duration,
}

impl Connection {
    async fn run(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        // Small answers must not wait for a full packet.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        match tls {
            None => self.serve(stream).await,
            Some(tls) => match tokio::time::timeout(self.receive, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.serve(stream).await,
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            },
        }
    }

    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let Self {
            router,
            app,
            peer,
            builder,
            watcher,
            receive,
        } = self;
        let stream = Enveloped::new(Paced::new(stream, receive), app);
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let mut request: Request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(Peer(peer));
            router.clone().oneshot(request)
        });
        let connection = builder
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}
