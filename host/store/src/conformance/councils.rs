//! Councils.

use super::Fixture;
use super::sample::{add_council, add_sprite, audit, council, council_change, id, sprite};
use crate::{CouncilRecord, CouncilRefused, List, NewCouncil, Store, StoreError, WriteError};
use std::sync::Arc;

/// A store with the sprites 1 and 2.
async fn with_sprites(fixture: &dyn Fixture) -> Store {
    let store = fixture.open();
    add_sprite(&store, sprite(1, &[])).await;
    add_sprite(&store, sprite(2, &[])).await;
    store
}

pub(super) async fn a_council_is_read_as_it_was_written(fixture: &dyn Fixture) {
    let store = with_sprites(fixture).await;
    add_council(&store, council(10, "a", &[1, 2])).await;
    let record = CouncilRecord {
        id: id(10),
        revision: 1,
        document: "{\"council\":10}".into(),
    };
    assert_eq!(store.council(id(10)).await.unwrap(), Some(record.clone()));
    assert_eq!(store.council(id(11)).await.unwrap(), None);
    assert_eq!(store.council_revision(id(10)).await.unwrap(), Some(1));
    assert_eq!(store.council_revision(id(11)).await.unwrap(), None);
    let of_chain = |number| store.council_of_chain(id(number));
    assert_eq!(of_chain(1_000_010).await.unwrap(), Some(record));
    assert_eq!(of_chain(1_000_011).await.unwrap(), None);
    let of_domain = |domain: &str| store.council_of_domain(domain.to_owned());
    assert_eq!(of_domain("a").await.unwrap(), Some(id(10)));
    assert_eq!(of_domain("b").await.unwrap(), None);
    assert_eq!(store.count_councils().await.unwrap(), 1);
    store.probe_councils().await.unwrap();
    let deleted = store.delete_council(id(10), council_change(1)).await;
    deleted.unwrap();
    assert_eq!(of_chain(1_000_010).await.unwrap(), None);
    assert_eq!(store.count_councils().await.unwrap(), 0);
}

pub(super) async fn a_council_needs_its_sprites_whenever_it_is_stored(fixture: &dyn Fixture) {
    let store = with_sprites(fixture).await;
    let missing = |refused: Result<(), WriteError<CouncilRefused>>| match refused {
        Err(WriteError::Refused(CouncilRefused::MissingSprites(ids))) => ids,
        other => panic!("{other:?}"),
    };
    let created = store.create_council(council(10, "a", &[1, 8, 9]), String::new(), None, audit("c"));
    assert_eq!(missing(created.await.map(drop)), [id(8), id(9)]);
    assert_eq!(store.count_councils().await.unwrap(), 0);
    add_council(&store, council(10, "a", &[1])).await;
    let updated = store.update_council(council(10, "a", &[2, 9]), council_change(1));
    assert_eq!(missing(updated.await.map(drop)), [id(9)]);
    assert_eq!(store.council_revision(id(10)).await.unwrap(), Some(1));
}

pub(super) async fn a_domain_and_a_chain_are_those_of_one_council(fixture: &dyn Fixture) {
    let store = with_sprites(fixture).await;
    add_council(&store, council(10, "a", &[1])).await;
    add_council(&store, council(11, "b", &[1])).await;
    let is_taken = |refused: Result<(), WriteError<CouncilRefused>>| matches!(refused, Err(WriteError::Refused(CouncilRefused::DomainTaken(other))) if other == id(10));
    let created = store.create_council(council(12, "a", &[1]), String::new(), None, audit("c"));
    assert!(is_taken(created.await.map(drop)));
    let updated = store.update_council(council(11, "a", &[1]), council_change(1));
    assert!(is_taken(updated.await.map(drop)));
    let renamed = store.update_council(council(11, "b2", &[1]), council_change(1));
    assert_eq!(renamed.await.unwrap(), 2);
    add_council(&store, council(12, "b", &[1])).await;
    // `ops` refuses a chain that another council has; the store leaves nothing of it behind.
    let chains = vec![id(2_000_000), id(1_000_010)];
    let with_chains = |number, domain: &str| NewCouncil {
        chains: chains.clone(),
        ..council(number, domain, &[1])
    };
    let created = store.create_council(with_chains(13, "c"), String::new(), None, audit("c"));
    assert!(matches!(
        created.await,
        Err(WriteError::Store(StoreError::Fault(_)))
    ));
    let updated = store.update_council(with_chains(12, "c"), council_change(1));
    assert!(matches!(
        updated.await,
        Err(WriteError::Store(StoreError::Fault(_)))
    ));
    assert_eq!(store.council_of_domain("c".into()).await.unwrap(), None);
    assert_eq!(store.council_of_chain(id(2_000_000)).await.unwrap(), None);
    assert_eq!(store.council_revision(id(12)).await.unwrap(), Some(1));
}

pub(super) async fn a_change_from_an_old_revision_is_refused(fixture: &dyn Fixture) {
    let store = with_sprites(fixture).await;
    add_council(&store, council(10, "a", &[1])).await;
    let changed = NewCouncil {
        chains: vec![id(5)],
        ..council(10, "a", &[2])
    };
    let updated = store.update_council(changed, council_change(1)).await;
    assert_eq!(updated.unwrap(), 2);
    assert!(store.council_of_chain(id(5)).await.unwrap().is_some());
    assert!(store.council_of_chain(id(1_000_010)).await.unwrap().is_none());
    let refused = store
        .update_council(council(10, "a", &[1]), council_change(1))
        .await;
    assert!(matches!(
        refused,
        Err(WriteError::Refused(CouncilRefused::Changed(2)))
    ));
    let refused = store.delete_council(id(10), council_change(1)).await;
    assert!(matches!(
        refused,
        Err(WriteError::Refused(CouncilRefused::Changed(2)))
    ));
    let missing = store
        .update_council(council(11, "b", &[1]), council_change(1))
        .await;
    assert!(matches!(
        missing,
        Err(WriteError::Refused(CouncilRefused::NotFound))
    ));
    let missing = store.delete_council(id(11), council_change(1)).await;
    assert!(matches!(
        missing,
        Err(WriteError::Refused(CouncilRefused::NotFound))
    ));
    store.delete_council(id(10), council_change(2)).await.unwrap();
}

pub(super) async fn a_kept_council_is_the_one_that_is_stored(fixture: &dyn Fixture) {
    let store = with_sprites(fixture).await;
    let other = fixture.open();
    assert!(store.kept_council(id(10)).await.unwrap().is_none());
    add_council(&store, council(10, "a", &[1])).await;
    let kept = store.kept_council(id(10)).await.unwrap().unwrap();
    assert_eq!(
        kept.hash,
        *blake3::hash(kept.record.document.as_bytes()).as_bytes()
    );
    let again = store.kept_council(id(10)).await.unwrap().unwrap();
    assert!(Arc::ptr_eq(&kept, &again), "it is not read again");
    // A change that another process makes is seen.
    let changed = NewCouncil {
        document: "{\"changed\":1}".into(),
        ..council(10, "a", &[1])
    };
    other.update_council(changed, council_change(1)).await.unwrap();
    let kept = store.kept_council(id(10)).await.unwrap().unwrap();
    assert_eq!(
        (kept.record.revision, kept.record.document.as_str()),
        (2, "{\"changed\":1}")
    );
    other.delete_council(id(10), council_change(2)).await.unwrap();
    assert!(store.kept_council(id(10)).await.unwrap().is_none());
}

pub(super) async fn pages_of_councils_follow_each_other(fixture: &dyn Fixture) {
    let store = with_sprites(fixture).await;
    for number in 10..20 {
        add_council(&store, council(number, &format!("domain-{number}"), &[1])).await;
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.list_councils(None, after, 3).await.unwrap();
        seen.extend(page.items.iter().map(|council| council.id));
        let Some(next) = page.next else { break };
        after = Some(
            store
                .cursor(List::Councils, &next.to_text(List::Councils))
                .unwrap(),
        );
    }
    assert_eq!(seen, (10..20).map(id).collect::<Vec<_>>());
    let of_domain = |domain: &str| store.list_councils(Some(domain.to_owned()), None, 3);
    let page = of_domain("domain-14").await.unwrap();
    assert_eq!((page.items[0].id, page.items.len(), page.next), (id(14), 1, None));
    assert_eq!(of_domain("absent").await.unwrap().items, []);
}
