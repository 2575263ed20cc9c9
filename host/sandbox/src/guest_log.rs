//! What a guest writes: log lines, standard output and error. Bounded in bytes; what does not fit is counted. A secret
//! that the guest has read does not get into it in clear.

use crate::call::{MAX_MESSAGE, bounded};
use crate::services::Secret;
use bytes::Bytes;
use mizzen_engine::{LogLevel, LogLine};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// A line longer than this is cut into several.
const MAX_LINE: usize = 4096;
/// What a stream accepts in one write; also what wasmtime may allocate for it.
const WRITE_PERMIT: usize = 16 << 10;
/// Counted for every line beside its text, so that empty lines are not free.
const LINE_COST: usize = 32;

/// The lines of one call.
pub(crate) struct Lines {
    lines: Vec<LogLine>,
    left: usize,
    dropped: u64,
    partial: [Vec<u8>; 2],
    revealed: BTreeMap<String, Secret>,
}

/// Shared between the store and the streams inside of it.
type Shared = Arc<Mutex<Lines>>;

/// The log of one call. Allocated when something is written or a secret is read.
pub(crate) struct Log {
    bound: u64,
    lines: Option<Shared>,
}

/// Which standard stream.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Out,
    Err,
}

fn locked(lines: &Shared) -> MutexGuard<'_, Lines> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    pub(crate) fn new(bound: u64) -> Self {
        Self { bound, lines: None }
    }

    fn shared(&mut self) -> &Shared {
        let bound = self.bound;
        self.lines.get_or_insert_with(|| {
            Arc::new(Mutex::new(Lines {
                lines: Vec::new(),
                left: usize::try_from(bound).unwrap_or(usize::MAX),
                dropped: 0,
                partial: [Vec::new(), Vec::new()],
                revealed: BTreeMap::new(),
            }))
        })
    }

    /// The guest has read this secret; from now on what it writes is searched for it.
    pub(crate) fn reveal(&mut self, name: &str, secret: &Secret) {
        locked(self.shared())
            .revealed
            .insert(name.to_owned(), secret.clone());
    }

    /// A text of the guest as it may be stored: cut to what a person reads, and without secrets.
    pub(crate) fn clean(&self, text: String) -> String {
        match &self.lines {
            Some(lines) => locked(lines).clean(text),
            None => without(&BTreeMap::new(), text),
        }
    }

    /// The name of a secret that the guest's output contains, as it is or JSON-escaped. An output is journaled and
    /// passed on, so it is refused whole rather than changed silently.
    pub(crate) fn leak(&self, answer: &str) -> Option<String> {
        let lines = locked(self.lines.as_ref()?);
        let stands = |secret: &Secret| {
            let value = secret.expose();
            let escaped = serde_json::Value::from(value).to_string();
            !value.is_empty() && (answer.contains(value) || answer.contains(escaped.trim_matches('"')))
        };
        let leaked = lines.revealed.iter().find(|(_, secret)| stands(secret));
        leaked.map(|(name, _)| name.clone())
    }

    pub(crate) fn write(&mut self, line: LogLine) {
        locked(self.shared()).push(line);
    }

    /// Ends the log: partial lines become lines.
    pub(crate) fn finish(&self) -> (Vec<LogLine>, u64) {
        let Some(lines) = &self.lines else {
            return (Vec::new(), 0);
        };
        let mut lines = locked(lines);
        lines.flush(Stream::Out);
        lines.flush(Stream::Err);
        (std::mem::take(&mut lines.lines), lines.dropped)
    }

    pub(crate) fn stream(&mut self, stream: Stream) -> LogStream {
        LogStream {
            lines: Arc::clone(self.shared()),
            stream,
        }
    }
}

impl Lines {
    fn clean(&self, text: String) -> String {
        without(&self.revealed, text)
    }

    fn push(&mut self, line: LogLine) {
        let cost = LINE_COST
            + line.message.len()
            + line
                .fields
                .iter()
                .map(|(name, value)| name.len() + value.len() + LINE_COST)
                .sum::<usize>();
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                self.lines.push(line);
            }
            None => self.dropped += 1,
        }
    }

    fn flush(&mut self, stream: Stream) {
        let partial = std::mem::take(self.partial_of(stream));
        if !partial.is_empty() {
            let level = match stream {
                Stream::Out => LogLevel::Info,
                Stream::Err => LogLevel::Warn,
            };
            let message = self.clean(String::from_utf8_lossy(&partial).into_owned());
            // Rust's hint after a panic: a guest has no environment, so it does not apply.
            if message.starts_with("note: run with `RUST_BACKTRACE=1`") {
                return;
            }
            self.push(LogLine {
                level,
                message,
                fields: Vec::new(),
            });
        }
    }

    fn partial_of(&mut self, stream: Stream) -> &mut Vec<u8> {
        let [out, err] = &mut self.partial;
        match stream {
            Stream::Out => out,
            Stream::Err => err,
        }
    }

    fn print(&mut self, stream: Stream, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = MAX_LINE.saturating_sub(self.partial_of(stream).len());
            let end = bytes.iter().take(room).position(|byte| *byte == b'\n');
            let (text, rest) = bytes
                .split_at_checked(end.unwrap_or(room))
                .unwrap_or((bytes, &[]));
            self.partial_of(stream).extend_from_slice(text);
            bytes = match end {
                Some(_) => rest.get(1..).unwrap_or_default(),
                None => rest,
            };
            if end.is_some() || self.partial_of(stream).len() >= MAX_LINE {
                self.flush(stream);
            }
        }
    }
}

/// The text as it may be stored, without these secrets.
fn without(revealed: &BTreeMap<String, Secret>, mut text: String) -> String {
    let longest = revealed
        .values()
        .map(|secret| secret.expose().len())
        .max()
        .unwrap_or(0);
    // Cut before the search, which is then bounded, but not so short that a secret would be cut in two.
    text.truncate(text.floor_char_boundary(MAX_MESSAGE + longest));
    for (name, secret) in revealed {
        if !secret.expose().is_empty() && text.contains(secret.expose()) {
            text = text.replace(secret.expose(), &format!("[secret {name}]"));
        }
    }
    bounded(text)
}

/// Standard output or error of a guest.
#[derive(Clone)]
pub(crate) struct LogStream {
    lines: Shared,
    stream: Stream,
}

impl IsTerminal for LogStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LogStream {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl OutputStream for LogStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        locked(&self.lines).print(self.stream, &bytes);
        Ok(())
    }
    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }
    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_PERMIT)
    }
}

#[async_trait::async_trait]
impl Pollable for LogStream {
    async fn ready(&mut self) {}
}

impl AsyncWrite for LogStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        locked(&self.lines).print(self.stream, bytes);
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(log: &Log) -> (Vec<String>, u64) {
        let (lines, dropped) = log.finish();
        (lines.into_iter().map(|line| line.message).collect(), dropped)
    }

    #[test]
    fn prints_become_lines_and_an_unfinished_one_is_kept() {
        let mut log = Log::new(1000);
        for part in ["one\ntw", "o\n\nthr", "ee"] {
            locked(log.shared()).print(Stream::Out, part.as_bytes());
        }
        assert_eq!(texts(&log), (vec!["one".into(), "two".into(), "three".into()], 0));
    }

    #[test]
    fn a_guest_that_prints_without_end_keeps_its_bound_and_the_rest_is_counted() {
        let mut log = Log::new(10_000);
        for _ in 0..100_000 {
            locked(log.shared()).print(Stream::Err, b"x\n");
        }
        let (lines, dropped) = texts(&log);
        assert_eq!(lines.len() as u64 + dropped, 100_000);
        assert!(lines.len() <= 10_000 / LINE_COST);
    }

    #[test]
    fn a_secret_that_was_handed_out_is_not_kept_in_clear() {
        let mut log = Log::new(100_000);
        let secret = Secret::new("hunter2 hunter2".into());
        assert_eq!(log.clean("hunter2 hunter2".into()), "hunter2 hunter2");
        log.reveal("door", &secret);
        assert_eq!(log.clean("(hunter2 hunter2)".into()), "([secret door])");
        locked(log.shared()).print(Stream::Out, b"a hunter2 hunter2\nb");
        assert_eq!(texts(&log).0, ["a [secret door]", "b"]);
        // Where a text is cut, a secret is not cut in two.
        let long = format!("{}hunter2 hunter2", "x".repeat(MAX_MESSAGE - 5));
        assert!(!log.clean(long).contains("hunter"));
    }

    #[test]
    fn advice_that_a_guest_cannot_follow_is_left_out() {
        let mut log = Log::new(1000);
        let printed = "thread 'main' panicked at src/lib.rs:3:5:\nno\n\
                       note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\nafter\n";
        locked(log.shared()).print(Stream::Err, printed.as_bytes());
        let lines = texts(&log).0;
        assert_eq!(
            lines,
            ["thread 'main' panicked at src/lib.rs:3:5:", "no", "after"]
        );
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let mut log = Log::new(100_000);
        locked(log.shared()).print(Stream::Out, &[b'x'; 10_000]);
        assert_eq!(
            texts(&log).0.iter().map(String::len).collect::<Vec<_>>(),
            [4096, 4096, 1808]
        );
    }
}
