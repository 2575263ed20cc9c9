//! TLS from certificate files.

use crate::config::TlsFiles;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::Read as _;
use std::path::{Path, PathBuf};
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

/// Bytes of a file with certificates or a key.
const MAX_BYTES: u64 = 1 << 20;

/// Reads a regular file within the bound. Checked before opening: opening a pipe would wait for a writer.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than {MAX_BYTES} bytes"));
    }
    Ok(bytes)
}

/// An acceptor for TLS 1.2 and 1.3 that offers HTTP/2.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let unusable = |path: &PathBuf, detail: String| TlsError::File {
        path: path.clone(),
        detail,
    };
    let certificate = read(&files.certificate).map_err(|detail| unusable(&files.certificate, detail))?;
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&certificate)
        .collect::<Result<_, _>>()
        .map_err(|error| unusable(&files.certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(unusable(&files.certificate, "it holds no certificate".to_owned()));
    }
    let key = read(&files.key).map_err(|detail| unusable(&files.key, detail))?;
    let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| unusable(&files.key, error.to_string()))?;
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
