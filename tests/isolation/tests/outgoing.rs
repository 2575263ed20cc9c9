//! One outgoing request: its time, its size, what belongs to the host, and that a redirect is a response.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use mizzen_engine::{ToolError, WebUrl};
use mizzen_isolation::Network;
use mizzen_ops::outgoing::{Outgoing, OutgoingLimits, Purpose};
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
    // The host's whole response has four bytes.
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
    assert_eq!(network.connected(), 0, "no connection was made");
    let redirect = outgoing.fetch(get("http://redirect.example.com/")).await.unwrap();
    assert_eq!(redirect.status, 302);
    assert_eq!(network.take_connects(), ["93.184.216.34:80"]);
}

/// R10: `net:api.example.com` is the usual grant, and the operator does not control that name's DNS zone.
#[tokio::test]
async fn a_grant_of_a_full_name_does_not_open_private_addresses() {
    let network = Network::open();
    let plain = outgoing(&network, LONG, 1000);
    let listing = |hosts: &[&str]| {
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        outgoing(&network, LONG, 1000).serving(Purpose::Plugins(Arc::new(hosts)))
    };
    let inside = listing(&["inside.example.com"]);
    let named = |url: &str, host_named| HttpRequest {
        host_named,
        ..get(url)
    };
    for (case, outgoing, url, host_named, advice) in [
        (
            "a grant of the name",
            &plain,
            "http://inside.example.com/",
            HostNamed::Exactly,
            "private_hosts of [plugins]",
        ),
        (
            "the metadata service",
            &plain,
            "http://metadata.internal/",
            HostNamed::Exactly,
            "private_hosts of [plugins]",
        ),
        (
            "this machine's name",
            &plain,
            "http://localhost/",
            HostNamed::Exactly,
            "private_hosts of [plugins]",
        ),
        (
            "one of two addresses",
            &plain,
            "http://mixed.example.com/",
            HostNamed::Exactly,
            "private_hosts of [plugins]",
        ),
        (
            "listed, granted by a pattern",
            &inside,
            "http://inside.example.com/",
            HostNamed::ByPattern,
            "net:inside.example.com",
        ),
        (
            "another one is listed",
            &inside,
            "http://metadata.internal/",
            HostNamed::Exactly,
            "net:metadata.internal",
        ),
        (
            "an address by a pattern",
            &plain,
            "http://127.0.0.1/",
            HostNamed::ByPattern,
            "grant the address itself (net:127.0.0.1)",
        ),
    ] {
        let error = outgoing.fetch(named(url, host_named)).await.unwrap_err();
        assert!(
            matches!(&error, ToolError::Denied(text) if text.contains(advice)),
            "{case}: {error}"
        );
        assert_eq!(network.connected(), 0, "{case}");
    }
    for (case, outgoing, url, address) in [
        (
            "listed and granted",
            &inside,
            "http://inside.example.com/",
            "10.1.2.3:80",
        ),
        (
            "listed in capitals",
            &inside,
            "http://INSIDE.example.com./",
            "10.1.2.3:80",
        ),
        (
            "an address that is granted itself",
            &plain,
            "http://127.0.0.1/",
            "127.0.0.1:80",
        ),
        (
            "a public host",
            &plain,
            "http://public.example.com/",
            "93.184.216.34:80",
        ),
    ] {
        let answer = outgoing.fetch(named(url, HostNamed::Exactly)).await.unwrap();
        assert_eq!(answer.status, 200, "{case}");
        assert_eq!(network.take_connects(), [address], "{case}");
    }
}

#[tokio::test]
async fn a_method_is_the_requests_own() {
    let network = Network::open();
    let outgoing = outgoing(&network, LONG, 1000);
    for name in ["X-HTTP-Method-Override", "x-http-method", "X-Method-Override"] {
        let request = HttpRequest {
            headers: vec![(name.into(), "DELETE".into())],
            ..get("http://public.example.com/")
        };
        let error = outgoing.fetch(request).await.unwrap_err();
        assert!(matches!(error, ToolError::InvalidInput { .. }), "{name}");
    }
    assert_eq!(network.connected(), 0);
}
