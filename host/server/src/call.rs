//! A request as handlers see it, and what they return.

use crate::app::App;
use crate::problem::{Code, Problem, etag};
use crate::traffic::Traffic;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use mizzen_json::{Json, ReadLimits};
use mizzen_model::timestamp::Timestamp;
use mizzen_ops::{Caller, Document, Documents, Force, IdempotencyKey, IfMatch, Replayed};
use std::sync::Arc;
use uuid::Uuid;

/// A request that passed the access check, its body read.
#[derive(Debug)]
pub struct Call {
    /// Everything else.
    pub app: Arc<App>,
    /// The caller.
    pub caller: Caller,
    /// The parameters of the path, decoded.
    pub path: Vec<(String, String)>,
    /// The parameters of the query, decoded, each once.
    pub query: Vec<(String, String)>,
    /// The header.
    pub headers: HeaderMap,
    /// The body; empty when the route takes none.
    pub body: Bytes,
    /// The media type of the body, without its parameters.
    pub media_type: String,
    /// The connection that it came on.
    pub(crate) traffic: Option<Arc<Traffic>>,
    /// Set when the response was sent before, under the same `Idempotency-Key`.
    pub(crate) replayed: Replayed,
}

/// Levels that a body may nest. Far more than any document needs, far less than a stack holds.
const DEPTH: usize = 96;
/// Bytes of a body that take less time to parse than to move to another thread.
const PARSED_AT_ONCE: usize = 64 << 10;

impl Call {
    /// A parameter of the path.
    pub fn segment(&self, name: &str) -> &str {
        self.path
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value.as_str())
    }

    /// A parameter of the path that is an id.
    pub fn id(&self, name: &str) -> Result<Uuid, Problem> {
        let text = self.segment(name);
        mizzen_model::id::SpriteId::parse(text)
            .map(|id| id.uuid())
            .map_err(|error| {
                Problem::new(
                    Code::ValidationError,
                    format!("the {name} in the path is {error}"),
                )
                .with("parameter", name)
            })
    }

    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A flag of the query: `true` or `false`.
    pub fn flag(&self, name: &str) -> Result<bool, Problem> {
        match self.parameter(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(invalid_parameter(name, other, "true or false")),
        }
    }

    /// Whether `force=true` overrides the protection of a document.
    pub fn force(&self) -> Result<Force, Problem> {
        Ok(if self.flag("force")? {
            Force::Yes
        } else {
            Force::No
        })
    }

    /// A time of the query, in milliseconds since 1970.
    pub fn time(&self, name: &str) -> Result<Option<i64>, Problem> {
        let Some(text) = self.parameter(name) else {
            return Ok(None);
        };
        Timestamp::parse(text)
            .map(|at| Some(at.unix_ms()))
            .map_err(|_| invalid_parameter(name, text, "an RFC 3339 time such as 2026-04-27T10:00:00Z"))
    }

    /// A whole number of the query between two bounds.
    pub fn number(&self, name: &str, bounds: (usize, usize), default: usize) -> Result<usize, Problem> {
        let Some(text) = self.parameter(name) else {
            return Ok(default);
        };
        let (least, most) = bounds;
        // Digits alone: `+5` and ` 5` are not numbers here.
        let number = text
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| text.parse::<usize>().ok())
            .flatten();
        match number {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            Some(_) | None => Err(invalid_parameter(
                name,
                text,
                &format!("a whole number from {least} to {most}"),
            )),
        }
    }

    /// The body as a document: JSON, or YAML where the route takes it.
    pub async fn document(&self) -> Result<Json, Problem> {
        let parse = if self.media_type == JSON { json } else { yaml };
        if self.body.len() <= PARSED_AT_ONCE {
            return parse(&self.body);
        }
        // Not on the threads that serve the connections.
        let _place = self.app.parsed.acquire().await.map_err(|_| Problem::internal())?;
        let body = self.body.clone();
        tokio::task::spawn_blocking(move || parse(&body))
            .await
            .map_err(|_| Problem::internal())?
    }

    /// The caller's `Idempotency-Key` with the digest of the body.
    pub fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, Problem> {
        let mut given = self.headers.get_all("idempotency-key").iter();
        let Some(value) = given.next() else {
            return Ok(None);
        };
        let key = IdempotencyKey::of(value.to_str().unwrap_or_default(), &self.media_type, &self.body);
        match key.filter(|_| given.next().is_none()) {
            Some(key) => Ok(Some(IdempotencyKey {
                replayed: self.replayed.clone(),
                ..key
            })),
            None => Err(Problem::new(
                Code::ValidationError,
                "Idempotency-Key must be given once, with 1 to 255 visible characters",
            )
            .with("parameter", "Idempotency-Key")),
        }
    }

    /// The precondition of `If-Match`.
    pub fn if_match(&self) -> IfMatch {
        if !self.headers.contains_key(header::IF_MATCH) {
            return IfMatch::Any;
        }
        // Several fields are one list.
        let tags = || {
            let fields = self.headers.get_all(header::IF_MATCH).iter();
            fields.flat_map(|value| value.to_str().unwrap_or_default().split(',').map(str::trim))
        };
        if tags().any(|tag| tag == "*") {
            return IfMatch::Any;
        }
        // A tag that we did not write cannot match: that is 412, not a mistake in the request. Weak tags never match.
        let revision = |tag: &str| {
            let revision = tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok()?;
            (etag(revision) == tag).then_some(revision)
        };
        IfMatch::Revisions(tags().filter_map(revision).collect())
    }
}

/// The versions that the caller has already, from `If-None-Match` (RFC 9110, 13.1.2).
#[derive(Debug)]
pub(crate) struct KnownTags(Vec<String>);

impl KnownTags {
    /// None without such a field. Several fields are one list.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let fields = headers.get_all(header::IF_NONE_MATCH).iter();
        let tags = |value: &HeaderValue| -> Vec<String> {
            let text = value.to_str().unwrap_or_default();
            text.split(',').map(|tag| tag.trim().to_owned()).collect()
        };
        let tags: Vec<String> = fields.flat_map(tags).collect();
        (!tags.is_empty()).then_some(Self(tags))
    }

    /// Whether the response is one that the caller has. For reading, a weak tag is as good as a strong one.
    pub(crate) fn has(&self, reply: &Reply) -> bool {
        let Some(current) = reply
            .headers
            .get(header::ETAG)
            .filter(|_| reply.status == StatusCode::OK)
        else {
            return false;
        };
        self.0
            .iter()
            .map(|tag| tag.strip_prefix("W/").unwrap_or(tag))
            .any(|tag| tag == "*" || tag.as_bytes() == current.as_bytes())
    }
}

/// The media type of JSON.
pub(crate) const JSON: &str = "application/json";

fn limits() -> ReadLimits {
    ReadLimits {
        depth: DEPTH,
        ..ReadLimits::default()
    }
}

fn malformed(message: String) -> Problem {
    Problem::new(Code::MalformedBody, message)
}

fn json(body: &[u8]) -> Result<Json, Problem> {
    let text =
        std::str::from_utf8(body).map_err(|error| malformed(format!("the body is not UTF-8: {error}")))?;
    mizzen_json::parse(text, limits())
        .map_err(|error| malformed(format!("the body is not valid JSON: {error}")))?
        .root()
        .to_json_unique()
        .map_err(|error| malformed(format!("the body is ambiguous: {error}")))
}

fn yaml(body: &[u8]) -> Result<Json, Problem> {
    let text =
        std::str::from_utf8(body).map_err(|error| malformed(format!("the body is not UTF-8: {error}")))?;
    mizzen_json::yaml::parse(text, limits())
        .map_err(|error| malformed(format!("the body is not valid YAML: {error}")))?
        .root()
        .to_json_unique()
        .map_err(|error| malformed(format!("the body is ambiguous: {error}")))
}

/// A parameter that is not what it must be.
pub(crate) fn invalid_parameter(name: &str, value: &str, expected: &str) -> Problem {
    let shown: String = value.chars().take(64).collect();
    Problem::new(
        Code::ValidationError,
        format!("{name} must be {expected}, not {shown:?}"),
    )
    .with("parameter", name)
}

/// A successful response.
#[derive(Debug)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its header, `x-request-id` aside.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Body,
    /// Whether the body's memory is its own.
    pub(crate) memory: Memory,
}

/// Who owns the memory of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Its own: it is kept until the response has been sent.
    Own,
    /// Shared by all responses with the same body.
    Shared,
}

impl Reply {
    /// A response with a body of some type.
    pub fn new(status: StatusCode, media_type: &'static str, body: impl Into<Body>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        Self {
            status,
            headers,
            body: body.into(),
            memory: Memory::Own,
        }
    }

    /// The same, with a body that is kept anyway.
    pub(crate) fn shared(mut self) -> Self {
        self.memory = Memory::Shared;
        self
    }

    /// 200 with JSON text.
    pub fn json(text: impl Into<Body>) -> Self {
        Self::new(StatusCode::OK, JSON, text)
    }

    /// 204.
    pub fn no_content() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            headers: HeaderMap::new(),
            body: Body::empty(),
            memory: Memory::Own,
        }
    }

    /// 303: the resource is elsewhere.
    pub(crate) fn see(place: &str) -> Self {
        Self {
            status: StatusCode::SEE_OTHER,
            ..Self::no_content()
        }
        .header(header::LOCATION, place)
    }

    /// 304: the caller has it already.
    pub(crate) fn not_modified(mut self) -> Self {
        self.status = StatusCode::NOT_MODIFIED;
        self.headers.remove(header::CONTENT_TYPE);
        self.body = Body::empty();
        self
    }

    /// A stored document, with its entity tag.
    pub fn document(status: StatusCode, document: Document) -> Self {
        let tag = etag(document.revision);
        Self::new(status, JSON, document.json).header(header::ETAG, &tag)
    }

    /// A page of documents, put together from their stored texts.
    pub fn page(name: &str, page: Documents) -> Self {
        let next = page
            .next_cursor
            .map_or_else(|| "null".to_owned(), |cursor| format!("\"{cursor}\""));
        Self::json(format!(
            "{{\"{name}\":[{}],\"next_cursor\":{next}}}",
            page.items.join(",")
        ))
    }

    /// Adds a header.
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }
}
