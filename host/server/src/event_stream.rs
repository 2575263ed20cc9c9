//! Server-Sent Events: the journal of an execution, as it grows.
//!
//! The store is the queue: a slow reader is given what is there when it has room, so that it costs nothing and misses nothing.

use crate::call::Reply;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, StatusCode, header};
use hyper::body::Frame;
use mizzen_ops::{ExecutionEvent, Host};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use uuid::Uuid;

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "text/event-stream";
/// Pieces that wait for a slow reader.
const WAITING: usize = 4;
/// How often a quiet stream says that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

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

/// The events of an execution after a place, until it ends.
pub(crate) fn reply(host: Arc<Host>, id: Uuid, after: u64) -> Reply {
    let (pieces, body) = mpsc::channel(WAITING);
    tokio::spawn(pump(host, id, after, pieces));
    let mut reply = Reply::new(StatusCode::OK, MEDIA_TYPE, Body::new(Events(body)));
    reply
        .headers
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

async fn pump(host: Arc<Host>, id: Uuid, mut after: u64, pieces: mpsc::Sender<Bytes>) {
    loop {
        let events = tokio::select! {
            events = host.next_events(id, after) => events,
            () = pieces.closed() => return,
            () = tokio::time::sleep(ALIVE) => {
                if pieces.send(Bytes::from_static(b": alive\n\n")).await.is_err() {
                    return;
                }
                continue;
            }
        };
        match events {
            Ok(Some(events)) => {
                for event in events {
                    after = event.seq;
                    if pieces.send(written(&event)).await.is_err() {
                        return;
                    }
                }
            }
            Ok(None) => return,
            Err(error) => {
                // The reader comes back with the last id that it has seen.
                tracing::warn!(execution = %id, %error, "a stream of events is broken off");
                return;
            }
        }
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
