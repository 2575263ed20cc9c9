//! Sections of `mizzen.toml` that a running host does not take over: what it watches is plugins, grants, trust and mounts.

use crate::home::OTHER_SECTIONS;
use mizzen_catalog::config::MAX_CONFIG;
use mizzen_catalog::files;
use std::collections::BTreeSet;
use std::path::Path;

/// The sections as they were when the host started.
pub(crate) struct Unapplied {
    started_with: toml::Table,
    /// What was last reported, so that each difference is reported once.
    reported: BTreeSet<&'static str>,
}

impl Unapplied {
    /// Remembers a configuration. One that cannot be read is empty: the host does not start with it.
    pub(crate) fn of(config: &Path) -> Self {
        Self {
            started_with: read(config).unwrap_or_default(),
            reported: BTreeSet::new(),
        }
    }

    /// The sections that differ from those at the start, when they are not the ones that were reported before.
    pub(crate) fn changed(&mut self, config: &Path) -> Option<String> {
        let now = read(config)?;
        let differs = |section: &&&str| now.get(**section) != self.started_with.get(**section);
        let changed: BTreeSet<&'static str> = OTHER_SECTIONS.iter().filter(differs).copied().collect();
        if changed == self.reported {
            return None;
        }
        let shown: Vec<String> = changed.iter().map(|section| format!("[{section}]")).collect();
        self.reported = changed;
        (!shown.is_empty()).then(|| shown.join(", "))
    }
}

/// A file that is being written, or is not valid, is reported by the reload.
fn read(config: &Path) -> Option<toml::Table> {
    files::read_text(config, MAX_CONFIG).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_that_is_not_taken_over_is_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("mizzen.toml");
        let write = |text: &str| std::fs::write(&config, text).unwrap();
        write("[server]\nrate_burst = 1\n");
        let mut unapplied = Unapplied::of(&config);
        assert_eq!(unapplied.changed(&config), None);
        write("[server]\nrate_burst = 2\n[hooks]\n[grants.plugin]\na = []\n");
        assert_eq!(unapplied.changed(&config).as_deref(), Some("[hooks], [server]"));
        assert_eq!(unapplied.changed(&config), None);
        write("half a lin");
        assert_eq!(unapplied.changed(&config), None);
        write("[server]\nrate_burst = 2\n");
        assert_eq!(unapplied.changed(&config).as_deref(), Some("[server]"));
        write("[server]\nrate_burst = 1\n");
        assert_eq!(unapplied.changed(&config), None, "as it was");
    }
}
