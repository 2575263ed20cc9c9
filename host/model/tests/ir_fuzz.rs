//! A fuzz target that runs on stable, inside the tests: texts of the vectors, mutated byte by byte, through everything that
//! reads. It runs a few thousand cases by default; for a long run:
//!
//! `MIZZEN_FUZZ_CASES=10000000 cargo test --release -p mizzen-model --test ir_fuzz`
//!
//! A failure prints the bytes; the generator is seeded, so a case is found again by its number.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test may fail the test"
)]

use mizzen_model::ir::{GraphFormat, diff, fact_content_hash};
use mizzen_model::ir::{
    IRDocument, Options, RecordName, draw, dumps, dumps_canonical, inspect, inspect_tape, loads,
};
use mizzen_model::json::{Json, Limits, parse_bytes};
use mizzen_model::yaml;

/// What every reader is asked to survive, and what must hold when it accepts.
fn target(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(parse_bytes(bytes, Limits::default()).is_err());
        return;
    };
    if let Ok(tape) = parse_bytes(bytes, Limits::default()) {
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
        Limits {
            values: 10_000,
            ..Limits::default()
        },
    ) {
        let inspection = inspect_tape(&tape, Options::default());
        for error in &inspection.errors {
            let span = error.span.unwrap();
            assert!(span.start <= span.end && span.end <= text.len());
        }
    }
    let inspection = inspect(text, Options::default());
    assert_eq!(inspection.document.is_some(), inspection.errors.is_empty());
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

/// Small, seeded and good enough to choose mutations.
struct Generator(u64);

impl Generator {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\u",
    "\\ud800",
    "\\ude00",
    "null",
    "true",
    "1e400",
    "-0.0",
    "0",
    "99999999999999999999",
    "\"kind\"",
    "\"goto\"",
    "\"id\"",
    "\n",
    "\t",
    "- ",
    "? ",
    "&a ",
    "*a",
    "!!int ",
    "|",
    ">",
    "#",
    "---",
    "\u{feff}",
    "é",
    "\u{2028}",
    "\u{0}",
];

fn mutate(generator: &mut Generator, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus[generator.below(corpus.len())].clone();
    for _ in 0..=generator.below(6) {
        let at = generator.below(bytes.len() + 1);
        match generator.below(6) {
            0 if at < bytes.len() => bytes[at] = generator.below(256) as u8,
            1 if at < bytes.len() => {
                bytes.remove(at);
            }
            2 => bytes.truncate(at),
            3 => {
                let other = &corpus[generator.below(corpus.len())];
                let from = generator.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            4 => {
                let end = (at + generator.below(20)).min(bytes.len());
                let copied = bytes[at..end].to_vec();
                bytes.splice(at..at, copied);
            }
            _ => {
                let token = TOKENS[generator.below(TOKENS.len())].as_bytes();
                bytes.splice(at..at, token.iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn mutated_documents_break_nothing() {
    let cases: u64 = std::env::var("MIZZEN_FUZZ_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(4_000);
    let mut corpus: Vec<Vec<u8>> = include_str!("data/ir-documents.jsonl")
        .lines()
        .map(|line| {
            Json::parse(line)
                .unwrap()
                .get("text")
                .unwrap()
                .as_str()
                .unwrap()
                .as_bytes()
                .to_vec()
        })
        .collect();
    corpus.push(
        b"ir_version: \"1.0.0\"\nid: g\nnodes:\n  - &n { id: a, kind: echo }\n  - *n\nrules: []\n".to_vec(),
    );
    for case in 0..cases {
        // Seeded by its number, so that any case can be had again alone.
        let mut generator = Generator(0x9E37_79B9_7F4A_7C15 ^ (case + 1).wrapping_mul(0xBF58_476D_1CE4_E5B9));
        let bytes = mutate(&mut generator, &corpus);
        let shown = bytes.clone();
        let outcome = std::panic::catch_unwind(move || target(&bytes));
        assert!(
            outcome.is_ok(),
            "case {case}: {:?}",
            String::from_utf8_lossy(&shown)
        );
    }
}
