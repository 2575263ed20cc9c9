//! Packages that lie about who signed them or what they are, against the whole loader: refused before anything runs.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_catalog::grants::GrantPolicy;
use mizzen_catalog::key::SecretKey;
use mizzen_catalog::load::load_set;
use mizzen_catalog::package::{MANIFEST_SECTION, Package, SIGNATURE_SECTION, embed_manifest};
use mizzen_catalog::signature::sign;
use mizzen_catalog::trust::{Policy, TrustMode, TrustStore, UnixTime};
use mizzen_catalog::{LoadFailure, Sources, Terms};
use mizzen_isolation::{build, call, root};
use mizzen_ops::toolbox::{Outfit, Toolbox};
use mizzen_sandbox::{Sandbox, Settings};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

fn signer(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

const GOOD: u8 = 1;
const REVOKED: u8 = 2;
const EXPIRED: u8 = 3;
const EARLY: u8 = 4;
const FOREIGN: u8 = 5;
const STRANGER: u8 = 6;

fn trust(revoked_digest: &str) -> TrustStore {
    let entry = |seed: u8, more: &str| {
        format!(
            "[[keys]]\nid = \"{}\"\npublic_key = \"{}\"\n{more}\n",
            signer(seed).id(),
            signer(seed).public()
        )
    };
    let text = [
        entry(GOOD, "namespaces = [\"text\", \"text.*\"]"),
        entry(REVOKED, "namespaces = [\"text\"]"),
        entry(
            EXPIRED,
            "namespaces = [\"text\"]\nnot_after = 2001-01-01T00:00:00Z",
        ),
        entry(
            EARLY,
            "namespaces = [\"text\"]\nnot_before = 2999-01-01T00:00:00Z",
        ),
        entry(FOREIGN, "namespaces = [\"acme\", \"texts.*\"]"),
        format!(
            "[[revoked_keys]]\nid = \"{}\"\nreason = \"lost\"\n",
            signer(REVOKED).id()
        ),
        format!("[[revoked_digests]]\ndigest = \"{revoked_digest}\"\nreason = \"leaks\"\n"),
    ]
    .concat();
    TrustStore::parse(&text).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// The parts of an honest package, and a host that trusts some keys.
struct Yard {
    component: Vec<u8>,
    manifest: String,
    unsigned: Vec<u8>,
    folder: tempfile::TempDir,
    toolbox: Arc<Toolbox>,
}

impl Yard {
    fn new() -> Self {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests");
        let file = build(&root().join("plugins/text"), &scratch).unwrap();
        let package = Package::parse(std::fs::read(file).unwrap()).unwrap();
        let settings = Settings {
            slots: 4,
            cache: Some(scratch.join("artifacts")),
            ..Settings::default()
        };
        Self {
            component: package.component().to_vec(),
            manifest: package.manifest_text().to_owned(),
            unsigned: package.unsigned().to_vec(),
            folder: tempfile::tempdir().unwrap(),
            toolbox: Toolbox::new(Arc::new(Sandbox::start(settings).unwrap()), Outfit::default()),
        }
    }

    async fn load(&self, bytes: &[u8], revoked_digest: &str) -> Result<(), LoadFailure> {
        std::fs::write(self.folder.path().join("package.wasm"), bytes).unwrap();
        let policy = Policy {
            mode: TrustMode::Pinned,
            store: trust(revoked_digest),
            ..Policy::default()
        };
        let terms = Terms::new(policy, GrantPolicy::AsDeclared, UnixTime::now());
        let sources = Sources {
            folders: vec![self.folder.path().to_owned()],
            ..Sources::default()
        };
        let plan = load_set(&sources, &terms)?;
        self.toolbox.load(&plan).await.map(|_| ())
    }
}

/// A custom section.
fn section(name: &str, payload: &[u8]) -> Vec<u8> {
    let mut body = leb(name.len());
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(payload);
    let mut bytes = vec![0];
    bytes.extend(leb(body.len()));
    bytes.extend(body);
    bytes
}

fn leb(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value & 0x7f).unwrap();
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

const NO_DIGEST: &str = "blake3:0000000000000000000000000000000000000000000000000000000000000000";

#[tokio::test(flavor = "multi_thread")]
async fn packages_that_are_not_what_they_seem_are_refused_and_the_running_set_stays() {
    let yard = Yard::new();
    let signed = |seed: u8| sign(yard.unsigned.clone(), &signer(seed)).unwrap();
    let honest = signed(GOOD);
    yard.load(&honest, NO_DIGEST).await.unwrap();
    let running = yard.toolbox.loaded().plan_hash().to_owned();

    let flipped = |at: usize| {
        let mut bytes = honest.clone();
        bytes[at] ^= 1;
        bytes
    };
    let signature = &honest[yard.unsigned.len()..];
    let other_manifest = embed_manifest(&yard.component, &yard.manifest.replace("text", "next")).unwrap();
    let two_manifests = [
        &yard.unsigned[..],
        &section(MANIFEST_SECTION, yard.manifest.as_bytes()),
    ]
    .concat();
    let in_the_middle = [
        &yard.component[..],
        signature,
        &section(MANIFEST_SECTION, yard.manifest.as_bytes()),
    ]
    .concat();
    let digest = Package::parse(honest.clone()).unwrap().digest().to_string();
    for (what, bytes, code, expected) in [
        ("a revoked key", signed(REVOKED), "revoked-key", "lost"),
        ("an expired key", signed(EXPIRED), "expired-key", "2001"),
        (
            "a key that is not valid yet",
            signed(EARLY),
            "expired-key",
            "2999",
        ),
        (
            "a key for another namespace",
            signed(FOREIGN),
            "untrusted-key",
            "may not sign for",
        ),
        ("an unknown key", signed(STRANGER), "untrusted-key", "mzk_"),
        ("no signature", yard.unsigned.clone(), "signature", "sign"),
        (
            "a signature for other bytes",
            [&other_manifest, signature].concat(),
            "signature",
            "",
        ),
        (
            "a changed component",
            flipped(yard.component.len() / 2),
            "signature",
            "",
        ),
        ("a changed signature", flipped(honest.len() - 1), "signature", ""),
        (
            "two manifests",
            sign(two_manifests.clone(), &signer(GOOD)).unwrap_or(two_manifests),
            "package",
            "manifest",
        ),
        (
            "a signature in the middle",
            sign(in_the_middle.clone(), &signer(GOOD)).unwrap_or(in_the_middle),
            "package",
            "",
        ),
        (
            "something after the signature",
            [&honest[..], &section("note", b"x")].concat(),
            "package",
            "",
        ),
        (
            "a signature of no length",
            [&yard.unsigned[..], &section(SIGNATURE_SECTION, b"")].concat(),
            "package",
            "",
        ),
        ("half a file", honest[..honest.len() / 2].to_vec(), "package", ""),
    ] {
        let failure = yard.load(&bytes, NO_DIGEST).await.expect_err(what);
        let codes: Vec<_> = failure.errors.iter().map(|error| error.code.as_str()).collect();
        assert_eq!(codes, [code], "{what}: {failure}");
        assert!(failure.to_string().contains(expected), "{what}: {failure}");
        assert_eq!(yard.toolbox.loaded().plan_hash(), running, "{what}");
        let result = call(&yard.toolbox, "text.word_count", json!({ "text": "still here" })).await;
        assert_eq!(result.unwrap().output["words"], 2, "{what}");
    }
    let failure = yard.load(&honest, &digest).await.unwrap_err();
    assert_eq!(failure.errors[0].code.as_str(), "revoked-digest", "{failure}");
    yard.load(&honest, NO_DIGEST).await.unwrap();
}
