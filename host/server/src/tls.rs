//! TLS from certificate files.

use crate::config::TlsFiles;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read as PEM.
    #[error("{path} cannot be used for TLS: {detail}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// Certificate and key do not fit.
    #[error("the certificate and the private key cannot be used together: {0}")]
    Pair(rustls::Error),
}

/// An acceptor that speaks TLS 1.2 and 1.3 and offers HTTP/2.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let unusable = |path: &PathBuf, detail: String| TlsError::File {
        path: path.clone(),
        detail,
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unusable(&files.certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(unusable(&files.certificate, "it holds no certificate".to_owned()));
    }
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unusable(&files.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Pair)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(TlsError::Pair)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
