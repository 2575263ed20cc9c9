//! Places for connections, and clients that keep them waiting.

use crate::support::{Listening, TestHost, read_answer};
use mizzen_server::Config;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn ask(stream: &mut TcpStream) {
    let request = b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
    stream.write_all(request).unwrap();
}

/// A host with little patience.
fn impatient(connections: usize) -> Listening {
    let config = Config {
        connections,
        receive: Duration::from_secs(1),
        ..Config::default()
    };
    TestHost::with(config).listen()
}

#[test]
fn a_body_that_does_not_arrive_is_408_and_a_header_that_does_not_arrive_ends_the_connection() {
    let server = impatient(64);
    let mut stream = server.connect();
    let head = "POST /v1/sprites HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    read_answer(&mut stream).expect(408, "REQUEST_TIMEOUT");
    // Nothing at all and half of HTTP/2's first line too: a silent client must not hold a place.
    let begun = [
        &b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n"[..],
        b"",
        b"PRI * HTTP",
    ];
    let mut waiting: Vec<TcpStream> = begun
        .iter()
        .map(|begun| {
            let mut stream = server.connect();
            stream.write_all(begun).unwrap();
            stream
        })
        .collect();
    for (stream, begun) in waiting.iter_mut().zip(begun) {
        let mut rest = Vec::new();
        // Closed, in whatever way: it does not stay open.
        let open = stream
            .read_to_end(&mut rest)
            .is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
        assert!(
            !open,
            "{:?} still holds its place",
            String::from_utf8_lossy(begun)
        );
    }
}

#[test]
fn connections_beyond_the_limit_wait_for_a_place() {
    let config = Config {
        connections: 1,
        ..Config::default()
    };
    let server = TestHost::with(config).listen();
    let mut first = server.connect();
    ask(&mut first);
    let mut byte = [0; 1];
    first.read_exact(&mut byte).unwrap();
    let mut second = server.connect();
    ask(&mut second);
    second.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(second.read_exact(&mut byte).is_err(), "the only place is taken");
    drop(first);
    second.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    second.read_exact(&mut byte).unwrap();
}

#[test]
fn a_client_that_asks_and_does_not_read_loses_its_place() {
    let server = impatient(1);
    let mut deaf = server.connect();
    // Far more answer than the two sockets hold.
    let request = "GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
    deaf.write_all(request.repeat(300).as_bytes()).unwrap();
    // Waits up to a minute for the only place.
    server
        .head("GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n")
        .expect(200, "");
    drop(deaf);
}
