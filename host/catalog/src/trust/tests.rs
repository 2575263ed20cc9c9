use super::*;
use crate::error::LoadCode;
use crate::key::{PublicKey, SecretKey};
use crate::package::Digest;
use mizzen_model::namespace::Namespace;

const NOW: UnixTime = UnixTime(1_800_000_000);

fn key(seed: u8) -> PublicKey {
    SecretKey::from_seed(&[seed; 32]).public()
}

fn digest(byte: u8) -> Digest {
    Digest::parse(&format!("blake3:{}", format!("{byte:02x}").repeat(32))).unwrap()
}

fn entry(seed: u8, namespaces: &str, more: &str) -> String {
    let key = key(seed);
    format!(
        "[[keys]]\nid = \"{}\"\npublic_key = \"{key}\"\nnamespaces = [{namespaces}]\n{more}\n",
        key.id()
    )
}

fn policy(mode: TrustMode, text: &str) -> Policy {
    Policy {
        mode,
        store: TrustStore::parse(text).unwrap(),
        pins: Pins::default(),
        dev_key: None,
    }
}

fn decide(policy: &Policy, namespaces: &[&str], seeds: &[u8]) -> Result<Decision, Vec<LoadCode>> {
    decide_full(policy, namespaces, seeds)
        .map_err(|refusals| refusals.iter().map(|refusal| refusal.kind.code()).collect())
}

fn decide_full(policy: &Policy, namespaces: &[&str], seeds: &[u8]) -> Result<Decision, Vec<Refusal>> {
    let namespaces: Vec<Namespace> = namespaces
        .iter()
        .map(|text| Namespace::parse(text).unwrap())
        .collect();
    let signers: Vec<PublicKey> = seeds.iter().map(|seed| key(*seed)).collect();
    policy.decide(&namespaces, &signers, &digest(1), NOW)
}

#[test]
fn a_key_signs_for_the_namespaces_it_was_given_and_for_no_other() {
    let policy = policy(TrustMode::Pinned, &entry(1, "\"acme\", \"tools.*\"", ""));
    assert!(decide(&policy, &["acme"], &[1]).is_ok());
    assert!(decide(&policy, &["acme", "tools.text"], &[1]).is_ok());
    assert_eq!(
        decide(&policy, &["acme.text"], &[1]),
        Err(vec![LoadCode::UntrustedKey])
    );
    assert_eq!(
        decide(&policy, &["tools"], &[1]),
        Err(vec![LoadCode::UntrustedKey])
    );
    assert_eq!(
        decide(&policy, &["acme", "other"], &[1]),
        Err(vec![LoadCode::UntrustedKey])
    );
    assert_eq!(
        decide(&policy, &["acme"], &[2]),
        Err(vec![LoadCode::UntrustedKey])
    );
    let refusal = decide_full(&policy, &["other"], &[1]).unwrap_err().remove(0);
    let sentence = format!("refused: key {} may not sign for namespace other", key(1).id());
    assert!(refusal.to_string().starts_with(&sentence), "{refusal}");
    assert!(refusal.help.contains("mizzen trust add"), "{refusal}");
}

#[test]
fn no_key_is_trusted_by_default() {
    assert_eq!(
        decide(&Policy::default(), &["acme"], &[1]),
        Err(vec![LoadCode::UntrustedKey])
    );
}

#[test]
fn a_key_counts_only_between_its_dates() {
    for (dates, code) in [
        (
            "not_before = 2020-01-01T00:00:00Z\nnot_after = 2030-01-01T00:00:00Z",
            None,
        ),
        ("not_after = 2020-01-01T00:00:00Z", Some(LoadCode::ExpiredKey)),
        ("not_before = 2030-01-01T00:00:00Z", Some(LoadCode::ExpiredKey)),
    ] {
        let policy = policy(TrustMode::Pinned, &entry(1, "\"acme\"", dates));
        assert_eq!(
            decide(&policy, &["acme"], &[1]).err(),
            code.map(|code| vec![code]),
            "{dates}"
        );
    }
    let expired = policy(
        TrustMode::Tofu,
        &entry(1, "\"acme\"", "not_after = 2020-01-01T00:00:00Z"),
    );
    assert_eq!(
        decide(&expired, &["acme"], &[1]),
        Err(vec![LoadCode::ExpiredKey]),
        "tofu does not revive a key"
    );
}

#[test]
fn a_namespace_can_need_several_signatures() {
    let text = format!(
        "{}{}{}[thresholds]\n\"acme.*\" = 2\n",
        entry(1, "\"acme.*\"", ""),
        entry(2, "\"acme.*\"", ""),
        entry(3, "\"other\"", "")
    );
    let policy = policy(TrustMode::Pinned, &text);
    assert!(decide(&policy, &["acme.text"], &[1, 2]).is_ok());
    assert!(
        decide(&policy, &["acme.text"], &[2, 9, 1]).is_ok(),
        "a stranger's endorsement does no harm"
    );
    assert_eq!(
        decide(&policy, &["acme.text"], &[1]),
        Err(vec![LoadCode::TooFewSignatures])
    );
    assert_eq!(
        decide(&policy, &["acme.text"], &[1, 3]),
        Err(vec![LoadCode::TooFewSignatures])
    );
    assert_eq!(
        decide(&policy, &["acme.text"], &[3]),
        Err(vec![LoadCode::UntrustedKey])
    );
    assert!(decide(&policy, &["other"], &[3]).is_ok());
}

#[test]
fn what_is_revoked_is_refused_in_every_mode_and_with_any_other_signature() {
    let id = key(1).id();
    let keys = format!("{}{}", entry(1, "\"acme\"", ""), entry(2, "\"acme\"", ""));
    let revoked_key = format!("{keys}[[revoked_keys]]\nid = \"{id}\"\nreason = \"stolen\"\n");
    let revoked_digest = format!(
        "{keys}[[revoked_digests]]\ndigest = \"{}\"\nreason = \"leaks\"\n",
        digest(1)
    );
    for mode in [TrustMode::Pinned, TrustMode::Tofu, TrustMode::Dev] {
        let mut by_key = policy(mode, &revoked_key);
        by_key.dev_key = Some(id.clone());
        assert_eq!(decide(&by_key, &["acme"], &[1]), Err(vec![LoadCode::RevokedKey]));
        assert_eq!(
            decide(&by_key, &["acme"], &[2, 1]),
            Err(vec![LoadCode::RevokedKey])
        );
        assert!(decide(&by_key, &["acme"], &[2]).is_ok());
        assert_eq!(
            decide(&policy(mode, &revoked_digest), &["acme"], &[1]),
            Err(vec![LoadCode::RevokedDigest])
        );
    }
}

#[test]
fn the_development_key_counts_in_dev_mode_only() {
    for (mode, counts) in [(TrustMode::Dev, true), (TrustMode::Pinned, false)] {
        let policy = Policy {
            mode,
            dev_key: Some(key(7).id()),
            ..Policy::default()
        };
        assert_eq!(decide(&policy, &["acme"], &[7]).is_ok(), counts, "{mode}");
        assert!(decide(&policy, &["acme"], &[8]).is_err(), "{mode}");
    }
}

#[test]
fn tofu_proposes_the_first_key_and_refuses_another_with_both_ids() {
    let mut policy = policy(TrustMode::Tofu, "");
    let first = decide(&policy, &["acme"], &[1]).unwrap();
    assert_eq!(first.new_pins, [(Namespace::parse("acme").unwrap(), key(1).id())]);
    assert_eq!(policy.pins, Pins::default(), "deciding pins nothing");
    for (namespace, id) in first.new_pins {
        policy.pins.remember(namespace, id);
    }
    assert_eq!(decide(&policy, &["acme"], &[1]).unwrap().new_pins, []);
    let refusal = decide_full(&policy, &["acme"], &[2]).unwrap_err().remove(0);
    assert_eq!(refusal.kind, RefusalKind::KeyChanged);
    assert!(refusal.message.contains(key(1).id().as_str()) && refusal.message.contains(key(2).id().as_str()));
    assert_eq!(
        decide(&policy, &["acme.text"], &[2]),
        Err(vec![LoadCode::KeyChanged]),
        "no other key squats below a pin"
    );
    assert!(decide(&policy, &["acme.text"], &[1]).is_ok());
    assert!(decide(&policy, &["acmes"], &[2]).is_ok());
}

#[test]
fn what_trust_toml_says_about_a_namespace_is_not_softened_by_tofu() {
    let policy = policy(TrustMode::Tofu, &entry(1, "\"acme\"", ""));
    assert_eq!(
        decide(&policy, &["acme"], &[2]),
        Err(vec![LoadCode::UntrustedKey])
    );
    assert!(decide(&policy, &["free"], &[2]).is_ok());
}

#[test]
fn pins_are_kept_in_a_private_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.toml");
    let mut pins = Pins::load(&path).unwrap();
    pins.remember(Namespace::parse("acme").unwrap(), key(1).id());
    pins.remember(Namespace::parse("acme").unwrap(), key(2).id());
    pins.save(&path).unwrap();
    assert_eq!(Pins::load(&path).unwrap(), pins);
    // Both forms are read, and what is forgotten is gone.
    let other = Namespace::parse("other").unwrap();
    pins.remember_since(other.clone(), key(3).id(), UnixTime(1_767_225_600));
    pins.save(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("since = 2026-01-01T00:00:00Z }"), "{text}");
    assert_eq!(Pins::load(&path).unwrap(), pins);
    assert_eq!(pins.forget(&other).unwrap().since, Some(UnixTime(1_767_225_600)));
    assert_eq!(pins.forget(&other), None);
    for bad in [
        "[pins]\n\"acme\" = { since = 2026-01-01T00:00:00Z }\n",
        "[pins]\n\"acme\" = { key = \"mzk_\" }\n",
        "[pins]\n\"acme\" = { kye = \"x\" }\n",
    ] {
        std::fs::write(&path, bad).unwrap();
        assert!(Pins::load(&path).is_err(), "{bad}");
    }
    assert_eq!(
        pins.nearest(&Namespace::parse("acme.x").unwrap()).unwrap().1,
        &key(1).id()
    );
    std::fs::write(&path, "[pins]\n\"acme\" = \"../../x\"\n").unwrap();
    assert!(Pins::load(&path).is_err());
}

#[test]
fn a_wrong_trust_file_is_refused_with_its_lines() {
    let good = entry(1, "\"acme\"", "");
    for (text, expected) in [
        (
            good.replace(key(1).id().as_str(), key(2).id().as_str()),
            "not the id of this public key",
        ),
        (good.replace("ed25519:", "rsa:"), "not an ed25519 public key"),
        (good.replace("\"acme\"", "\"ac*\""), "namespace pattern"),
        (format!("{good}{good}"), "there twice"),
        (format!("{good}not_after = \"tomorrow\"\n"), "a date and time"),
        (format!("{good}expires = 1\n"), "unknown key `expires`"),
        ("[thresholds]\nacme = 0\n".to_owned(), "from 1 to 16"),
        (
            "[[revoked_keys]]\nid = \"../x\"\nreason = \"x\"\n".to_owned(),
            "mzk_",
        ),
        (
            "[[revoked_digests]]\ndigest = \"sha256:00\"\nreason = \"x\"\n".to_owned(),
            "blake3:",
        ),
        (
            "[[revoked_keys]]\nid = \"mzk_00000000000000000000000000000000\"\n".to_owned(),
            "reason: it is missing",
        ),
        ("trust = \"everybody\"\n".to_owned(), "unknown key `trust`"),
    ] {
        let problems = TrustStore::parse(&text).unwrap_err().to_string();
        assert!(
            problems.contains(expected) && problems.contains("line "),
            "{problems}"
        );
    }
}

#[test]
fn moments_print_as_dates() {
    for (seconds, text) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_794_797_421, "2026-11-16T02:50:21Z"),
        (-1, "1969-12-31T23:59:59Z"),
    ] {
        assert_eq!(UnixTime(seconds).to_string(), text);
    }
}

#[test]
fn a_first_use_does_not_take_what_is_above_or_below_from_another_key() {
    let pinned = |namespaces: &[&str]| {
        let mut policy = policy(TrustMode::Tofu, "");
        for namespace in namespaces {
            policy
                .pins
                .remember(Namespace::parse(namespace).unwrap(), key(1).id());
        }
        policy
    };
    // R7: acme.text is Alice's (key 1); Mallory (key 2) claims what is above it.
    for claim in ["acme", "acme.text", "acme.text.deep"] {
        assert_eq!(
            decide(&pinned(&["acme.text"]), &[claim], &[2]),
            Err(vec![LoadCode::KeyChanged]),
            "{claim}"
        );
        assert!(decide(&pinned(&["acme.text"]), &[claim], &[1]).is_ok(), "{claim}");
        assert!(
            decide(&pinned(&["acme.text"]), &[claim], &[2, 1]).is_ok(),
            "both signed {claim}"
        );
    }
    for claim in ["acme.texts", "acme-text", "other"] {
        assert!(decide(&pinned(&["acme.text"]), &[claim], &[2]).is_ok(), "{claim}");
    }
    // What is pinned stays pinned: the one above was there first.
    let mut both = pinned(&["acme.text"]);
    both.pins.remember(Namespace::parse("acme").unwrap(), key(2).id());
    assert!(decide(&both, &["acme"], &[2]).is_ok());
    assert_eq!(
        decide(&both, &["acme.text"], &[2]),
        Err(vec![LoadCode::KeyChanged])
    );
    assert_eq!(
        decide(&both, &["acme.other"], &[1]),
        Err(vec![LoadCode::KeyChanged])
    );
}

#[test]
fn a_first_use_does_not_take_what_trust_toml_gives_to_another_key() {
    for (listed, claim, free) in [
        ("acme.text", "acme", false),
        ("acme.*", "acme", false),
        ("acme", "acme.text", false),
        ("acme.text.*", "acme", false),
        ("acme.text.*", "acme.text", false),
        ("acme.text", "acme.texts", true),
        ("acme", "acmes", true),
    ] {
        let policy = policy(TrustMode::Tofu, &entry(1, &format!("\"{listed}\""), ""));
        let expected = if free {
            None
        } else {
            Some(vec![LoadCode::UntrustedKey])
        };
        assert_eq!(
            decide(&policy, &[claim], &[2]).err(),
            expected,
            "{listed} {claim}"
        );
        assert!(
            decide(&policy, &[claim], &[1]).is_ok(),
            "the key itself: {listed} {claim}"
        );
    }
    let counted = policy(TrustMode::Tofu, "[thresholds]\n\"acme.*\" = 2\n");
    assert_eq!(
        decide(&counted, &["acme"], &[2]),
        Err(vec![LoadCode::UntrustedKey])
    );
    let refusal = decide_full(&counted, &["acme"], &[2]).unwrap_err().remove(0);
    assert!(
        refusal.message.contains("sets how many signatures acme.* needs"),
        "{refusal}"
    );
}
