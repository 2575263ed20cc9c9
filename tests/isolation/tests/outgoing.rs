//! One outgoing request: its time, its size, what belongs to the host, and that a redirect is an answer.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use mizzen_engine::{ToolError, WebUrl};
use mizzen_isolation::Network;
use mizzen_ops::outgoing::{Outgoing, OutgoingLimits};
use mizzen_sandbox::{HostNamed, Http, HttpRequest};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn get(url: &str) -> HttpRequest {
    HttpRequest {
        method: "GET".into(),
        url: WebUrl::parse(url).unwrap(),
        headers: Vec::new(),
        body: Vec::new(),
        timeout: None,
        host_named: HostNamed::ByPattern,
    }
}

fn outgoing(network: &Arc<Network>, time: Duration, response: usize) -> Outgoing {
    Outgoing::new(
        Arc::clone(network) as _,
        Arc::clone(network) as _,
        OutgoingLimits { time, response },
    )
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_request_ends_with_its_time_whoever_set_it() {
    let network = Network::open();
    let short = Duration::from_millis(50);
    let asked = HttpRequest {
        timeout: Some(short),
        ..get("http://silent.example.com/")
    };
    let began = Instant::now();
    for (outgoing, request) in [
        (outgoing(&network, short, 1000), get("http://silent.example.com/")),
        (outgoing(&network, LONG, 1000), asked),
    ] {
        let error = outgoing.fetch(request).await.unwrap_err();
        assert!(
            matches!(&error, ToolError::Unavailable(text) if text.contains("did not answer within")),
            "{error}"
        );
    }
    assert!(began.elapsed() < LONG / 2);
}

#[tokio::test]
async fn a_response_is_read_up_to_its_limit_and_not_further() {
    let network = Network::open();
    // The host's whole answer has four bytes.
    for (limit, fits) in [(4, true), (3, false)] {
        let answer = outgoing(&network, LONG, limit)
            .fetch(get("http://public.example.com/"))
            .await;
        assert_eq!(answer.is_ok(), fits, "{limit}");
    }
    let endless = outgoing(&network, LONG, 1 << 20)
        .fetch(get("http://endless.example.com/"))
        .await;
    assert!(matches!(endless, Err(ToolError::Failed { code, .. }) if code == "RESPONSE_TOO_LARGE"));
}

#[tokio::test]
async fn what_belongs_to_the_connection_is_the_hosts_and_a_redirect_is_an_answer() {
    let network = Network::open();
    let outgoing = outgoing(&network, LONG, 1000);
    for name in [
        "host",
        "Content-Length",
        "transfer-encoding",
        "connection",
        "upgrade",
        "proxy-authorization",
    ] {
        let request = HttpRequest {
            headers: vec![(name.into(), "127.0.0.1".into())],
            ..get("http://public.example.com/")
        };
        let error = outgoing.fetch(request).await.unwrap_err();
        assert!(matches!(error, ToolError::InvalidInput { .. }), "{name}");
    }
    for (name, value) in [
        ("x-a", "b\r\nhost: 127.0.0.1"),
        ("x a", "b"),
        ("", "b"),
        ("x-a\n", "b"),
    ] {
        let request = HttpRequest {
            headers: vec![(name.into(), value.into())],
            ..get("http://public.example.com/")
        };
        assert!(outgoing.fetch(request).await.is_err(), "{name:?} {value:?}");
    }
    for method in ["CONNECT", "", "GE T", "GET\r\n"] {
        let request = HttpRequest {
            method: method.into(),
            ..get("http://public.example.com/")
        };
        assert!(outgoing.fetch(request).await.is_err(), "{method:?}");
    }
    assert_eq!(network.connected(), 0, "nobody was asked");
    let redirect = outgoing.fetch(get("http://redirect.example.com/")).await.unwrap();
    assert_eq!(redirect.status, 302);
    assert_eq!(network.take_connects(), ["93.184.216.34:80"]);
}

#[tokio::test]
async fn a_private_address_takes_a_host_that_is_named_in_full() {
    let network = Network::open();
    let outgoing = outgoing(&network, LONG, 1000);
    let inside = "http://inside.example.com/";
    let error = outgoing.fetch(get(inside)).await.unwrap_err();
    assert!(
        matches!(&error, ToolError::Denied(text) if text.contains("net:inside.example.com")),
        "{error}"
    );
    assert_eq!(network.connected(), 0);
    let named = HttpRequest {
        host_named: HostNamed::Exactly,
        ..get(inside)
    };
    assert_eq!(outgoing.fetch(named).await.unwrap().status, 200);
    assert_eq!(network.take_connects(), ["10.1.2.3:80"]);
}
