//! The body of a response: sent in pieces, and kept only for as long as the client reads it.

use crate::streams::Progress;
use crate::traffic::{OpenRequest, StrangerPlace, Traffic};
use crate::unsent::Charge;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use tokio::time::Instant;

/// Bytes that are sent at once. The client has to read as many within `receive_seconds`; and as many, for each stream, are queued
/// below this layer, where their progress is not visible.
pub(crate) const PIECE: usize = 16 << 10;

/// What a response occupies until it has been sent; part of its extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occupied {
    _held: Arc<(Option<Charge>, Option<StrangerPlace>)>,
}

impl Occupied {
    pub(crate) fn new(charge: Option<Charge>, place: Option<StrangerPlace>) -> Self {
        Self {
            _held: Arc::new((charge, place)),
        }
    }
}

/// The body of a response.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    body: Body,
    /// Data of the body that has not been sent yet.
    rest: Bytes,
    /// None on a connection of HTTP/1.1, where a stalled socket is a stalled response.
    progress: Option<Arc<Progress>>,
    pieces: Arc<Pieces>,
    given: usize,
    given_at: Instant,
    ended: bool,
    request: OpenRequest,
    occupied: Occupied,
}

impl AnswerBody {
    /// Puts the body of a response into one that is watched.
    pub(crate) fn around(response: Response, request: OpenRequest) -> Response<Self> {
        let (mut parts, body) = response.into_parts();
        let progress = Progress::current();
        let given_at = Instant::now();
        if let Some(progress) = &progress {
            progress.give(given_at, request.traffic());
        }
        let body = Self {
            body,
            rest: Bytes::new(),
            progress,
            pieces: Arc::default(),
            given: 0,
            given_at,
            ended: false,
            occupied: parts.extensions.remove::<Occupied>().unwrap_or_default(),
            request,
        };
        Response::from_parts(parts, body)
    }

    fn give(&mut self) -> Bytes {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        self.given = self.given.saturating_add(1);
        self.given_at = Instant::now();
        if let Some(progress) = &self.progress {
            progress.give(self.given_at, self.request.traffic());
        }
        self.pieces.add();
        Bytes::from_owner(Piece {
            bytes: piece,
            pieces: Arc::clone(&self.pieces),
            traffic: Arc::clone(self.request.traffic()),
            _occupied: self.occupied.clone(),
        })
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let me = &mut *self;
        // Polled for more: the previous piece has been sent, or at least begun.
        if let Some(progress) = &me.progress {
            progress.taken();
        }
        while me.rest.is_empty() && !me.ended {
            match ready!(Pin::new(&mut me.body).poll_frame(context)) {
                None => me.ended = true,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => me.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
            }
        }
        if !me.rest.is_empty() {
            let piece = me.give();
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        // The end of a stream is returned only when everything before it has been sent: after it hyper drops the stream's task, and what is still
        // queued could not be withdrawn.
        if let Some(progress) = &me.progress
            && me.pieces.poll_gone(context).is_pending()
        {
            progress.give(me.given_at, me.request.traffic());
            return Poll::Pending;
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        // One piece alone carries the end of its stream: that saves a frame, and little can stay queued.
        self.rest.is_empty() && self.given <= 1 && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let inner = self.body.size_hint();
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(rest));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}

/// The pieces of a response that were passed to hyper and are not sent yet.
#[derive(Debug, Default)]
struct Pieces(Mutex<(usize, Option<Waker>)>);

impl Pieces {
    fn add(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = state.0.saturating_add(1);
    }

    fn gone(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = state.0.saturating_sub(1);
        if state.0 == 0
            && let Some(waker) = state.1.take()
        {
            waker.wake();
        }
    }

    fn poll_gone(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 == 0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

/// A part of a response, owned by its sender.
struct Piece {
    bytes: Bytes,
    pieces: Arc<Pieces>,
    traffic: Arc<Traffic>,
    _occupied: Occupied,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.traffic.taken();
        self.pieces.gone();
    }
}
