//! Spans as OTLP's JSON encoding of `ExportTraceServiceRequest`, and what its answer says.

use super::{Attribute, Ended, SpanKind};
use mizzen_model::hex;
use serde_json::{Value, json};

/// A request with these spans; without any it still asks whether the collector takes requests.
pub(super) fn request(service: &str, spans: &[Ended]) -> Vec<u8> {
    if spans.is_empty() {
        return br#"{"resourceSpans":[]}"#.to_vec();
    }
    let version = env!("CARGO_PKG_VERSION");
    let request = json!({
        "resourceSpans": [{
            "resource": {
                "attributes": [text("service.name", service), text("service.version", version)],
            },
            "scopeSpans": [{
                "scope": {"name": "mizzen", "version": version},
                "spans": spans.iter().map(span).collect::<Vec<_>>(),
            }],
        }],
    });
    request.to_string().into_bytes()
}

fn span(ended: &Ended) -> Value {
    let attributes: Vec<Value> = ended
        .attributes
        .iter()
        .map(|(key, value)| match value {
            Attribute::Text(value) => text(key, value),
            // 64-bit numbers are texts in protobuf's JSON.
            Attribute::Number(value) => json!({"key": key, "value": {"intValue": value.to_string()}}),
        })
        .collect();
    let mut span = json!({
        "traceId": hex::encode(ended.context.trace_id()),
        "spanId": hex::encode(ended.context.span_id()),
        "name": ended.name,
        "kind": match ended.kind { SpanKind::Internal => 1, SpanKind::Server => 2 },
        "startTimeUnixNano": ended.start_ns.to_string(),
        "endTimeUnixNano": ended.end_ns.to_string(),
        "attributes": attributes,
        "flags": 1,
    });
    if let (Some(parent), Some(members)) = (&ended.parent, span.as_object_mut()) {
        members.insert("parentSpanId".to_owned(), hex::encode(parent).into());
    }
    if let (Some(code), Some(members)) = (&ended.error, span.as_object_mut()) {
        members.insert("status".to_owned(), json!({"code": 2, "message": code}));
    }
    span
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// How many spans an answer of 200 refuses.
pub(super) fn rejected(answer: &[u8]) -> u64 {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let rejected = answer
        .pointer("/partialSuccess/rejectedSpans")
        .cloned()
        .unwrap_or_default();
    match rejected {
        Value::String(text) => text.parse().unwrap_or(0),
        number => number.as_u64().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_refuses_some_spans_says_how_many() {
        assert_eq!(rejected(b"{}"), 0);
        assert_eq!(rejected(b"not JSON"), 0);
        assert_eq!(rejected(br#"{"partialSuccess":{"rejectedSpans":"3"}}"#), 3);
        assert_eq!(rejected(br#"{"partialSuccess":{"rejectedSpans":4}}"#), 4);
    }
}
