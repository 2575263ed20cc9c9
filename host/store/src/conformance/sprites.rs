//! Sprites.

use super::Fixture;
use super::sample::{add_council, add_sprite, audit, council, id, sprite, sprite_change};
use crate::{InUse, List, NewSprite, SpriteFilter, SpriteRecord, SpriteRefused, WriteError};

pub(super) async fn a_sprite_is_read_as_it_was_written(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(store.count_sprites().await.unwrap(), 0);
    for number in 1..=3 {
        add_sprite(&store, sprite(number, &["core", "core"])).await;
    }
    let record = |number: u128| SpriteRecord {
        id: id(number),
        revision: 1,
        document: format!("{{\"n\":{number}}}"),
    };
    assert_eq!(store.sprite(id(2)).await.unwrap(), Some(record(2)));
    assert_eq!(store.sprite(id(9)).await.unwrap(), None);
    let asked = vec![id(3), id(9), id(1), id(3)];
    assert_eq!(
        store.sprites_by_id(asked.clone()).await.unwrap(),
        [record(3), record(1), record(3)]
    );
    let fingerprints = store.fingerprints(asked).await.unwrap();
    let expected = [3, 1, 3].map(|number: u128| (id(number), format!("blake3:{number:064x}")));
    assert_eq!(fingerprints, expected);
    assert_eq!(store.count_sprites().await.unwrap(), 3);
    store.probe_sprites().await.unwrap();
}

fn filter(name: &str, tag: &str, role: &str, capability: &str) -> SpriteFilter {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    SpriteFilter {
        name: given(name),
        tag: given(tag),
        role: given(role),
        capability: given(capability),
    }
}

pub(super) async fn pages_follow_each_other_without_gap_or_repeat_under_every_filter(fixture: &dyn Fixture) {
    let store = fixture.open();
    for number in 1..=60 {
        let tags: &[&str] = if number % 3 == 0 {
            &["core", "third"]
        } else {
            &["core"]
        };
        add_sprite(&store, sprite(number, tags)).await;
    }
    let filters = [
        (filter("", "", "", ""), 60),
        (filter("SPRITE-4", "", "", ""), 6),
        (filter("", "third", "", ""), 20),
        (filter("", "", "planner", ""), 30),
        (filter("", "", "", "cap_0"), 12),
        (filter("", "third", "planner", ""), 10),
        (filter("", "third", "", "cap_0"), 4),
        (filter("SPRITE-3", "third", "", ""), 2),
        (filter("SPRITE-0", "third", "planner", "cap_0"), 2),
        (filter("", "absent", "", ""), 0),
    ];
    for (filter, expected) in filters {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store.list_sprites(filter.clone(), after, 7).await.unwrap();
            assert!(page.items.len() <= 7);
            seen.extend(page.items.iter().map(|sprite| sprite.id.as_u128()));
            let Some(next) = page.next else { break };
            after = Some(store.cursor(List::Sprites, &next.to_text(List::Sprites)).unwrap());
        }
        assert_eq!(seen.len(), expected, "{filter:?}");
        assert!(
            seen.is_sorted() && seen.windows(2).all(|pair| pair[0] != pair[1]),
            "{filter:?}: {seen:?}"
        );
    }
}

pub(super) async fn a_page_stops_before_it_grows_without_bound(fixture: &dyn Fixture) {
    let store = fixture.open();
    for number in 1..=8 {
        let large = NewSprite {
            document: "x".repeat(1_000_000),
            ..sprite(number, &[])
        };
        add_sprite(&store, large).await;
    }
    let all = SpriteFilter::default;
    let page = store.list_sprites(all(), None, 100).await.unwrap();
    assert_eq!(page.items.len(), 4);
    let rest = store.list_sprites(all(), page.next, 100).await.unwrap();
    assert_eq!((rest.items.len(), rest.next), (4, None));
    let huge = NewSprite {
        document: "x".repeat(5_000_000),
        ..sprite(9, &["huge"])
    };
    add_sprite(&store, huge).await;
    let page = store.list_sprites(filter("", "huge", "", ""), None, 100).await;
    assert_eq!(page.unwrap().items.len(), 1, "one is always on it");
}

pub(super) async fn a_change_from_an_old_revision_is_refused(fixture: &dyn Fixture) {
    let store = fixture.open();
    add_sprite(&store, sprite(1, &["old"])).await;
    let updated = store.update_sprite(sprite(1, &["new"]), sprite_change(1)).await;
    assert_eq!(updated.unwrap(), 2);
    let refused = store.update_sprite(sprite(1, &[]), sprite_change(1)).await;
    assert!(matches!(
        refused,
        Err(WriteError::Refused(SpriteRefused::Changed(2)))
    ));
    let refused = store.delete_sprite(id(1), InUse::Refuse, sprite_change(3)).await;
    assert!(matches!(
        refused,
        Err(WriteError::Refused(SpriteRefused::Changed(2)))
    ));
    for (tag, count) in [("old", 0), ("new", 1)] {
        let page = store
            .list_sprites(filter("", tag, "", ""), None, 5)
            .await
            .unwrap();
        assert_eq!(page.items.len(), count, "{tag}");
    }
    let missing = store.update_sprite(sprite(9, &[]), sprite_change(1)).await;
    assert!(matches!(
        missing,
        Err(WriteError::Refused(SpriteRefused::NotFound))
    ));
    let missing = store.delete_sprite(id(9), InUse::Refuse, sprite_change(1)).await;
    assert!(matches!(
        missing,
        Err(WriteError::Refused(SpriteRefused::NotFound))
    ));
    let deleted = store.delete_sprite(id(1), InUse::Refuse, sprite_change(2)).await;
    deleted.unwrap();
    assert_eq!(store.sprite(id(1)).await.unwrap(), None);
    let page = store.list_sprites(filter("", "new", "", ""), None, 5).await;
    assert_eq!(page.unwrap().items, []);
}

pub(super) async fn a_name_and_a_version_are_those_of_one_sprite(fixture: &dyn Fixture) {
    let store = fixture.open();
    add_sprite(&store, sprite(1, &[])).await;
    add_sprite(&store, sprite(2, &[])).await;
    let as_first = |number| NewSprite {
        id: id(number),
        ..sprite(1, &[])
    };
    let created = store.create_sprite(as_first(3), String::new(), None, audit("create_sprite"));
    assert!(matches!(created.await, Err(WriteError::Refused(SpriteRefused::Taken(other))) if other == id(1)));
    let updated = store.update_sprite(as_first(2), sprite_change(1)).await;
    assert!(matches!(updated, Err(WriteError::Refused(SpriteRefused::Taken(other))) if other == id(1)));
    let updated = store.update_sprite(as_first(1), sprite_change(1)).await;
    assert_eq!(updated.unwrap(), 2, "its own name is not taken");
    assert_eq!(store.count_sprites().await.unwrap(), 2);
}

pub(super) async fn a_sprite_that_a_council_holds_is_deleted_only_by_force(fixture: &dyn Fixture) {
    let store = fixture.open();
    add_sprite(&store, sprite(1, &[])).await;
    for number in 10..=25 {
        add_council(&store, council(number, &format!("domain-{number}"), &[1])).await;
    }
    let refused = store.delete_sprite(id(1), InUse::Refuse, sprite_change(1)).await;
    let Err(WriteError::Refused(SpriteRefused::InUse(councils))) = refused else {
        panic!("{refused:?}");
    };
    let first: Vec<_> = (10..20).map(id).collect();
    assert_eq!(councils, first, "some of them, not all");
    let deleted = store.delete_sprite(id(1), InUse::Ignore, sprite_change(1)).await;
    deleted.unwrap();
    assert!(store.council(id(10)).await.unwrap().is_some());
}
