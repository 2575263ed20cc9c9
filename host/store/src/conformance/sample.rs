//! What the cases write.

use crate::{
    AuditEntry, CouncilChange, Idempotency, NewCouncil, NewDelivery, NewRun, NewSprite, RunEvent, RunStep,
    Sealed, SpriteChange, Store, Written,
};
use std::sync::Arc;
use uuid::Uuid;

pub(super) fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

pub(super) fn audit(action: &str) -> AuditEntry {
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

pub(super) fn sprite(number: u128, tags: &[&str]) -> NewSprite {
    NewSprite {
        id: id(number),
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

pub(super) async fn add_sprite(store: &Store, sprite: NewSprite) {
    let written = store.create_sprite(sprite, String::new(), None, audit("create_sprite"));
    assert_eq!(written.await.unwrap(), Written::Now);
}

pub(super) fn sprite_change(from: u64) -> SpriteChange {
    SpriteChange {
        from,
        audit: audit("change_sprite"),
    }
}

/// Its chain has the number 1,000,000 higher.
pub(super) fn council(number: u128, domain: &str, sprites: &[u128]) -> NewCouncil {
    NewCouncil {
        id: id(number),
        domain: domain.into(),
        name: domain.into(),
        sprites: sprites.iter().copied().map(id).collect(),
        chains: vec![id(number + 1_000_000)],
        document: format!("{{\"council\":{number}}}"),
        at: 5,
    }
}

pub(super) async fn add_council(store: &Store, council: NewCouncil) {
    let written = store.create_council(council, String::new(), None, audit("create_council"));
    assert_eq!(written.await.unwrap(), Written::Now);
}

pub(super) fn council_change(from: u64) -> CouncilChange {
    CouncilChange {
        from,
        audit: audit("change_council"),
    }
}

pub(super) fn new_run(number: u128, chain: u128) -> NewRun {
    NewRun {
        id: id(number),
        council_id: id(1),
        chain_id: id(chain),
        started_at: 1_000,
        definition_hash: [7; 32],
        definition: "{\"council\":1}".into(),
    }
}

pub(super) fn event(seq: u64) -> RunEvent {
    RunEvent {
        seq,
        bytes: format!("{{\"seq\":{seq}}}"),
        hash: [u8::try_from(seq).unwrap(); 32],
    }
}

/// One event that leaves the run open.
pub(super) fn step(seq: u64, status: &str) -> RunStep {
    RunStep {
        events: vec![event(seq)],
        status: status.to_owned(),
        sealed: None,
        rewritten: None,
        deliveries: Vec::new(),
    }
}

/// One event that ends the run at a time.
pub(super) fn last_step(seq: u64, status: &str, completed_at: i64) -> RunStep {
    RunStep {
        sealed: Some(Sealed {
            completed_at,
            result: "{\"result\":1}".into(),
            seal: Some("{\"seal\":1}".to_owned()),
        }),
        ..step(seq, status)
    }
}

pub(super) fn delivery(host: &str, due_at: i64) -> NewDelivery {
    NewDelivery {
        rule_id: "r".into(),
        hook: format!("webhook:http://{host}/"),
        destination: format!("webhook:{host}:80"),
        payload: "{\"payload\":1}".into(),
        due_at,
    }
}

pub(super) async fn start(store: &Store, run: NewRun, step: RunStep) {
    let written = store.start_run(run, Arc::new(step), None, vec![audit("execute_chain")]);
    assert_eq!(written.await.unwrap(), Written::Now);
}

pub(super) async fn append(store: &Store, number: u128, next_seq: u64, step: RunStep) {
    let appended = store.append_run(id(number), next_seq, Arc::new(step), Vec::new());
    appended.await.unwrap();
}

pub(super) fn key(name: &str, digest: u8, at: i64) -> Idempotency {
    Idempotency {
        scope: "local".into(),
        key: name.into(),
        digest: [digest; 32],
        at,
    }
}
