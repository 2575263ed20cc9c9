//! Lists of runs.

use super::Fixture;
use super::sample::{append, id, last_step, new_run, start, step};
use crate::{List, NewRun, RunFilter, RunPlace, RunStep, Sealed, Store};

/// Six runs of two chains; half of them end in the write that begins them.
async fn fill(store: &Store) {
    for (number, chain, status, ended) in [
        (1, 2, "completed", true),
        (2, 2, "completed", true),
        (3, 2, "vetoed", true),
        (4, 2, "running", false),
        (5, 3, "failed", true),
        (6, 3, "awaiting_approval", false),
    ] {
        let reached = |seq| match ended {
            true => last_step(seq, status, 2_000),
            false => step(seq, status),
        };
        if number % 2 == 0 {
            start(store, new_run(number, chain), step(1, "running")).await;
            append(store, number, 2, reached(2)).await;
        } else {
            start(store, new_run(number, chain), reached(1)).await;
        }
    }
}

pub(super) async fn totals_are_exact_for_every_filter(fixture: &dyn Fixture) {
    let store = fixture.open();
    fill(&store).await;
    let expected = [
        (None, None, None, 6),
        (None, None, Some("completed"), 2),
        (None, None, Some("running"), 1),
        (Some(2), None, None, 4),
        (Some(2), None, Some("vetoed"), 1),
        (Some(3), None, Some("completed"), 0),
        (Some(3), Some(1), None, 2),
        (Some(3), Some(8), None, 0),
        (None, Some(1), None, 6),
        (None, Some(1), Some("failed"), 1),
        (None, Some(8), None, 0),
    ];
    for (chain, council, status, total) in expected {
        let filter = RunFilter {
            chain: chain.map(id),
            council: council.map(id),
            status: status.map(str::to_owned),
            ..RunFilter::default()
        };
        // With a time the runs are counted, without one the total is kept: both are the same.
        let timed = RunFilter {
            since: Some(0),
            ..filter.clone()
        };
        for filter in [filter, timed] {
            let page = store
                .list_runs(filter.clone(), RunPlace::Offset(0), 10)
                .await
                .unwrap();
            assert_eq!(page.total, total, "{filter:?}");
            assert_eq!(u64::try_from(page.runs.len()).unwrap(), total, "{filter:?}");
        }
    }
    assert!(store.has_runs_of_chain(id(3)).await.unwrap());
    assert!(!store.has_runs_of_chain(id(4)).await.unwrap());
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

/// Runs 1 to 9: they end at 100, 200, 200, 400, 500 … in this order; 9 is open and began at 450.
async fn ended_in_turn(store: &Store) {
    for number in 1..=8_u8 {
        let at = if number == 3 { 200 } else { i64::from(number) * 100 };
        let run = new_run(number.into(), 2);
        start(store, run, last_step(1, "completed", at)).await;
    }
    let open = NewRun {
        started_at: 450,
        ..new_run(9, 2)
    };
    start(store, open, step(1, "running")).await;
}

pub(super) async fn pages_come_newest_first_by_offset_and_by_cursor(fixture: &dyn Fixture) {
    let store = fixture.open();
    ended_in_turn(&store).await;
    // Of two that ended at the same time the one that began later is newer.
    let expected: Vec<_> = [8, 7, 6, 5, 9, 4, 3, 2, 1].map(id).to_vec();
    for limit in [1, 2, 4, 9, 10] {
        let (mut by_cursor, mut place) = (Vec::new(), RunPlace::Offset(0));
        loop {
            let page = store.list_runs(RunFilter::default(), place, limit).await.unwrap();
            assert_eq!(page.total, 9);
            assert!(page.runs.len() <= limit);
            by_cursor.extend(page.runs.iter().map(|run| run.id));
            let Some(next) = page.next else { break };
            let text = next.to_text(List::Executions);
            place = RunPlace::After(store.cursor(List::Executions, &text).unwrap());
        }
        assert_eq!(by_cursor, expected, "{limit}");
    }
    let page = store
        .list_runs(RunFilter::default(), RunPlace::Offset(7), 5)
        .await
        .unwrap();
    let rest: Vec<_> = page.runs.iter().map(|run| run.id).collect();
    assert_eq!((rest, page.next), (expected[7..].to_vec(), None));
    let page = store
        .list_runs(RunFilter::default(), RunPlace::Offset(u64::MAX), 5)
        .await;
    assert_eq!(page.unwrap().runs, []);
}

pub(super) async fn a_time_takes_in_its_beginning_and_leaves_out_its_end(fixture: &dyn Fixture) {
    let store = fixture.open();
    ended_in_turn(&store).await;
    for (since, until, expected) in [
        (Some(400), None, vec![8, 7, 6, 5, 9, 4]),
        (None, Some(400), vec![3, 2, 1]),
        (Some(200), Some(450), vec![4, 3, 2]),
        (Some(450), Some(451), vec![9]),
        (Some(900), None, vec![]),
    ] {
        let filter = RunFilter {
            since,
            until,
            ..RunFilter::default()
        };
        let page = store.list_runs(filter, RunPlace::Offset(0), 10).await.unwrap();
        let found: Vec<u128> = page.runs.iter().map(|run| run.id.as_u128()).collect();
        assert_eq!(found, expected, "{since:?} {until:?}");
        assert_eq!(page.total, u64::try_from(expected.len()).unwrap());
    }
}

pub(super) async fn a_page_of_large_results_is_cut(fixture: &dyn Fixture) {
    let store = fixture.open();
    let large: std::sync::Arc<str> = "x".repeat(7_000_000).into();
    for number in 1..=3 {
        let end = RunStep {
            sealed: Some(Sealed {
                completed_at: 1,
                result: std::sync::Arc::clone(&large),
                seal: None,
            }),
            ..step(1, "completed")
        };
        start(&store, new_run(number, 2), end).await;
    }
    let page = store
        .list_runs(RunFilter::default(), RunPlace::Offset(0), 100)
        .await
        .unwrap();
    assert_eq!((page.runs.len(), page.total), (2, 3));
    let place = RunPlace::After(page.next.unwrap());
    let page = store.list_runs(RunFilter::default(), place, 100).await.unwrap();
    assert_eq!((page.runs.len(), page.next), (1, None));
}
