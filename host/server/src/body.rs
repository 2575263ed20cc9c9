//! Reading what a client sends: its type, and not more of it than allowed.

use crate::problem::{Code, Problem};
use crate::route::BodySpec;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, header};
use std::pin::Pin;
use std::time::Duration;

/// How much of a body that is too large is read and thrown away, so that the client gets to read the answer instead of a
/// broken connection.
const DRAIN: usize = 16 << 20;

/// The media type of the body, when the route takes it.
pub(crate) fn media_type(spec: &BodySpec, headers: &HeaderMap) -> Result<String, Problem> {
    let refused = |what: &str| {
        let expected = spec.types.join(", ");
        Problem::new(
            Code::UnsupportedMediaType,
            format!("the content type is {what}; this route takes {expected}"),
        )
        .with(
            "supported",
            spec.types
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>(),
        )
    };
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Err(refused("missing"));
    };
    let text: String = value.to_str().unwrap_or_default().chars().take(256).collect();
    let mut pieces = text.split(';').map(str::trim);
    let essence = pieces.next().unwrap_or_default().to_ascii_lowercase();
    if !spec.types.contains(&essence.as_str()) {
        return Err(refused(&format!("{text:?}")));
    }
    for piece in pieces {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let charset = value.trim_matches('"').to_ascii_lowercase();
        if name.eq_ignore_ascii_case("charset") && charset != "utf-8" && charset != "us-ascii" {
            return Err(refused(&format!("in {charset:?}, only utf-8 is read")));
        }
    }
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING)
        && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
    {
        let encoding: String = encoding.to_str().unwrap_or_default().chars().take(64).collect();
        return Err(refused(&format!(
            "encoded as {encoding:?}, and nothing is decoded"
        )));
    }
    Ok(essence)
}

/// How long a body of at most `limit` bytes may take: a package is larger than a document, and its line may be slow.
pub(crate) fn time_for(limit: usize, receive: Duration) -> Duration {
    let pieces = u32::try_from(limit / (8 << 20)).unwrap_or(u32::MAX);
    receive.saturating_mul(pieces.saturating_add(1))
}

/// Reads a body of at most `limit` bytes within `time`.
pub(crate) async fn read(
    body: Body,
    limit: usize,
    time: Duration,
    headers: &HeaderMap,
) -> Result<Bytes, Problem> {
    let declared = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<usize>().ok());
    let reading = tokio::time::timeout(time, collect(body, limit, declared));
    match reading.await {
        Ok(result) => result,
        Err(_) => Err(Problem::new(
            Code::RequestTimeout,
            format!("the body did not arrive within {} s", time.as_secs()),
        )),
    }
}

async fn collect(mut body: Body, limit: usize, declared: Option<usize>) -> Result<Bytes, Problem> {
    let too_large = || {
        Problem::new(
            Code::PayloadTooLarge,
            format!("the body is larger than {limit} bytes"),
        )
        .with("limit", limit)
    };
    let mut bytes = Vec::with_capacity(declared.unwrap_or(0).min(limit));
    let mut seen = 0_usize;
    let mut over = declared.is_some_and(|declared| declared > limit);
    if declared.is_some_and(|declared| declared > DRAIN.max(limit)) {
        return Err(too_large());
    }
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame =
            frame.map_err(|_| Problem::new(Code::MalformedBody, "the body ended before it was complete"))?;
        let Ok(data) = frame.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        over |= seen > limit;
        if seen > DRAIN.max(limit) {
            break;
        }
        if !over {
            bytes.extend_from_slice(&data);
        }
    }
    if over {
        Err(too_large())
    } else {
        Ok(Bytes::from(bytes))
    }
}

/// Decodes `%xx` and `+` of a query; none when it is not UTF-8 or an escape is broken.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    mizzen_model::percent::decode_strict(&text.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_may_take_longer_than_a_document() {
        let receive = Duration::from_secs(15);
        assert_eq!(time_for(crate::route::JSON_LIMIT, receive), receive);
        assert_eq!(time_for(64 << 20, receive), Duration::from_secs(135));
    }

    #[test]
    fn queries_are_decoded_or_refused() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(percent_decode(text).as_deref(), expected, "{text}");
        };
        check("a%20b+c", Some("a b c"));
        check("%C3%A9", Some("é"));
        check("%ff", None);
        check("%zz", None);
        check("%2", None);
    }
}
