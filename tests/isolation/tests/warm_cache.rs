//! Plugins that were compiled once are not compiled again by the next process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use mizzen_catalog::Sources;
use mizzen_catalog::load::load_set;
use mizzen_isolation::{copies, terms};
use mizzen_ops::toolbox::{Outfit, Toolbox};
use mizzen_sandbox::{Compiled, Sandbox, Settings};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn a_set_that_was_loaded_before_is_loaded_from_the_cache() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests");
    let folder = tempfile::tempdir().unwrap();
    copies(10, folder.path(), &scratch).unwrap();
    let sources = Sources {
        folders: vec![folder.path().to_owned()],
        ..Sources::default()
    };
    let mut times = Vec::new();
    for expected in [Compiled::Now, Compiled::FromCache] {
        let settings = Settings {
            slots: 4,
            cache: Some(folder.path().join("artifacts")),
            ..Settings::default()
        };
        let toolbox = Toolbox::new(Arc::new(Sandbox::start(settings).unwrap()), Outfit::default());
        let started = Instant::now();
        let loaded = toolbox
            .load(&load_set(&sources, &terms()).unwrap())
            .await
            .unwrap();
        times.push(started.elapsed());
        assert_eq!(loaded.plugins().count(), 10);
        for plugin in loaded.plugins() {
            assert_eq!(plugin.compiled(), expected, "{}", plugin.verified().id());
        }
    }
    // Milliseconds on a quiet machine (see the benchmark `load`); this only finds a load that compiles or waits.
    assert!(
        times.iter().skip(1).all(|time| *time < Duration::from_secs(30)),
        "{times:?}"
    );
}
