//! The state of one connection: its open requests, and when its client last read something.
//!
//! HTTP/2 keeps a connection open without a request for as long as pings are answered, and hyper waits without a limit for a header that
//! does not end. A connection is judged by what it does instead: without an open request, or without a response that is being read, it ends.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Responses of public routes that a connection may have open before one of its requests had a working key. What a browser or a probe
/// needs is far less; each may be a whole document that the client does not read.
pub(crate) const STRANGERS: usize = 16;

/// The state of one connection, shared by its requests and their responses.
#[derive(Debug)]
pub(crate) struct Traffic {
    peer: IpAddr,
    began: Instant,
    open: AtomicUsize,
    /// When the last request ended or something was read, in milliseconds since the connection began.
    moved_ms: AtomicU64,
    /// When something was last read.
    taken_ms: AtomicU64,
    http2: AtomicBool,
    known: AtomicBool,
    strangers: AtomicUsize,
    unsent: AtomicUsize,
    given_up: Notify,
}

impl Traffic {
    pub(crate) fn new(peer: IpAddr) -> Arc<Self> {
        Arc::new(Self {
            peer,
            began: Instant::now(),
            open: AtomicUsize::new(0),
            moved_ms: AtomicU64::new(0),
            taken_ms: AtomicU64::new(0),
            http2: AtomicBool::new(false),
            known: AtomicBool::new(false),
            strangers: AtomicUsize::new(0),
            unsent: AtomicUsize::new(0),
            given_up: Notify::new(),
        })
    }

    /// The client's address.
    pub(crate) fn peer(&self) -> IpAddr {
        self.peer
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The first bytes were those of HTTP/2.
    pub(crate) fn speaks_http2(&self) {
        self.http2.store(true, Ordering::Relaxed);
    }

    /// One of its requests had a working key, or needed none.
    pub(crate) fn authenticated(&self) {
        self.known.store(true, Ordering::Relaxed);
    }

    /// Counts a request until its response has been sent or dropped.
    pub(crate) fn open_request(self: &Arc<Self>) -> OpenRequest {
        self.open.fetch_add(1, Ordering::AcqRel);
        OpenRequest(Arc::clone(self))
    }

    /// A place for the response of a public route; none when the connection has too many of them open.
    pub(crate) fn admit_stranger(self: &Arc<Self>) -> Option<StrangerPlace> {
        if self.known.load(Ordering::Relaxed) {
            return Some(StrangerPlace(None));
        }
        self.strangers
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |held| {
                (held < STRANGERS).then_some(held + 1)
            })
            .is_ok()
            .then(|| StrangerPlace(Some(Arc::clone(self))))
    }

    /// The client read a piece of a response.
    pub(crate) fn taken(&self) {
        let now = self.now_ms();
        self.taken_ms.store(now, Ordering::Release);
        self.moved_ms.store(now, Ordering::Release);
    }

    /// One response was not read for `time`. When none was, the connection ends.
    pub(crate) fn stalled(&self, time: Duration) {
        let taken = Duration::from_millis(self.taken_ms.load(Ordering::Acquire));
        if Duration::from_millis(self.now_ms()).saturating_sub(taken) >= time {
            self.given_up.notify_one();
        }
    }

    /// Bytes of responses that wait for the client.
    pub(crate) fn unsent(&self) -> &AtomicUsize {
        &self.unsent
    }

    /// Whether no request is open.
    pub(crate) fn is_quiet(&self) -> bool {
        self.open.load(Ordering::Acquire) == 0
    }

    /// Ends when the connection has had no open request for `time`, or reads no response. Only for HTTP/2: HTTP/1.1 has a time for the next
    /// header and for every write.
    pub(crate) async fn idle(&self, time: Duration) {
        let quiet = async {
            loop {
                let moved = Duration::from_millis(self.moved_ms.load(Ordering::Acquire));
                let due = self.began + moved + time;
                let now = Instant::now();
                if due > now {
                    tokio::time::sleep_until(due).await;
                } else if self.is_quiet() && self.http2.load(Ordering::Relaxed) {
                    return;
                } else {
                    tokio::time::sleep(time).await;
                }
            }
        };
        tokio::select! {
            () = quiet => {}
            () = self.given_up.notified() => {}
        }
    }
}

/// A request whose response has not been sent yet.
#[derive(Debug)]
pub(crate) struct OpenRequest(Arc<Traffic>);

impl OpenRequest {
    /// The connection that it came on.
    pub(crate) fn traffic(&self) -> &Arc<Traffic> {
        &self.0
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.moved_ms.store(self.0.now_ms(), Ordering::Release);
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One of the places of [`Traffic::admit_stranger`]; on an authenticated connection they are not counted.
#[derive(Debug)]
pub(crate) struct StrangerPlace(Option<Arc<Traffic>>);

impl Drop for StrangerPlace {
    fn drop(&mut self) {
        if let Some(traffic) = &self.0 {
            traffic.strangers.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
