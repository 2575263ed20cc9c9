//! HTTP/2 by hand, frame by frame: a client that does what no library would let it do.

use super::http::Served;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

const INITIAL_WINDOW_SIZE: u16 = 4;

/// Something that the server sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// The header of an answer; the status when it is 200.
    Answer { stream: u32, ok: bool, whole: bool },
    /// Some of an answer, and whether it is the last of it.
    Data { stream: u32, bytes: usize, last: bool },
    /// The stream was ended.
    Reset { stream: u32 },
    /// A ping was answered.
    Pong,
    /// The server says that the connection ends.
    Farewell,
    /// Anything else.
    Other,
}

/// One connection.
pub(crate) struct RawHttp2 {
    stream: TcpStream,
    authority: String,
    next: u32,
}

impl RawHttp2 {
    /// A connection that grants every stream so many bytes at first.
    pub(crate) fn connect(server: &Served, window: u32) -> Self {
        let stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Self {
            stream,
            authority: server.address.clone(),
            next: 1,
        };
        let mut settings = INITIAL_WINDOW_SIZE.to_be_bytes().to_vec();
        settings.extend_from_slice(&window.to_be_bytes());
        client.stream.write_all(PREFACE).unwrap();
        client.send(SETTINGS, 0, 0, &settings).unwrap();
        client
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> std::io::Result<()> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags];
        frame.extend_from_slice(&stream.to_be_bytes());
        frame.extend_from_slice(payload);
        self.stream.write_all(&frame)
    }

    /// The header of a GET: `:method GET`, `:scheme http`, then path and authority as they are.
    fn head(&self, path: &str) -> Vec<u8> {
        let mut head = vec![0x82, 0x86];
        for (index, value) in [(0x04, path), (0x01, self.authority.as_str())] {
            head.push(index);
            head.push(u8::try_from(value.len()).unwrap());
            head.extend_from_slice(value.as_bytes());
        }
        head
    }

    fn next_stream(&mut self) -> u32 {
        let stream = self.next;
        self.next += 2;
        stream
    }

    /// Asks for a path; the number of the stream.
    pub(crate) fn get(&mut self, path: &str) -> u32 {
        let (head, stream) = (self.head(path), self.next_stream());
        self.send(HEADERS, END_STREAM | END_HEADERS, stream, &head)
            .unwrap();
        stream
    }

    /// Begins a header and does not end it.
    pub(crate) fn begin_header(&mut self, path: &str) -> u32 {
        let (head, stream) = (self.head(path), self.next_stream());
        self.send(HEADERS, END_STREAM, stream, &head).unwrap();
        stream
    }

    /// Goes on with a header; an error when the server has had enough.
    pub(crate) fn continue_header(&mut self, stream: u32) -> std::io::Result<()> {
        self.send(CONTINUATION, 0, stream, &[0x00, 0x01, b'x', 0x01, b'y'])
    }

    /// Lets a stream, and the connection, have more.
    pub(crate) fn grant(&mut self, stream: u32, bytes: u32) {
        for stream in [0, stream] {
            self.send(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes()).unwrap();
        }
    }

    /// Asks whether the server is there.
    pub(crate) fn ping(&mut self) -> std::io::Result<()> {
        self.send(PING, 0, 0, b"mizzen!!")
    }

    /// How long to wait for a frame.
    pub(crate) fn patience(&mut self, time: Duration) {
        self.stream.set_read_timeout(Some(time)).unwrap();
    }

    /// The next frame; none when the connection has ended. Settings and pings are answered.
    pub(crate) fn receive(&mut self) -> std::io::Result<Option<Received>> {
        let mut head = [0; 9];
        match self.stream.read_exact(&mut head) {
            Ok(()) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::UnexpectedEof
                        | ErrorKind::ConnectionReset
                        | ErrorKind::BrokenPipe
                        | ErrorKind::ConnectionAborted
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload)?;
        Ok(Some(match kind {
            HEADERS => Received::Answer {
                stream,
                // `:status 200` has a byte of its own.
                ok: payload.first() == Some(&0x88),
                whole: flags & END_STREAM != 0,
            },
            DATA => Received::Data {
                stream,
                bytes: payload.len(),
                last: flags & END_STREAM != 0,
            },
            RST_STREAM => Received::Reset { stream },
            GOAWAY => Received::Farewell,
            PING if flags & ACK != 0 => Received::Pong,
            PING => {
                let _ = self.send(PING, ACK, 0, &payload);
                Received::Other
            }
            SETTINGS if flags & ACK == 0 => {
                let _ = self.send(SETTINGS, ACK, 0, &[]);
                Received::Other
            }
            _ => Received::Other,
        }))
    }

    /// Reads until the connection ends; panics when it does not within a minute.
    pub(crate) fn wait_for_the_end(&mut self) {
        let until = Instant::now() + Duration::from_secs(60);
        while self.receive().expect("the connection ends").is_some() {
            assert!(Instant::now() < until, "the connection does not end");
        }
    }
}
