//! Access to routes: API keys, grants and rates. Refusals are audited.

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

/// How long an access check is valid: a request that takes longer ends with its key.
pub(crate) const ASK_AGAIN: Duration = Duration::from_secs(2);

/// The part of a request that access depends on.
pub(crate) struct AccessRequest<'a> {
    pub(crate) route: &'a Route,
    pub(crate) headers: &'a HeaderMap,
    /// `:authority` of HTTP/2, which is `Host` in HTTP/1.1.
    pub(crate) authority: Option<&'a Authority>,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) request_id: &'a str,
}

/// Authenticates and authorises the caller: 401 without a working key, 429 above its rate, 403 without the grant.
pub(crate) async fn check(app: &App, grant: Grant, request: &AccessRequest<'_>) -> Result<Caller, Problem> {
    let token = token(request.headers);
    let caller = match app.host.authenticate(token, request.request_id).await? {
        Ok(caller) => caller,
        Err(reason) => return Err(refuse_stranger(app, request, &reason).await),
    };
    if !caller.is_key() && came_through_a_browser(app, request) {
        app.host.metrics.count(Family::AccessRefusals, &["forbidden"]);
        let message = "without a key this server serves programs on this machine only, and this request comes from a web page or \
                       for another host name; make a key with `mizzen key api new`, or name the page's origin under \
                       cors_origins";
        return Err(Problem::new(Code::Forbidden, message));
    }
    if caller.is_key()
        && let Err(seconds) = app.keys.take(caller.actor(), Instant::now())
    {
        app.host.metrics.count(Family::AccessRefusals, &["rate_limited"]);
        let message = format!("this key sends too many requests; try again in {seconds} s");
        return Err(Problem::new(Code::RateLimited, message).retry_after(seconds));
    }
    if caller.may(grant) {
        return Ok(caller);
    }
    Err(forbidden(app, &caller, request.route.operation, grant).await)
}

/// Requires a grant beyond the route's own, for some of its requests; 403 without it.
pub(crate) async fn require(call: &Call, operation: &'static str, grant: Grant) -> Result<(), Problem> {
    if call.caller.may(grant) {
        return Ok(());
    }
    Err(forbidden(&call.app, &call.caller, operation, grant).await)
}

/// Checks again whether a caller may continue.
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
    let message = "the key was revoked, has expired or lost its grant while the request was served; the operation may still finish";
    Err(Problem::new(Code::Unauthenticated, message))
}

async fn forbidden(app: &App, caller: &Caller, operation: &'static str, grant: Grant) -> Problem {
    app.host.metrics.count(Family::AccessRefusals, &["forbidden"]);
    let refusal = AccessRefusal {
        action: operation,
        outcome: "denied",
        missing: Some(grant),
    };
    // Refusals of a key are audited up to a rate, as those without a key are; the first ones show what the others would.
    if app.denials.take(caller.actor(), Instant::now()).is_ok() {
        app.host.record_access_refusal(caller, &refusal).await;
    }
    let message = format!(
        "this key does not have the grant {grant}; make one with `mizzen key api new --grant {grant}`"
    );
    Problem::new(Code::Forbidden, message).with("missing_grant", grant.as_str())
}

/// Requests without a working key are audited up to a rate; beyond it they are only counted, so that they cannot fill the disk.
async fn refuse_stranger(app: &App, request: &AccessRequest<'_>, reason: &str) -> Problem {
    let name = request
        .peer
        .map_or_else(|| "unknown".to_owned(), |peer| network::of(peer).to_string());
    let now = Instant::now();
    let taken = app
        .strangers
        .take(&name, now)
        .and_then(|()| app.all_strangers.take("all", now));
    if let Err(seconds) = taken {
        app.host.metrics.count(Family::AccessRefusals, &["rate_limited"]);
        return Problem::new(Code::RateLimited, "too many requests without a working key")
            .retry_after(seconds);
    }
    app.host
        .metrics
        .count(Family::AccessRefusals, &["unauthenticated"]);
    let refusal = AccessRefusal {
        action: request.route.operation,
        outcome: "unauthenticated",
        missing: None,
    };
    app.host
        .record_access_refusal(&Caller::anonymous(request.request_id), &refusal)
        .await;
    Problem::new(
        Code::Unauthenticated,
        format!("{reason}; send a key as `Authorization: Bearer …` (make one with `mizzen key api new`)"),
    )
}

/// Every local client has full access while there are no keys, so a web page must not act through a local browser:
/// neither with a request across origins, nor by a name of its own that resolves to this machine (DNS rebinding).
fn came_through_a_browser(app: &App, request: &AccessRequest<'_>) -> bool {
    let host = match request.authority {
        Some(authority) => Some(authority.as_str()),
        None => request
            .headers
            .get(header::HOST)
            .map(|host| host.to_str().unwrap_or_default()),
    };
    let foreign_name = host.is_some_and(|host| !names_this_machine(host));
    let origins = request.headers.get_all(header::ORIGIN).iter();
    let mut origins = origins.map(|origin| origin.to_str().unwrap_or_default());
    let foreign_page = origins.any(|origin| {
        // `null` has no host; neither has a request of HTTP/1.0 without one, and the two must not compare as equal.
        let page = origin.split_once("://").map(|(_, host)| host);
        let own = page.is_some() && page == host;
        !own && !is_named(app, origin)
    });
    foreign_name || foreign_page || was_fetched_across_sites(app, request.headers)
}

fn is_named(app: &App, origin: &str) -> bool {
    app.config.cors_origins.iter().any(|allowed| allowed == origin)
}

/// A browser sends no `Origin` for a page that only loads something, but it sends whether that is another site (Fetch Metadata).
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
    // A name before an `@` is not a host.
    if host.contains('@') {
        return false;
    }
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The key of a request. A malformed one becomes a token that no key has, so that it is never treated as none: a proxy in front of
/// us may have checked another of two keys than we would.
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

/// The value of a field that occurs once; empty when it occurs more often.
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
