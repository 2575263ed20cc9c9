//! The highest version of each plugin that a host has had, in a small TOML file: what an older version is compared with.
//!
//! An older version may have the bugs that the newer one fixed, and it is signed just as well. So a downgrade needs an
//! explicit approval.

use crate::files;
use crate::trust::TrustFileError;
use mizzen_json::strict_toml::{Problems, Reader};
use mizzen_model::namespace::PluginName;
use semver::Version;
use std::collections::BTreeMap;
use std::path::Path;

const MAX_SEEN: u64 = 4 << 20;

/// The highest version of each plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(BTreeMap<PluginName, Version>);

impl Seen {
    /// Reads the file; one that is not there holds nothing.
    ///
    /// # Errors
    /// When it cannot be read, or has problems.
    pub fn load(path: &Path) -> Result<Self, TrustFileError> {
        match files::read_text(path, MAX_SEEN) {
            Ok(text) => Self::parse(&text).map_err(|problems| TrustFileError::Malformed {
                path: path.to_owned(),
                problems,
            }),
            Err(error) if error.is_missing() => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    fn parse(text: &str) -> Result<Self, Problems> {
        let most = usize::try_from(MAX_SEEN).unwrap_or(usize::MAX);
        Reader::read(text, most, |mut root| {
            let mut seen = Self::default();
            let versions = root.table("versions").map(|table| table.entries());
            for (key, node) in versions.unwrap_or_default() {
                let name = PluginName::parse(key)
                    .map_err(|error| node.report_key(error.to_string(), "remove the line"));
                let version = node.parsed("write a version such as \"1.2.0\"", Version::parse);
                if let (Ok(name), Some(version)) = (name, version) {
                    seen.0.insert(name, version);
                }
            }
            root.finish();
            Some(seen)
        })
    }

    /// Writes the file as one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), TrustFileError> {
        let mut text = String::from(
            "# The highest version of each plugin that this host has had, recorded by `mizzen`: an older one is a downgrade.\n[versions]\n",
        );
        for (name, version) in &self.0 {
            text.push_str(&format!("{name} = \"{version}\"\n"));
        }
        Ok(files::replace(path, text.as_bytes(), 0o600)?)
    }

    /// Records a version, if it is higher than the known one. Returns whether it was.
    pub fn raise(&mut self, plugin: &PluginName, version: &Version) -> bool {
        let higher = self.highest(plugin).is_none_or(|known| known < version);
        if higher {
            self.0.insert(plugin.clone(), version.clone());
        }
        higher
    }

    /// The highest version of a plugin.
    pub fn highest(&self, plugin: &PluginName) -> Option<&Version> {
        self.0.get(plugin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_is_kept_in_a_private_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("versions.toml");
        let text = PluginName::parse("text").unwrap();
        let version = |text: &str| Version::parse(text).unwrap();
        let mut seen = Seen::load(&path).unwrap();
        assert!(seen.raise(&text, &version("1.2.0")));
        assert!(!seen.raise(&text, &version("1.2.0-rc.1")));
        assert!(!seen.raise(&text, &version("1.2.0")));
        assert!(seen.raise(&text, &version("1.10.0")));
        seen.save(&path).unwrap();
        assert_eq!(Seen::load(&path).unwrap(), seen);
        assert_eq!(seen.highest(&text), Some(&version("1.10.0")));
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for bad in [
            "[versions]\ntext = \"one\"\n",
            "[versions]\n\"../x\" = \"1.0.0\"\n",
            "text = 1\n",
        ] {
            std::fs::write(&path, bad).unwrap();
            assert!(Seen::load(&path).is_err(), "{bad}");
        }
    }
}
