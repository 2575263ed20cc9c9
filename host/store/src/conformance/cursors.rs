//! Cursors, as callers hold them.

use super::Fixture;
use super::sample::{add_sprite, sprite};
use crate::{List, SpriteFilter};

const LISTS: [List; 4] = [List::Sprites, List::Councils, List::Executions, List::Audit];

pub(super) async fn a_cursor_is_read_back_by_the_store_that_wrote_it(fixture: &dyn Fixture) {
    let store = fixture.open();
    for number in 1..=3 {
        add_sprite(&store, sprite(number, &[])).await;
    }
    let page = store
        .list_sprites(SpriteFilter::default(), None, 1)
        .await
        .unwrap();
    let text = page.next.unwrap().to_text(List::Sprites);
    assert_eq!(store.cursor(List::Sprites, &text), Ok(page.next.unwrap()));
    // Another process on the same store reads it too, also after the sprite at the position is gone.
    let other = fixture.open();
    let cursor = other.cursor(List::Sprites, &text).unwrap();
    let deleted = other.delete_sprite(
        page.items[0].id,
        crate::InUse::Refuse,
        super::sample::sprite_change(1),
    );
    deleted.await.unwrap();
    let next = other
        .list_sprites(SpriteFilter::default(), Some(cursor), 1)
        .await
        .unwrap();
    assert_eq!(next.items[0].id, super::sample::id(2));
    for list in [List::Councils, List::Executions, List::Audit] {
        assert!(store.cursor(list, &text).is_err(), "a position in another list");
    }
}

pub(super) async fn what_no_page_ended_with_is_refused(fixture: &dyn Fixture) {
    let store = fixture.open();
    for list in LISTS {
        for text in [
            "",
            "0",
            "zz",
            "00",
            &"0".repeat(31),
            &"F".repeat(32),
            &"f".repeat(32),
            &"é".repeat(16),
            &"f".repeat(64),
            &"f".repeat(4_000),
        ] {
            assert!(store.cursor(list, text).is_err(), "{text}");
            let named = format!("{}{text}", list.letter());
            assert!(store.cursor(list, &named).is_err(), "{named}");
        }
    }
}
