//! API keys.

use super::Fixture;
use super::sample::audit;
use crate::{NewApiKey, StoreError};

fn key(number: u8) -> NewApiKey {
    NewApiKey {
        id: format!("mzk-{number}"),
        name: "ci".into(),
        digest: [number; 32],
        grants: vec!["runs:start".into(), "runs:read".into()],
        created_at: 1,
        expires_at: (number == 1).then_some(100),
    }
}

pub(super) async fn a_key_is_live_until_it_is_revoked_or_expires(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert!(!store.has_live_api_key(10).await.unwrap());
    assert!(!store.has_any_api_key().await.unwrap());
    store
        .create_api_key(key(1), audit("create_api_key"))
        .await
        .unwrap();
    let found = store.api_key("mzk-1".into()).await.unwrap().unwrap();
    assert_eq!(found.grants, ["runs:start", "runs:read"]);
    assert_eq!(found.digest, [1; 32]);
    assert!(found.is_live(99) && !found.is_live(100));
    assert!(store.api_key("mzk-2".into()).await.unwrap().is_none());
    assert!(store.has_live_api_key(99).await.unwrap());
    assert!(!store.has_live_api_key(100).await.unwrap());
    let revoke = |id: &str, at| store.revoke_api_key(id.to_owned(), at, audit("revoke_api_key"));
    assert!(revoke("mzk-1", 50).await.unwrap());
    assert!(!revoke("mzk-1", 51).await.unwrap());
    assert!(!revoke("mzk-2", 51).await.unwrap());
    assert!(!store.has_live_api_key(60).await.unwrap());
    assert!(store.has_any_api_key().await.unwrap());
    let revoked = store.api_key("mzk-1".into()).await.unwrap().unwrap();
    assert_eq!(revoked.revoked_at, Some(50));
    assert!(!revoked.is_live(60));
    assert_eq!(
        store.recent_audit(10).await.unwrap().len(),
        2,
        "only what was done is recorded"
    );
}

pub(super) async fn keys_are_listed_in_the_order_of_their_creation(fixture: &dyn Fixture) {
    let store = fixture.open();
    for number in [3, 1, 2] {
        store
            .create_api_key(key(number), audit("create_api_key"))
            .await
            .unwrap();
    }
    let again = store.create_api_key(key(1), audit("create_api_key")).await;
    assert!(matches!(again, Err(StoreError::Fault(_))), "an id is given once");
    let keys = store.list_api_keys().await.unwrap();
    let ids: Vec<_> = keys.iter().map(|key| key.id.as_str()).collect();
    assert_eq!(ids, ["mzk-3", "mzk-1", "mzk-2"]);
    assert_eq!(store.recent_audit(10).await.unwrap().len(), 3);
}
