//! Fingerprints: which documents are the same definition (D8).
//!
//! What is hashed is the document without `id`, `created`, `fingerprint` and `metadata.created`, exactly there and at no other
//! depth, as canonical ASCII JSON. Dereferenced prompt text must already be in place. Nothing here normalises Unicode.

use mizzen_json::Json;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// Which hash a fingerprint is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FingerprintType {
    /// BLAKE3, the default.
    #[default]
    Blake3,
    /// SHA-256, when asked for.
    Sha256,
}

impl FingerprintType {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            FingerprintType::Blake3 => "blake3",
            FingerprintType::Sha256 => "sha256",
        }
    }

    /// From the name on the wire.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "blake3" => Some(FingerprintType::Blake3),
            "sha256" => Some(FingerprintType::Sha256),
            _ => None,
        }
    }
}

/// A fingerprint: the hash's type and its 64 lowercase hex digits. Displays as `blake3:…`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    algorithm: &'static str,
    hash: String,
}

impl Fingerprint {
    /// The fingerprint of a document.
    pub fn of(document: &Json, algorithm: FingerprintType) -> Self {
        let canonical = canonical_text(document);
        let hash = match algorithm {
            FingerprintType::Blake3 => blake3::hash(canonical.as_bytes()).to_hex().to_string(),
            FingerprintType::Sha256 => crate::hex::encode(&Sha256::digest(canonical.as_bytes())),
        };
        Fingerprint {
            algorithm: algorithm.as_str(),
            hash,
        }
    }

    /// A fingerprint that was stored: the hash function and 64 lowercase hex digits.
    pub fn from_parts(algorithm: FingerprintType, hash: &str) -> Option<Self> {
        let fits = hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Fingerprint {
            algorithm: algorithm.as_str(),
            hash: hash.to_owned(),
        })
    }

    /// The hash function.
    pub fn kind(&self) -> FingerprintType {
        FingerprintType::parse(self.algorithm).unwrap_or_default()
    }

    /// `blake3` or `sha256`.
    pub fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    /// The 64 hex digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm, self.hash)
    }
}

/// The exact text a fingerprint covers.
pub fn canonical_text(document: &Json) -> String {
    let mut stripped = document.clone();
    if let Some(members) = stripped.as_object_mut() {
        for key in ["id", "created", "fingerprint"] {
            members.remove(key);
        }
        if let Some(metadata) = members.get_mut("metadata").and_then(Json::as_object_mut) {
            metadata.remove("created");
        }
    }
    stripped.to_canonical_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_four_named_members_are_stripped() {
        let document = Json::parse(
            r#"{"id":1,"created":2,"fingerprint":3,"metadata":{"created":4,"id":5},"inner":{"id":6,"created":7,"fingerprint":8,"metadata":{"created":9}}}"#,
        )
        .unwrap();
        assert_eq!(
            canonical_text(&document),
            r#"{"inner":{"created":7,"fingerprint":8,"id":6,"metadata":{"created":9}},"metadata":{"id":5}}"#
        );
    }

    #[test]
    fn canonical_text_escapes_what_is_not_printable_ascii_and_keeps_nulls() {
        let document = Json::parse("{\"é\":\"\u{7f}😀\\n\",\"a\":null,\"f\":[1e-7,1e16,1.0,-0.0]}").unwrap();
        assert_eq!(
            canonical_text(&document),
            r#"{"a":null,"f":[1e-07,1e+16,1.0,-0.0],"\u00e9":"\u007f\ud83d\ude00\n"}"#
        );
    }

    #[test]
    fn sha256_is_used_when_asked_for() {
        let document = Json::parse("{}").unwrap();
        assert_eq!(
            Fingerprint::of(&document, FingerprintType::Sha256).to_string(),
            "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
    }
}
