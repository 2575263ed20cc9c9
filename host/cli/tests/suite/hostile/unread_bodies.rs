//! A client that writes its whole body before it reads gets the answer, whatever the answer is; a body that does not end is not read for
//! ever.

use crate::support::http::{Answer, Served, mizzen, read_answer};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

fn start(section: &str) -> (tempfile::TempDir, Served) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("server.toml");
    std::fs::write(&config, section).unwrap();
    let data = folder.path().join("data");
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
    (folder, server)
}

fn connect(server: &Served) -> TcpStream {
    let stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// How a body's length is given.
#[derive(Debug, Clone, Copy)]
enum Framing {
    Length,
    Chunked,
}

/// Writes a body of this many bytes to its end, and reads only then.
fn write_then_read(server: &Served, head: &str, framing: Framing, bytes: usize) -> Answer {
    let mut stream = connect(server);
    let length = match framing {
        Framing::Length => format!("content-length: {bytes}"),
        Framing::Chunked => "transfer-encoding: chunked".to_owned(),
    };
    write!(
        stream,
        "{head}host: localhost\r\nconnection: close\r\n{length}\r\n\r\n"
    )
    .unwrap();
    let piece = vec![b' '; MIB];
    for _ in 0..bytes / MIB {
        if let Framing::Chunked = framing {
            write!(stream, "{MIB:x}\r\n").unwrap();
        }
        stream
            .write_all(&piece)
            .expect("a client that writes to the end is not cut off");
        if let Framing::Chunked = framing {
            stream.write_all(b"\r\n").unwrap();
        }
    }
    if let Framing::Chunked = framing {
        stream.write_all(b"0\r\n\r\n").unwrap();
    }
    read_answer(&mut stream, "POST").unwrap()
}

#[test]
fn whoever_writes_a_large_body_to_its_end_reads_why_it_was_refused() {
    let (_folder, server) = start("");
    let json = "content-type: application/json\r\n";
    for framing in [Framing::Length, Framing::Chunked] {
        let sprites = format!("POST /v1/sprites HTTP/1.1\r\n{json}");
        write_then_read(&server, &sprites, framing, 20 * MIB).expect(413, "PAYLOAD_TOO_LARGE");
        let wrong_type = "POST /v1/sprites HTTP/1.1\r\ncontent-type: text/plain\r\n";
        write_then_read(&server, wrong_type, framing, 20 * MIB).expect(415, "UNSUPPORTED_MEDIA_TYPE");
        let nowhere = format!("POST /v1/nowhere HTTP/1.1\r\n{json}");
        write_then_read(&server, &nowhere, framing, 20 * MIB).expect(404, "NOT_FOUND");
        let takes_none = format!("DELETE /v1/sprites HTTP/1.1\r\n{json}");
        write_then_read(&server, &takes_none, framing, 20 * MIB).expect(405, "METHOD_NOT_ALLOWED");
    }
    let package = "POST /v1/plugins HTTP/1.1\r\ncontent-type: application/wasm\r\n";
    write_then_read(&server, package, Framing::Chunked, 65 * MIB).expect(413, "PAYLOAD_TOO_LARGE");
    let key = mizzen()
        .args(["key", "api", "--data"])
        .arg(&server.data)
        .args(["new", "--grant", "admin"])
        .status();
    assert!(key.unwrap().success());
    for _ in 0..25 {
        // Refused for want of a key first, and for asking too often later.
        let answer = write_then_read(&server, package, Framing::Length, 4 * MIB);
        match answer.status {
            429 => answer.expect(429, "RATE_LIMITED"),
            _ => answer.expect(401, "UNAUTHENTICATED"),
        };
    }
}

/// Reads one answer with a length, and leaves the rest of the connection.
fn read_one(reader: &mut BufReader<TcpStream>) -> (String, Vec<String>) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let length = lines
        .iter()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (String::from_utf8(body).unwrap(), lines)
}

#[test]
fn a_connection_goes_on_after_a_body_that_was_thrown_away_and_says_when_it_does_not() {
    let (_folder, server) = start("");
    let mut stream = connect(&server);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let head = "POST /v1/sprites HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n", 3 * MIB).unwrap();
    stream.write_all(&vec![b' '; 3 * MIB]).unwrap();
    let (body, lines) = read_one(&mut reader);
    assert!(body.contains("PAYLOAD_TOO_LARGE"), "{body}");
    assert!(!lines.contains(&"connection: close".to_owned()), "{lines:?}");
    write!(stream, "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    assert!(read_one(&mut reader).0.contains("healthy"));

    // Beyond what is thrown away, and where the client waits for the answer before it sends anything.
    for fields in [
        format!("content-length: {}\r\n", 65 * MIB),
        format!("content-length: {}\r\nexpect: 100-continue\r\n", 3 * MIB),
    ] {
        let mut stream = connect(&server);
        write!(stream, "{head}{fields}\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        let (body, lines) = read_one(&mut reader);
        assert!(body.contains("PAYLOAD_TOO_LARGE"), "{body}");
        assert!(
            lines[0].starts_with("http/1.1 413"),
            "no 100 before it: {lines:?}"
        );
        assert!(lines.contains(&"connection: close".to_owned()), "{lines:?}");
    }
}

/// Sends a chunked body until the server has had enough; the answer's first line is read at the end.
fn send_without_end(mut stream: TcpStream, piece: &[u8], pause: Duration) -> Duration {
    let began = Instant::now();
    let head = "POST /v1/sprites HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\n";
    write!(stream, "{head}transfer-encoding: chunked\r\n\r\n").unwrap();
    let mut frame = format!("{:x}\r\n", piece.len()).into_bytes();
    frame.extend_from_slice(piece);
    frame.extend_from_slice(b"\r\n");
    while began.elapsed() < Duration::from_secs(60) {
        if let Err(error) = stream.write_all(&frame) {
            let ended = [
                ErrorKind::BrokenPipe,
                ErrorKind::ConnectionReset,
                ErrorKind::ConnectionAborted,
            ];
            assert!(ended.contains(&error.kind()), "{error}");
            return began.elapsed();
        }
        std::thread::sleep(pause);
    }
    panic!("a body without an end is read for ever");
}

#[test]
fn a_body_without_an_end_does_not_keep_its_place() {
    let (_folder, server) = start("[server]\nconnections = 2\nreceive_seconds = 2\n");
    let streams = [connect(&server), connect(&server)];
    let [slow, fast] = streams;
    let slow = std::thread::spawn(move || send_without_end(slow, b"x", Duration::from_millis(50)));
    let fast = std::thread::spawn(move || send_without_end(fast, &vec![b'x'; MIB], Duration::ZERO));
    assert!(slow.join().unwrap() < Duration::from_secs(30));
    fast.join().unwrap();
    // Both places are free again.
    server.call("GET", "/health").expect(200, "");
    let _held = connect(&server);
    server.call("GET", "/health").expect(200, "");
}
