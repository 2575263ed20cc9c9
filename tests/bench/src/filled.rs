//! Databases with very many rows, kept between runs: filling a million takes minutes, measuring a page does not.

use crate::harness::Bench;
use crate::options::Scale;
use anyhow::{Result, bail};
use mizzen_store::{AuditEntry, NewRun, NewSprite, RunEvent, RunStep, Sealed, Store};
use mizzen_store_sqlite::{Options, SqliteStore, latest_migration};
use std::path::PathBuf;
use std::sync::Arc;
use uuid::Uuid;

/// What a database is filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    Runs,
    Sprites,
}

/// The chain that every tenth of the runs is of.
pub(crate) fn chain(number: u64) -> Uuid {
    Uuid::from_u64_pair(3, number % 10)
}

/// A store with so many rows. A million is filled in a long run or by `--prepare` only.
pub(crate) async fn store(bench: &Bench, rows: Rows, count: u64) -> Result<Store> {
    let folder = folder(bench, rows, count);
    let done = folder.join("filled");
    if !done.exists() {
        if count > 100_000 && bench.scale != Scale::Long {
            bail!("no database with {count} rows is kept; --prepare fills one, it takes minutes");
        }
        fill(bench, rows, count).await?;
    }
    Ok(SqliteStore::open(&folder, &Options::default())?.store())
}

fn folder(bench: &Bench, rows: Rows, count: u64) -> PathBuf {
    // A database of another build is not this build's.
    let name = format!("{rows:?}-{count}-m{}", latest_migration()).to_lowercase();
    bench.places.kept.join("filled").join(name)
}

/// Fills a database anew.
pub(crate) async fn fill(bench: &Bench, rows: Rows, count: u64) -> Result<()> {
    let folder = folder(bench, rows, count);
    if folder.join("filled").exists() {
        return Ok(());
    }
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let store = SqliteStore::open(&folder, &Options::default())?.store();
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..count {
        let store = store.clone();
        waiting.spawn(async move {
            match rows {
                Rows::Runs => start_run(&store, number).await,
                Rows::Sprites => store
                    .create_sprite(sprite(number), String::new(), None, audit())
                    .await
                    .map(drop)
                    .map_err(anyhow::Error::from),
            }
        });
        if waiting.len() >= 1_024
            && let Some(done) = waiting.join_next().await
        {
            done??;
        }
    }
    while let Some(done) = waiting.join_next().await {
        done??;
    }
    store.close().await;
    std::fs::write(folder.join("filled"), "")?;
    Ok(())
}

pub(crate) fn audit() -> AuditEntry {
    AuditEntry {
        at: 0,
        actor: "bench".into(),
        action: "fill".into(),
        subject: String::new(),
        outcome: "done".into(),
        request_id: String::new(),
        detail: "{}".into(),
    }
}

/// A run that has ended, with a result as long as one of three small steps.
pub(crate) async fn start_run(store: &Store, number: u64) -> Result<()> {
    let at = i64::try_from(number).unwrap_or(i64::MAX);
    let result = format!("{{\"n\":{number},\"pad\":\"{}\"}}", "x".repeat(800));
    let run = NewRun {
        id: Uuid::from_u64_pair(2, number),
        council_id: Uuid::from_u64_pair(4, 0),
        chain_id: chain(number),
        started_at: at,
        definition_hash: [7; 32],
        definition: "{}".into(),
    };
    let step = RunStep {
        events: vec![RunEvent {
            seq: 1,
            bytes: result.clone(),
            hash: [1; 32],
        }],
        status: if number.is_multiple_of(20) {
            "failed"
        } else {
            "completed"
        }
        .to_owned(),
        sealed: Some(Sealed {
            completed_at: at,
            result: result.into(),
            seal: None,
        }),
        rewritten: None,
        deliveries: Vec::new(),
    };
    store.start_run(run, Arc::new(step), None, vec![audit()]).await?;
    Ok(())
}

pub(crate) fn sprite(number: u64) -> NewSprite {
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
