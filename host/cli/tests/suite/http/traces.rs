//! Traces of a real server, sent to a collector on loopback that decodes what arrives.

use crate::support::host::Host;
use crate::support::http::{Served, mizzen};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

const TOKEN: &str = "Bearer collectors-only";
const LONG: Duration = Duration::from_secs(120);

/// An OTLP/HTTP collector: takes JSON at `/v1/traces`, keeps the spans, answers with the status it is told.
struct Collector {
    address: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    spans: Mutex<Vec<Value>>,
    more: Condvar,
    status: AtomicU16,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            status: AtomicU16::new(200),
            ..Shared::default()
        });
        let served = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A client that goes away in the middle is its own business.
                let _ = served.take(stream);
            }
        });
        Self { address, shared }
    }

    fn answer_with(&self, status: u16) {
        self.shared.status.store(status, Ordering::SeqCst);
    }

    /// The first span that fits, waited for.
    fn wait_for(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LONG;
        let mut spans = self.shared.spans.lock().unwrap();
        loop {
            if let Some(span) = spans.iter().find(|span| fits(span)) {
                return span.clone();
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no span of {what}: {spans:#?}");
            spans = self.shared.more.wait_timeout(spans, left).unwrap().0;
        }
    }
}

impl Shared {
    fn take(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(LONG))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if line.trim_end().is_empty() {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let header = |name: &str| {
            head.iter()
                .find_map(|line| {
                    line.split_once(": ")
                        .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                })
                .map(|(_, value)| value.to_owned())
                .unwrap_or_default()
        };
        let mut body = vec![0; header("content-length").parse().unwrap()];
        reader.read_exact(&mut body)?;
        assert_eq!(head[0], "POST /v1/traces HTTP/1.1");
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header("authorization"), TOKEN);
        let status = self.status.load(Ordering::SeqCst);
        if status == 200 {
            self.decode(&serde_json::from_slice(&body).unwrap());
        }
        write!(
            stream,
            "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}"
        )
    }

    /// Holds a request to the shape that the protocol gives it.
    fn decode(&self, request: &Value) {
        let mut spans = self.spans.lock().unwrap();
        for resource in request["resourceSpans"].as_array().unwrap() {
            let about = resource["resource"]["attributes"].as_array().unwrap();
            assert!(
                about
                    .iter()
                    .any(|a| a["key"] == "service.name" && a["value"]["stringValue"] == "flagship")
            );
            for scope in resource["scopeSpans"].as_array().unwrap() {
                for span in scope["spans"].as_array().unwrap() {
                    let hex = |key: &str, digits: usize| {
                        let text = span[key].as_str().unwrap();
                        assert!(
                            text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
                            "{span}"
                        );
                    };
                    hex("traceId", 32);
                    hex("spanId", 16);
                    let time = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
                    assert!(
                        time("startTimeUnixNano") <= time("endTimeUnixNano") && time("startTimeUnixNano") > 0
                    );
                    spans.push(span.clone());
                }
            }
        }
        self.more.notify_all();
    }
}

fn attribute(span: &Value, key: &str) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|attribute| attribute["key"] == key);
    found
        .and_then(|attribute| attribute["value"].as_object())
        .and_then(|value| value.values().next().cloned())
        .unwrap_or_default()
}

/// A host with the text plugin that traces to the collector.
fn host(collector: &Collector) -> Host {
    let config = format!(
        "[telemetry]\notlp = \"http://{}\"\nservice_name = \"flagship\"\n\
         headers = {{ authorization = {{ env = \"COLLECTOR_TOKEN\" }} }}\n",
        collector.address
    );
    Host::new()
        .plugin("plugins/text")
        .config(&config)
        .variable("COLLECTOR_TOKEN", TOKEN)
}

/// Chains of a council: one that counts words, and one whose gate agent does not allow it.
fn council(server: &Served) -> (String, Vec<String>) {
    let register = |name: &str, capabilities: Value| {
        let sprite = json!({
            "name": name, "version": "1.0.0", "system_prompt": "the prompt is nobody's business",
            "capabilities": capabilities,
            "metadata": {"author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": []},
        });
        server.call_json("POST", "/v1/sprites", &sprite).expect(201, "")["id"].clone()
    };
    let capability = |name: &str| json!({"name": name, "description": "A capability.", "parameters": {"type": "object"}, "tool": "text.word_count"});
    let counter = register("COUNTER-01", json!([capability("count")]));
    let keeper = register("KEEPER-02", json!([capability("evaluate_gate")]));
    let step =
        json!({"order": 0, "sprite_id": counter, "action": "count", "input_map": {"text": "$input.text"}});
    let gate = json!({"position": "before", "sprite_id": keeper, "condition": "true", "veto_message": "no"});
    let body = json!({
        "domain": "traced", "sprites": [counter, keeper], "gate_agents": [keeper],
        "chains": [
            {"name": "counts", "timeout": "30s", "steps": [step.clone()], "gates": []},
            {"name": "asks", "timeout": "30s", "steps": [step], "gates": [gate]},
        ],
    });
    let made = server.call_json("POST", "/v1/councils", &body).expect(201, "");
    let chains = made["chains"].as_array().unwrap();
    (
        made["id"].as_str().unwrap().to_owned(),
        chains
            .iter()
            .map(|chain| chain["id"].as_str().unwrap().to_owned())
            .collect(),
    )
}

#[test]
fn requests_runs_steps_and_gate_agents_are_traced_below_the_callers_span() {
    let collector = Collector::start();
    let host = host(&collector);
    let server = host.serve();
    let (council, chains) = council(&server);
    let execute = |chain: &str, trace: &str| {
        let body = json!({"council_id": council, "chain_id": chain, "input": {"text": "the treasure map"}});
        let traceparent = format!("00-{trace}-b7ad6b7169203331-01");
        let headers = [
            ("content-type", "application/json"),
            ("traceparent", traceparent.as_str()),
        ];
        server.send(
            "POST",
            "/v1/chains/execute",
            &headers,
            body.to_string().as_bytes(),
        )
    };
    let (counts, asks) = (
        "0af7651916cd43dd8448eb211c80319c",
        "1bf7651916cd43dd8448eb211c80319c",
    );
    let answer = execute(&chains[0], counts);
    let execution = answer.expect(200, "")["execution_id"].clone();
    let named = |trace: &'static str, name: &'static str| {
        collector.wait_for(name, move |span| span["traceId"] == trace && span["name"] == name)
    };
    let request = named(counts, "POST /v1/chains/execute");
    assert_eq!(request["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(request["kind"], 2);
    assert_eq!(attribute(&request, "http.response.status_code"), "200");
    assert_eq!(
        attribute(&request, "mizzen.request_id"),
        answer.header("x-request-id").unwrap()
    );
    let run = named(counts, "chain.execution");
    assert_eq!(run["parentSpanId"], request["spanId"]);
    assert_eq!(attribute(&run, "mizzen.execution_id"), execution);
    assert_eq!(attribute(&run, "mizzen.status"), "completed");
    let step = named(counts, "chain.step");
    assert_eq!(step["parentSpanId"], run["spanId"]);
    assert_eq!(attribute(&step, "mizzen.tool"), "text.word_count");
    assert_eq!(attribute(&step, "mizzen.step"), "0");
    assert!(step.get("status").is_none());

    execute(&chains[1], asks).expect(409, "GATE_VETO");
    let gate = named(asks, "gate.agent");
    assert_eq!(gate["parentSpanId"], named(asks, "chain.execution")["spanId"]);
    assert_eq!(attribute(&gate, "mizzen.decision"), "veto");

    // A caller that does not record its trace is not recorded here either, and what is not a traceparent begins a trace.
    let unsampled = "00-2cf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    server
        .send("GET", "/v1/sprites", &[("traceparent", unsampled)], b"")
        .expect(200, "");
    server
        .send("GET", "/v1/councils", &[("traceparent", "treasure")], b"")
        .expect(200, "");
    let own = collector.wait_for("a trace of its own", |span| span["name"] == "GET /v1/councils");
    assert!(own.get("parentSpanId").is_none());

    // Nothing of what callers and guests wrote is in any of it.
    server.call("GET", "/v1/tools").expect(200, "");
    collector.wait_for("the last request", |span| span["name"] == "GET /v1/tools");
    assert!(server.terminate().success());
    let everything = json!(*collector.shared.spans.lock().unwrap()).to_string();
    assert!(!everything.contains("2cf7651916cd43dd8448eb211c80319c"));
    for secret in ["treasure", "nobody's business", "collectors-only", "COUNTER-01"] {
        assert!(!everything.contains(secret), "{secret}");
    }
}

#[test]
fn a_collector_that_fails_degrades_health_and_nothing_else() {
    let collector = Collector::start();
    let host = host(&collector);
    let server = host.serve();
    let telemetry = |server: &Served| {
        let health = server.call("GET", "/health");
        let state = health.json()["checks"]["telemetry"].clone();
        // As the specification says: 503 when any dependency is degraded.
        let expected = if state == "healthy" { 200 } else { 503 };
        assert_eq!(health.status, expected, "{}", health.text());
        state
    };
    let until = |state: &str| {
        let end = Instant::now() + LONG;
        while telemetry(&server) != state {
            assert!(Instant::now() < end, "telemetry does not become {state}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    until("healthy");
    collector.answer_with(503);
    until("degraded");
    assert_eq!(server.call("GET", "/health").json()["status"], "degraded");
    server.call("GET", "/v1/sprites").expect(200, "");
    collector.answer_with(200);
    until("healthy");
    let metrics = server.call("GET", "/metrics").text();
    assert!(metrics.contains("mizzen_trace_spans_dropped_total "), "{metrics}");
}

#[test]
fn a_telemetry_section_that_cannot_work_is_refused_at_start() {
    let folder = tempfile::tempdir().unwrap();
    for (section, part) in [
        ("otlp = \"ftp://127.0.0.1\"", "only http and https"),
        ("otlp = \"http://127.0.0.1:9\"\nsample = 2.0", "from 0.0 to 1.0"),
        ("sample = 0.5", "names no collector"),
        (
            "otlp = \"http://127.0.0.1:9\"\nheaders = { x = { env = \"NO_SUCH_VARIABLE_HERE\" } }",
            "NO_SUCH_VARIABLE_HERE",
        ),
        ("colour = \"blue\"", "colour"),
    ] {
        let config = folder.path().join("host.toml");
        std::fs::write(&config, format!("[telemetry]\n{section}\n")).unwrap();
        let output = mizzen()
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.path().join("data"))
            .arg("--config")
            .arg(&config)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(part),
            "{section}: {said}"
        );
    }
}
