//! Reads request bodies: checks the media type and bounds the size.

use crate::problem::{Code, Problem};
use crate::route::BodySpec;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, header};
use std::pin::Pin;
use std::time::Duration;

/// The media type of the body, when the route takes it.
pub(crate) fn media_type(spec: &BodySpec, headers: &HeaderMap) -> Result<String, Problem> {
    let refused = |what: &str| {
        let expected = spec.types.join(", ");
        Problem::new(
            Code::UnsupportedMediaType,
            format!("the content type is {what}; this route takes {expected}"),
        )
        .with(
            "supported",
            spec.types
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Err(refused("missing"));
    };
    let text: String = value.to_str().unwrap_or_default().chars().take(256).collect();
    let mut pieces = text.split(';').map(str::trim);
    let essence = pieces.next().unwrap_or_default().to_ascii_lowercase();
    if !spec.types.contains(&essence.as_str()) {
        return Err(refused(&format!("{text:?}")));
    }
    for piece in pieces {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let charset = value.trim_matches('"').to_ascii_lowercase();
        if name.eq_ignore_ascii_case("charset") && charset != "utf-8" && charset != "us-ascii" {
            return Err(refused(&format!("in {charset:?}, only utf-8 is read")));
        }
    }
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING)
        && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
    {
        let encoding: String = encoding.to_str().unwrap_or_default().chars().take(64).collect();
        return Err(refused(&format!(
            "encoded as {encoding:?}, and nothing is decoded"
        )));
    }
    Ok(essence)
}

/// How long a body of at most `limit` bytes may take: a package is larger than a document, and the client's connection may be slow.
pub(crate) fn time_for(limit: usize, receive: Duration) -> Duration {
    let pieces = u32::try_from(limit / (8 << 20)).unwrap_or(u32::MAX);
    receive.saturating_mul(pieces.saturating_add(1))
}

/// The body of a request, as far as it has been read.
#[derive(Debug)]
pub(crate) struct RequestBody {
    pub(crate) body: Body,
    /// What `Content-Length` declares.
    pub(crate) declared: Option<usize>,
    pub(crate) state: ReadState,
}

/// How far a body has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadState {
    /// Nothing was read: a client that waits for `100 Continue` still waits.
    Untouched,
    /// Some of it.
    Begun,
    /// To its end, or until it broke off.
    Ended,
    /// It timed out.
    TimedOut,
}

impl RequestBody {
    pub(crate) fn new(body: Body, headers: &HeaderMap) -> Self {
        let declared = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| text.parse().ok());
        let state = if body.is_end_stream() {
            ReadState::Ended
        } else {
            ReadState::Untouched
        };
        Self {
            body,
            declared,
            state,
        }
    }

    /// Reads a body of at most `limit` bytes within `time`. A larger one is refused as soon as that is known; its rest is
    /// left to `drain.rs`.
    pub(crate) async fn read(&mut self, limit: usize, time: Duration) -> Result<Bytes, Problem> {
        match tokio::time::timeout(time, self.collect(limit)).await {
            Ok(result) => result,
            Err(_) => {
                self.state = ReadState::TimedOut;
                Err(Problem::new(
                    Code::RequestTimeout,
                    format!("the body did not arrive within {} s", time.as_secs()),
                ))
            }
        }
    }

    async fn collect(&mut self, limit: usize) -> Result<Bytes, Problem> {
        let too_large = || {
            Problem::new(
                Code::PayloadTooLarge,
                format!("the body is larger than {limit} bytes"),
            )
            .with("limit", limit)
        };
        let declared = self.declared.unwrap_or(0);
        if declared > limit {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(declared);
        while let Some(data) = self.next().await {
            let data =
                data.map_err(|_| Problem::new(Code::MalformedBody, "the body ended before it was complete"))?;
            if data.len() > limit.saturating_sub(bytes.len()) {
                return Err(too_large());
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Bytes::from(bytes))
    }

    /// The next piece of data; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, axum::Error>> {
        if self.state == ReadState::Ended {
            return None;
        }
        self.state = ReadState::Begun;
        let frame = std::future::poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await;
        match frame {
            Some(Ok(frame)) => Some(Ok(frame.into_data().unwrap_or_default())),
            Some(Err(error)) => {
                self.state = ReadState::Ended;
                Some(Err(error))
            }
            None => {
                self.state = ReadState::Ended;
                None
            }
        }
    }
}

/// Decodes `%xx` and `+` of a query; none when it is not UTF-8 or an escape is broken.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    mizzen_json::percent::decode_strict(&text.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_may_take_longer_than_a_document() {
        let receive = Duration::from_secs(15);
        assert_eq!(time_for(crate::route::JSON_LIMIT, receive), receive);
        assert_eq!(time_for(64 << 20, receive), Duration::from_secs(135));
    }

    #[test]
    fn queries_are_decoded_or_refused() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(percent_decode(text).as_deref(), expected, "{text}");
        };
        check("a%20b+c", Some("a b c"));
        check("%C3%A9", Some("é"));
        check("%ff", None);
        check("%zz", None);
        check("%2", None);
    }
}
