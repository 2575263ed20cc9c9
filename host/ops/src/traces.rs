//! Traces: what the host does, as spans that a collector puts together (OTLP over HTTP, JSON).
//!
//! Off unless a collector is configured; then a span costs one small allocation and a place in a bounded queue. A full queue
//! drops spans and counts them: nobody who is served ever waits for a collector. Attributes are ids, codes, names of routes and
//! tools; never what a caller or a guest wrote.
//!
//! To trace something else: [`Traces::begin`] where it starts; dropping the [`TraceSpan`] ends it.

mod context;
mod export;
mod otlp;

pub use context::SpanContext;
pub use export::{Collector, CollectorError};

use crate::entropy::Entropy;
use crate::health::State;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, oneshot};

/// Spans that may wait for the exporter; some hundred kilobytes.
const QUEUE: usize = 4_096;

/// Where spans go. A host without a collector has the default: nowhere.
#[derive(Debug, Default)]
pub struct Traces {
    on: Option<On>,
}

#[derive(Debug)]
struct On {
    queue: mpsc::Sender<Message>,
    dropped: Arc<AtomicU64>,
    entropy: Arc<dyn Entropy>,
    share: Share,
    probe: export::Probe,
}

/// What the exporter is told.
#[derive(Debug)]
enum Message {
    Ended(Box<Ended>),
    Flush(oneshot::Sender<()>),
}

/// Which part of the traces that begin here is recorded; a caller's own decision is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(u64);

impl Share {
    /// Everything.
    pub const ALL: Self = Self(u64::MAX);

    /// A part between 0 and 1.
    pub fn parse(part: f64) -> Option<Self> {
        // Beyond 2^53 the product is rounded, which moves the share by less than anybody can measure.
        let share = Self((part * u64::MAX as f64) as u64);
        (0.0..=1.0).contains(&part).then_some(share)
    }

    /// Decided by the trace's id, so that every host decides the same.
    fn takes(self, trace: &[u8; 16]) -> bool {
        let [.., a, b, c, d, e, f, g, h] = *trace;
        u64::from_be_bytes([a, b, c, d, e, f, g, h]) <= self.0 && self.0 > 0
    }
}

/// A span that has ended.
#[derive(Debug, Clone, PartialEq)]
struct Ended {
    context: SpanContext,
    parent: Option<[u8; 8]>,
    name: String,
    kind: SpanKind,
    start_ns: u64,
    end_ns: u64,
    attributes: Vec<(&'static str, Attribute)>,
    error: Option<String>,
}

/// What a span is in the exchange between two parties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Something inside of the host.
    Internal,
    /// A request that the host serves.
    Server,
}

/// A fact about a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A word: an id, a code, the name of a route or of a tool.
    Text(String),
    /// A number.
    Number(i64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.chars().take(MAX_TEXT).collect())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<u32> for Attribute {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

/// Characters of an attribute that are kept.
const MAX_TEXT: usize = 256;
/// Attributes of one span.
const MAX_ATTRIBUTES: usize = 16;

impl Traces {
    /// Sends to a collector. The exporter runs as a task of its own until this is dropped.
    pub fn to(collector: Collector, share: Share, entropy: Arc<dyn Entropy>) -> Self {
        let (queue, spans) = mpsc::channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let probe = collector.export(spans, Arc::clone(&dropped));
        Self {
            on: Some(On {
                queue,
                dropped,
                entropy,
                share,
                probe,
            }),
        }
    }

    /// Begins a span below another one, or a trace of its own. None when nobody wants it.
    pub fn begin(&self, name: &str, kind: SpanKind, parent: Option<SpanContext>) -> Option<TraceSpan> {
        let on = self.on.as_ref()?;
        let random = on.entropy.bytes()?;
        let context = match parent {
            Some(parent) => parent.child(&random),
            None => {
                let root = SpanContext::root(&random);
                root.sampled(on.share.takes(root.trace_id()))
            }
        };
        if !context.is_sampled() {
            return None;
        }
        let start = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Some(TraceSpan {
            ended: Box::new(Ended {
                context,
                parent: parent.map(|parent| *parent.span_id()),
                name: name.to_owned(),
                kind,
                start_ns: nanos(start),
                end_ns: 0,
                attributes: Vec::new(),
                error: None,
            }),
            since: Instant::now(),
            queue: Some(on.queue.clone()),
            dropped: Arc::clone(&on.dropped),
        })
    }

    /// Spans that were given up because the queue was full or the collector refused them.
    pub fn dropped(&self) -> u64 {
        self.on
            .as_ref()
            .map_or(0, |on| on.dropped.load(Ordering::Relaxed))
    }

    /// Whether the collector takes what it is sent, asked now unless it was asked a moment ago.
    pub(crate) async fn health(&self) -> State {
        match &self.on {
            None => State::Healthy,
            Some(on) => on.probe.ask().await,
        }
    }

    /// Sends what is queued, for at most this long; not to a collector that did not work a moment ago.
    pub async fn flush(&self, longest: Duration) {
        let Some(on) = &self.on else { return };
        if on.probe.is_known_to_fail() {
            return;
        }
        let flushed = async {
            let (done, waits) = oneshot::channel();
            if on.queue.send(Message::Flush(done)).await.is_ok() {
                let _ = waits.await;
            }
        };
        let _ = tokio::time::timeout(longest, flushed).await;
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A span that is under way. It ends when it is dropped.
#[derive(Debug)]
pub struct TraceSpan {
    ended: Box<Ended>,
    since: Instant,
    queue: Option<mpsc::Sender<Message>>,
    dropped: Arc<AtomicU64>,
}

impl TraceSpan {
    /// What a span below this one needs.
    pub fn context(&self) -> SpanContext {
        self.ended.context
    }

    /// Another name than at the beginning.
    pub fn rename(&mut self, name: String) {
        self.ended.name = name;
    }

    /// Adds a fact.
    pub fn set(&mut self, key: &'static str, value: impl Into<Attribute>) {
        if self.ended.attributes.len() < MAX_ATTRIBUTES {
            self.ended.attributes.push((key, value.into()));
        }
    }

    /// It did not go well; the code says how.
    pub fn fail(&mut self, code: &str) {
        self.ended.error = Some(code.chars().take(MAX_TEXT).collect());
    }

    /// It did not happen.
    pub fn discard(mut self) {
        self.queue = None;
    }
}

impl Drop for TraceSpan {
    fn drop(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        self.ended.end_ns = self.ended.start_ns.saturating_add(nanos(self.since.elapsed()));
        // Never waits: whoever ends a span has something better to do.
        if queue.try_send(Message::Ended(self.ended.clone())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
