//! Content hashes.

use super::dumps::dumps_canonical;
use super::records::IRDocument;
use blake2::Blake2b;
use blake2::digest::{Digest, consts::U16};
use mizzen_json::Json;

/// The content hash of a fact: BLAKE2b of its canonical, ASCII-escaped JSON, 32 hex digits.
pub fn fact_content_hash(fact: &Json) -> String {
    let digest = Blake2b::<U16>::digest(fact.to_canonical_ascii().as_bytes());
    crate::hex::encode(&digest)
}

/// The hash that `migrate` blocks name: of the document without its `migrate` section, since a document cannot contain its own hash
/// (D38).
pub fn migration_hash(document: &IRDocument) -> String {
    let mut bare = document.clone();
    bare.migrate = Vec::new();
    graph_hash(&bare)
}

/// The hash of a graph: BLAKE3 of `dumps_canonical`, 64 hex digits (D11). It covers everything, node kinds and rule conditions
/// included.
pub fn graph_hash(document: &IRDocument) -> String {
    blake3::hash(dumps_canonical(document).as_bytes())
        .to_hex()
        .to_string()
}
