//! The error envelope for requests that cannot be parsed as HTTP.
//!
//! A request that cannot be parsed reaches no route: hyper responds itself, with a status and no body, and closes the connection. The
//! stream here replaces that response by the error envelope. Every response of a route carries
//! `x-request-id`, so the two cannot be confused; nothing else is inspected.

use crate::app::App;
use crate::problem::{Code, Problem};
use mizzen_ops::Family;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// hyper's own responses are shorter.
const LONGEST: usize = 512;

/// A connection on which hyper's own refusals are written as ours.
pub(crate) struct Enveloped<S> {
    stream: S,
    app: Arc<App>,
    /// The replacement of hyper's response, and how much of it has been written.
    answer: Vec<u8>,
    written: usize,
}

impl<S: AsyncWrite + Unpin> Enveloped<S> {
    pub(crate) fn new(stream: S, app: Arc<App>) -> Self {
        Self {
            stream,
            app,
            answer: Vec::new(),
            written: 0,
        }
    }

    fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.answer.get(self.written..).filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes hyper's response off the wire; true when it did.
    fn replace(&mut self, buffer: &[u8]) -> bool {
        let Some((code, head)) = refusal(buffer) else {
            return false;
        };
        let request_id = self.app.host.new_request_id();
        let status = code.status();
        let problem = Problem::new(code, message(code));
        let body = problem.envelope(&request_id);
        let length = body.len();
        self.answer = format!(
            "{head}content-type: application/json\r\nx-request-id: {request_id}\r\nx-content-type-options: nosniff\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .into_bytes();
        self.written = 0;
        let labels = ["unknown", "other", status.as_str()];
        self.app.host.metrics.count(Family::HttpRequests, &labels);
        tracing::info!(
            request_id,
            status = status.as_u16(),
            "a request could not be parsed"
        );
        true
    }
}

/// The code of a response that hyper made by itself, and its head without the length and the empty line.
fn refusal(buffer: &[u8]) -> Option<(Code, String)> {
    if buffer.len() > LONGEST || !buffer.ends_with(b"\r\n\r\n") || !buffer.starts_with(b"HTTP/1.1 4") {
        return None;
    }
    let text = std::str::from_utf8(buffer).ok()?;
    let mut head = String::new();
    let mut empty = false;
    for line in text.split_terminator("\r\n").filter(|line| !line.is_empty()) {
        match line.split_once(": ") {
            Some(("x-request-id", _)) => return None,
            Some(("content-length", length)) => empty = length == "0",
            _ => {
                head.push_str(line);
                head.push_str("\r\n");
            }
        }
    }
    let code = match text.get("HTTP/1.1 ".len()..)?.get(..3)? {
        "400" => Code::MalformedRequest,
        "414" => Code::UriTooLong,
        "431" => Code::HeadersTooLarge,
        _ => return None,
    };
    empty.then_some((code, head))
}

fn message(code: Code) -> &'static str {
    match code {
        Code::UriTooLong => "the target is longer than this server reads",
        Code::HeadersTooLarge => "the header has more fields or bytes than this server reads",
        _ => "the request cannot be parsed as HTTP/1.0, 1.1 or 2: check its first line and its header",
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Enveloped<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Enveloped<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_answer(context))?;
        if !self.replace(buffer) {
            return Pin::new(&mut self.stream).poll_write(context, buffer);
        }
        // What the socket does not take now is written by the flush that follows.
        match self.poll_answer(context) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(buffer.len())),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut filled = buffers.iter().filter(|buffer| !buffer.is_empty());
        match (filled.next(), filled.next()) {
            (Some(only), None) => self.poll_write(context, only),
            _ => {
                ready!(self.poll_answer(context))?;
                Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_refusal_without_a_request_id_is_hypers() {
        let check = |text: &str, expected: Option<Code>| {
            assert_eq!(refusal(text.as_bytes()).map(|(code, _)| code), expected, "{text}");
        };
        let bare = |status: &str| {
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n")
        };
        check(&bare("400 Bad Request"), Some(Code::MalformedRequest));
        check(&bare("414 URI Too Long"), Some(Code::UriTooLong));
        check(
            &bare("431 Request Header Fields Too Large"),
            Some(Code::HeadersTooLarge),
        );
        check(&bare("404 Not Found"), None);
        check(&bare("200 OK"), None);
        check("HTTP/1.1 100 Continue\r\n\r\n", None);
        check("HTTP/1.1 400 Bad Request\r\ncontent-length: 12\r\n\r\n", None);
        check(
            "HTTP/1.1 400 Bad Request\r\nx-request-id: req-1\r\ncontent-length: 0\r\n\r\n",
            None,
        );
        check("{\"code\":\"HTTP/1.1 400\"}", None);
        check("", None);
    }

    #[test]
    fn the_rest_of_the_head_stays() {
        let answer =
            b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: Tue\r\n\r\n";
        let (_, head) = refusal(answer).unwrap();
        assert_eq!(
            head,
            "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ndate: Tue\r\n"
        );
    }
}
