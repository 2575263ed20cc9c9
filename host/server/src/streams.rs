//! The streams of HTTP/2 connections: one task each, ended when its client reads nothing.
//!
//! Flow control lets a client send a request and open no window for the response. hyper waits for the window without a limit, and the socket below is
//! not stalled, so only the stream itself can detect it. Every stream's task has a [`Progress`]; the body of its response keeps it, and the
//! task is dropped when data has been waiting for the client for too long. h2 resets a stream whose task is dropped, and
//! drops what was queued for it.

use crate::traffic::Traffic;
use hyper::rt::Executor;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

tokio::task_local! {
    static STREAM: Arc<Progress>;
}

/// What hyper runs the streams of a connection with.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    /// How long a stream's client may read nothing.
    time: Duration,
}

impl Streams {
    pub(crate) fn new(time: Duration) -> Self {
        Self { time }
    }
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        let time = self.time;
        let progress = Arc::new(Progress::default());
        tokio::spawn(async move {
            let mut serving = pin!(STREAM.scope(Arc::clone(&progress), stream));
            let mut timer = None;
            poll_fn(|context| {
                if serving.as_mut().poll(context).is_ready() {
                    return Poll::Ready(());
                }
                progress.poll_stalled(context, time, &mut timer)
            })
            .await;
        });
    }
}

/// Whether data waits for the client of a stream.
#[derive(Debug, Default)]
pub(crate) struct Progress(Mutex<Option<Untaken>>);

#[derive(Debug)]
struct Untaken {
    since: Instant,
    traffic: Arc<Traffic>,
}

impl Progress {
    /// The progress of the stream that the current task serves; none on a connection of HTTP/1.1.
    pub(crate) fn current() -> Option<Arc<Self>> {
        STREAM.try_with(Arc::clone).ok()
    }

    /// Data has been waiting since a time.
    pub(crate) fn give(&self, since: Instant, traffic: &Arc<Traffic>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Untaken {
            since,
            traffic: Arc::clone(traffic),
        });
    }

    /// Everything was read: the stream waits for this side.
    pub(crate) fn taken(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Ready when data has been waiting for `time`.
    fn poll_stalled(
        &self,
        context: &mut Context<'_>,
        time: Duration,
        timer: &mut Option<Pin<Box<Sleep>>>,
    ) -> Poll<()> {
        let untaken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(untaken) = &*untaken else {
            *timer = None;
            return Poll::Pending;
        };
        let due = untaken.since + time;
        let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if timer.deadline() != due {
            timer.as_mut().reset(due);
        }
        ready!(timer.as_mut().poll(context));
        tracing::debug!(peer = %untaken.traffic.peer(), "a stream was not read and was ended");
        untaken.traffic.stalled(time);
        Poll::Ready(())
    }
}
