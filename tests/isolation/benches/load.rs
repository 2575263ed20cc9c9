//! What loading a hundred signed plugins costs when their compiled forms are in the cache: verify, link, describe
//! twice, register.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use mizzen_catalog::Sources;
use mizzen_catalog::load::load_set;
use mizzen_isolation::{copies, terms};
use mizzen_ops::toolbox::{Outfit, Toolbox};
use mizzen_sandbox::{Sandbox, Settings};
use std::path::Path;
use std::sync::Arc;

fn loading(criterion: &mut Criterion) {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for count in [25, 100] {
        let folder = tempfile::tempdir().unwrap();
        copies(count, folder.path(), &scratch).unwrap();
        let settings = Settings {
            cache: Some(folder.path().join("artifacts")),
            ..Settings::default()
        };
        let sandbox = Arc::new(Sandbox::start(settings).unwrap());
        let sources = Sources {
            folders: vec![folder.path().to_owned()],
            ..Sources::default()
        };
        let load = || {
            let plan = load_set(&sources, &terms()).unwrap();
            let toolbox = Toolbox::new(Arc::clone(&sandbox), Outfit::default());
            runtime.block_on(toolbox.load(&plan)).unwrap()
        };
        // The first time compiles.
        load();
        let mut group = criterion.benchmark_group("load");
        group.sample_size(10);
        group.bench_function(format!("{count} signed plugins from a warm cache"), |bencher| {
            bencher.iter(load);
        });
        group.finish();
    }
}

criterion_group!(benches, loading);
criterion_main!(benches);
