//! The pins of `tofu`: the first key of each namespace, in a small TOML file.

use super::UnixTime;
use super::document::TrustFileError;
use crate::files;
use crate::key::KeyId;
use mizzen_json::strict_toml::{Node, Problems, Reader};
use mizzen_model::namespace::Namespace;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

const MAX_PINS: u64 = 4 << 20;

/// The first key of each namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins(BTreeMap<Namespace, Pin>);

/// The first key of a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pin {
    /// The key.
    pub key: KeyId,
    /// When it was first seen; pins from before that was written have none.
    pub since: Option<UnixTime>,
}

impl Pins {
    /// Reads the file; one that is not there holds nothing.
    ///
    /// # Errors
    /// When it cannot be read, or has problems.
    pub fn load(path: &Path) -> Result<Self, TrustFileError> {
        match files::read_text(path, MAX_PINS) {
            Ok(text) => Self::parse(&text).map_err(|problems| TrustFileError::Malformed {
                path: path.to_owned(),
                problems,
            }),
            Err(error) if error.is_missing() => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    fn parse(text: &str) -> Result<Self, Problems> {
        Reader::read(
            text,
            usize::try_from(MAX_PINS).unwrap_or(usize::MAX),
            |mut root| {
                let mut pins = BTreeMap::new();
                for (key, node) in root
                    .table("pins")
                    .map(|table| table.entries())
                    .unwrap_or_default()
                {
                    let namespace = Namespace::parse(key)
                        .map_err(|error| node.report_key(error.to_string(), "remove the line"));
                    if let (Ok(namespace), Some(pin)) = (namespace, read_pin(&node)) {
                        pins.insert(namespace, pin);
                    }
                }
                root.finish();
                Some(Self(pins))
            },
        )
    }

    /// Writes the file as one step. To be called only after everything that is new in it has been verified.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), TrustFileError> {
        let mut text =
            String::from("# The first key of each namespace, pinned by `mizzen` in tofu mode.\n[pins]\n");
        for (namespace, Pin { key, since }) in &self.0 {
            let line = match since {
                Some(since) => format!("\"{namespace}\" = {{ key = \"{key}\", since = {since} }}\n"),
                None => format!("\"{namespace}\" = \"{key}\"\n"),
            };
            text.push_str(&line);
        }
        Ok(files::replace(path, text.as_bytes(), 0o600)?)
    }

    /// Pins a key for a namespace that has none yet, for as long as these pins are in memory.
    pub fn remember(&mut self, namespace: Namespace, key: KeyId) {
        self.0.entry(namespace).or_insert(Pin { key, since: None });
    }

    /// Pins a key for a namespace that has none yet, to be written.
    pub fn remember_since(&mut self, namespace: Namespace, key: KeyId, since: UnixTime) {
        let since = Some(since);
        self.0.entry(namespace).or_insert(Pin { key, since });
    }

    /// Removes the pin of a namespace; the next key that is seen there is pinned instead. None when there was none.
    pub fn forget(&mut self, namespace: &Namespace) -> Option<Pin> {
        self.0.remove(namespace)
    }

    /// The nearest pinned namespace at or above this one, and its key.
    pub fn nearest(&self, namespace: &Namespace) -> Option<(&Namespace, &KeyId)> {
        let text = Some(namespace.as_str());
        let mut prefixes = std::iter::successors(text, |text| text.rsplit_once('.').map(|(above, _)| above));
        let (namespace, pin) = prefixes.find_map(|prefix| self.0.get_key_value(prefix))?;
        Some((namespace, &pin.key))
    }

    /// The pinned namespaces below this one, and their keys.
    pub fn below<'a>(&'a self, namespace: &'a Namespace) -> impl Iterator<Item = (&'a Namespace, &'a KeyId)> {
        self.0
            .iter()
            .filter(move |(pinned, _)| *pinned != namespace && namespace.covers(pinned))
            .map(|(pinned, pin)| (pinned, &pin.key))
    }

    /// All of them, by namespace.
    pub fn iter(&self) -> impl Iterator<Item = (&Namespace, &Pin)> {
        self.0.iter()
    }
}

/// `"mzk_…"`, as it was written at first, or `{ key = "mzk_…", since = 2026-01-31T00:00:00Z }`.
fn read_pin(node: &Node<'_, '_>) -> Option<Pin> {
    let read_key = |node: &Node<'_, '_>| {
        node.parsed("write mzk_ and 32 hexadecimal digits", |text| {
            KeyId::parse(text).ok_or("it is not a key id")
        })
    };
    if node.is_string() {
        let key = read_key(node)?;
        return Some(Pin { key, since: None });
    }
    let mut table = node.section()?;
    let key = table.take("key").as_ref().and_then(read_key);
    let since = table
        .take("since")
        .and_then(|node| node.unix_seconds())
        .map(UnixTime);
    if key.is_none() {
        table.report("the pin names no key", "write { key = \"mzk_…\" }");
    }
    table.finish();
    Some(Pin { key: key?, since })
}
