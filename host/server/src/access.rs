//! Who may use a route: API keys, grants and rates. What is refused is audited.

use crate::app::App;
use crate::call::Call;
use crate::network;
use crate::problem::{Code, Problem};
use crate::route::{Access, Route};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use mizzen_ops::{AccessRefusal, Caller, Family, Grant};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How long a caller who was let in is not asked again who it is: what takes longer ends with the key, not with the request.
pub(crate) const ASK_AGAIN: Duration = Duration::from_secs(2);

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

/// Asks again whether a caller may do what it has been doing for a while.
pub(crate) async fn ask_again(app: &App, caller: &Caller, access: Access) -> Result<(), Problem> {
    let Access::Needs(grant) = access else {
        return Ok(());
    };
    if app.host.still_may(caller, grant).await? {
        return Ok(());
    }
    app.host
        .metrics
        .count(Family::AccessRefusals, &["unauthenticated"]);
    let message = "the key was revoked, has expired or lost its grant while the request was served; what it asked for may still be done";
    Err(Problem::new(Code::Unauthenticated, message))
}

async fn forbidden(app: &App, caller: &Caller, operation: &'static str, grant: Grant) -> Problem {
    app.host.metrics.count(Family::AccessRefusals, &["forbidden"]);
    let refusal = AccessRefusal {
        action: operation,
        outcome: "denied",
        missing: Some(grant),
    };
    // A weak key is audited up to a rate as strangers are; the first refusals say what the others would.
    if app.denials.take(caller.actor(), Instant::now()).is_ok() {
        app.host.record_access_refusal(caller, &refusal).await;
    }
    let message = format!(
        "this key does not have the grant {grant}; make one with `mizzen key api new --grant {grant}`"
    );
    Problem::new(Code::Forbidden, message).with("missing_grant", grant.as_str())
}

/// Strangers are audited up to a rate; beyond it they are only counted, so that they cannot fill the disk.
async fn refuse_stranger(app: &App, ask: &Ask<'_>, reason: &str) -> Problem {
    let name = ask
        .peer
        .map_or_else(|| "unknown".to_owned(), |peer| network::of(peer).to_string());
    let now = Instant::now();
    let taken = app
        .strangers
        .take(&name, now)
        .and_then(|()| app.all_strangers.take("everybody", now));
    if let Err(seconds) = taken {
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
    let origins = ask.headers.get_all(header::ORIGIN).iter();
    let mut origins = origins.map(|origin| origin.to_str().unwrap_or_default());
    let foreign_page = origins.any(|origin| {
        // `null` has no host; neither has a request of HTTP/1.0 without one, and the two are not the same place.
        let page = origin.split_once("://").map(|(_, host)| host);
        let own = page.is_some() && page == host;
        !own && !is_named(app, origin)
    });
    foreign_name || foreign_page || was_fetched_across_sites(app, ask.headers)
}

fn is_named(app: &App, origin: &str) -> bool {
    app.config.cors_origins.iter().any(|allowed| allowed == origin)
}

/// A browser does not say where a page is from that only loads something, but it says whether that is another site (Fetch Metadata).
/// `same-site` is another port of this machine: another program's page.
fn was_fetched_across_sites(app: &App, headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all("sec-fetch-site").iter();
    let foreign = sites.any(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"));
    let origin = headers
        .get(header::ORIGIN)
        .and_then(|origin| origin.to_str().ok());
    foreign && !origin.is_some_and(|origin| is_named(app, origin))
}

/// `localhost` or a loopback address, with or without a port.
fn names_this_machine(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    // A name before an `@` is nobody's host.
    if host.contains('@') {
        return false;
    }
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The key that a request has. One that does not work stands for what cannot be one, so that it is never as good as none: a proxy before
/// us may have judged another of two keys than we would.
fn token(headers: &HeaderMap) -> Option<&str> {
    const WRONG: &str = "";
    let bearer = one(headers, header::AUTHORIZATION.as_str()).map(|text| {
        let (scheme, token) = text.split_once(' ').unwrap_or((text, WRONG));
        if scheme.eq_ignore_ascii_case("bearer") {
            token.trim()
        } else {
            WRONG
        }
    });
    match (bearer, one(headers, "x-api-key")) {
        (Some(bearer), Some(key)) if bearer != key => Some(WRONG),
        (bearer, key) => bearer.or(key),
    }
}

/// A field that is there once; empty when it is there more often.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut given = headers.get_all(name).iter();
    let value = given.next()?;
    let only = given.next().is_none();
    Some(value.to_str().ok().filter(|_| only).unwrap_or_default())
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
            ("evil@localhost", false),
            ("localhost@evil.example", false),
            ("", false),
            ("a b", false),
        ] {
            assert_eq!(names_this_machine(host), expected, "{host}");
        }
    }

    #[test]
    fn a_request_has_one_key_or_none() {
        let check = |fields: &[(&'static str, &'static str)], expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(*name, axum::http::HeaderValue::from_static(value));
            }
            assert_eq!(token(&headers), expected, "{fields:?}");
        };
        let (bearer, key) = ("authorization", "x-api-key");
        check(&[], None);
        check(&[(bearer, "Bearer a")], Some("a"));
        check(&[(bearer, "bearer  a ")], Some("a"));
        check(&[(bearer, "Basic a")], Some(""));
        check(&[(bearer, "Bearer a"), (bearer, "Bearer a")], Some(""));
        check(&[(key, "a")], Some("a"));
        check(&[(key, "a"), (key, "a")], Some(""));
        check(&[(key, "a"), (key, "b")], Some(""));
        check(&[(bearer, "Bearer a"), (key, "a")], Some("a"));
        check(&[(bearer, "Bearer a"), (key, "b")], Some(""));
        check(&[(bearer, "Basic a"), (key, "a")], Some(""));
        check(&[(bearer, "Bearer a"), (key, "a"), (key, "a")], Some(""));
    }
}
