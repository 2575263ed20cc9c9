//! Who may use a route: API keys, grants and rates. What is refused is audited.

use crate::app::App;
use crate::call::Call;
use crate::problem::{Code, Problem};
use crate::route::Route;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use mizzen_ops::{AccessRefusal, Caller, Family, Grant};
use std::net::IpAddr;
use std::time::Instant;

/// A request as far as access is concerned.
pub(crate) struct Ask<'a> {
    pub(crate) route: &'a Route,
    pub(crate) headers: &'a HeaderMap,
    /// Where HTTP/2 has what `Host` says in HTTP/1.1.
    pub(crate) authority: Option<&'a Authority>,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) request_id: &'a str,
}

/// Lets the caller in, or says why not: 401 without a working key, 429 when it asks too often, 403 without the grant.
pub(crate) async fn check(app: &App, grant: Grant, ask: &Ask<'_>) -> Result<Caller, Problem> {
    let token = token(ask.headers);
    let caller = match app.host.authenticate(token, ask.request_id).await? {
        Ok(caller) => caller,
        Err(reason) => return Err(refuse_stranger(app, ask, &reason).await),
    };
    if !caller.is_key() && came_through_a_browser(app, ask) {
        app.host.metrics.count(Family::AccessRefusals, &["forbidden"]);
        let message = "without a key this server answers programs on this machine, and this request comes from a web page or \
                       for another host name; make a key with `mizzen key api new`, or name the page's origin under \
                       cors_origins";
        return Err(Problem::new(Code::Forbidden, message));
    }
    if caller.is_key()
        && let Err(seconds) = app.keys.take(caller.actor(), Instant::now())
    {
        app.host.metrics.count(Family::AccessRefusals, &["rate_limited"]);
        let message = format!("this key asks too often; try again in {seconds} s");
        return Err(Problem::new(Code::RateLimited, message).retry_after(seconds));
    }
    if caller.may(grant) {
        return Ok(caller);
    }
    Err(forbidden(app, &caller, ask.route.operation, grant).await)
}

/// For what only some requests of a route need: the grant beyond the route's own, or 403.
pub(crate) async fn require(call: &Call, operation: &'static str, grant: Grant) -> Result<(), Problem> {
    if call.caller.may(grant) {
        return Ok(());
    }
    Err(forbidden(&call.app, &call.caller, operation, grant).await)
}

async fn forbidden(app: &App, caller: &Caller, operation: &'static str, grant: Grant) -> Problem {
    app.host.metrics.count(Family::AccessRefusals, &["forbidden"]);
    let refusal = AccessRefusal {
        action: operation,
        outcome: "denied",
        missing: Some(grant),
    };
    app.host.record_access_refusal(caller, &refusal).await;
    let message = format!(
        "this key does not have the grant {grant}; make one with `mizzen key api new --grant {grant}`"
    );
    Problem::new(Code::Forbidden, message).with("missing_grant", grant.as_str())
}

/// Strangers are audited up to a rate; beyond it they are only counted, so that they cannot fill the disk.
async fn refuse_stranger(app: &App, ask: &Ask<'_>, reason: &str) -> Problem {
    let name = ask
        .peer
        .map_or_else(|| "unknown".to_owned(), |peer| peer.to_string());
    if let Err(seconds) = app.strangers.take(&name, Instant::now()) {
        app.host.metrics.count(Family::AccessRefusals, &["rate_limited"]);
        return Problem::new(Code::RateLimited, "too many requests without a working key")
            .retry_after(seconds);
    }
    app.host
        .metrics
        .count(Family::AccessRefusals, &["unauthenticated"]);
    let refusal = AccessRefusal {
        action: ask.route.operation,
        outcome: "unauthenticated",
        missing: None,
    };
    app.host
        .record_access_refusal(&Caller::anonymous(ask.request_id), &refusal)
        .await;
    Problem::new(
        Code::Unauthenticated,
        format!("{reason}; send a key as `Authorization: Bearer …` (make one with `mizzen key api new`)"),
    )
}

/// Whoever is on this machine may do everything while there are no keys, so a web page must not borrow the browser's place on it:
/// neither with a request across origins, nor by a name of its own that leads here (DNS rebinding).
fn came_through_a_browser(app: &App, ask: &Ask<'_>) -> bool {
    let host = match ask.authority {
        Some(authority) => Some(authority.as_str()),
        None => ask
            .headers
            .get(header::HOST)
            .map(|host| host.to_str().unwrap_or_default()),
    };
    let foreign_name = host.is_some_and(|host| !names_this_machine(host));
    let origin = ask
        .headers
        .get(header::ORIGIN)
        .map(|origin| origin.to_str().unwrap_or_default());
    let foreign_page = origin.is_some_and(|origin| {
        let own = origin.split_once("://").map(|(_, host)| host) == host;
        !own && !app.config.cors_origins.iter().any(|allowed| allowed == origin)
    });
    foreign_name || foreign_page
}

/// `localhost` or a loopback address, with or without a port.
fn names_this_machine(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn token(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(value) = given.next() {
        // A proxy before us may have judged the other one.
        if given.next().is_some() {
            return Some("");
        }
        // Anything that is not a bearer token is a token that does not work, not a missing one.
        let text = value.to_str().unwrap_or_default();
        let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
        return Some(if scheme.eq_ignore_ascii_case("bearer") {
            token.trim()
        } else {
            ""
        });
    }
    headers
        .get("x-api-key")
        .map(|value| value.to_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_this_machine() {
        for (host, expected) in [
            ("localhost", true),
            ("LocalHost:7437", true),
            ("127.0.0.1:7437", true),
            ("127.9.9.9", true),
            ("[::1]:7437", true),
            ("evil.example", false),
            ("127.0.0.1.evil.example:7437", false),
            ("localhost.evil.example", false),
            ("10.0.0.1", false),
            ("0.0.0.0:7437", false),
            ("", false),
            ("a b", false),
        ] {
            assert_eq!(names_this_machine(host), expected, "{host}");
        }
    }
}
