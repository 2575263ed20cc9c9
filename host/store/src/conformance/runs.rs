//! Runs and their journals.

use super::Fixture;
use super::sample::{append, audit, delivery, event, id, last_step, new_run, start, step};
use crate::{NewRun, RunEvent, RunRecord, RunRefused, RunStep, WriteError};
use std::sync::Arc;

fn ids(runs: &[RunRecord]) -> Vec<u128> {
    runs.iter().map(|run| run.id.as_u128()).collect()
}

pub(super) async fn a_run_is_read_as_it_was_written(fixture: &dyn Fixture) {
    let store = fixture.open();
    let first = RunStep {
        events: vec![event(1), event(2)],
        deliveries: vec![delivery("a.example", 0)],
        ..step(1, "running")
    };
    start(&store, new_run(10, 2), first).await;
    let mut expected = RunRecord {
        id: id(10),
        council_id: id(1),
        chain_id: id(2),
        status: "running".into(),
        started_at: 1_000,
        definition_hash: [7; 32],
        next_seq: 3,
        head: [2; 32],
        result: None,
        seal: None,
    };
    assert_eq!(store.run(id(10)).await.unwrap(), Some(expected.clone()));
    assert_eq!(store.run(id(11)).await.unwrap(), None);
    assert_eq!(store.open_runs().await.unwrap(), [expected.clone()]);
    let definition = store.run_definition([7; 32]).await.unwrap();
    assert_eq!(definition.as_deref(), Some("{\"council\":1}"));
    assert_eq!(store.run_definition([8; 32]).await.unwrap(), None);
    assert_eq!(store.deliveries_of_run(id(10)).await.unwrap().len(), 1);

    append(&store, 10, 3, step(3, "awaiting_approval")).await;
    append(&store, 10, 4, step(4, "awaiting_approval")).await;
    (expected.status, expected.next_seq, expected.head) = ("awaiting_approval".into(), 5, [4; 32]);
    assert_eq!(store.run(id(10)).await.unwrap(), Some(expected.clone()));
    let end = RunStep {
        deliveries: vec![delivery("b.example", 0)],
        ..last_step(5, "completed", 2_000)
    };
    append(&store, 10, 5, end).await;
    (expected.status, expected.next_seq, expected.head) = ("completed".into(), 6, [5; 32]);
    expected.result = Some("{\"result\":1}".into());
    expected.seal = Some("{\"seal\":1}".into());
    assert_eq!(store.run(id(10)).await.unwrap(), Some(expected));
    assert_eq!(store.open_runs().await.unwrap(), []);
    let journal: Vec<RunEvent> = (1..=5).map(event).collect();
    assert_eq!(store.run_events(id(10), 0, 10).await.unwrap(), journal);
    assert_eq!(store.run_events(id(10), 2, 2).await.unwrap(), journal[2..4]);
    assert_eq!(store.run_events(id(10), 5, 10).await.unwrap(), []);
    assert_eq!(store.run_events(id(10), u64::MAX, 10).await.unwrap(), []);
    assert_eq!(store.run_events(id(11), 0, 10).await.unwrap(), []);
    assert_eq!(store.deliveries_of_run(id(10)).await.unwrap().len(), 2);
}

pub(super) async fn a_run_that_ends_in_its_first_write_is_never_open(fixture: &dyn Fixture) {
    let store = fixture.open();
    start(&store, new_run(10, 2), last_step(1, "completed", 2_000)).await;
    start(&store, new_run(12, 2), step(1, "running")).await;
    start(&store, new_run(11, 2), step(1, "running")).await;
    assert_eq!(
        ids(&store.open_runs().await.unwrap()),
        [12, 11],
        "in the order in which they began"
    );
    let run = store.run(id(10)).await.unwrap().unwrap();
    assert_eq!(run.result.as_deref(), Some("{\"result\":1}"));
    assert_eq!(store.run_events(id(10), 0, 10).await.unwrap(), [event(1)]);
}

pub(super) async fn a_writer_that_is_behind_is_refused_and_leaves_nothing(fixture: &dyn Fixture) {
    let store = fixture.open();
    start(&store, new_run(4, 2), step(1, "running")).await;
    append(&store, 4, 2, step(2, "running")).await;
    start(&store, new_run(1, 2), last_step(1, "completed", 2_000)).await;
    let before = store.run(id(4)).await.unwrap();
    let log = store.recent_audit(10).await.unwrap().len();
    // Behind, ahead, of a run that has ended, of one that is not there.
    for (number, next_seq) in [(4, 2), (4, 1), (4, 4), (1, 2), (9, 1), (9, 2)] {
        for refused in [
            last_step(next_seq, "completed", 2_000),
            RunStep {
                deliveries: vec![delivery("a.example", 0)],
                ..step(next_seq, "running")
            },
        ] {
            let refused = store.append_run(id(number), next_seq, Arc::new(refused), vec![audit("x")]);
            assert!(
                matches!(refused.await, Err(WriteError::Refused(RunRefused::Superseded))),
                "{number}, {next_seq}"
            );
        }
    }
    assert_eq!(
        store.run_events(id(4), 0, 10).await.unwrap(),
        [event(1), event(2)]
    );
    assert_eq!(store.run(id(4)).await.unwrap(), before);
    assert_eq!(store.run(id(9)).await.unwrap(), None);
    assert_eq!(store.deliveries_of_run(id(4)).await.unwrap(), []);
    assert_eq!(store.recent_audit(10).await.unwrap().len(), log);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

pub(super) async fn events_that_do_not_follow_each_other_are_refused(fixture: &dyn Fixture) {
    let store = fixture.open();
    start(&store, new_run(4, 2), step(1, "running")).await;
    let of = |events: &[u64], rewritten: Option<&[u64]>| RunStep {
        events: events.iter().copied().map(event).collect(),
        rewritten: rewritten.map(|seqs| seqs.iter().copied().map(event).collect()),
        ..step(1, "running")
    };
    for wrong in [
        of(&[], None),
        of(&[3], None),
        of(&[2, 4], None),
        of(&[2, 2], None),
        of(&[2], Some(&[2])),
        of(&[2], Some(&[1])),
        of(&[2], Some(&[1, 2, 3])),
        of(&[2], Some(&[2, 1])),
    ] {
        let appended = store.append_run(id(4), 2, Arc::new(wrong.clone()), Vec::new());
        assert!(
            matches!(appended.await, Err(WriteError::Refused(RunRefused::Superseded))),
            "{wrong:?}"
        );
        let begun = store.start_run(new_run(5, 2), Arc::new(wrong.clone()), None, Vec::new());
        assert!(
            matches!(begun.await, Err(WriteError::Refused(RunRefused::Superseded))),
            "{wrong:?}"
        );
    }
    assert_eq!(store.run_events(id(4), 0, 10).await.unwrap(), [event(1)]);
    assert_eq!(store.run(id(5)).await.unwrap(), None);
    append(&store, 4, 2, of(&[2, 3], None)).await;
}

pub(super) async fn a_rewritten_journal_takes_the_place_of_the_one_before(fixture: &dyn Fixture) {
    let store = fixture.open();
    start(&store, new_run(4, 2), step(1, "running")).await;
    start(&store, new_run(5, 2), step(1, "running")).await;
    append(&store, 4, 2, step(2, "running")).await;
    let redacted = |seq| RunEvent {
        seq,
        bytes: "{}".into(),
        hash: [90 + u8::try_from(seq).unwrap(); 32],
    };
    let end = RunStep {
        rewritten: Some((1..=3).map(redacted).collect()),
        ..last_step(3, "completed", 2_000)
    };
    append(&store, 4, 3, end).await;
    assert_eq!(
        store.run_events(id(4), 0, 10).await.unwrap(),
        (1..=3).map(redacted).collect::<Vec<_>>()
    );
    let run = store.run(id(4)).await.unwrap().unwrap();
    assert_eq!((run.next_seq, run.head), (4, [93; 32]));
    assert_eq!(
        store.run_events(id(5), 0, 10).await.unwrap(),
        [event(1)],
        "that of another run stays"
    );
}

pub(super) async fn a_second_run_with_the_same_id_changes_nothing(fixture: &dyn Fixture) {
    let store = fixture.open();
    start(&store, new_run(4, 2), step(1, "running")).await;
    let again = NewRun {
        definition_hash: [9; 32],
        ..new_run(4, 3)
    };
    let again = store.start_run(again, Arc::new(last_step(1, "failed", 1)), None, vec![audit("x")]);
    assert!(matches!(again.await, Err(WriteError::Store(_))));
    let run = store.run(id(4)).await.unwrap().unwrap();
    assert_eq!((run.chain_id, run.status.as_str()), (id(2), "running"));
    assert_eq!(store.run_definition([9; 32]).await.unwrap(), None);
    assert_eq!(store.recent_audit(10).await.unwrap().len(), 1);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

pub(super) async fn journals_of_open_runs_come_together_and_ended_ones_are_left_out(fixture: &dyn Fixture) {
    let store = fixture.open();
    for number in [4, 6] {
        start(&store, new_run(number, 2), step(1, "running")).await;
        append(&store, number, 2, step(2, "running")).await;
    }
    start(&store, new_run(1, 2), last_step(1, "completed", 2_000)).await;
    let asked = [6, 1, 4, 99].map(id);
    let found = store.open_journals(asked.to_vec()).await.unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|run| run.as_ref().map(|run| (run.record.id, run.events.clone())))
        .collect();
    let journal = vec![event(1), event(2)];
    assert_eq!(
        found,
        [
            Some((asked[0], journal.clone())),
            None,
            Some((asked[2], journal)),
            None
        ]
    );
    assert_eq!(store.open_journals(Vec::new()).await.unwrap(), []);
}

pub(super) async fn a_journal_is_read_in_pieces(fixture: &dyn Fixture) {
    let store = fixture.open();
    let large = |seq| RunEvent {
        bytes: "x".repeat(1_500_000),
        ..event(seq)
    };
    for number in 1..=3 {
        let first = RunStep {
            events: (1..=4).map(large).collect(),
            ..step(1, "running")
        };
        start(&store, new_run(number, 2), first).await;
    }
    let seqs = |events: Vec<RunEvent>| events.iter().map(|event| event.seq).collect::<Vec<_>>();
    let piece = store.run_events(id(1), 0, 100).await.unwrap();
    assert_eq!(
        seqs(piece),
        [1, 2, 3],
        "the entry that goes beyond is the last one"
    );
    let piece = store.run_events(id(1), 3, 100).await.unwrap();
    assert_eq!(seqs(piece), [4]);
    // Whole journals, of as many as fit.
    let found = store.open_journals([1, 2, 3].map(id).to_vec()).await.unwrap();
    let found: Vec<_> = found.into_iter().flatten().map(|run| run.events.len()).collect();
    assert_eq!(found, [4]);
}
