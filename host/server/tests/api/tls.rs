//! TLS from certificate files.

use crate::support::TestHost;
use mizzen_server::{Config, TlsFiles};
use rustls::pki_types::{CertificateDer, ServerName};
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

/// A certificate for the loopback address and its key, as PEM files in a folder.
fn certificate(folder: &Path) -> (CertificateDer<'static>, TlsFiles) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let files = TlsFiles {
        certificate: folder.join("cert.pem"),
        key: folder.join("key.pem"),
    };
    fs::write(&files.certificate, made.cert.pem()).unwrap();
    fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    (made.cert.der().clone(), files)
}

#[test]
fn tls_is_served_from_certificate_files() {
    use std::io::{Read, Write};
    let folder = tempfile::tempdir().unwrap();
    let (certificate, files) = certificate(folder.path());
    let server = TestHost::with(Config {
        tls: Some(files.clone()),
        ..Config::default()
    })
    .listen();
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);

    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut connection = rustls::ClientConnection::new(Arc::new(client), name).unwrap();
    let mut socket = TcpStream::connect(&server.address).unwrap();
    let mut stream = rustls::Stream::new(&mut connection, &mut socket);
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    assert_eq!(connection.alpn_protocol(), Some(&b"http/1.1"[..]));

    fs::write(&files.key, "not a key").unwrap();
    let broken = Config {
        tls: Some(files),
        ..Config::default()
    };
    let refused = broken.check_tls().unwrap_err().to_string();
    assert!(refused.contains("key.pem"), "{refused}");
}
