//! Writers that race, in one process and in two.

use super::Fixture;
use super::sample::{
    add_council, add_sprite, audit, council, council_change, id, key, new_run, sprite, sprite_change, start,
    step,
};
use crate::{
    CouncilRefused, InUse, KvLimits, NewCouncil, NewSprite, RunEvent, RunRefused, RunStep, SpriteRefused,
    Store, WriteError, Written,
};
use std::future::Future;
use std::sync::Arc;

/// How often a race of two is run.
const ROUNDS: u64 = 20;

/// Both at the same time, each on a thread of its own.
async fn race<A, B>(first: A, second: B) -> (A::Output, B::Output)
where
    A: Future<Output: Send> + Send + 'static,
    B: Future<Output: Send> + Send + 'static,
{
    let gate = Arc::new(tokio::sync::Barrier::new(2));
    let other_gate = Arc::clone(&gate);
    let first = tokio::spawn(async move {
        gate.wait().await;
        first.await
    });
    let second = tokio::spawn(async move {
        other_gate.wait().await;
        second.await
    });
    (first.await.unwrap(), second.await.unwrap())
}

fn entry(seq: u64, writer: &str) -> RunStep {
    RunStep {
        events: vec![RunEvent {
            seq,
            bytes: writer.to_owned(),
            hash: [u8::try_from(seq).unwrap(); 32],
        }],
        ..step(seq, "running")
    }
}

pub(super) async fn of_two_writers_of_a_run_exactly_one_goes_on(fixture: &dyn Fixture) {
    let (one, two) = (fixture.open(), fixture.open());
    start(&one, new_run(4, 2), entry(1, "one")).await;
    for seq in 2..2 + ROUNDS {
        let write = |store: &Store, writer: &'static str| {
            let store = store.clone();
            async move {
                let step = Arc::new(entry(seq, writer));
                store.append_run(id(4), seq, step, vec![audit(writer)]).await
            }
        };
        let winner = match race(write(&one, "one"), write(&two, "two")).await {
            (Ok(()), Err(WriteError::Refused(RunRefused::Superseded))) => "one",
            (Err(WriteError::Refused(RunRefused::Superseded)), Ok(())) => "two",
            other => panic!("{other:?}"),
        };
        for store in [&one, &two] {
            let written = store.run_events(id(4), seq - 1, 10).await.unwrap();
            let written: Vec<_> = written.iter().map(|event| event.bytes.as_str()).collect();
            assert_eq!(written, [winner]);
            assert_eq!(store.run(id(4)).await.unwrap().unwrap().next_seq, seq + 1);
            let newest = store.recent_audit(1).await.unwrap().pop().unwrap();
            assert_eq!(newest.entry.action, winner, "the loser leaves no entry");
        }
    }
    let log = one.recent_audit(1_000).await.unwrap();
    assert_eq!(u64::try_from(log.len()).unwrap(), 1 + ROUNDS);
}

pub(super) async fn of_many_councils_for_one_domain_exactly_one_is_stored(fixture: &dyn Fixture) {
    let stores = [fixture.open(), fixture.open()];
    add_sprite(&stores[0], sprite(1, &[])).await;
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let store = stores[number % 2].clone();
            let council = council(100 + u128::try_from(number).unwrap(), "security", &[1]);
            tokio::spawn(async move {
                let created = store.create_council(council, String::new(), None, audit("c"));
                created.await
            })
        })
        .collect();
    let mut stored = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => stored += 1,
            Err(WriteError::Refused(CouncilRefused::DomainTaken(_))) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(stored, 1);
    assert_eq!(stores[1].count_councils().await.unwrap(), 1);
}

pub(super) async fn of_two_changes_from_one_revision_exactly_one_is_made(fixture: &dyn Fixture) {
    let (one, two) = (fixture.open(), fixture.open());
    add_sprite(&one, sprite(1, &[])).await;
    add_council(&one, council(10, "a", &[1])).await;
    for revision in 1..=ROUNDS {
        let change = |store: &Store, writer: &'static str| {
            let store = store.clone();
            async move {
                let council = NewCouncil {
                    document: writer.into(),
                    ..council(10, "a", &[1])
                };
                store.update_council(council, council_change(revision)).await
            }
        };
        let winner = match race(change(&one, "one"), change(&two, "two")).await {
            (Ok(_), Err(WriteError::Refused(CouncilRefused::Changed(now)))) if now == revision + 1 => "one",
            (Err(WriteError::Refused(CouncilRefused::Changed(now))), Ok(_)) if now == revision + 1 => "two",
            other => panic!("{other:?}"),
        };
        let stored = one.kept_council(id(10)).await.unwrap().unwrap();
        assert_eq!(stored.record.document, winner);
    }
    for revision in 1..=ROUNDS {
        let change = |store: &Store, writer: &'static str| {
            let store = store.clone();
            async move {
                let sprite = NewSprite {
                    document: writer.into(),
                    ..sprite(1, &[])
                };
                store.update_sprite(sprite, sprite_change(revision)).await
            }
        };
        match race(change(&one, "one"), change(&two, "two")).await {
            (Ok(_), Err(WriteError::Refused(SpriteRefused::Changed(_))))
            | (Err(WriteError::Refused(SpriteRefused::Changed(_))), Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

pub(super) async fn a_sprite_is_not_deleted_while_a_council_takes_it(fixture: &dyn Fixture) {
    let (one, two) = (fixture.open(), fixture.open());
    for number in 1..=u128::from(ROUNDS) {
        add_sprite(&one, sprite(number, &[])).await;
        let (deleter, creator) = (one.clone(), two.clone());
        let delete = async move {
            let deleted = deleter.delete_sprite(id(number), InUse::Refuse, sprite_change(1));
            deleted.await
        };
        let create = async move {
            let council = council(1_000 + number, &format!("domain-{number}"), &[number]);
            let created = creator.create_council(council, String::new(), None, audit("c"));
            created.await
        };
        match race(delete, create).await {
            (Ok(()), Err(WriteError::Refused(CouncilRefused::MissingSprites(ids))))
                if ids == [id(number)] => {}
            (Err(WriteError::Refused(SpriteRefused::InUse(_))), Ok(Written::Now)) => {}
            other => panic!("{other:?}"),
        }
    }
}

pub(super) async fn a_key_that_two_send_at_once_is_used_once(fixture: &dyn Fixture) {
    let (one, two) = (fixture.open(), fixture.open());
    for round in 0..ROUNDS {
        let begin = |store: &Store, number: u128| {
            let store = store.clone();
            async move {
                let key = key(&format!("key-{round}"), 1, 0);
                let step = Arc::new(step(1, "running"));
                store
                    .start_run(new_run(number, 2), step, Some(key), Vec::new())
                    .await
            }
        };
        let (first, second) = (1_000 + u128::from(round) * 2, 1_001 + u128::from(round) * 2);
        let (begun, other) = match race(begin(&one, first), begin(&two, second)).await {
            (Ok(Written::Now), Ok(Written::Before(answer))) => (first, (second, answer)),
            (Ok(Written::Before(answer)), Ok(Written::Now)) => (second, (first, answer)),
            other => panic!("{other:?}"),
        };
        assert_eq!(other.1, id(begun).to_string());
        assert!(one.run(id(begun)).await.unwrap().is_some());
        assert!(one.run(id(other.0)).await.unwrap().is_none());
    }
}

pub(super) async fn quotas_and_the_audit_chain_hold_when_two_write(fixture: &dyn Fixture) {
    let stores = [fixture.open(), fixture.open()];
    let limits = KvLimits {
        quota: 500,
        key: 10,
        value: 90,
    };
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let store = stores[number % 2].clone();
            tokio::spawn(async move {
                store.record_audit(audit(&number.to_string())).await.unwrap();
                let key = format!("k{}", number % 40);
                // Some are refused: forty keys of fifty bytes are more than the quota.
                store
                    .kv_set("p", &key, vec![0; 50 - key.len()], limits)
                    .await
                    .is_ok()
            })
        })
        .collect();
    let mut stored = 0;
    for task in tasks {
        stored += usize::from(task.await.unwrap());
    }
    assert!(stored >= 10);
    let usage = stores[0].kv_usage().await.unwrap();
    assert_eq!((usage.len(), usage[0].bytes), (1, 500));
    assert_eq!(stores[0].kv_list("p", "", None, 100).await.unwrap().len(), 10);
    let report = stores[1].check().await.unwrap();
    assert_eq!((report.problems, report.audit_entries), (Vec::new(), 200));
}

/// A caller that stops waiting does not know whether its write was made. To repeat it is safe: a run's place and a key are used once.
pub(super) async fn a_write_whose_reply_was_lost_is_found_and_not_made_twice(fixture: &dyn Fixture) {
    let (one, two) = (fixture.open(), fixture.open());
    start(&one, new_run(4, 2), entry(1, "first")).await;
    let mut seq = 2;
    for round in 0..ROUNDS {
        let writer = one.clone();
        let lost = tokio::spawn(async move {
            let step = Arc::new(entry(seq, "lost"));
            writer.append_run(id(4), seq, step, Vec::new()).await
        });
        // Sooner or later: before it is handed over, while it is written, after.
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        lost.abort();
        drop(lost.await);
        let again = two.append_run(id(4), seq, Arc::new(entry(seq, "again")), Vec::new());
        match again.await {
            Ok(()) | Err(WriteError::Refused(RunRefused::Superseded)) => {}
            Err(error) => panic!("{error}"),
        }
        let written = two.run_events(id(4), seq - 1, 10).await.unwrap();
        assert_eq!(written.len(), 1, "once, by the one or the other");
        seq += 1;
        assert_eq!(two.run(id(4)).await.unwrap().unwrap().next_seq, seq);
    }
    assert_eq!(two.check().await.unwrap().problems, Vec::<String>::new());
}
