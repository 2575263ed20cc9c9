//! What a permission check and the static part of loading cost.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use mizzen_catalog::grants::GrantPolicy;
use mizzen_catalog::key::SecretKey;
use mizzen_catalog::load::load_set;
use mizzen_catalog::package::embed_manifest;
use mizzen_catalog::signature::sign;
use mizzen_catalog::trust::{Policy, TrustMode, UnixTime};
use mizzen_catalog::{Sources, Terms};
use mizzen_model::permission::{Access, Effective, HostPort, Permission, PermissionSet, Use};
use std::hint::black_box;
use std::sync::Arc;
use wasm_encoder::{Component, ComponentExportKind, ComponentExportSection, ComponentInstanceSection};

/// A plugin that declares as much as a manifest may, with globs: the worst case that passes the manifest.
fn effective() -> Effective {
    let many = (0..60).map(|n| format!("net:GET@*.host{n}.example.com:443"));
    let some = ["kv:read", "clock", "tools:acme.text.*", "secret:github"].map(str::to_owned);
    let set: PermissionSet = many
        .chain(some)
        .map(|text| Permission::parse(&text).unwrap())
        .collect();
    let set = Arc::new(set);
    Effective::new(Arc::clone(&set), Arc::clone(&set)).narrowed(set)
}

fn permission(criterion: &mut Criterion) {
    let effective = effective();
    let last = HostPort::new("api.host59.example.com", 443).unwrap();
    let none = HostPort::new("api.host59.example.org", 443).unwrap();
    for (name, wanted) in [
        ("kv allowed", Use::Kv(Access::Read)),
        ("kv denied", Use::Kv(Access::Write)),
        ("tool allowed", Use::Tool("acme.text.word_count")),
        (
            "net allowed, 60 globs in each of 3 layers",
            Use::Net {
                method: "GET",
                target: &last,
            },
        ),
        (
            "net denied, 60 globs",
            Use::Net {
                method: "GET",
                target: &none,
            },
        ),
    ] {
        criterion.bench_function(&format!("permission check: {name}"), |bencher| {
            bencher.iter(|| effective.allows(black_box(&wanted)));
        });
    }
}

fn loading(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let key = SecretKey::from_seed(&[1; 32]);
    let mut component = Component::new();
    let mut instances = ComponentInstanceSection::new();
    instances.export_items(std::iter::empty::<(&str, ComponentExportKind, u32)>());
    component.section(&instances);
    let mut exports = ComponentExportSection::new();
    exports.export("mizzen:plugin/tool@1.0.0", ComponentExportKind::Instance, 0, None);
    component.section(&exports);
    // As large as a plugin with serde_json in it.
    component.section(&wasm_encoder::CustomSection {
        name: "padding".into(),
        data: vec![7; 100_000].into(),
    });
    let component = component.finish();
    for n in 0..100 {
        let manifest = format!(
            "[plugin]\nname = \"p{n}\"\nversion = \"1.0.0\"\napi_version = \"1\"\nnamespaces = [\"n{n}\"]\nprovides = [\"tool\"]\n"
        );
        let package = sign(embed_manifest(&component, &manifest).unwrap(), &key).unwrap();
        std::fs::write(folder.path().join(format!("p{n}.wasm")), package).unwrap();
    }
    let policy = Policy {
        mode: TrustMode::Dev,
        dev_key: Some(key.id()),
        ..Policy::default()
    };
    let terms = Terms::new(policy, GrantPolicy::AsDeclared, UnixTime(1_800_000_000));
    let sources = Sources {
        folders: vec![folder.path().to_owned()],
        ..Sources::default()
    };
    criterion.bench_function("static stages of 100 plugins of 100 KB", |bencher| {
        bencher.iter(|| load_set(&sources, &terms).unwrap());
    });
}

criterion_group!(benches, permission, loading);
criterion_main!(benches);
