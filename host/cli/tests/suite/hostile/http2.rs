//! HTTP/2 connections that take memory, streams or places and give nothing back: they lose them (R1, R6).

use crate::support::documents::sprite;
use crate::support::http::Served;
use crate::support::http2::{RawHttp2, Received};
use std::io::Read;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Streams that a connection may have open.
const STREAMS: usize = 128;

fn start(settings: &str) -> (tempfile::TempDir, Served) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("server.toml");
    std::fs::write(&config, format!("[server]\n{settings}\n")).unwrap();
    let data = folder.path().join("data");
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
    (folder, server)
}

/// Memory that the server has in use, in MiB.
fn resident(server: &Served) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// Reads until so many requests have got the header of an answer; how many of them were a 200.
fn answered(client: &mut RawHttp2, requests: usize) -> usize {
    let (mut seen, mut good) = (0, 0);
    while seen < requests {
        if let Received::Answer { ok, .. } = client.receive().unwrap().expect("an open connection") {
            seen += 1;
            good += usize::from(ok);
        }
    }
    good
}

/// Reads the rest of an answer, for which there is room.
fn read_rest(client: &mut RawHttp2, wanted: u32) -> usize {
    let mut size = 0;
    loop {
        match client.receive().unwrap().expect("an open connection") {
            Received::Data { stream, bytes, last } if stream == wanted => {
                size += bytes;
                if last {
                    return size;
                }
            }
            Received::Answer {
                stream, whole: true, ..
            } if stream == wanted => return size,
            _ => {}
        }
    }
}

#[test]
fn answers_that_nobody_takes_are_not_copied_for_everybody_who_asks() {
    let (_folder, server) = start("receive_seconds = 60");
    server.call("GET", "/openapi.json").expect(200, "");
    let before = resident(&server);
    let mut clients: Vec<RawHttp2> = (0..20).map(|_| RawHttp2::connect(&server, 0)).collect();
    for client in &mut clients {
        for _ in 0..STREAMS {
            client.get("/openapi.json");
        }
    }
    for client in &mut clients {
        // Without a key a connection gets a few; the others are told to come back.
        assert_eq!(answered(client, STREAMS), 16);
    }
    // 2,560 copies of 300 KB would be 750 MiB.
    let grown = resident(&server).saturating_sub(before);
    assert!(grown < 128, "{grown} MiB are kept for answers that nobody takes");
    server.call("GET", "/health").expect(200, "");
}

#[test]
fn a_connection_that_had_a_key_has_all_of_its_streams() {
    let (_folder, server) = start("receive_seconds = 60");
    let mut client = RawHttp2::connect(&server, 0);
    // A server without keys knows every local caller.
    client.get("/v1/sprites");
    assert_eq!(answered(&mut client, 1), 1);
    for _ in 1..STREAMS {
        client.get("/openapi.json");
    }
    assert_eq!(answered(&mut client, STREAMS - 1), STREAMS - 1);
}

#[test]
fn a_stream_that_takes_nothing_ends_and_the_others_go_on() {
    let (_folder, server) = start("receive_seconds = 1");
    let mut client = RawHttp2::connect(&server, 0);
    let stalled = client.get("/openapi.json");
    let slow = client.get("/openapi.json");
    client.grant(slow, 1_000);
    let until = Instant::now() + Duration::from_secs(60);
    let mut ended = Vec::new();
    // The connection takes something all the time, only not of these two: one gets nothing, one a little and no more.
    while ended.len() < 2 {
        assert!(Instant::now() < until, "a stream that takes nothing stays open");
        let health = client.get("/health");
        client.grant(health, 10_000);
        loop {
            match client.receive().unwrap().expect("an open connection") {
                Received::Data {
                    stream, last: true, ..
                } if stream == health => break,
                Received::Reset { stream } => ended.push(stream),
                _ => {}
            }
        }
    }
    ended.sort_unstable();
    assert_eq!(ended, [stalled, slow]);
    // A large answer that is taken comes whole, over the same connection.
    let whole = client.get("/openapi.json");
    client.grant(whole, 1 << 24);
    let length = server.call("GET", "/openapi.json").body.len();
    assert_eq!(read_rest(&mut client, whole), length);
}

#[test]
fn a_connection_that_takes_no_answer_at_all_ends() {
    let (_folder, server) = start("receive_seconds = 1");
    for window in [0, 1, 20_000] {
        let mut client = RawHttp2::connect(&server, window);
        client.get("/openapi.json");
        client.get("/health");
        client.wait_for_the_end();
    }
}

#[test]
fn large_answers_that_are_not_read_are_counted() {
    // A sixteenth for one connection: 64 KiB.
    let (_folder, server) = start("receive_seconds = 60\nunsent_bytes = 1_048_576");
    let mut document = sprite("SOL-FORGE");
    document["system_prompt"] = "x".repeat(30_000).into();
    let made = server.call_json("POST", "/v1/sprites", &document).expect(201, "");
    let path = format!("/v1/sprites/{}", made["id"].as_str().unwrap());
    let mut client = RawHttp2::connect(&server, 0);
    for _ in 0..5 {
        client.get(&path);
    }
    assert_eq!(answered(&mut client, 5), 2, "two of 30 KB fit");
    // A key, or whoever is on this machine, has a quarter of all over its connections.
    let mut others: Vec<RawHttp2> = Vec::new();
    let mut good = 2;
    for _ in 0..8 {
        let mut other = RawHttp2::connect(&server, 0);
        other.get(&path);
        other.get(&path);
        good += answered(&mut other, 2);
        others.push(other);
    }
    assert_eq!(good, 8, "eight of 30 KB fit into 256 KiB");
    let refused = server.call("GET", &path).expect(503, "UNREAD_ANSWERS");
    assert!(refused["message"].as_str().unwrap().contains("read"), "{refused}");
    // Small answers and everybody else are served.
    server.call("GET", "/health").expect(200, "");
    server.call("GET", "/v1/councils").expect(200, "");
    drop((client, others));
    let until = Instant::now() + Duration::from_secs(60);
    while server.call("GET", &path).status != 200 {
        assert!(Instant::now() < until, "what was given up is still counted");
    }
}

/// What a hostile connection does.
type Misdeed = fn(&Served) -> RawHttp2;

#[test]
fn connections_without_a_request_lose_their_places() {
    let misdeeds: [(&str, Misdeed); 4] = [
        ("only settings", |server| RawHttp2::connect(server, 65_535)),
        ("a header that does not end", |server| {
            let mut client = RawHttp2::connect(server, 65_535);
            client.begin_header("/health");
            client
        }),
        ("answers that are not taken", |server| {
            let mut client = RawHttp2::connect(server, 0);
            client.get("/openapi.json");
            client
        }),
        ("a request, and then nothing", |server| {
            let mut client = RawHttp2::connect(server, 65_535);
            client.get("/health");
            client
        }),
    ];
    let (_folder, server) = start("receive_seconds = 1\nconnections = 32");
    for (what, misdeed) in misdeeds {
        let hostile: Vec<RawHttp2> = (0..40).map(|_| misdeed(&server)).collect();
        let asked = Instant::now();
        assert_eq!(server.call("GET", "/health").status, 200, "{what}");
        // Pings that nobody answers would end them too, after 50 s.
        assert!(asked.elapsed() < Duration::from_secs(30), "{what}");
        drop(hostile);
    }
}

#[test]
fn pings_do_not_keep_a_place() {
    let (_folder, server) = start("receive_seconds = 1\nconnections = 32");
    let stop = AtomicBool::new(false);
    let mut hostile: Vec<RawHttp2> = (0..40).map(|_| RawHttp2::connect(&server, 65_535)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for client in &mut hostile {
                    client.patience(Duration::from_millis(5));
                    let open = client.ping().is_ok() && !matches!(client.receive(), Ok(None));
                    // Whoever lost a place takes another one.
                    if !open {
                        *client = RawHttp2::connect(&server, 65_535);
                    }
                }
            }
        });
        let answers: Vec<_> = (0..3)
            .map(|_| crate::support::http::try_send(&server.address, "GET", "/health", &[], b""))
            .collect();
        stop.store(true, Ordering::Relaxed);
        for answer in answers {
            assert_eq!(answer.unwrap().status, 200);
        }
    });
}

#[test]
fn a_header_without_an_end_is_not_gathered() {
    let (_folder, server) = start("receive_seconds = 60");
    let mut client = RawHttp2::connect(&server, 65_535);
    let stream = client.begin_header("/health");
    for _ in 0..10_000 {
        if client.continue_header(stream).is_err() {
            break;
        }
    }
    client.wait_for_the_end();
    server.call("GET", "/health").expect(200, "");
}

#[test]
fn an_address_has_its_share_of_the_places() {
    let (_folder, server) = start("connections_per_address = 4");
    let held: Vec<RawHttp2> = (0..4)
        .map(|_| {
            let mut client = RawHttp2::connect(&server, 65_535);
            client.get("/health");
            assert_eq!(answered(&mut client, 1), 1);
            client
        })
        .collect();
    let mut more = TcpStream::connect(&server.address).unwrap();
    more.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut rest = Vec::new();
    let closed = more.read_to_end(&mut rest);
    assert!(rest.is_empty(), "{rest:?}");
    assert!(
        !closed.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
        "the fifth connection has a place"
    );
    drop(held);
    let until = Instant::now() + Duration::from_secs(60);
    while crate::support::http::try_send(&server.address, "GET", "/health", &[], b"").is_err() {
        assert!(Instant::now() < until, "the places are not given back");
    }
}

#[test]
fn public_documents_are_compressed_for_whoever_takes_that() {
    let (_folder, server) = Served::fresh();
    for path in ["/openapi.json", "/docs", "/v1/schemas/iris.schema.json"] {
        let plain = server.call("GET", path);
        assert_eq!(plain.header("content-encoding"), None);
        assert_eq!(plain.header("vary"), Some("accept-encoding"));
        let packed = server.send("GET", path, &[("accept-encoding", "br, gzip;q=0.5")], b"");
        assert_eq!(packed.status, 200);
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{path}");
        assert_eq!(packed.header("content-type"), plain.header("content-type"));
        assert_eq!(packed.header("vary"), Some("accept-encoding"));
        assert_eq!(packed.body[..3], [0x1f, 0x8b, 8]);
        let size = packed.body.len();
        // The last four bytes are the length of what was packed.
        let length = u32::from_le_bytes(packed.body[size - 4..].try_into().unwrap());
        assert_eq!(length as usize, plain.body.len());
        assert!(size * 2 < plain.body.len(), "{path}: {size} of {length}");
    }
    let head = server.send("HEAD", "/openapi.json", &[("accept-encoding", "gzip")], b"");
    assert_eq!(head.header("content-encoding"), Some("gzip"));
}
