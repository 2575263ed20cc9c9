//! The store's operations, on a real file.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_store::{
    AuditEntry, CouncilChange, CouncilRefused, Cursor, Idempotency, InUse, KvLimits, KvRefused, List,
    NewApiKey, NewCouncil, NewSprite, Options, Recorded, SpriteChange, SpriteFilter, SpriteRefused, Store,
    WriteError, Written,
};
use std::path::Path;
use uuid::Uuid;

fn open(folder: &Path) -> Store {
    Store::open(folder, &Options::default()).unwrap()
}

fn audit(action: &str) -> AuditEntry {
    AuditEntry {
        at: 1,
        actor: "local".into(),
        action: action.into(),
        subject: "x".into(),
        outcome: "done".into(),
        request_id: "req-1".into(),
        detail: "{}".into(),
    }
}

fn sprite(number: u128, tags: &[&str]) -> NewSprite {
    NewSprite {
        id: Uuid::from_u128(number),
        name: format!("SPRITE-{}", number % 10),
        version: format!("1.0.{number}"),
        role: number.is_multiple_of(2).then(|| "planner".into()),
        fingerprint: format!("blake3:{number:064x}"),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        capabilities: vec![format!("cap_{}", number % 5)],
        document: format!("{{\"n\":{number}}}"),
        at: 5,
    }
}

async fn add(store: &Store, sprite: NewSprite) {
    let written = store
        .create_sprite(sprite, String::new(), None, audit("create_sprite"))
        .await
        .unwrap();
    assert_eq!(written, Written::Now);
}

fn council(number: u128, domain: &str, sprites: &[u128]) -> NewCouncil {
    NewCouncil {
        id: Uuid::from_u128(number),
        domain: domain.into(),
        name: domain.into(),
        sprites: sprites.iter().map(|id| Uuid::from_u128(*id)).collect(),
        chains: vec![Uuid::from_u128(number + 1_000_000)],
        document: "{}".into(),
        at: 5,
    }
}

#[tokio::test]
async fn what_was_written_is_there_after_closing_and_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    add(&store, sprite(1, &["core"])).await;
    store.close().await;
    assert!(
        !folder.path().join("mizzen.db-wal").exists(),
        "a clean close leaves one file"
    );
    let store = open(folder.path());
    assert_eq!(
        store.sprite(Uuid::from_u128(1)).await.unwrap().unwrap().document,
        "{\"n\":1}"
    );
    assert!(store.sprite(Uuid::from_u128(2)).await.unwrap().is_none());
}

#[tokio::test]
async fn list_pages_follow_each_other_without_gap_or_repeat_under_every_filter() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for number in 1..=60 {
        let tags: &[&str] = if number % 3 == 0 {
            &["core", "third"]
        } else {
            &["core"]
        };
        add(&store, sprite(number, tags)).await;
    }
    let filters = [
        (SpriteFilter::default(), 60),
        (
            SpriteFilter {
                name: Some("SPRITE-4".into()),
                ..Default::default()
            },
            6,
        ),
        (
            SpriteFilter {
                tag: Some("third".into()),
                ..Default::default()
            },
            20,
        ),
        (
            SpriteFilter {
                role: Some("planner".into()),
                ..Default::default()
            },
            30,
        ),
        (
            SpriteFilter {
                capability: Some("cap_0".into()),
                ..Default::default()
            },
            12,
        ),
        (
            SpriteFilter {
                tag: Some("third".into()),
                role: Some("planner".into()),
                ..Default::default()
            },
            10,
        ),
        (
            SpriteFilter {
                tag: Some("third".into()),
                capability: Some("cap_0".into()),
                ..Default::default()
            },
            4,
        ),
        (
            SpriteFilter {
                name: Some("SPRITE-3".into()),
                tag: Some("third".into()),
                ..Default::default()
            },
            2,
        ),
        (
            SpriteFilter {
                tag: Some("nobody".into()),
                ..Default::default()
            },
            0,
        ),
    ];
    for (filter, expected) in filters {
        let mut seen = Vec::new();
        let mut after: Option<Cursor> = None;
        loop {
            let page = store.list_sprites(filter.clone(), after, 7).await.unwrap();
            assert!(page.items.len() <= 7);
            seen.extend(page.items.iter().map(|sprite| sprite.id.as_u128()));
            let Some(next) = page.next else { break };
            after = Some(Cursor::parse(List::Sprites, &next.to_text(List::Sprites)).unwrap());
        }
        assert_eq!(seen.len(), expected, "{filter:?}");
        assert!(
            seen.is_sorted() && seen.windows(2).all(|pair| pair[0] != pair[1]),
            "{filter:?}: {seen:?}"
        );
    }
}

#[tokio::test]
async fn a_page_stops_before_it_grows_without_bound() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for number in 1..=8 {
        add(
            &store,
            NewSprite {
                document: "x".repeat(1_000_000),
                ..sprite(number, &[])
            },
        )
        .await;
    }
    let page = store
        .list_sprites(SpriteFilter::default(), None, 100)
        .await
        .unwrap();
    assert_eq!(page.items.len(), 4);
    let rest = store
        .list_sprites(SpriteFilter::default(), page.next, 100)
        .await
        .unwrap();
    assert_eq!((rest.items.len(), rest.next), (4, None));
}

#[tokio::test]
async fn a_change_from_an_old_revision_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    add(&store, sprite(1, &["old"])).await;
    let change = |from| SpriteChange {
        from,
        audit: audit("update_sprite"),
    };
    assert_eq!(
        store.update_sprite(sprite(1, &["new"]), change(1)).await.unwrap(),
        2
    );
    let refused = store.update_sprite(sprite(1, &[]), change(1)).await;
    assert!(matches!(
        refused,
        Err(WriteError::Refused(SpriteRefused::Changed(2)))
    ));
    let by_tag = |tag: &str| SpriteFilter {
        tag: Some(tag.into()),
        ..Default::default()
    };
    assert_eq!(
        store
            .list_sprites(by_tag("old"), None, 5)
            .await
            .unwrap()
            .items
            .len(),
        0
    );
    assert_eq!(
        store
            .list_sprites(by_tag("new"), None, 5)
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    let missing = store
        .delete_sprite(Uuid::from_u128(9), InUse::Refuse, change(1))
        .await;
    assert!(matches!(
        missing,
        Err(WriteError::Refused(SpriteRefused::NotFound))
    ));
    store
        .delete_sprite(Uuid::from_u128(1), InUse::Refuse, change(2))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_sprite_that_a_council_holds_is_deleted_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    add(&store, sprite(1, &[])).await;
    store
        .create_council(council(10, "ops", &[1]), String::new(), None, audit("c"))
        .await
        .unwrap();
    let change = || SpriteChange {
        from: 1,
        audit: audit("delete_sprite"),
    };
    let refused = store
        .delete_sprite(Uuid::from_u128(1), InUse::Refuse, change())
        .await;
    assert!(
        matches!(refused, Err(WriteError::Refused(SpriteRefused::InUse(ids))) if ids == [Uuid::from_u128(10)])
    );
    store
        .delete_sprite(Uuid::from_u128(1), InUse::Ignore, change())
        .await
        .unwrap();
    assert!(store.council(Uuid::from_u128(10)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_councils_for_one_domain_exactly_one_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    add(&store, sprite(1, &[])).await;
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let store = store.clone();
            let council = council(100 + number, "security", &[1]);
            tokio::spawn(async move {
                store
                    .create_council(council, String::new(), None, audit("c"))
                    .await
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
    assert_eq!(store.count_councils().await.unwrap(), 1);
}

#[tokio::test]
async fn a_council_needs_its_sprites_when_it_is_stored_and_finds_its_chains() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    add(&store, sprite(1, &[])).await;
    let refused = store
        .create_council(council(10, "a", &[1, 2]), String::new(), None, audit("c"))
        .await;
    assert!(
        matches!(refused, Err(WriteError::Refused(CouncilRefused::MissingSprites(ids))) if ids == [Uuid::from_u128(2)])
    );
    store
        .create_council(council(10, "a", &[1]), String::new(), None, audit("c"))
        .await
        .unwrap();
    store
        .create_council(council(11, "b", &[1]), String::new(), None, audit("c"))
        .await
        .unwrap();
    let change = |from| CouncilChange {
        from,
        audit: audit("u"),
    };
    let taken = store.update_council(council(11, "a", &[1]), change(1)).await;
    assert!(matches!(
        taken,
        Err(WriteError::Refused(CouncilRefused::DomainTaken(_)))
    ));
    assert_eq!(
        store
            .update_council(council(11, "b2", &[1]), change(1))
            .await
            .unwrap(),
        2
    );
    let owner = store
        .council_of_chain(Uuid::from_u128(1_000_011))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(owner.id, Uuid::from_u128(11));
    assert_eq!(
        store
            .list_councils(Some("b2".into()), None, 5)
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    assert_eq!(store.list_councils(None, None, 1).await.unwrap().items.len(), 1);
    store
        .delete_council(Uuid::from_u128(11), change(2))
        .await
        .unwrap();
    assert!(
        store
            .council_of_chain(Uuid::from_u128(1_000_011))
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn an_idempotency_key_gives_the_first_answer_again_and_refuses_another_request() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let day = 24 * 60 * 60 * 1_000;
    let key = |digest, at| Idempotency {
        scope: "local".into(),
        key: "k".into(),
        digest: [digest; 32],
        at,
    };
    assert_eq!(
        store.recorded_answer(&key(1, 0)).await.unwrap(),
        Ok(Recorded::Nothing)
    );
    let create = |number, answer: &str, key| {
        store.create_sprite(
            sprite(number, &[]),
            answer.to_owned(),
            Some(key),
            audit("create_sprite"),
        )
    };
    assert_eq!(create(1, "first", key(1, 0)).await.unwrap(), Written::Now);
    assert_eq!(
        create(2, "second", key(1, 5)).await.unwrap(),
        Written::Before("first".into())
    );
    assert!(
        store.sprite(Uuid::from_u128(2)).await.unwrap().is_none(),
        "the repeat wrote nothing"
    );
    assert!(matches!(
        create(3, "x", key(2, 5)).await,
        Err(WriteError::Refused(SpriteRefused::Mismatch(_)))
    ));
    assert_eq!(
        create(4, "later", key(2, day + 1)).await.unwrap(),
        Written::Now,
        "forgotten after a day"
    );
}

#[tokio::test]
async fn plugins_keep_their_keys_apart_and_within_their_quota() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let limits = KvLimits {
        quota: 100,
        key: 10,
        value: 90,
    };
    store.kv_set("a", "k1", vec![1; 40], limits).await.unwrap();
    store.kv_set("b", "k1", vec![2; 90], limits).await.unwrap();
    assert_eq!(store.kv_get("a", "k1").await.unwrap(), Some(vec![1; 40]));
    let full = store.kv_set("a", "k2", vec![0; 60], limits).await;
    assert!(matches!(
        full,
        Err(WriteError::Refused(KvRefused::Quota {
            quota: 100,
            needed: 104
        }))
    ));
    assert_eq!(store.kv_get("a", "k2").await.unwrap(), None);
    store.kv_set("a", "k2", vec![0; 56], limits).await.unwrap();
    store.kv_set("a", "k1", vec![1; 10], limits).await.unwrap();
    store.kv_set("a", "z", vec![0; 29], limits).await.unwrap();
    assert!(store.kv_delete("a", "k2").await.unwrap());
    assert!(!store.kv_delete("a", "k2").await.unwrap());
    assert_eq!(store.kv_usage().await.unwrap()[0].bytes, 12 + 30);
    let long = store.kv_set("a", "a key that is too long", vec![], limits).await;
    assert!(matches!(long, Err(WriteError::Refused(KvRefused::Key { .. }))));
    let large = store.kv_set("a", "v", vec![0; 91], limits).await;
    assert!(matches!(large, Err(WriteError::Refused(KvRefused::Value { .. }))));
    assert_eq!(store.kv_list("a", "", None, 10).await.unwrap(), ["k1", "z"]);
    assert_eq!(store.kv_list("a", "k", None, 10).await.unwrap(), ["k1"]);
    assert_eq!(store.kv_list("a", "", Some("k1"), 10).await.unwrap(), ["z"]);
    assert_eq!(
        store.kv_list("c", "", None, 10).await.unwrap(),
        Vec::<String>::new()
    );
    store.kv_clear("a").await.unwrap();
    assert_eq!(store.kv_list("a", "", None, 10).await.unwrap().len(), 0);
    assert!(store.check().await.unwrap().problems.is_empty());
}

#[tokio::test]
async fn a_key_is_live_until_it_is_revoked_or_expires() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    assert!(!store.has_live_api_key(10).await.unwrap());
    let key = NewApiKey {
        id: "mzk-1".into(),
        name: "ci".into(),
        digest: [7; 32],
        grants: vec!["runs:start".into(), "runs:read".into()],
        created_at: 1,
        expires_at: Some(100),
    };
    store.create_api_key(key, audit("create_api_key")).await.unwrap();
    let found = store.api_key("mzk-1".into()).await.unwrap().unwrap();
    assert_eq!(found.grants, ["runs:start", "runs:read"]);
    assert_eq!(found.digest, [7; 32]);
    assert!(found.is_live(99) && !found.is_live(100));
    assert!(store.api_key("mzk-2".into()).await.unwrap().is_none());
    assert!(store.has_live_api_key(10).await.unwrap());
    assert!(
        store
            .revoke_api_key("mzk-1".into(), 50, audit("revoke_api_key"))
            .await
            .unwrap()
    );
    assert!(
        !store
            .revoke_api_key("mzk-1".into(), 51, audit("revoke_api_key"))
            .await
            .unwrap()
    );
    assert!(!store.has_live_api_key(60).await.unwrap());
    assert!(store.has_any_api_key().await.unwrap());
    assert!(!store.api_key("mzk-1".into()).await.unwrap().unwrap().is_live(60));
}

#[tokio::test]
async fn an_edited_audit_log_and_a_wrong_sum_are_found_by_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for number in 1..=5 {
        add(&store, sprite(number, &[])).await;
    }
    store.record_audit(audit("denied")).await.unwrap();
    let report = store.check().await.unwrap();
    assert_eq!((report.problems.len(), report.audit_entries), (0, 6));
    // A copy knows as well how many there were.
    let copy = tempfile::tempdir().unwrap();
    store.backup(&copy.path().join("mizzen.db")).await.unwrap();
    let cut = rusqlite::Connection::open(copy.path().join("mizzen.db")).unwrap();
    cut.execute("DELETE FROM audit WHERE seq > 4", []).unwrap();
    drop(cut);
    let copied = open(copy.path());
    let problems = copied.check().await.unwrap().problems;
    assert_eq!(
        problems,
        ["the audit log was cut off: its last 2 entries are gone"]
    );
    let head = store.audit_head().await.unwrap();
    assert_eq!(head.to_string().parse(), Ok(head));
    assert!(store.audit_holds(head).await.unwrap() && !copied.audit_holds(head).await.unwrap());
    assert_eq!(store.recent_audit(1).await.unwrap()[0].entry.action, "denied");
    let by_hand = rusqlite::Connection::open(store.path()).unwrap();
    by_hand
        .execute("UPDATE audit SET actor = 'nobody' WHERE seq = 3", [])
        .unwrap();
    by_hand
        .execute("INSERT INTO plugin_kv_usage VALUES ('p', 5)", [])
        .unwrap();
    let problems = store.check().await.unwrap().problems;
    assert!(
        problems.iter().any(|problem| problem.contains("entry 3")),
        "{problems:?}"
    );
    assert!(
        problems.iter().any(|problem| problem.contains("plugin p")),
        "{problems:?}"
    );
}

#[tokio::test]
async fn a_backup_is_a_database_of_its_own_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    add(&store, sprite(1, &[])).await;
    let target = copy.path().join("mizzen.db");
    store.backup(&target).await.unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&target).unwrap().permissions());
    assert_eq!(
        mode & 0o777,
        0o600,
        "what the folder hides must not be shown beside it"
    );
    assert!(store.backup(&target).await.is_err());
    let restored = Store::open_existing(copy.path(), &Options::default()).unwrap();
    assert!(restored.sprite(Uuid::from_u128(1)).await.unwrap().is_some());
    assert!(
        restored
            .info()
            .await
            .unwrap()
            .rows
            .contains(&("sprites".to_owned(), 1))
    );
}
