//! Erasure of runs.

use super::Fixture;
use super::sample::{audit, delivery, event, id, last_step, new_run, start, step};
use crate::{
    AuditEntry, DeliveryState, Erasable, ErasureAudit, ErasureFilter, NewErasure, NewRun, RunFilter,
    RunPlace, RunStep, Store,
};

/// A run of three entries that ended at a time, or is open. Its council has the definition's number.
async fn begin(store: &Store, number: u128, definition: u8, ended: Option<i64>) {
    let step = RunStep {
        events: (1..=3).map(event).collect(),
        deliveries: vec![delivery("a.example", 0)],
        ..match ended {
            Some(at) => last_step(1, "completed", at),
            None => step(1, "running"),
        }
    };
    let run = NewRun {
        council_id: id(u128::from(definition)),
        definition_hash: [definition; 32],
        ..new_run(number, 9)
    };
    start(store, run, step).await;
}

fn erasure(run: &Erasable) -> NewErasure {
    NewErasure {
        id: run.record.id,
        head: run.record.head,
        hashes: run.hashes.clone(),
        result: "{\"erased\":1}".to_owned(),
        statement: "{\"statement\":1}".to_owned(),
    }
}

fn counted() -> ErasureAudit {
    ErasureAudit::Counted {
        entry: AuditEntry {
            detail: "{\"executions\":".into(),
            ..audit("erase_executions")
        },
        rest: "}".to_owned(),
    }
}

async fn erase(store: &Store, filter: ErasureFilter) -> u64 {
    let page = store.erasable_runs(filter, None, 100).await.unwrap();
    assert_eq!(page.next, None);
    for run in &page.runs {
        assert_eq!(run.hashes, [[1; 32], [2; 32], [3; 32]].concat());
    }
    let erasures = page.runs.iter().map(erasure).collect();
    let erased = store.erase_runs(erasures, 5, "ada".to_owned(), counted());
    erased.await.unwrap()
}

pub(super) async fn an_erased_run_leaves_its_hashes_and_shared_definitions_stay_for_the_others(
    fixture: &dyn Fixture,
) {
    let store = fixture.open();
    for (number, definition, ended) in [
        (1, 1, Some(100)),
        (2, 1, Some(200)),
        (3, 2, Some(300)),
        (4, 2, None),
    ] {
        begin(&store, number, definition, ended).await;
    }
    let early = ErasureFilter {
        before: Some(200),
        ..ErasureFilter::default()
    };
    assert_eq!(store.count_erasable(early).await.unwrap(), (1, 0));
    assert_eq!(
        store.count_erasable(ErasureFilter::default()).await.unwrap(),
        (3, 1)
    );
    assert_eq!(store.count_open(ErasureFilter::default()).await.unwrap(), 1);
    assert_eq!(erase(&store, early).await, 1);
    assert_eq!(erase(&store, early).await, 0);
    let first = store.run(id(1)).await.unwrap().unwrap();
    let second = store.run(id(2)).await.unwrap().unwrap();
    assert!(first.is_erased() && !second.is_erased());
    assert_eq!((first.next_seq, first.head), (second.next_seq, second.head));
    assert_eq!(first.result.as_deref(), Some("{\"erased\":1}"));
    assert!(store.run_definition([1; 32]).await.unwrap().is_some());
    assert_eq!(store.run_events(id(1), 0, 10).await.unwrap(), []);
    let left = store.run_erasure(id(1)).await.unwrap().unwrap();
    assert_eq!(
        (left.at, left.actor.as_str(), left.statement.as_str(), left.hashes),
        (5, "ada", "{\"statement\":1}", vec![[1; 32], [2; 32], [3; 32]])
    );
    assert!(store.run_erasure(id(2)).await.unwrap().is_none());
    let hook = &store.deliveries_of_run(id(1)).await.unwrap()[0];
    assert_eq!((hook.state.as_str(), hook.payload.as_str()), ("failed", ""));
    // A try that was under way when its run was erased does not bring it back.
    let recorded = store.record_delivery(hook.seq, DeliveryState::Pending, 0, None);
    recorded.await.unwrap();
    assert_eq!(store.deliveries_of_run(id(1)).await.unwrap()[0].state, "failed");

    let of_council = ErasureFilter {
        council: Some(id(1)),
        before: None,
    };
    assert_eq!(erase(&store, of_council).await, 1);
    assert!(store.run_definition([1; 32]).await.unwrap().is_none());
    assert_eq!(erase(&store, ErasureFilter::default()).await, 1);
    // The open run needs it.
    assert!(store.run_definition([2; 32]).await.unwrap().is_some());
    assert_eq!(store.run_events(id(4), 0, 10).await.unwrap().len(), 3);
    let page = store.list_runs(RunFilter::default(), RunPlace::Offset(0), 10);
    assert_eq!(page.await.unwrap().total, 4);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    // One entry of the audit log for every transaction that erased something.
    let log = store.recent_audit(10).await.unwrap();
    let counted = |record: &&crate::AuditRecord| record.entry.detail == "{\"executions\":1}";
    assert_eq!(log.iter().filter(counted).count(), 3);
}

pub(super) async fn pages_of_erasable_runs_go_on_where_the_last_one_ended(fixture: &dyn Fixture) {
    let store = fixture.open();
    let nothing = store
        .erasable_runs(ErasureFilter::default(), None, 2)
        .await
        .unwrap();
    assert_eq!((nothing.runs.len(), nothing.next, nothing.last), (0, None, None));
    for number in 1..=5_u8 {
        begin(&store, number.into(), 1, Some(i64::from(number) * 100)).await;
    }
    begin(&store, 6, 1, None).await;
    let (mut seen, mut after) = (Vec::new(), None);
    let last = loop {
        let page = store
            .erasable_runs(ErasureFilter::default(), after, 2)
            .await
            .unwrap();
        assert!(page.runs.len() <= 2);
        seen.extend(page.runs.iter().map(|run| (run.record.id, run.completed_at)));
        match page.next {
            Some(next) => after = Some(next),
            None => break page.last.or(after),
        }
    };
    let expected: Vec<_> = (1..=5_u8).map(|n| (id(n.into()), i64::from(n) * 100)).collect();
    assert_eq!(seen, expected);
    // What ends later stands behind the last one.
    begin(&store, 7, 1, Some(5_000)).await;
    let page = store
        .erasable_runs(ErasureFilter::default(), last, 10)
        .await
        .unwrap();
    let rest: Vec<_> = page.runs.iter().map(|run| run.record.id).collect();
    assert_eq!(rest, [id(7)]);
}

pub(super) async fn what_is_not_as_it_was_read_is_passed_over(fixture: &dyn Fixture) {
    let store = fixture.open();
    begin(&store, 1, 1, Some(100)).await;
    begin(&store, 2, 1, None).await;
    assert!(store.erasable_run(id(2)).await.unwrap().is_none());
    assert!(store.erasable_run(id(9)).await.unwrap().is_none());
    let run = store.erasable_run(id(1)).await.unwrap().unwrap();
    assert_eq!((run.completed_at, run.record.id), (100, id(1)));
    let log = store.recent_audit(10).await.unwrap().len();
    let wrong = [
        NewErasure {
            head: [9; 32],
            ..erasure(&run)
        },
        NewErasure {
            id: id(2),
            ..erasure(&run)
        },
        NewErasure {
            id: id(9),
            ..erasure(&run)
        },
    ];
    let erased = store.erase_runs(wrong.to_vec(), 5, "ada".to_owned(), counted());
    assert_eq!(erased.await.unwrap(), 0);
    assert_eq!(
        store.recent_audit(10).await.unwrap().len(),
        log,
        "no entry for nothing"
    );
    // One of several: the others are passed over, it is erased.
    let [_, open, missing] = wrong;
    let entry = ErasureAudit::Entry(audit("erase_execution"));
    let erased = store.erase_runs(vec![open, erasure(&run), missing], 5, "ada".to_owned(), entry);
    assert_eq!(erased.await.unwrap(), 1);
    assert!(store.erasable_run(id(1)).await.unwrap().is_none());
    assert_eq!(store.run_events(id(2), 0, 10).await.unwrap().len(), 3);
    let newest = store.recent_audit(1).await.unwrap().pop().unwrap();
    assert_eq!(newest.entry.action, "erase_execution");
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}
