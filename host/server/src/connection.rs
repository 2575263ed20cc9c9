//! One connection: TLS, its requests, and its end.

use crate::answer_body::AnswerBody;
use crate::app::App;
use crate::config::Config;
use crate::pace::Paced;
use crate::streams::Streams;
use crate::traffic::Traffic;
use crate::unparsed::Enveloped;
use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// How long a client has to react to the end of its connection.
const FAREWELL: Duration = Duration::from_secs(1);

/// How connections are served.
pub(crate) fn builder(config: &Config) -> Builder<Streams> {
    let mut builder = Builder::new(Streams::new(config.receive));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.receive)
        // Wider than the configured limits, so that those can report by how much they are exceeded; hyper refuses what is beyond these.
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

/// A connection that was accepted.
pub(crate) struct Connection {
    pub(crate) router: Router,
    pub(crate) app: Arc<App>,
    pub(crate) peer: SocketAddr,
    pub(crate) builder: Arc<Builder<Streams>>,
    /// Changes when the server stops; the server waits until every connection has dropped it.
    pub(crate) stop: watch::Receiver<()>,
    pub(crate) receive: Duration,
}

impl Connection {
    pub(crate) async fn run(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        // Small responses must not wait for a full packet.
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
            mut stop,
            receive,
        } = self;
        let traffic = Traffic::new(peer.ip());
        let stream = Enveloped::new(Paced::new(stream, receive, Arc::clone(&traffic)), app);
        let serving = Arc::clone(&traffic);
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let open = serving.open_request();
            let mut request: Request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(Arc::clone(&serving));
            let answered = router.clone().oneshot(request);
            async move { answered.await.map(|response| AnswerBody::around(response, open)) }
        });
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            _ = stop.changed() => {
                connection.as_mut().graceful_shutdown();
                connection.as_mut().await
            }
            () = traffic.idle(receive) => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = farewell(&traffic) => {
                        tracing::debug!(%peer, "a connection without a request was closed");
                        return;
                    }
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// A request that crossed the notice of the end gets its response; a client that does not react to the notice is disconnected.
async fn farewell(traffic: &Traffic) {
    loop {
        tokio::time::sleep(FAREWELL).await;
        if traffic.is_quiet() {
            return;
        }
    }
}
