//! What the fuzzers run: `fuzz_targets/ir.rs` under libFuzzer, `tests/ir_fuzz.rs` inside the tests, which also keeps this compiling.

use mizzen_json::yaml;
use mizzen_json::{Json, ReadLimits, Span, parse_bytes};
use mizzen_model::ir::{GraphFormat, diff, fact_content_hash, validate};
use mizzen_model::ir::{
    IRDocument, Options, RecordName, draw, dumps, dumps_canonical, inspect, inspect_tape, loads,
};

/// A place that an editor can underline.
fn assert_within(text: &str, span: Option<Span>) {
    let span = span.unwrap();
    assert!(span.start <= span.end, "{span:?}");
    assert!(text.get(span.start..span.end).is_some(), "{span:?}");
}

/// What every reader is asked to survive, and what must hold when it accepts.
pub(crate) fn target(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(parse_bytes(bytes, ReadLimits::default()).is_err());
        return;
    };
    if let Ok(tape) = parse_bytes(bytes, ReadLimits::default()) {
        let value = tape.root().to_json();
        for written in [
            value.to_compact(),
            value.to_canonical(),
            value.to_canonical_ascii(),
            value.to_pretty(),
        ] {
            assert_eq!(Json::parse(&written).unwrap(), value);
        }
        assert_eq!(fact_content_hash(&value).len(), 32);
        for name in RecordName::ALL {
            if let Ok(record) = name.read(&tape) {
                assert_eq!(name.loads(&record.dumps()).as_ref(), Ok(&record));
            }
        }
    }
    if let Ok(tape) = yaml::parse(
        text,
        ReadLimits {
            values: 10_000,
            ..ReadLimits::default()
        },
    ) {
        let inspection = inspect_tape(&tape, Options::default());
        for error in &inspection.errors {
            assert_within(text, error.span);
        }
        for warning in &inspection.warnings {
            assert_within(text, warning.span);
        }
    }
    let inspection = inspect(text, Options::default());
    assert_eq!(inspection.document.is_some(), inspection.errors.is_empty());
    assert_eq!(validate(text), inspection.errors);
    for error in &inspection.errors {
        assert_within(text, error.span);
    }
    for warning in &inspection.warnings {
        assert_within(text, warning.span);
    }
    if let Some(document) = inspection.document {
        let wire = dumps(&document);
        let again: IRDocument = loads(&wire).unwrap();
        assert_eq!(dumps(&again), wire);
        assert_eq!(dumps_canonical(&again), dumps_canonical(&document));
        assert_eq!(diff(&again, &document), []);
        draw(&document, GraphFormat::Mermaid);
        draw(&document, GraphFormat::Dot);
    }
}
