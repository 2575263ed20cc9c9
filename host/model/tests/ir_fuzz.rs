//! A fuzz target that runs on stable, inside the tests: texts of the vectors, mutated byte by byte, through everything that
//! reads. It runs a few thousand cases by default; for a long run:
//!
//! `MIZZEN_FUZZ_CASES=10000000 cargo test --release -p mizzen-model --test ir_fuzz`, or under libFuzzer as `fuzz/Cargo.toml` says.
//!
//! A failure prints the bytes; the generator is seeded, so a case is found again by its number.
#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a helper of a test may fail the test"
)]

#[path = "../fuzz/target.rs"]
mod target;

use mizzen_json::Json;
use target::target;

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
    let conditions = "(severity ?s&:(>= ?s 4)) (note \\\"x\\u00e9\\\") (or (a 1) {b: c}) (severity < 3) =>";
    corpus.push(
        format!(
            r#"{{"ir_version":"1.0.0","id":"g","nodes":[],"rules":[{{"id":"r","when":"{conditions}"}}],"state_schema":{{"severity":"int","note":"str"}}}}"#
        )
        .into_bytes(),
    );
    corpus.push(
        b"ir_version: '1.0.0'\nid: g\nnodes: []\nrules:\n- id: r\n  when: |\n    (severity < 3)\n    (note ?n\n".to_vec(),
    );
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

/// What longer runs found: a place that ended inside a character.
#[test]
fn places_never_end_inside_a_character() {
    for text in ["{\"id\": \"a\\éb\"}", "éda: b\n"] {
        target(text.as_bytes());
    }
}
