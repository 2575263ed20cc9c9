//! Changes of a plugin's files, gathered.

use anyhow::Context;
use notify::{EventKind, RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Editors write a file in several steps, and several files at once: quiet for this long means that they are done.
const QUIET: Duration = Duration::from_millis(200);
/// Something that writes without end must not keep a rebuild away for ever.
const LONGEST: Duration = Duration::from_secs(3);
/// What builds write themselves, and what is not source.
const IGNORED: &[&str] = &["target", "dist", ".mizzen", ".git"];

/// The changes of one folder since this was made.
pub(super) struct Changes {
    folder: PathBuf,
    events: Receiver<PathBuf>,
    _watcher: notify::RecommendedWatcher,
}

impl Changes {
    /// Begins to watch.
    pub(super) fn of(folder: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot watch {}", folder.display());
        let folder = folder.canonicalize().with_context(cannot)?;
        let (sender, events) = channel();
        let root = folder.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            for path in event.paths {
                if is_source(&root, &path) {
                    // Nobody listens any more: the verb has ended.
                    let _ = sender.send(path);
                }
            }
        })
        .with_context(cannot)?;
        watcher
            .watch(&folder, RecursiveMode::Recursive)
            .with_context(cannot)?;
        Ok(Changes {
            folder,
            events,
            _watcher: watcher,
        })
    }

    /// Waits for a change and for quiet after it, and says what changed, relative to the folder.
    pub(super) fn next(&self) -> anyhow::Result<PathBuf> {
        let mut changed = self.events.recv().context("the file watcher stopped")?;
        let began = Instant::now();
        while began.elapsed() < LONGEST {
            match self.events.recv_timeout(QUIET) {
                // Editors write beside a file and rename; the name that stays is the one to show.
                Ok(path) if path.exists() => changed = path,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(changed
            .strip_prefix(&self.folder)
            .map_or(changed.clone(), Path::to_owned))
    }
}

fn is_source(root: &Path, path: &Path) -> bool {
    let Ok(relative) = path.strip_prefix(root) else {
        return false;
    };
    let Some(first) = relative.components().next() else {
        return false;
    };
    // Cargo writes the lock file while it builds; the SDK is unpacked beside itself first.
    let first = first.as_os_str().to_string_lossy();
    let written_by_builds = first == "Cargo.lock" || first.starts_with(".mizzen");
    !written_by_builds && !IGNORED.contains(&first.as_ref()) && !relative.to_string_lossy().ends_with('~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_count_as_changes() {
        let root = Path::new("/plugin");
        for path in ["src/lib.rs", "plugin.toml", "Cargo.toml", "tests/target/x.rs"] {
            assert!(is_source(root, &root.join(path)), "{path}");
        }
        for path in [
            "target/debug/x",
            "dist/a.wasm",
            ".mizzen/kit/sdk/src/lib.rs",
            ".git/index",
            "Cargo.lock",
            "src/lib.rs~",
            "",
        ] {
            assert!(!is_source(root, &root.join(path)), "{path}");
        }
        assert!(!is_source(root, Path::new("/elsewhere/src/lib.rs")));
    }

    #[test]
    fn a_burst_of_writes_is_one_change() {
        let folder = tempfile::tempdir().unwrap();
        let changes = Changes::of(folder.path()).unwrap();
        std::fs::create_dir(folder.path().join("target")).unwrap();
        std::fs::write(folder.path().join("target/noise"), "x").unwrap();
        for turn in 0..10 {
            std::fs::write(folder.path().join("lib.rs"), turn.to_string()).unwrap();
        }
        assert_eq!(changes.next().unwrap(), Path::new("lib.rs"));
        std::fs::write(folder.path().join("plugin.toml"), "x").unwrap();
        assert_eq!(changes.next().unwrap(), Path::new("plugin.toml"));
    }
}
