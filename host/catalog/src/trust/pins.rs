//! What `tofu` remembers: the first key of each namespace, in a small TOML file.

use super::document::TrustFileError;
use crate::files;
use crate::key::KeyId;
use mizzen_model::namespace::Namespace;
use mizzen_model::strict_toml::{Problems, Reader};
use std::collections::BTreeMap;
use std::path::Path;

const MAX_PINS: u64 = 4 << 20;

/// The first key of each namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins(BTreeMap<Namespace, KeyId>);

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
                    let id = node.parsed("write mzk_ and 32 hexadecimal digits", |text| {
                        KeyId::parse(text).ok_or("it is not a key id")
                    });
                    if let (Ok(namespace), Some(id)) = (namespace, id) {
                        pins.insert(namespace, id);
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
            String::from("# The first key of each namespace, remembered by `mizzen` in tofu mode.\n[pins]\n");
        for (namespace, id) in &self.0 {
            text.push_str(&format!("\"{namespace}\" = \"{id}\"\n"));
        }
        Ok(files::replace(path, text.as_bytes(), 0o600)?)
    }

    /// Remembers a key for a namespace that has none yet.
    pub fn remember(&mut self, namespace: Namespace, key: KeyId) {
        self.0.entry(namespace).or_insert(key);
    }

    /// The nearest remembered namespace at or above this one, and its key.
    pub fn nearest(&self, namespace: &Namespace) -> Option<(&Namespace, &KeyId)> {
        let text = Some(namespace.as_str());
        let mut prefixes = std::iter::successors(text, |text| text.rsplit_once('.').map(|(above, _)| above));
        prefixes.find_map(|prefix| self.0.get_key_value(prefix))
    }

    /// The remembered namespaces below this one, and their keys.
    pub fn below<'a>(&'a self, namespace: &'a Namespace) -> impl Iterator<Item = (&'a Namespace, &'a KeyId)> {
        self.0
            .iter()
            .filter(move |(pinned, _)| *pinned != namespace && namespace.covers(pinned))
    }

    /// All of them, by namespace.
    pub fn iter(&self) -> impl Iterator<Item = (&Namespace, &KeyId)> {
        self.0.iter()
    }
}
