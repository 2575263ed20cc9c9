//! Deliveries against endpoints that do as they are told, on a clock that stands still.

use super::{ATTEMPTS, PLACES_EACH};
use crate::clock::ManualClock;
use crate::entropy::CountingEntropy;
use crate::hooks::{Channel, ChannelSecret, Hooks, destination};
use crate::host::Host;
use crate::outgoing::{Connect, Connection, Outgoing, OutgoingLimits, Purpose, Resolve};
use mizzen_engine::{ToolError, WebUrl};
use mizzen_model::rule::Hook;
use mizzen_sandbox::{Http, HttpRequest, HttpResponse, Pending};
use mizzen_store::{AuditEntry, Delivery, NewDelivery, NewRun, RunEvent, RunStep};
use mizzen_store_sqlite::{Options, SqliteStore};
use serde_json::{Value, json};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use uuid::Uuid;

const RUN: Uuid = Uuid::from_u128(7);

struct Bench {
    _folder: tempfile::TempDir,
    host: Arc<Host>,
    clock: Arc<ManualClock>,
}

/// A host with one run that has caused these hooks.
async fn bench(hooks: &[&str], settings: Hooks) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path(), &Options::default())
        .unwrap()
        .store();
    let clock = Arc::new(ManualClock::at(1_000_000));
    let entropy = Arc::new(CountingEntropy::default());
    let mut host = Host::with_ports(store, Arc::clone(&clock) as _, entropy);
    host.hooks = settings;
    let payload = json!({"execution_id": RUN.to_string(), "rule": {"name": "ask", "action": "escalate"}});
    let deliveries = hooks.iter().map(|hook| NewDelivery {
        rule_id: "r".to_owned(),
        hook: (*hook).to_owned(),
        destination: destination(&Hook::parse(hook).unwrap()),
        payload: payload.to_string(),
        due_at: 1_000_000,
    });
    let run = NewRun {
        id: RUN,
        council_id: Uuid::nil(),
        chain_id: Uuid::nil(),
        started_at: 0,
        definition_hash: [0; 32],
        definition: "{}".into(),
    };
    let step = RunStep {
        events: vec![RunEvent {
            seq: 1,
            bytes: "{}".to_owned(),
            hash: [0; 32],
        }],
        status: "running".to_owned(),
        sealed: None,
        rewritten: None,
        deliveries: deliveries.collect(),
    };
    let audit = AuditEntry {
        at: 0,
        actor: "local".to_owned(),
        action: "execute_chain".to_owned(),
        subject: RUN.to_string(),
        outcome: "done".to_owned(),
        request_id: "req-0".to_owned(),
        detail: "{}".to_owned(),
    };
    host.store
        .start_run(run, Arc::new(step), None, vec![audit])
        .await
        .unwrap();
    Bench {
        _folder: folder,
        host: Arc::new(host),
        clock,
    }
}

impl Bench {
    /// Waits until the deliveries are as described.
    async fn until(&self, what: &str, is_so: impl Fn(&[Delivery]) -> bool) -> Vec<Delivery> {
        let begun = Instant::now();
        loop {
            let found = self.host.store.deliveries_of_run(RUN).await.unwrap();
            if is_so(&found) {
                return found;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}: {found:?}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// The host, the headers and the body of a request.
type Requested = (String, Vec<(String, String)>, String);

/// Answers by the host's name: `dead` never does, `ok` does, `broken` answers 500.
#[derive(Default)]
struct Endpoints {
    requests: Mutex<Vec<Requested>>,
}

impl Http for Endpoints {
    fn fetch(&self, request: HttpRequest) -> Pending<'_, Result<HttpResponse, ToolError>> {
        let host = request.url.target().host().to_owned();
        let body = String::from_utf8(request.body).unwrap();
        self.requests
            .lock()
            .unwrap()
            .push((host.clone(), request.headers, body));
        Box::pin(async move {
            if host.starts_with("dead") {
                std::future::pending::<()>().await;
            }
            Ok(HttpResponse {
                status: if host.starts_with("broken") { 500 } else { 204 },
                headers: Vec::new(),
                body: Vec::new(),
            })
        })
    }
}

#[tokio::test]
async fn a_dead_endpoint_holds_up_its_own_deliveries_and_no_others() {
    // Far more for the dead one than there are places, all older than the others.
    let mut hooks = vec!["webhook:https://dead.example/"; 300];
    hooks.extend(["webhook:https://ok.example/"; 40]);
    let bench = bench(&hooks, Hooks::default()).await;
    let endpoints = Arc::new(Endpoints::default());
    let deliverer = tokio::spawn(Arc::clone(&bench.host).deliver_hooks(Arc::clone(&endpoints) as _));
    let found = bench
        .until("the others arrive", |all| {
            all.iter().filter(|one| one.state == "delivered").count() == 40
        })
        .await;
    assert!(found.iter().take(300).all(|one| one.state == "pending"));
    let requests = endpoints.requests.lock().unwrap();
    let dead = requests.iter().filter(|(host, ..)| host == "dead.example");
    assert_eq!(dead.count(), PLACES_EACH, "no more than its share");
    deliverer.abort();
}

#[tokio::test]
async fn tries_are_made_with_pauses_that_double_until_it_is_given_up() {
    let bench = bench(&["webhook:https://broken.example/"], Hooks::default()).await;
    let endpoints = Arc::new(Endpoints::default());
    let deliverer = tokio::spawn(Arc::clone(&bench.host).deliver_hooks(Arc::clone(&endpoints) as _));
    for attempt in 1..=ATTEMPTS {
        let found = bench
            .until("a try is recorded", |all| all[0].attempts == attempt)
            .await;
        assert_eq!(found[0].last_error.as_deref(), Some("the answer was 500"));
        let expected = if attempt < ATTEMPTS { "pending" } else { "failed" };
        assert_eq!(found[0].state, expected);
        // Not before the pause is over: one millisecond earlier nothing is due.
        let pause = 1_000 << (attempt - 1);
        let due = |at: i64| bench.host.store.due_deliveries(at, 10, Vec::new());
        let now = bench.host.now_ms();
        assert_eq!(due(now + pause - 1).await.unwrap(), []);
        assert_eq!(
            due(now + pause).await.unwrap().len(),
            usize::from(attempt < ATTEMPTS)
        );
        bench.clock.advance(pause);
        bench.host.wake_deliveries();
    }
    assert_eq!(
        endpoints.requests.lock().unwrap().len(),
        usize::try_from(ATTEMPTS).unwrap()
    );
    deliverer.abort();
}

#[tokio::test]
async fn a_channel_is_posted_to_with_its_target_and_its_signature() {
    let secret = ChannelSecret::new("shared");
    let channel = Channel {
        url: WebUrl::parse("https://ok.example/in").unwrap(),
        secret: Some(secret.clone()),
    };
    let settings = Hooks {
        channels: [("slack".to_owned(), channel)].into(),
        ..Hooks::default()
    };
    let bench = bench(&["notify:slack:#alerts", "notify:pager:ada"], settings).await;
    let endpoints = Arc::new(Endpoints::default());
    let deliverer = tokio::spawn(Arc::clone(&bench.host).deliver_hooks(Arc::clone(&endpoints) as _));
    let found = bench
        .until("both are settled", |all| {
            all.iter().all(|one| one.state != "pending")
        })
        .await;
    assert_eq!(
        (found[0].state.as_str(), found[1].state.as_str()),
        ("delivered", "failed")
    );
    assert!(found[1].last_error.as_ref().unwrap().contains("[channels.pager]"));
    let requests = endpoints.requests.lock().unwrap();
    let (_, headers, body) = &requests[0];
    let value: Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&value["channel"], &value["target"], &value["text"]),
        (
            &json!("slack"),
            &json!("#alerts"),
            &json!(format!("rule \"ask\" says escalate for execution {RUN}"))
        )
    );
    let signed = headers.iter().find(|(name, _)| name == "x-mizzen-signature-256");
    let header = |name: &str| &headers.iter().find(|(found, _)| found == name).unwrap().1;
    let covered = format!("{}.{body}", header("x-mizzen-timestamp"));
    assert_eq!(signed.unwrap().1, secret.sign(covered.as_bytes()));
    assert!(header("user-agent").starts_with("mizzen/"));
    deliverer.abort();
}

/// Resolves every name to one address, and keeps what was connected to. No packet is sent.
struct Recorded {
    address: IpAddr,
    connected: Mutex<Vec<SocketAddr>>,
}

impl Resolve for Recorded {
    fn resolve<'a>(&'a self, _: &'a str) -> Pending<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(vec![self.address]) })
    }
}

impl Connect for Recorded {
    fn connect(
        &self,
        address: SocketAddr,
        _: Option<String>,
    ) -> Pending<'_, io::Result<Box<dyn Connection>>> {
        self.connected.lock().unwrap().push(address);
        Box::pin(async { Err(io::Error::other("recorded")) })
    }
}

#[tokio::test]
async fn private_addresses_are_refused_for_good_unless_the_operator_named_the_host() {
    let named = Hooks {
        private_hosts: ["intranet.example".to_owned()].into(),
        ..Hooks::default()
    };
    for (address, settings, connects) in [
        ("10.0.0.5", Hooks::default(), false),
        ("127.0.0.1", Hooks::default(), false),
        ("169.254.169.254", Hooks::default(), false),
        ("::1", Hooks::default(), false),
        ("10.0.0.5", named, true),
        ("1.1.1.1", Hooks::default(), true),
    ] {
        let bench = bench(&["webhook:http://intranet.example/hook"], settings).await;
        let network = Arc::new(Recorded {
            address: address.parse().unwrap(),
            connected: Mutex::default(),
        });
        let outgoing = Outgoing::new(
            Arc::clone(&network) as _,
            Arc::clone(&network) as _,
            OutgoingLimits::default(),
        )
        .serving(Purpose::Hooks);
        let deliverer = tokio::spawn(Arc::clone(&bench.host).deliver_hooks(Arc::new(outgoing)));
        let found = bench.until("a try is recorded", |all| all[0].attempts == 1).await;
        let expected = if connects { "pending" } else { "failed" };
        assert_eq!(found[0].state, expected, "{address}: {found:?}");
        let advised = format!("{:?}", found[0]).contains("private_hosts of [hooks]");
        assert_eq!(advised, !connects, "{address}: {found:?}");
        let connected = network.connected.lock().unwrap().len();
        assert_eq!(connected, usize::from(connects), "{address}");
        deliverer.abort();
    }
}
