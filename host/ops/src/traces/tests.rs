use super::*;
use crate::entropy::CountingEntropy;
use mizzen_engine::ToolError;
use mizzen_sandbox::{Http, HttpRequest, HttpResponse, Pending};
use serde_json::Value;
use std::sync::Mutex;

/// A collector that notes what it is sent and answers as told.
#[derive(Default)]
struct Noted {
    bodies: Mutex<Vec<Value>>,
    status: AtomicU64,
}

impl Http for Noted {
    fn fetch(&self, request: HttpRequest) -> Pending<'_, Result<HttpResponse, ToolError>> {
        let status = self.status.load(Ordering::SeqCst);
        self.bodies
            .lock()
            .unwrap()
            .push(serde_json::from_slice(&request.body).unwrap());
        Box::pin(async move {
            Ok(HttpResponse {
                status: u16::try_from(status).unwrap(),
                headers: Vec::new(),
                body: b"{}".to_vec(),
            })
        })
    }
}

fn traces(noted: &Arc<Noted>, share: Share) -> Traces {
    traces_at(noted, share, export::Pace::default())
}

fn traces_at(noted: &Arc<Noted>, share: Share, pace: export::Pace) -> Traces {
    let http = Arc::clone(noted) as Arc<dyn Http>;
    let mut collector = Collector::new("http://127.0.0.1:4318", "mizzen", Vec::new(), http).unwrap();
    collector.pace = pace;
    Traces::to(collector, share, Arc::new(CountingEntropy::default()))
}

fn noted(status: u64) -> Arc<Noted> {
    Arc::new(Noted {
        status: AtomicU64::new(status),
        ..Noted::default()
    })
}

fn spans(noted: &Noted) -> Vec<Value> {
    let bodies = noted.bodies.lock().unwrap();
    let all = bodies
        .iter()
        .filter_map(|body| body.pointer("/resourceSpans/0/scopeSpans/0/spans"))
        .filter_map(Value::as_array);
    all.flatten().cloned().collect()
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_host_without_a_collector_makes_no_spans() {
    let traces = Traces::default();
    assert!(traces.begin("x", SpanKind::Internal, None).is_none());
    assert_eq!(traces.health().await, State::Healthy);
    traces.flush(LONG).await;
}

#[tokio::test]
async fn spans_are_sent_below_their_parents_and_bounded() {
    let noted = noted(200);
    let traces = traces(&noted, Share::ALL);
    let parent = traces.begin("parent", SpanKind::Server, None).unwrap();
    let mut child = traces
        .begin("child", SpanKind::Internal, Some(parent.context()))
        .unwrap();
    child.set("text", "x".repeat(10_000));
    for _ in 0..100 {
        child.set("number", 7);
    }
    child.fail("CODE");
    drop(child);
    traces.begin("never", SpanKind::Internal, None).unwrap().discard();
    drop(parent);
    traces.flush(LONG).await;
    let spans = spans(&noted);
    assert_eq!(spans.len(), 2, "{spans:?}");
    let (child, parent) = (&spans[0], &spans[1]);
    assert_eq!(child["traceId"], parent["traceId"]);
    assert_eq!(child["parentSpanId"], parent["spanId"]);
    assert!(parent.get("parentSpanId").is_none() && parent.get("status").is_none());
    assert_eq!(child["status"], serde_json::json!({"code": 2, "message": "CODE"}));
    let attributes = child["attributes"].as_array().unwrap();
    assert_eq!(attributes.len(), MAX_ATTRIBUTES);
    assert_eq!(
        attributes[0]["value"]["stringValue"].as_str().unwrap().len(),
        MAX_TEXT
    );
    assert_eq!(attributes[1]["value"]["intValue"], "7");
}

#[tokio::test]
async fn a_collector_that_fails_costs_spans_and_nothing_else() {
    let noted = noted(503);
    let pace = export::Pace {
        fresh: Duration::ZERO,
        retry: Duration::from_millis(1),
        ..export::Pace::default()
    };
    let traces = traces_at(&noted, Share::ALL, pace);
    // Nobody reads the queue while this goes on: the runtime has one thread, and nothing here waits.
    let many = u64::try_from(QUEUE).unwrap() + 100;
    for _ in 0..many {
        drop(traces.begin("x", SpanKind::Internal, None));
    }
    assert_eq!(traces.dropped(), 100);
    assert_eq!(traces.health().await, State::Degraded);
    // A collector that is known to fail holds up no shutdown.
    traces.flush(LONG).await;
    let given_up = async {
        while traces.dropped() < many {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(LONG, given_up).await.unwrap();
    noted.status.store(200, Ordering::SeqCst);
    assert_eq!(traces.health().await, State::Healthy);
}

#[tokio::test]
async fn health_asks_the_collector_and_not_more_often_than_it_must() {
    let noted = noted(200);
    let at = |fresh| export::Pace {
        fresh,
        ..export::Pace::default()
    };
    let traces = traces_at(&noted, Share::ALL, at(Duration::from_secs(3_600)));
    for _ in 0..10 {
        assert_eq!(traces.health().await, State::Healthy);
    }
    assert_eq!(noted.bodies.lock().unwrap().len(), 1);
    let always = traces_at(&noted, Share::ALL, at(Duration::ZERO));
    assert_eq!(always.health().await, State::Healthy);
    noted.status.store(500, Ordering::SeqCst);
    assert_eq!(always.health().await, State::Degraded);
    assert_eq!(noted.bodies.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn the_share_decides_for_new_traces_and_a_callers_decision_is_kept() {
    let noted = noted(200);
    let none = traces(&noted, Share::parse(0.0).unwrap());
    assert!(none.begin("x", SpanKind::Server, None).is_none());
    let asked = SpanContext::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    assert!(none.begin("x", SpanKind::Server, asked).is_some());
    let all = traces(&noted, Share::ALL);
    let unasked = SpanContext::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
    assert!(all.begin("x", SpanKind::Server, unasked).is_none());
    assert_eq!(Share::parse(1.0), Some(Share::ALL));
    assert!(Share::parse(1.5).is_none() && Share::parse(-0.1).is_none() && Share::parse(f64::NAN).is_none());
    let half = Share::parse(0.5).unwrap();
    let mut taken = [0; 16];
    assert!(half.takes(&taken));
    taken[8] = 0xff;
    assert!(!half.takes(&taken));
}
