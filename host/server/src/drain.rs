//! The rest of a request body after an early response.
//!
//! Most clients write a whole body before they read: curl, Python's and Go's libraries, a shell script. If the server closes a connection of
//! HTTP/1.1 with unread bytes in it, the system resets it, and such a client sees a broken pipe instead of the 413 or 401. So the rest is
//! read and discarded while the response is sent: hyper reads on for as long as the body is kept. The bounds are bytes and
//! time; a body beyond them ends the connection and frees its place. HTTP/2 needs none of this: a stream gets its response and is
//! reset with NO_ERROR (RFC 9113, 8.1).

use crate::body::{ReadState, RequestBody};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Version, header};
use std::time::Duration;

/// Bytes that are discarded for one request; a package of the largest size that was sent with the wrong key still gets its 401.
pub(crate) const DRAIN: usize = 64 << 20;

/// How the rest of a body is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// There is none, or the protocol does not need it.
    Nothing,
    /// It is read, up to the bounds, and the connection continues.
    Drained,
    /// It is read up to the bounds, and the connection ends.
    DrainedThenClosed,
    /// It is not read: the connection ends.
    Closed,
}

/// How the rest of a request's body is handled: by its header, once the body has been read as far as the response needs.
#[derive(Debug)]
pub(crate) struct Leftover {
    version: Version,
    expects_continue: bool,
}

impl Leftover {
    pub(crate) fn of(parts: &Parts) -> Self {
        Self {
            version: parts.version,
            expects_continue: parts.headers.contains_key(header::EXPECT),
        }
    }

    pub(crate) fn rest(&self, body: &RequestBody) -> Rest {
        if !matches!(self.version, Version::HTTP_10 | Version::HTTP_11) {
            return Rest::Nothing;
        }
        match body.state {
            ReadState::Ended => Rest::Nothing,
            // The client was too slow once.
            ReadState::TimedOut => Rest::Closed,
            // Such a client sends nothing before it has the response, and reading would send it `100 Continue`.
            ReadState::Untouched if self.expects_continue => Rest::Closed,
            ReadState::Untouched | ReadState::Begun => match body.declared {
                Some(declared) if declared > DRAIN => Rest::DrainedThenClosed,
                _ => Rest::Drained,
            },
        }
    }
}

impl Rest {
    /// Adds `Connection: close` to the response, when that is known.
    pub(crate) fn announce(self, headers: &mut HeaderMap) {
        if matches!(self, Rest::DrainedThenClosed | Rest::Closed) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// Begins to read the rest. At most one task for a connection: hyper reads no other request before this one's body has ended.
    pub(crate) fn begin(self, body: RequestBody, time: Duration) {
        if matches!(self, Rest::Drained | Rest::DrainedThenClosed) {
            tokio::spawn(async move {
                let _ = tokio::time::timeout(time, drain(body)).await;
            });
        }
    }
}

/// Reads to the end or to the bound. The body is dropped then, and hyper closes the connection if it has not ended.
async fn drain(mut body: RequestBody) {
    let mut thrown = 0_usize;
    while let Some(Ok(data)) = body.next().await {
        thrown = thrown.saturating_add(data.len());
        if thrown > DRAIN {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn what_is_left_of_a_body_is_read_unless_its_client_waits_or_was_too_slow() {
        let check = |version, state, declared: Option<usize>, expects_continue, expected| {
            let leftover = Leftover {
                version,
                expects_continue,
            };
            let body = RequestBody {
                body: Body::empty(),
                declared,
                state,
            };
            assert_eq!(
                leftover.rest(&body),
                expected,
                "{version:?} {state:?} {declared:?} {expects_continue}"
            );
        };
        let one = Version::HTTP_11;
        check(one, ReadState::Ended, Some(5), false, Rest::Nothing);
        check(one, ReadState::Untouched, Some(5), false, Rest::Drained);
        check(one, ReadState::Begun, None, true, Rest::Drained);
        check(
            Version::HTTP_10,
            ReadState::Begun,
            Some(DRAIN),
            false,
            Rest::Drained,
        );
        check(
            one,
            ReadState::Untouched,
            Some(DRAIN + 1),
            false,
            Rest::DrainedThenClosed,
        );
        check(one, ReadState::Untouched, Some(5), true, Rest::Closed);
        check(one, ReadState::TimedOut, Some(5), false, Rest::Closed);
        check(
            Version::HTTP_2,
            ReadState::Untouched,
            Some(5),
            false,
            Rest::Nothing,
        );
    }
}
