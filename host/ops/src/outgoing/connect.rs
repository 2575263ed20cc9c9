//! Names to addresses, addresses to streams. Two traits, because tests must never send a packet: theirs record.

use mizzen_sandbox::Pending;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A stream to a server.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Looks up the addresses of a name.
pub trait Resolve: Send + Sync {
    /// All of them.
    fn resolve<'a>(&'a self, host: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>>;
}

/// Opens a stream to an address.
pub trait Connect: Send + Sync {
    /// Encrypted, and for this name, when `tls` is given.
    fn connect(
        &self,
        address: SocketAddr,
        tls: Option<String>,
    ) -> Pending<'_, io::Result<Box<dyn Connection>>>;
}

/// The machine's own network.
#[derive(Default)]
pub struct SystemNetwork {
    tls: OnceLock<Arc<ClientConfig>>,
}

impl SystemNetwork {
    /// Built at the first encrypted connection: most hosts never make one.
    fn tls(&self) -> io::Result<TlsConnector> {
        if let Some(config) = self.tls.get() {
            return Ok(TlsConnector::from(Arc::clone(config)));
        }
        let roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::clone(
            self.tls.get_or_init(|| Arc::new(config)),
        )))
    }
}

impl Resolve for SystemNetwork {
    fn resolve<'a>(&'a self, host: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            // The port is not part of the question.
            Ok(tokio::net::lookup_host((host, 0))
                .await?
                .map(|address| address.ip())
                .collect())
        })
    }
}

impl Connect for SystemNetwork {
    fn connect(
        &self,
        address: SocketAddr,
        tls: Option<String>,
    ) -> Pending<'_, io::Result<Box<dyn Connection>>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            let _ = stream.set_nodelay(true);
            let Some(name) = tls else {
                return Ok(Box::new(stream) as Box<dyn Connection>);
            };
            let name = ServerName::try_from(name).map_err(io::Error::other)?;
            Ok(Box::new(self.tls()?.connect(name, stream).await?) as Box<dyn Connection>)
        })
    }
}
