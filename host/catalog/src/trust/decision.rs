//! The decision about one package.

use super::{Policy, TrustMode, TrustedKey, UnixTime};
use crate::error::LoadCode;
use crate::key::{KeyId, PublicKey};
use crate::package::Digest;
use mizzen_model::namespace::Namespace;
use serde::Serialize;
use std::fmt;

/// Why a package is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// One line for each claimed namespace: which keys counted, and by what rule.
    pub because: Vec<String>,
    /// What `tofu` would pin. Only to be stored once the whole set has been accepted.
    pub new_pins: Vec<(Namespace, KeyId)>,
}

/// Why a package is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of refusal.
    pub kind: RefusalKind,
    /// The message for the operator.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// The kinds of refusals, from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefusalKind {
    /// A key that signed has been revoked.
    RevokedKey,
    /// The package has been revoked.
    RevokedDigest,
    /// The namespace was first seen with another key.
    KeyChanged,
    /// The key is no longer, or not yet, valid.
    ExpiredKey,
    /// Some keys count, but not enough.
    TooFewSignatures,
    /// No key counts.
    UntrustedKey,
}

impl RefusalKind {
    /// The code under which the loader reports it.
    pub const fn code(self) -> LoadCode {
        match self {
            Self::RevokedKey => LoadCode::RevokedKey,
            Self::RevokedDigest => LoadCode::RevokedDigest,
            Self::KeyChanged => LoadCode::KeyChanged,
            Self::ExpiredKey => LoadCode::ExpiredKey,
            Self::TooFewSignatures => LoadCode::TooFewSignatures,
            Self::UntrustedKey => LoadCode::UntrustedKey,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused: {}; {}", self.message, self.help)
    }
}

/// What one key is worth for one namespace.
enum Standing {
    Counts(&'static str),
    NotValid(String),
    NotAllowed(String),
}

impl Policy {
    /// Decides about a package that these keys have provably signed.
    ///
    /// # Errors
    /// With every reason against it.
    pub fn decide(
        &self,
        namespaces: &[Namespace],
        signers: &[PublicKey],
        digest: &Digest,
        now: UnixTime,
    ) -> Result<Decision, Vec<Refusal>> {
        let mut refusals = self.revocations(signers, digest);
        let mut decision = Decision::default();
        for namespace in namespaces {
            if let Err(refusal) = self.decide_namespace(namespace, signers, now, &mut decision) {
                refusals.push(refusal);
            }
        }
        if refusals.is_empty() {
            return Ok(decision);
        }
        refusals.sort_by_key(|refusal| refusal.kind);
        Err(refusals)
    }

    /// Decides about a namespace in which a package describes something without claiming it: as if it claimed it. What has been
    /// revoked did not get here.
    ///
    /// # Errors
    /// With the reason against it.
    pub(crate) fn decide_described(
        &self,
        namespace: &Namespace,
        signers: &[PublicKey],
        now: UnixTime,
    ) -> Result<Decision, Refusal> {
        let mut decision = Decision::default();
        self.decide_namespace(namespace, signers, now, &mut decision)?;
        Ok(decision)
    }

    /// Revocation holds in every mode, for every key, also one that was not needed.
    fn revocations(&self, signers: &[PublicKey], digest: &Digest) -> Vec<Refusal> {
        let keys = signers.iter().filter_map(|signer| {
            let id = signer.id();
            let revoked = self.store.revoked_keys.get(&id)?;
            Some(Refusal {
                kind: RefusalKind::RevokedKey,
                message: format!("key {id} has been revoked: {}", revoked.reason),
                help: "get a package that is signed with a valid key".to_owned(),
            })
        });
        let digests = self.store.revoked_digests.get(digest).map(|revoked| Refusal {
            kind: RefusalKind::RevokedDigest,
            message: format!("the package {digest} has been revoked: {}", revoked.reason),
            help: "remove it, or install another version".to_owned(),
        });
        keys.chain(digests).collect()
    }

    fn decide_namespace(
        &self,
        namespace: &Namespace,
        signers: &[PublicKey],
        now: UnixTime,
        decision: &mut Decision,
    ) -> Result<(), Refusal> {
        let needed = self.store.signatures_needed(namespace);
        let mut counted: Vec<(KeyId, &'static str)> = Vec::new();
        let mut against: Vec<String> = Vec::new();
        let mut kind = RefusalKind::UntrustedKey;
        for signer in signers {
            let id = signer.id();
            match self.standing(signer, namespace, now) {
                Standing::Counts(rule) => counted.push((id, rule)),
                Standing::NotValid(reason) => {
                    kind = RefusalKind::ExpiredKey;
                    against.push(reason);
                }
                Standing::NotAllowed(reason) => against.push(reason),
            }
        }
        if counted.is_empty()
            && self.mode == TrustMode::Tofu
            && !self.store.speaks_about(namespace)
            && kind != RefusalKind::ExpiredKey
        {
            return self.first_use(namespace, signers, decision);
        }
        if counted.len() < needed {
            if !counted.is_empty() && kind != RefusalKind::ExpiredKey {
                kind = RefusalKind::TooFewSignatures;
                against.push(format!(
                    "namespace {namespace} needs {needed} signatures, {} count",
                    counted.len()
                ));
            }
            return Err(Refusal {
                kind,
                message: against.join("; "),
                help: self.how_to_trust(namespace, kind),
            });
        }
        let keys: Vec<String> = counted
            .iter()
            .map(|(id, rule)| format!("{id} ({rule})"))
            .collect();
        decision.because.push(format!(
            "namespace {namespace}: {} of {needed} needed: {}",
            counted.len(),
            keys.join(", ")
        ));
        Ok(())
    }

    fn standing(&self, signer: &PublicKey, namespace: &Namespace, now: UnixTime) -> Standing {
        let id = signer.id();
        if let Some(key) = self.store.keys.get(&id)
            && key.public_key == *signer
            && key.namespaces.iter().any(|pattern| pattern.matches(namespace))
        {
            return key.standing_at(&id, now);
        }
        if self.mode == TrustMode::Dev && self.dev_key.as_ref() == Some(&id) {
            return Standing::Counts("the development key of this machine");
        }
        Standing::NotAllowed(format!("key {id} may not sign for namespace {namespace}"))
    }

    /// `tofu`: the nearest pinned namespace at or above this one decides; when there is none, the first signer is it, unless
    /// a part of the tree belongs to another key already.
    fn first_use(
        &self,
        namespace: &Namespace,
        signers: &[PublicKey],
        decision: &mut Decision,
    ) -> Result<(), Refusal> {
        let ids: Vec<KeyId> = signers.iter().map(PublicKey::id).collect();
        let nearest = self.pins.nearest(namespace);
        if let Some((pinned, old)) = nearest.filter(|(_, old)| !ids.contains(old)) {
            return Err(key_changed(namespace, pinned, old, &ids));
        }
        // A namespace that is pinned itself was decided before; a new one may have neighbours.
        if nearest.is_none_or(|(pinned, _)| pinned != namespace) {
            self.belongs_to_others(namespace, &ids)?;
        }
        if let Some((pinned, old)) = nearest {
            decision
                .because
                .push(format!("namespace {namespace}: {old} (first used for {pinned})"));
        } else if let Some(first) = ids.into_iter().next() {
            // Several keys may have signed; the first one is the author's, the others are endorsements.
            decision
                .because
                .push(format!("namespace {namespace}: {first} (first use)"));
            decision.new_pins.push((namespace.clone(), first));
        }
        Ok(())
    }

    /// The owner of `acme` may describe things in `acme.text`: the first use of the one by another key must not take the other from the
    /// key that has it, by a pin or in `trust.toml`; nor the other way round.
    fn belongs_to_others(&self, namespace: &Namespace, ids: &[KeyId]) -> Result<(), Refusal> {
        let below = self.pins.below(namespace).find(|(_, key)| !ids.contains(key));
        if let Some((pinned, old)) = below {
            return Err(key_changed(namespace, pinned, old, ids));
        }
        let Some((pattern, key)) = self.store.reserved(namespace, ids) else {
            return Ok(());
        };
        let reason = match key {
            Some(key) => format!("gives {pattern} to key {key}"),
            None => format!("sets how many signatures {pattern} needs"),
        };
        Err(Refusal {
            kind: RefusalKind::UntrustedKey,
            message: format!(
                "namespace {namespace} cannot be taken by its first use: trust.toml {reason}, and {}",
                signed_with(ids)
            ),
            help: self.how_to_trust(namespace, RefusalKind::UntrustedKey),
        })
    }

    fn how_to_trust(&self, namespace: &Namespace, kind: RefusalKind) -> String {
        match (kind, self.mode) {
            (RefusalKind::ExpiredKey, _) => {
                "get a package that is signed with a valid key, or change the key's dates in trust.toml"
                    .to_owned()
            }
            (RefusalKind::TooFewSignatures, _) => {
                "have the missing key holders sign it with `mizzen plugin sign`".to_owned()
            }
            (_, TrustMode::Dev) => format!(
                "sign it with the development key (`mizzen plugin sign FILE --key dev`), or trust its key with `mizzen trust add KEY --namespace {namespace}`"
            ),
            _ => format!("if you trust its author, run `mizzen trust add KEY --namespace {namespace}`"),
        }
    }
}

fn key_changed(namespace: &Namespace, pinned: &Namespace, old: &KeyId, new: &[KeyId]) -> Refusal {
    Refusal {
        kind: RefusalKind::KeyChanged,
        message: format!(
            "namespace {pinned} was first used with key {old}, and {}",
            signed_with(new)
        ),
        help: format!(
            "if the change is intended, confirm it with `mizzen trust add KEY --namespace {namespace}`; otherwise do not install it"
        ),
    }
}

fn signed_with(ids: &[KeyId]) -> String {
    let ids: Vec<&str> = ids.iter().map(KeyId::as_str).collect();
    format!("this package is signed with {}", ids.join(", "))
}

impl TrustedKey {
    fn standing_at(&self, id: &KeyId, now: UnixTime) -> Standing {
        if let Some(start) = self.not_before.filter(|start| now < *start) {
            return Standing::NotValid(format!("key {id} is valid from {start} on, and it is {now}"));
        }
        if let Some(end) = self.not_after.filter(|end| now > *end) {
            return Standing::NotValid(format!("key {id} was valid until {end}, and it is {now}"));
        }
        Standing::Counts("trust.toml")
    }
}
