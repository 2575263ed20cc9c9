//! A connection must make progress.
//!
//! The first bytes of a connection decide its HTTP version, and hyper waits for them without a limit; it also waits
//! without one for a client that does not read its response. A client that does either on many connections would hold every place.
//! In between, the header and the body have their own timeouts; `traffic.rs` and `streams.rs` bound what HTTP/2 adds.

use crate::traffic::Traffic;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// What an HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream whose first bytes must arrive within a time, and whose peer must accept data within the same time.
pub(crate) struct Paced<S> {
    stream: S,
    time: Duration,
    traffic: Arc<Traffic>,
    /// None once the version is known.
    opening: Option<Pin<Box<Sleep>>>,
    /// Bytes of the preface that have arrived.
    matched: usize,
    /// Runs while the peer accepts nothing.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Paced<S> {
    pub(crate) fn new(stream: S, time: Duration, traffic: Arc<Traffic>) -> Self {
        Self {
            stream,
            time,
            traffic,
            opening: Some(Box::pin(tokio::time::sleep(time))),
            matched: 0,
            stalled: None,
        }
    }

    /// The result of a write: an error when nothing was accepted for too long.
    fn taken<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let time = self.time;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Records bytes that arrived while the version was unknown.
    fn arrived(&mut self, bytes: &[u8]) {
        let expected = PREFACE.get(self.matched..).unwrap_or_default();
        self.matched += bytes.len();
        if bytes.starts_with(expected) {
            self.traffic.speaks_http2();
        }
        if !expected.starts_with(bytes) || self.matched >= PREFACE.len() {
            self.opening = None;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(opening) = &mut self.opening else {
            return polled;
        };
        match polled {
            Poll::Ready(result) => {
                let arrived = buffer.filled().get(before..).unwrap_or_default();
                self.arrived(arrived);
                Poll::Ready(result)
            }
            Poll::Pending => {
                ready!(opening.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.taken(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.taken(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.taken(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.taken(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_time_runs_until_the_version_is_known() {
        let check = |pieces: &[&[u8]], runs: bool| {
            let traffic = Traffic::new(std::net::Ipv4Addr::LOCALHOST.into());
            let mut paced = Paced::new(tokio::io::empty(), Duration::from_secs(3_600), traffic);
            for piece in pieces {
                paced.arrived(piece);
            }
            assert_eq!(paced.opening.is_some(), runs, "{pieces:?}");
        };
        check(&[], true);
        check(&[b"P"], true);
        check(&[b"PRI", b" * HTTP/2.0\r\n\r\n"], true);
        check(&[b"G"], false);
        check(&[b"P", b"UT /"], false);
        check(&[PREFACE], false);
        check(&[b"PRI * HTTP/2.0\r\n\r\n", b"SM\r\n\r\n"], false);
        check(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n and a frame"], false);
    }
}
