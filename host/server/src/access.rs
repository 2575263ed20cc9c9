//! Who may use a route: API keys, grants and rates. What is refused is audited.

use crate::app::App;
use crate::call::Call;
use crate::problem::{Code, Problem};
use crate::route::Route;
use axum::http::{HeaderMap, header};
use mizzen_ops::{AccessRefusal, Caller, Family, Grant};
use std::net::IpAddr;
use std::time::Instant;

/// A request as far as access is concerned.
pub(crate) struct Ask<'a> {
    pub(crate) route: &'a Route,
    pub(crate) headers: &'a HeaderMap,
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

fn token(headers: &HeaderMap) -> Option<&str> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
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
