//! `trust.toml`, strictly read.

use super::UnixTime;
use crate::files::{self, FileError};
use crate::key::{KeyId, PublicKey};
use crate::package::Digest;
use mizzen_json::strict_toml::{Node, Problems, Reader};
use mizzen_model::namespace::{Namespace, NamespacePattern};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest `trust.toml`, in bytes.
pub const MAX_TRUST_FILE: u64 = 1 << 20;
const MAX_COMMENT: usize = 500;

/// A key that may sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustedKey {
    /// The public key.
    pub public_key: PublicKey,
    /// What the operator wrote about it.
    pub comment: String,
    /// It does not count before this moment.
    pub not_before: Option<UnixTime>,
    /// It does not count after this moment.
    pub not_after: Option<UnixTime>,
    /// What it may sign for.
    pub namespaces: Vec<NamespacePattern>,
}

/// A key that must not be trusted again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevokedKey {
    /// Why.
    pub reason: String,
}

/// A package that must not be loaded again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevokedDigest {
    /// Why.
    pub reason: String,
}

/// The contents of `trust.toml`. The default trusts no key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TrustStore {
    /// The keys by id.
    pub keys: BTreeMap<KeyId, TrustedKey>,
    /// How many signatures namespaces need; one by default.
    pub thresholds: BTreeMap<NamespacePattern, u8>,
    /// The revoked keys by id.
    pub revoked_keys: BTreeMap<KeyId, RevokedKey>,
    /// The revoked packages by digest.
    pub revoked_digests: BTreeMap<Digest, RevokedDigest>,
}

impl TrustStore {
    /// Reads `trust.toml`; a missing file trusts no key.
    ///
    /// # Errors
    /// When the file cannot be read, or its text has problems.
    pub fn load(path: &Path) -> Result<Self, TrustFileError> {
        match files::read_text(path, MAX_TRUST_FILE) {
            Ok(text) => Self::parse(&text).map_err(|problems| TrustFileError::Malformed {
                path: path.to_owned(),
                problems,
            }),
            Err(error) if error.is_missing() => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the text of `trust.toml`.
    ///
    /// # Errors
    /// With all its problems.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        Reader::read(
            text,
            usize::try_from(MAX_TRUST_FILE).unwrap_or(usize::MAX),
            |mut root| {
                let mut store = Self::default();
                for node in root.take("keys").and_then(|node| node.list()).unwrap_or_default() {
                    if let Some((id, key)) = read_key(&node)
                        && store.keys.insert(id, key).is_some()
                    {
                        node.report("this key is there twice", "merge the two entries");
                    }
                }
                for (key, node) in root
                    .table("thresholds")
                    .map(|table| table.entries())
                    .unwrap_or_default()
                {
                    let pattern = NamespacePattern::parse(key).map_err(|error| {
                        node.report_key(
                            error.to_string(),
                            "write a namespace such as \"acme\" or \"acme.*\"",
                        )
                    });
                    let needed = node.integer(1..=16).and_then(|needed| u8::try_from(needed).ok());
                    if let (Ok(pattern), Some(needed)) = (pattern, needed) {
                        store.thresholds.insert(pattern, needed);
                    }
                }
                for node in root
                    .take("revoked_keys")
                    .and_then(|node| node.list())
                    .unwrap_or_default()
                {
                    if let Some((id, reason)) =
                        read_revoked(&node, "id", KeyId::parse, "mzk_ and 32 hexadecimal digits")
                    {
                        store.revoked_keys.insert(id, RevokedKey { reason });
                    }
                }
                for node in root
                    .take("revoked_digests")
                    .and_then(|node| node.list())
                    .unwrap_or_default()
                {
                    let shape = "blake3: and 64 hexadecimal digits";
                    if let Some((digest, reason)) = read_revoked(&node, "digest", Digest::parse, shape) {
                        store.revoked_digests.insert(digest, RevokedDigest { reason });
                    }
                }
                root.finish();
                Some(store)
            },
        )
    }

    /// How many signatures a package needs that claims this namespace: the largest number that applies.
    pub fn signatures_needed(&self, namespace: &Namespace) -> usize {
        let applying = self
            .thresholds
            .iter()
            .filter(|(pattern, _)| pattern.matches(namespace));
        applying
            .map(|(_, needed)| usize::from(*needed))
            .max()
            .unwrap_or(1)
    }

    /// What keeps a namespace from being taken by its first use: a key other than these that may sign for something above or below it,
    /// or a number of signatures that something there needs. The key is none in that case.
    pub fn reserved(
        &self,
        namespace: &Namespace,
        signers: &[KeyId],
    ) -> Option<(&NamespacePattern, Option<&KeyId>)> {
        let others = self.keys.iter().filter(|(id, _)| !signers.contains(id));
        let mut keys =
            others.flat_map(|(id, key)| key.namespaces.iter().map(move |pattern| (pattern, Some(id))));
        let mut counts = self.thresholds.keys().map(|pattern| (pattern, None));
        keys.find(|(pattern, _)| pattern.is_related(namespace))
            .or_else(|| counts.find(|(pattern, _)| pattern.is_related(namespace)))
    }

    /// Whether a key or a threshold is about this namespace, so that `tofu` does not apply to it.
    pub fn speaks_about(&self, namespace: &Namespace) -> bool {
        let by_key = self
            .keys
            .values()
            .flat_map(|key| &key.namespaces)
            .any(|pattern| pattern.matches(namespace));
        by_key || self.thresholds.keys().any(|pattern| pattern.matches(namespace))
    }
}

/// Why `trust.toml` could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustFileError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text has problems.
    #[error("{} has problems:\n{problems}", path.display())]
    Malformed {
        /// The file.
        path: std::path::PathBuf,
        /// All of them.
        problems: Problems,
    },
}

fn read_key(node: &Node<'_, '_>) -> Option<(KeyId, TrustedKey)> {
    let mut table = node.section()?;
    let id = table.require("id", "add id = \"mzk_…\" (see `mizzen key show NAME`)");
    let public_key = table
        .require(
            "public_key",
            "add public_key = \"ed25519:…\" (see `mizzen key show NAME`)",
        )
        .and_then(|node| {
            node.parsed("copy the line from `mizzen key show NAME`", |text| {
                PublicKey::parse(text).ok_or("it is not an ed25519 public key")
            })
        });
    let comment = table.take("comment").map(|node| read_line(&node));
    let not_before = table
        .take("not_before")
        .map(|node| node.unix_seconds().map(UnixTime));
    let not_after = table
        .take("not_after")
        .map(|node| node.unix_seconds().map(UnixTime));
    let namespaces = table
        .require("namespaces", "add namespaces = [\"acme\", \"acme.*\"]")
        .and_then(|node| {
            let patterns: Option<Vec<NamespacePattern>> = node
                .list()?
                .iter()
                .map(|item| {
                    item.parsed(
                        "write a namespace such as \"acme\" or \"acme.*\"",
                        NamespacePattern::parse,
                    )
                })
                .collect();
            patterns
        });
    table.finish();
    let (id, public_key) = (id?, public_key?);
    if id.string()? != public_key.id().as_str() {
        id.report(
            "it is not the id of this public key",
            format!("write id = \"{}\", if the key is right", public_key.id()),
        );
        return None;
    }
    let key = TrustedKey {
        comment: comment.unwrap_or(Some(String::new()))?,
        not_before: transposed(not_before)?,
        not_after: transposed(not_after)?,
        namespaces: namespaces?,
        public_key,
    };
    Some((key.public_key.id(), key))
}

/// Absent is fine, unreadable is not.
fn transposed<T>(read: Option<Option<T>>) -> Option<Option<T>> {
    match read {
        Some(None) => None,
        Some(value) => Some(value),
        None => Some(None),
    }
}

fn read_line(node: &Node<'_, '_>) -> Option<String> {
    node.parsed("write one line", |text| {
        if text.len() <= MAX_COMMENT && !text.chars().any(char::is_control) {
            Ok(text.to_owned())
        } else {
            Err(format!("it is not one line of at most {MAX_COMMENT} bytes"))
        }
    })
}

fn read_revoked<T>(
    node: &Node<'_, '_>,
    key: &'static str,
    parse: fn(&str) -> Option<T>,
    shape: &'static str,
) -> Option<(T, String)> {
    let mut table = node.section()?;
    let value = table.require(key, shape).and_then(|node| {
        node.parsed(&format!("write {shape}"), |text| {
            parse(text).ok_or(format!("it is not {shape}"))
        })
    });
    let reason = table
        .require("reason", "add reason = \"why it was revoked\"")
        .and_then(|node| read_line(&node));
    table.finish();
    Some((value?, reason?))
}
