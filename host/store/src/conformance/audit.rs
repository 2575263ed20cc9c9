//! The audit log.

use super::Fixture;
use super::sample::{add_sprite, audit, id, sprite, sprite_change};
use crate::{AuditEntry, AuditFilter, AuditHead, InUse, List, Store};

async fn actions(store: &Store) -> Vec<String> {
    let log = store.recent_audit(100).await.unwrap();
    log.into_iter().rev().map(|record| record.entry.action).collect()
}

pub(super) async fn every_write_leaves_its_entry_and_a_refusal_none(fixture: &dyn Fixture) {
    let store = fixture.open();
    add_sprite(&store, sprite(1, &[])).await;
    let refused = store.delete_sprite(id(1), InUse::Refuse, sprite_change(7)).await;
    assert!(refused.is_err());
    store.record_audit(audit("denied")).await.unwrap();
    let deleted = store.delete_sprite(id(1), InUse::Refuse, sprite_change(1)).await;
    deleted.unwrap();
    assert_eq!(
        actions(&store).await,
        ["create_sprite", "denied", "change_sprite"]
    );
    let report = store.check().await.unwrap();
    assert_eq!((report.problems, report.audit_entries), (Vec::new(), 3));
}

pub(super) async fn entries_are_chained_and_a_kept_head_is_held(fixture: &dyn Fixture) {
    let store = fixture.open();
    let empty = store.audit_head().await.unwrap();
    let beginning = AuditHead {
        seq: 0,
        hash: AuditEntry::BEGINNING,
    };
    assert_eq!(empty, beginning);
    assert!(store.audit_holds(empty).await.unwrap());
    let mut before = AuditEntry::BEGINNING;
    let mut heads = Vec::new();
    for number in 0..5 {
        let entry = audit(&format!("action-{number}"));
        store.record_audit(entry.clone()).await.unwrap();
        before = entry.hash_after(before);
        let head = store.audit_head().await.unwrap();
        assert_eq!(head.hash, before);
        assert_eq!(head.to_string().parse(), Ok(head));
        heads.push(head);
    }
    assert!(heads.is_sorted_by_key(|head| head.seq));
    for head in &heads {
        assert!(store.audit_holds(*head).await.unwrap());
    }
    for wrong in [
        AuditHead {
            hash: [9; 32],
            ..heads[2]
        },
        AuditHead {
            seq: heads[4].seq + 1,
            ..heads[4]
        },
        AuditHead {
            hash: [9; 32],
            seq: 0,
        },
    ] {
        assert!(!store.audit_holds(wrong).await.unwrap(), "{wrong}");
    }
}

pub(super) async fn pages_of_the_log_come_newest_first_under_every_filter(fixture: &dyn Fixture) {
    let store = fixture.open();
    for number in 0..20_i64 {
        let entry = AuditEntry {
            at: number,
            actor: format!("actor-{}", number % 2),
            action: format!("action-{}", number % 4),
            subject: format!("subject-{}", number % 5),
            outcome: if number % 10 == 0 { "denied" } else { "done" }.to_owned(),
            request_id: number.to_string(),
            detail: "{}".to_owned(),
        };
        store.record_audit(entry).await.unwrap();
    }
    let all = AuditFilter::default;
    let text = |text: &str| Some(text.to_owned());
    type Passes = fn(i64) -> bool;
    let filters: [(AuditFilter, Passes); 7] = [
        (all(), |_| true),
        (
            AuditFilter {
                since: Some(5),
                until: Some(15),
                ..all()
            },
            |at| (5..15).contains(&at),
        ),
        (
            AuditFilter {
                actor: text("actor-1"),
                ..all()
            },
            |at| at % 2 == 1,
        ),
        (
            AuditFilter {
                action: text("action-2"),
                ..all()
            },
            |at| at % 4 == 2,
        ),
        (
            AuditFilter {
                subject: text("subject-3"),
                actor: text("actor-0"),
                ..all()
            },
            |at| at % 5 == 3 && at % 2 == 0,
        ),
        (
            AuditFilter {
                outcome: text("denied"),
                ..all()
            },
            |at| at % 10 == 0,
        ),
        (
            AuditFilter {
                outcome: text("absent"),
                ..all()
            },
            |_| false,
        ),
    ];
    for (filter, passes) in filters {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = store.list_audit(filter.clone(), after, 3).await.unwrap();
            assert!(page.items.len() <= 3);
            seen.extend(page.items.iter().map(|record| record.entry.at));
            let Some(next) = page.next else { break };
            after = Some(store.cursor(List::Audit, &next.to_text(List::Audit)).unwrap());
        }
        let expected: Vec<i64> = (0..20).rev().filter(|at| passes(*at)).collect();
        assert_eq!(seen, expected, "{filter:?}");
    }
}
