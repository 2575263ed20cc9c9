//! Server-Sent Events: the journal of an execution, as it grows.
//!
//! The store is the queue: a slow reader gets the events that are there when it has room, so that it costs little and misses nothing. Its key is
//! checked again and again: a stream may live for days, and its key may not.

use crate::access::{self, ASK_AGAIN};
use crate::app::App;
use crate::call::{Call, Reply};
use crate::problem::{Code, Problem};
use crate::route::Access;
use crate::traffic::Traffic;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, StatusCode, header};
use hyper::body::Frame;
use mizzen_ops::{Caller, ExecutionEvent, Grant, QuotaShare};
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "text/event-stream";
/// Pieces that wait for a slow reader, beside those of one read.
const WAITING: usize = 1;
/// How often a quiet stream sends a keep-alive comment.
const ALIVE: Duration = Duration::from_secs(15);
/// How long a check of the reader's key is valid while events are sent.
const RECENT: Duration = Duration::from_millis(250);

struct Events(mpsc::Receiver<Bytes>);

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The events of an execution after a sequence number, until it ends or its reader loses access.
pub(crate) fn reply(call: Call, id: Uuid, after: u64) -> Result<Reply, Problem> {
    let Call {
        app, caller, traffic, ..
    } = call;
    let place = app.event_streams.take(caller.actor(), 1).map_err(|_| {
        let message = "too many executions are followed; end a stream that is not needed, and try again";
        Problem::new(Code::TooManyEventStreams, message).retry_after(1)
    })?;
    let (pieces, body) = mpsc::channel(WAITING);
    let following = Following {
        app,
        caller,
        traffic,
        id,
        after,
        pieces,
        asked: Instant::now(),
        _place: place,
    };
    tokio::spawn(following.pump());
    let mut reply = Reply::new(StatusCode::OK, MEDIA_TYPE, Body::new(Events(body)));
    reply
        .headers
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(reply)
}

/// One reader of an execution's events.
struct Following {
    app: Arc<App>,
    caller: Caller,
    traffic: Option<Arc<Traffic>>,
    id: Uuid,
    after: u64,
    pieces: mpsc::Sender<Bytes>,
    /// When the key was last checked.
    asked: Instant,
    _place: QuotaShare,
}

/// The stream ends here.
struct Ended;

impl Following {
    async fn pump(mut self) {
        while let Ok(events) = self.wait().await {
            if self.send(events).await.is_err() {
                return;
            }
        }
    }

    /// The next events, as soon as there are some.
    async fn wait(&mut self) -> Result<Vec<ExecutionEvent>, Ended> {
        let app = Arc::clone(&self.app);
        let mut next = pin!(app.host.next_events(self.id, self.after));
        let mut alive = Instant::now() + ALIVE;
        loop {
            let events = tokio::select! {
                events = &mut next => events,
                () = self.pieces.closed() => return Err(Ended),
                () = tokio::time::sleep(ASK_AGAIN) => {
                    self.ask_again().await?;
                    if Instant::now() >= alive {
                        // A reader without room for it is busy reading.
                        let _ = self.pieces.try_send(Bytes::from_static(b": alive\n\n"));
                        alive = Instant::now() + ALIVE;
                    }
                    continue;
                }
            };
            return match events {
                Ok(Some(events)) => Ok(events),
                Ok(None) => Err(Ended),
                Err(error) => {
                    // The reader reconnects with the last id that it has seen.
                    tracing::warn!(execution = %self.id, %error, "an event stream failed");
                    Err(Ended)
                }
            };
        }
    }

    async fn send(&mut self, events: Vec<ExecutionEvent>) -> Result<(), Ended> {
        // Events that wait for their reader are counted like any other response.
        let bytes = events.iter().map(|event| event.json.len()).sum();
        let _kept = match &self.traffic {
            Some(traffic) => self
                .app
                .unsent
                .charge(traffic, self.caller.actor(), bytes)
                .map_err(|_| Ended)?,
            None => None,
        };
        self.ask_again().await?;
        let pieces = self.pieces.clone();
        for event in events {
            // First room, then the key: a slow reader may have waited for long.
            let room = pieces.reserve().await.map_err(|_| Ended)?;
            if self.asked.elapsed() >= RECENT {
                self.ask_again().await?;
            }
            self.after = event.seq;
            room.send(written(&event));
        }
        Ok(())
    }

    /// Ends the stream of a reader that has lost access, or whose access cannot be checked.
    async fn ask_again(&mut self) -> Result<(), Ended> {
        self.asked = Instant::now();
        access::ask_again(&self.app, &self.caller, Access::Needs(Grant::RunsRead))
            .await
            .map_err(|problem| {
                tracing::info!(execution = %self.id, actor = self.caller.actor(), reason = problem.message, "an event stream was ended");
                Ended
            })
    }
}

fn written(event: &ExecutionEvent) -> Bytes {
    // The entry is one line: JSON text has no line breaks.
    format!(
        "id: {}\nevent: {}\ndata: {}\n\n",
        event.seq, event.kind, event.json
    )
    .into()
}
