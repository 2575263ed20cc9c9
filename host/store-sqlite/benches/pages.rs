//! List pages stay flat from a thousand to many rows, and writes that wait together share a commit. The raw cost of one durable
//! write on the same disk is measured beside it.
//!
//! `MIZZEN_BENCH_ROWS` sets the size of the large table (default 100,000; a million takes a few minutes to fill).

use criterion::{Criterion, criterion_group, criterion_main};
use mizzen_store::{AuditEntry, NewSprite, SpriteFilter, Store};
use mizzen_store_sqlite::{Options, SqliteStore, cursor_at};
use std::hint::black_box;
use uuid::Uuid;

fn audit() -> AuditEntry {
    AuditEntry {
        at: 0,
        actor: "bench".into(),
        action: "create_sprite".into(),
        subject: String::new(),
        outcome: "done".into(),
        request_id: String::new(),
        detail: "{}".into(),
    }
}

fn sprite(number: u64) -> NewSprite {
    NewSprite {
        id: Uuid::from_u64_pair(1, number),
        name: format!("SPRITE-{}", number % 500),
        version: format!("1.0.{number}"),
        role: number.is_multiple_of(6).then(|| "planner".into()),
        fingerprint: format!("blake3:{number:064x}"),
        tags: vec![format!("tag-{}", number % 50)],
        capabilities: vec![format!("cap-{}", number % 20)],
        document: format!("{{\"n\":{number},\"pad\":\"{}\"}}", "x".repeat(600)),
        at: 0,
    }
}

async fn fill(store: &Store, rows: u64) {
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..rows {
        let store = store.clone();
        waiting.spawn(async move {
            store
                .create_sprite(sprite(number), String::new(), None, audit())
                .await
                .map(|_| ())
        });
        if waiting.len() >= 1_024 {
            drop(waiting.join_next().await);
        }
    }
    while waiting.join_next().await.is_some() {}
}

fn pages(criterion: &mut Criterion) {
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return;
    };
    let large = std::env::var("MIZZEN_BENCH_ROWS")
        .ok()
        .and_then(|rows| rows.parse().ok())
        .unwrap_or(100_000);
    for rows in [1_000, large] {
        let Ok(folder) = tempfile::tempdir() else { return };
        let Ok(opened) = SqliteStore::open(folder.path(), &Options::default()) else {
            return;
        };
        let store = opened.store();
        runtime.block_on(fill(&store, rows));
        let middle = i64::try_from(rows / 2).unwrap_or(0);
        let filters = [
            ("all", SpriteFilter::default()),
            (
                "tag",
                SpriteFilter {
                    tag: Some("tag-7".into()),
                    ..Default::default()
                },
            ),
            (
                "name",
                SpriteFilter {
                    name: Some("SPRITE-7".into()),
                    ..Default::default()
                },
            ),
            (
                "role",
                SpriteFilter {
                    role: Some("planner".into()),
                    ..Default::default()
                },
            ),
        ];
        for (name, filter) in filters {
            criterion.bench_function(
                &format!("page of 20 by {name}, middle of {rows} rows"),
                |bencher| {
                    bencher.iter(|| {
                        let page = store.list_sprites(filter.clone(), Some(cursor_at([middle, 0])), 20);
                        black_box(runtime.block_on(page))
                    });
                },
            );
        }
        let mut next = rows;
        criterion.bench_function(&format!("one durable write into {rows} rows"), |bencher| {
            bencher.iter(|| {
                next += 1;
                let written = store.create_sprite(sprite(next), String::new(), None, audit());
                black_box(runtime.block_on(written))
            });
        });
    }
}

/// What the disk itself takes for one durable write, for comparison.
fn raw(criterion: &mut Criterion) {
    use std::io::Write;
    let Ok(mut file) = tempfile::tempfile() else {
        return;
    };
    criterion.bench_function("raw write and fdatasync of 4 KiB", |bencher| {
        bencher.iter(|| file.write_all(&[0; 4_096]).and_then(|()| file.sync_data()));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = pages, raw
}
criterion_main!(benches);
