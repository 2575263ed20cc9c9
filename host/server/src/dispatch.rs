//! From an HTTP request to a handler and back: limits, access, body, time, and the envelope around every error.

use crate::access::{self, ASK_AGAIN};
use crate::answer_body::Occupied;
use crate::app::App;
use crate::body::{self, RequestBody};
use crate::call::{Call, JSON, KnownTags, Memory, Reply};
use crate::drain::Leftover;
use crate::problem::{Code, Problem};
use crate::route::{Access, Route};
use crate::routes::parameters;
use crate::traffic::{STRANGERS, StrangerPlace, Traffic};
use axum::body::{Body, HttpBody};
use axum::extract::{RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Version, header};
use axum::response::Response;
use axum::{RequestPartsExt, Router};
use mizzen_ops::{Caller, Family, Replayed, SpanContext, SpanKind, TraceSpan};
use std::sync::Arc;
use std::time::Instant;

/// The header that carries the id of a request.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Marks a response that was sent before, under the same `Idempotency-Key`.
pub(crate) const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A router for the routes. Every response, also to an unknown path, goes through [`answer`].
pub(crate) fn router(app: Arc<App>, routes: Vec<Route>) -> Router {
    let mut paths: Vec<(&'static str, Vec<Arc<Route>>)> = Vec::new();
    for route in routes.into_iter().map(Arc::new) {
        match paths.iter_mut().find(|(path, _)| *path == route.path) {
            Some((_, methods)) => methods.push(route),
            None => paths.push((route.path, vec![route])),
        }
    }
    let mut router = Router::new();
    for (path, methods) in paths {
        let app = Arc::clone(&app);
        let methods = Arc::new(methods);
        let serve = move |request: Request| answer(Arc::clone(&app), Arc::clone(&methods), request);
        router = router.route(path, axum::routing::any(serve));
    }
    let nowhere = Arc::new(Vec::new());
    router.fallback(move |request: Request| answer(Arc::clone(&app), Arc::clone(&nowhere), request))
}

async fn answer(app: Arc<App>, methods: Arc<Vec<Arc<Route>>>, request: Request) -> Response {
    let started = Instant::now();
    let request_id = app.host.new_request_id();
    let method = request.method().clone();
    let path: String = request.uri().path().chars().take(256).collect();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut span = begin_span(&app, &request);
    let mut trace = Trace {
        route: None,
        actor: String::new(),
        context: span.as_ref().map(TraceSpan::context),
        // The connection adds it to every request.
        traffic: request.extensions().get::<Arc<Traffic>>().cloned(),
        place: None,
        replayed: Replayed::default(),
    };
    let (parts, body) = request.into_parts();
    let leftover = Leftover::of(&parts);
    let mut body = RequestBody::new(body, &parts.headers);
    let result = serve(&app, &methods, (parts, &mut body), &request_id, &mut trace).await;
    let result = result.and_then(|reply| occupy(&app, &method, &mut trace, reply));
    let mut response = match result {
        Ok(response) => response,
        Err(problem) => render_problem(problem, &request_id),
    };
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if trace.replayed.get() {
        response
            .headers_mut()
            .insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
    }
    allow_origin(&app, origin, &mut response);
    let rest = leftover.rest(&body);
    rest.announce(response.headers_mut());
    rest.begin(body, app.config.receive);
    let status = response.status();
    let took = started.elapsed();
    let route = trace.route.as_ref().map_or("unknown", |route| route.path);
    // An unknown method is free text of the client: all of them share one label.
    let label = if trace.route.is_some() {
        method.as_str()
    } else {
        "other"
    };
    app.host
        .metrics
        .count(Family::HttpRequests, &[route, label, status.as_str()]);
    app.host
        .metrics
        .observe(Family::HttpSeconds, &[route, label], took.as_secs_f64());
    if let Some(operation) = trace.route.as_ref() {
        count_operation(&app, operation, status);
    }
    if let Some(span) = &mut span {
        span.rename(format!("{label} {route}"));
        span.set("http.request.method", label);
        span.set("http.route", route);
        span.set("http.response.status_code", u32::from(status.as_u16()));
        span.set("mizzen.request_id", request_id.as_str());
        if status.is_server_error() {
            span.fail(status.as_str());
        }
    }
    let millis = took.as_secs_f64() * 1_000.0;
    tracing::info!(request_id, %method, path, route, status = status.as_u16(), millis, actor = trace.actor, "request");
    response
}

/// The fields of a request's log line.
struct Trace {
    route: Option<Arc<Route>>,
    actor: String,
    context: Option<SpanContext>,
    traffic: Option<Arc<Traffic>>,
    place: Option<StrangerPlace>,
    replayed: Replayed,
}

/// Counts a response for as long as it is kept, or refuses to keep it. The response to a change is always kept.
fn occupy(app: &App, method: &Method, trace: &mut Trace, reply: Reply) -> Result<Response, Problem> {
    let bytes = match reply.memory {
        Memory::Own => reply.body.size_hint().exact().unwrap_or(0),
        Memory::Shared => 0,
    };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let charge = match &trace.traffic {
        Some(traffic) if *method == Method::GET => app.unsent.charge(traffic, &trace.actor, bytes)?,
        // Without a body there is nothing to keep.
        Some(traffic) if *method != Method::HEAD => app.unsent.count(traffic, &trace.actor, bytes),
        _ => None,
    };
    let mut response = render(reply);
    response
        .extensions_mut()
        .insert(Occupied::new(charge, trace.place.take()));
    Ok(response)
}

/// A request's span: part of the caller's trace when `traceparent` names one, once.
fn begin_span(app: &App, request: &Request) -> Option<TraceSpan> {
    let mut given = request.headers().get_all("traceparent").iter();
    let parent = match (given.next(), given.next()) {
        (Some(only), None) => only.to_str().ok().and_then(SpanContext::parse),
        _ => None,
    };
    app.host.traces.begin("request", SpanKind::Server, parent)
}

async fn serve(
    app: &Arc<App>,
    methods: &[Arc<Route>],
    (mut parts, body): (Parts, &mut RequestBody),
    request_id: &str,
    trace: &mut Trace,
) -> Result<Reply, Problem> {
    check_head(app, &parts)?;
    if let Some(reply) = front_door(&parts) {
        return Ok(reply);
    }
    if methods.is_empty() {
        return Err(Problem::new(
            Code::NotFound,
            "there is no such route; GET /openapi.json lists them all, GET /docs shows them",
        ));
    }
    if parts.method == Method::OPTIONS
        && let Some(reply) = preflight(app, methods, &parts)
    {
        return Ok(reply);
    }
    let wanted = if parts.method == Method::HEAD {
        Method::GET
    } else {
        parts.method.clone()
    };
    let Some(route) = methods.iter().find(|route| route.method == wanted) else {
        return Err(method_not_allowed(methods));
    };
    trace.route = Some(Arc::clone(route));
    let caller = authorise(app, route, &parts, request_id, trace)
        .await?
        .traced(trace.context);
    caller.actor().clone_into(&mut trace.actor);
    if wanted != Method::GET
        && let Some(traffic) = &trace.traffic
    {
        app.unsent.admit(traffic, &caller)?;
    }
    let path = path_parameters(&mut parts).await?;
    let query = query_parameters(route, parts.uri.query())?;
    let (media_type, body) = match &route.body {
        None => (String::new(), axum::body::Bytes::new()),
        Some(spec) => {
            let media_type = body::media_type(spec, &parts.headers)?;
            let time = body::time_for(spec.limit, app.config.receive);
            let began = Instant::now();
            let body = body.read(spec.limit, time).await?;
            if began.elapsed() >= ASK_AGAIN {
                access::ask_again(app, &caller, route.access).await?;
            }
            (media_type, body)
        }
    };
    // Only where a response follows from its revision alone: a council's also has the drift of its members.
    let conditional = route
        .parameters
        .iter()
        .any(|parameter| parameter.name == parameters::IF_NONE_MATCH);
    let known = conditional.then(|| KnownTags::of(&parts.headers)).flatten();
    let call = Call {
        app: Arc::clone(app),
        caller: caller.clone(),
        path,
        query,
        headers: parts.headers,
        body,
        media_type,
        traffic: trace.traffic.clone(),
        replayed: trace.replayed.clone(),
    };
    // A task of its own: a client that disconnects does not stop a write half-way, and a bug in a handler is a 500 and not the
    // end of the connection.
    let mut task = tokio::spawn((route.handler)(call));
    let mut left = route.timeout;
    let finished = loop {
        let while_known = left.min(ASK_AGAIN);
        if let Ok(finished) = tokio::time::timeout(while_known, &mut task).await {
            break finished;
        }
        left = left.saturating_sub(while_known);
        if left.is_zero() {
            return Err(took_too_long(route));
        }
        access::ask_again(app, &caller, route.access).await?;
    };
    match finished {
        Ok(result) => result.map(|reply| match known {
            Some(known) if known.has(&reply) => reply.not_modified(),
            _ => reply,
        }),
        Err(error) => {
            tracing::error!(request_id, %error, "a handler did not finish");
            Err(Problem::internal())
        }
    }
}

/// Redirects a browser that opens the host's address to the documentation. Not an operation: programs have `/openapi.json`.
fn front_door(parts: &Parts) -> Option<Reply> {
    let is_root = parts.uri.path() == "/" && matches!(parts.method, Method::GET | Method::HEAD);
    is_root.then(|| Reply::see("/docs"))
}

fn took_too_long(route: &Route) -> Problem {
    let message = format!(
        "the operation took longer than {} s; it may still finish",
        route.timeout.as_secs()
    );
    Problem::new(Code::Timeout, message)
}

fn check_head(app: &App, parts: &Parts) -> Result<(), Problem> {
    check_place(parts)?;
    let target = parts
        .uri
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    if target > app.config.target_chars {
        let message = format!(
            "the target has {target} characters; {} are allowed",
            app.config.target_chars
        );
        return Err(Problem::new(Code::UriTooLong, message));
    }
    let bytes: usize = parts
        .headers
        .iter()
        .map(|(name, value)| name.as_str().len().saturating_add(value.len()))
        .sum();
    if bytes > app.config.header_bytes || parts.headers.len() > app.config.header_fields {
        let message = format!(
            "the header has {} fields and {bytes} bytes; {} fields and {} bytes are allowed",
            parts.headers.len(),
            app.config.header_fields,
            app.config.header_bytes
        );
        return Err(Problem::new(Code::HeadersTooLarge, message));
    }
    check_expectation(parts)
}

/// RFC 9112, 3.2: a reader of the first of two fields and a reader of the last would disagree about the request's host, and so would readers
/// of the target and of the field. The same applies to its origin.
fn check_place(parts: &Parts) -> Result<(), Problem> {
    let malformed = |message: String| Err(Problem::new(Code::MalformedRequest, message));
    let hosts = parts.headers.get_all(header::HOST).iter().count();
    if hosts > 1 || hosts == 0 && parts.version == Version::HTTP_11 {
        return malformed(format!("a request has one Host field, this one has {hosts}"));
    }
    let origins = parts.headers.get_all(header::ORIGIN).iter().count();
    if origins > 1 {
        return malformed(format!(
            "a request has at most one Origin field, this one has {origins}"
        ));
    }
    let host = parts.headers.get(header::HOST).map(HeaderValue::as_bytes);
    let target = parts.uri.authority();
    let named = [host, target.map(|target| target.as_str().as_bytes())];
    if named.iter().flatten().any(|name| name.contains(&b'@')) {
        return malformed(
            "the host of a request has no user before it: remove everything before the @".to_owned(),
        );
    }
    match (host, target) {
        (Some(host), Some(target)) if !is_same_place(host, target, parts.uri.scheme_str()) => malformed(
            format!("the target is for {target}, and the Host field names another"),
        ),
        _ => Ok(()),
    }
}

fn is_same_place(host: &[u8], target: &Authority, scheme: Option<&str>) -> bool {
    let Ok(host) = Authority::try_from(host) else {
        return false;
    };
    let usual = match scheme {
        Some("https") => Some(443),
        Some("http") => Some(80),
        _ => None,
    };
    host.host().eq_ignore_ascii_case(target.host())
        && host.port_u16().or(usual) == target.port_u16().or(usual)
}

/// RFC 9110, 10.1.1: one expectation is defined, and hyper meets it when the body is read. A client that relies on another one
/// is refused before anything is done.
fn check_expectation(parts: &Parts) -> Result<(), Problem> {
    for value in parts.headers.get_all(header::EXPECT) {
        let known = |member: &[u8]| {
            let member = member.trim_ascii();
            member.is_empty() || member.eq_ignore_ascii_case(b"100-continue")
        };
        if !value.as_bytes().split(|byte| *byte == b',').all(known) {
            let message = "this server supports no expectation but 100-continue: leave the Expect field out";
            return Err(Problem::new(Code::ExpectationFailed, message));
        }
    }
    Ok(())
}

fn allowed(methods: &[Arc<Route>]) -> String {
    let mut names: Vec<&str> = methods.iter().map(|route| route.method.as_str()).collect();
    if names.contains(&"GET") {
        names.push("HEAD");
    }
    names.join(", ")
}

fn method_not_allowed(methods: &[Arc<Route>]) -> Problem {
    let allow = allowed(methods);
    let mut problem = Problem::new(Code::MethodNotAllowed, format!("this route takes {allow}"))
        .with("allow", allow.split(", ").map(str::to_owned).collect::<Vec<_>>());
    problem.allow = Some(allow);
    problem
}

async fn authorise(
    app: &App,
    route: &Route,
    parts: &Parts,
    request_id: &str,
    trace: &mut Trace,
) -> Result<Caller, Problem> {
    match (route.access, &trace.traffic) {
        (Access::Public, None) => Ok(Caller::anonymous(request_id)),
        (Access::Public, Some(traffic)) => {
            trace.place = Some(traffic.admit_stranger().ok_or_else(too_many_streams)?);
            Ok(Caller::anonymous(request_id))
        }
        (Access::Needs(grant), traffic) => {
            let request = access::AccessRequest {
                route,
                headers: &parts.headers,
                authority: parts.uri.authority(),
                peer: traffic.as_ref().map(|traffic| traffic.peer()),
                request_id,
            };
            let caller = access::check(app, grant, &request).await?;
            if let Some(traffic) = traffic {
                traffic.authenticated();
            }
            Ok(caller)
        }
    }
}

fn too_many_streams() -> Problem {
    let message = format!(
        "this connection has {STRANGERS} requests open and none of them had a key; read their responses first, or send a key"
    );
    Problem::new(Code::TooManyStreams, message).retry_after(1)
}

async fn path_parameters(parts: &mut Parts) -> Result<Vec<(String, String)>, Problem> {
    let parameters = parts.extract::<RawPathParams>().await.map_err(|_| {
        Problem::new(
            Code::ValidationError,
            "the path is not valid percent-encoded UTF-8",
        )
    })?;
    Ok(parameters
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}

/// Parses the query. An unknown parameter is an error: a misspelt filter must not return everything.
fn query_parameters(route: &Route, query: Option<&str>) -> Result<Vec<(String, String)>, Problem> {
    let mut parameters: Vec<(String, String)> = Vec::new();
    for pair in query
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
    {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(value)) = (body::percent_decode(name), body::percent_decode(value)) else {
            return Err(Problem::new(
                Code::ValidationError,
                "the query is not valid percent-encoded UTF-8",
            ));
        };
        let known = route
            .parameters
            .iter()
            .any(|parameter| parameter.place.is_query() && parameter.name == name);
        if !known {
            let names: Vec<&str> = route
                .parameters
                .iter()
                .filter(|parameter| parameter.place.is_query())
                .map(|parameter| parameter.name)
                .collect();
            let expected = if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            };
            let name: String = name.chars().take(64).collect();
            let message = format!("unknown query parameter {name:?}; this route takes {expected}");
            return Err(Problem::new(Code::ValidationError, message).with("parameter", name));
        }
        if parameters.iter().any(|(seen, _)| *seen == name) {
            let message = format!("the query parameter {name:?} must be given once");
            return Err(Problem::new(Code::ValidationError, message).with("parameter", name));
        }
        parameters.push((name, value));
    }
    Ok(parameters)
}

fn render(reply: Reply) -> Response {
    let mut response = Response::new(reply.body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}

fn render_problem(problem: Problem, request_id: &str) -> Response {
    let mut response = Response::new(Body::from(problem.envelope(request_id)));
    *response.status_mut() = problem.code.status();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    if let Some(seconds) = problem.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(allow) = problem
        .allow
        .as_deref()
        .and_then(|allow| HeaderValue::from_str(allow).ok())
    {
        headers.insert(header::ALLOW, allow);
    }
    if problem.code == Code::Unauthenticated {
        headers.insert(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"mizzen\""),
        );
    }
    response
}

fn count_operation(app: &App, route: &Route, status: StatusCode) {
    let family = match route.tag {
        "sprites" => Family::SpriteOperations,
        "councils" => Family::CouncilOperations,
        _ => return,
    };
    let outcome = match status.as_u16() {
        200..=399 => "done",
        400..=499 => "refused",
        _ => "failed",
    };
    app.host.metrics.count(family, &[route.operation, outcome]);
}

/// Cross-origin calls are off unless the operator names the origins.
fn is_allowed_origin(app: &App, origin: Option<&HeaderValue>) -> bool {
    let Some(origin) = origin.and_then(|origin| origin.to_str().ok()) else {
        return false;
    };
    app.config.cors_origins.iter().any(|allowed| allowed == origin)
}

fn allow_origin(app: &App, origin: Option<HeaderValue>, response: &mut Response) {
    if is_allowed_origin(app, origin.as_ref())
        && let Some(origin) = origin
    {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static(
                "etag, location, x-request-id, retry-after, idempotency-replayed, preference-applied",
            ),
        );
    }
}

fn preflight(app: &App, methods: &[Arc<Route>], parts: &Parts) -> Option<Reply> {
    if !is_allowed_origin(app, parts.headers.get(header::ORIGIN)) {
        return None;
    }
    Some(
        Reply::no_content()
            .header(header::ACCESS_CONTROL_ALLOW_METHODS, &allowed(methods))
            .header(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, content-type, if-match, if-none-match, idempotency-key, last-event-id, prefer, x-api-key",
            )
            .header(header::ACCESS_CONTROL_MAX_AGE, "600"),
    )
}
