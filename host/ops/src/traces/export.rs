//! The exporter: batches spans, sends them, and knows whether that works.

use super::{Ended, Message, otlp};
use crate::health::State;
use mizzen_engine::{UrlError, WebUrl};
use mizzen_sandbox::{HostNamed, Http, HttpRequest};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

/// Spans of one request.
const BATCH: usize = 512;
/// How long a collector may take for a batch.
const TIME: Duration = Duration::from_secs(10);
/// How long it may take for a health check.
const PROBE_TIME: Duration = Duration::from_secs(5);
/// Times that a batch is tried again; meanwhile the queue fills, and what does not fit is dropped.
const RETRIES: u32 = 3;
/// Where an endpoint without a path takes traces.
const TRACES_PATH: &str = "/v1/traces";

/// When the exporter does something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// A span waits at most this long for others.
    pub(super) pause: Duration,
    /// A state older than this is asked for again.
    pub(super) fresh: Duration,
    /// The pause before the second try; it doubles with each further one.
    pub(super) retry: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            pause: Duration::from_secs(2),
            fresh: Duration::from_secs(5),
            retry: Duration::from_secs(1),
        }
    }
}

/// Where spans are sent.
#[derive(Clone)]
pub struct Collector {
    url: WebUrl,
    service: String,
    headers: Vec<(String, String)>,
    http: Arc<dyn Http>,
    pub(super) pace: Pace,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers hold the operator's tokens.
        f.debug_struct("Collector")
            .field("url", &self.url.as_str())
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

/// The collector cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    /// Its URL is not one.
    #[error("the collector's URL: {0}")]
    Url(#[from] UrlError),
}

impl Collector {
    /// A collector at a URL; one without a path is asked at `/v1/traces`.
    ///
    /// # Errors
    /// When the URL is not one of http or https.
    pub fn new(
        url: &str,
        service: &str,
        headers: Vec<(String, String)>,
        http: Arc<dyn Http>,
    ) -> Result<Self, CollectorError> {
        let mut url = WebUrl::parse(url)?;
        if url.path_and_query() == "/" {
            url = WebUrl::parse(&format!("{}{TRACES_PATH}", url.as_str().trim_end_matches('/')))?;
        }
        Ok(Self {
            url,
            service: service.to_owned(),
            headers,
            http,
            pace: Pace::default(),
        })
    }

    /// Sends what comes, in a task of its own, until the senders are gone.
    pub(super) fn export(self, spans: mpsc::Receiver<Message>, dropped: Arc<AtomicU64>) -> Probe {
        let state = Arc::new(Mutex::new(Asked::default()));
        let collector = Arc::new(self);
        let exporter = Exporter {
            collector: Arc::clone(&collector),
            state: Arc::clone(&state),
            dropped,
        };
        tokio::spawn(exporter.run(spans));
        Probe { collector, state }
    }

    async fn send(&self, body: Vec<u8>, time: Duration) -> Result<u64, Unsent> {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(self.headers.iter().cloned());
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: self.url.clone(),
            headers,
            body,
            timeout: Some(time),
            // The operator wrote it into the configuration.
            host_named: HostNamed::Exactly,
        };
        match self.http.fetch(request).await {
            Ok(answer) if (200..300).contains(&answer.status) => Ok(otlp::rejected(&answer.body)),
            Ok(answer) => Err(Unsent {
                // The statuses for which OTLP allows another try.
                again: matches!(answer.status, 429 | 502 | 503 | 504),
                reason: format!("the collector answered {}", answer.status),
            }),
            Err(error) => Err(Unsent {
                again: true,
                reason: error.to_string(),
            }),
        }
    }
}

struct Unsent {
    again: bool,
    reason: String,
}

/// What the collector said last.
#[derive(Debug, Default)]
struct Asked {
    at: Option<Instant>,
    works: bool,
}

impl Asked {
    fn note(&mut self, sent: &Result<u64, Unsent>) {
        match sent {
            Err(unsent) if self.works || self.at.is_none() => {
                tracing::warn!(reason = unsent.reason, "traces do not reach their collector");
            }
            Ok(_) if !self.works && self.at.is_some() => tracing::info!("traces reach their collector again"),
            _ => {}
        }
        (self.at, self.works) = (Some(Instant::now()), sent.is_ok());
    }
}

/// Asks whether the collector works.
#[derive(Debug)]
pub(super) struct Probe {
    collector: Arc<Collector>,
    state: Arc<Mutex<Asked>>,
}

impl Probe {
    /// Without asking: what the last answer said, if there was one.
    pub(super) fn is_known_to_fail(&self) -> bool {
        let asked = self.state.try_lock();
        asked.is_ok_and(|asked| asked.at.is_some() && !asked.works)
    }

    /// Asks with an empty request, unless something was sent a moment ago. Many who ask at once cause one request.
    pub(super) async fn ask(&self) -> State {
        let mut asked = self.state.lock().await;
        if asked
            .at
            .is_none_or(|at| at.elapsed() >= self.collector.pace.fresh)
        {
            let body = otlp::request(&self.collector.service, &[]);
            let sent = self.collector.send(body, PROBE_TIME).await;
            asked.note(&sent);
        }
        if asked.works {
            State::Healthy
        } else {
            State::Degraded
        }
    }
}

struct Exporter {
    collector: Arc<Collector>,
    state: Arc<Mutex<Asked>>,
    dropped: Arc<AtomicU64>,
}

impl Exporter {
    async fn run(self, mut spans: mpsc::Receiver<Message>) {
        let mut batch: Vec<Ended> = Vec::new();
        while let Some(message) = spans.recv().await {
            let mut flushes = Vec::new();
            take(message, &mut batch, &mut flushes);
            let due = Instant::now() + self.collector.pace.pause;
            while batch.len() < BATCH && flushes.is_empty() {
                match tokio::time::timeout_at(due, spans.recv()).await {
                    Ok(Some(message)) => take(message, &mut batch, &mut flushes),
                    Ok(None) | Err(_) => break,
                }
            }
            self.send(&batch).await;
            batch.clear();
            for done in flushes {
                let _ = done.send(());
            }
        }
    }

    async fn send(&self, batch: &[Ended]) {
        if batch.is_empty() {
            return;
        }
        let body = otlp::request(&self.collector.service, batch);
        for attempt in 0..=RETRIES {
            let sent = self.collector.send(body.clone(), TIME).await;
            self.state.lock().await.note(&sent);
            match sent {
                Ok(rejected) => {
                    if rejected > 0 {
                        tracing::warn!(rejected, "the collector refused spans");
                        self.dropped.fetch_add(rejected, Ordering::Relaxed);
                    }
                    return;
                }
                Err(unsent) if !unsent.again => break,
                Err(_) if attempt < RETRIES => {
                    tokio::time::sleep(self.collector.pace.retry * (1 << attempt)).await
                }
                Err(_) => break,
            }
        }
        let lost = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        self.dropped.fetch_add(lost, Ordering::Relaxed);
    }
}

fn take(message: Message, batch: &mut Vec<Ended>, flushes: &mut Vec<tokio::sync::oneshot::Sender<()>>) {
    match message {
        Message::Ended(ended) => batch.push(*ended),
        Message::Flush(done) => flushes.push(done),
    }
}
