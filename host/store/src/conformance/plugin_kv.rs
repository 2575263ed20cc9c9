//! What plugins keep.

use super::Fixture;
use crate::{KvLimits, KvRefused, KvUsage, WriteError};

const LIMITS: KvLimits = KvLimits {
    quota: 100,
    key: 10,
    value: 90,
};

pub(super) async fn plugins_keep_their_keys_apart_and_within_their_quota(fixture: &dyn Fixture) {
    let store = fixture.open();
    let set = |plugin, key, value| store.kv_set(plugin, key, value, LIMITS);
    set("a", "k1", vec![1; 40]).await.unwrap();
    set("b", "k1", vec![2; 90]).await.unwrap();
    assert_eq!(store.kv_get("a", "k1").await.unwrap(), Some(vec![1; 40]));
    let full = set("a", "k2", vec![0; 60]).await;
    assert!(matches!(
        full,
        Err(WriteError::Refused(KvRefused::Quota {
            quota: 100,
            needed: 104
        }))
    ));
    assert_eq!(store.kv_get("a", "k2").await.unwrap(), None);
    set("a", "k2", vec![0; 56]).await.unwrap();
    // The quota was lowered: a smaller value may take the place of a larger one, a larger one may not.
    let lower = |value| {
        let limits = KvLimits { quota: 50, ..LIMITS };
        store.kv_set("a", "k1", value, limits)
    };
    assert!(matches!(
        lower(vec![1; 41]).await,
        Err(WriteError::Refused(KvRefused::Quota { .. }))
    ));
    lower(vec![1; 10]).await.unwrap();
    set("a", "z", vec![0; 29]).await.unwrap();
    assert!(store.kv_delete("a", "k2").await.unwrap());
    assert!(!store.kv_delete("a", "k2").await.unwrap());
    let usage = |plugin: &str, bytes| KvUsage {
        plugin: plugin.into(),
        bytes,
    };
    assert_eq!(
        store.kv_usage().await.unwrap(),
        [usage("a", 12 + 30), usage("b", 92)]
    );
    for (key, value, refused) in [
        (
            "a key that is too long",
            0,
            KvRefused::Key { bytes: 22, limit: 10 },
        ),
        ("", 0, KvRefused::Key { bytes: 0, limit: 10 }),
        ("v", 91, KvRefused::Value { bytes: 91, limit: 90 }),
    ] {
        let result = set("a", key, vec![0; value]).await;
        assert!(
            matches!(&result, Err(WriteError::Refused(why)) if *why == refused),
            "{result:?}"
        );
    }
    store.kv_clear("a").await.unwrap();
    assert_eq!(store.kv_list("a", "", None, 10).await.unwrap().len(), 0);
    assert_eq!(store.kv_get("b", "k1").await.unwrap(), Some(vec![2; 90]));
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

pub(super) async fn keys_are_listed_in_byte_order_from_a_prefix_on(fixture: &dyn Fixture) {
    let store = fixture.open();
    // Bytes, not the alphabet of a language: capitals before small letters, letters with accents last.
    for key in ["k2", "k1", "z", "K1", "é", "k", "k10", "a_b", "a%b"] {
        store.kv_set("a", key, vec![1], LIMITS).await.unwrap();
    }
    let list = |prefix, after, limit| store.kv_list("a", prefix, after, limit);
    assert_eq!(
        list("", None, 100).await.unwrap(),
        ["K1", "a%b", "a_b", "k", "k1", "k10", "k2", "z", "é"]
    );
    assert_eq!(list("k", None, 100).await.unwrap(), ["k", "k1", "k10", "k2"]);
    assert_eq!(list("k", Some("k1"), 100).await.unwrap(), ["k10", "k2"]);
    assert_eq!(list("k", Some("K1"), 2).await.unwrap(), ["k", "k1"]);
    assert_eq!(list("a_", None, 100).await.unwrap(), ["a_b"]);
    assert_eq!(list("x", None, 100).await.unwrap(), Vec::<String>::new());
    assert_eq!(
        store.kv_list("c", "", None, 10).await.unwrap(),
        Vec::<String>::new()
    );
}
