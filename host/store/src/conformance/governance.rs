//! The mandatory packs.

use super::Fixture;
use super::sample::audit;
use crate::GoverningPack;

fn pack(id: &str, signers: &[&str], since: i64) -> GoverningPack {
    GoverningPack {
        id: id.into(),
        signers: signers.iter().map(|signer| (*signer).to_owned()).collect(),
        since,
    }
}

pub(super) async fn packs_are_added_with_their_signers_and_replaced_as_a_whole(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(store.governing_packs().await.unwrap(), []);
    let add = |packs| store.add_governing_packs(packs, audit("add"));
    add(vec![pack("b", &[], 1), pack("a", &["k1", "k2"], 1)])
        .await
        .unwrap();
    assert_eq!(
        store.governing_packs().await.unwrap(),
        [pack("a", &["k1", "k2"], 1), pack("b", &[], 1)]
    );
    // What is known keeps its beginning.
    add(vec![pack("b", &["k3"], 9), pack("c", &[], 9)]).await.unwrap();
    assert_eq!(
        store.governing_packs().await.unwrap(),
        [
            pack("a", &["k1", "k2"], 1),
            pack("b", &["k3"], 1),
            pack("c", &[], 9)
        ]
    );
    let replaced = store.replace_governing_packs(vec![pack("b", &["k4"], 20)], audit("replace"));
    replaced.await.unwrap();
    assert_eq!(store.governing_packs().await.unwrap(), [pack("b", &["k4"], 20)]);
    let log = store.recent_audit(10).await.unwrap();
    let actions: Vec<_> = log.iter().map(|record| record.entry.action.as_str()).collect();
    assert_eq!(actions, ["replace", "add", "add"]);
}
