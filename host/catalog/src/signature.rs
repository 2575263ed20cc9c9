//! Signatures: ed25519 over a domain-separated message that holds the BLAKE3 hash of every byte before the signature.

use crate::key::{KeyId, PublicKey, SecretKey};
use crate::package::section::append_custom;
use crate::package::{Package, PackageError, SIGNATURE_SECTION};

/// More signatures than this are refused before any is verified.
pub const MAX_SIGNATURES: usize = 16;

const DOMAIN: &[u8] = b"mizzen/plugin-signature/v1\0";
const VERSION: u8 = 1;
const PAYLOAD: usize = 1 + 32 + 64;

/// Why a package's signatures do not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no signature.
    #[error("the package is not signed; sign it with `mizzen plugin sign FILE --key NAME`")]
    Unsigned,
    /// The public key in the package is not one.
    #[error("signature {position} carries bytes that are not an ed25519 public key")]
    BadKey {
        /// Which signature, from 1.
        position: usize,
    },
    /// The signature does not fit the bytes.
    #[error(
        "signature {position} by key {key} does not fit the package: the file was changed after it was signed"
    )]
    Wrong {
        /// Which signature, from 1.
        position: usize,
        /// The key it claims to be by.
        key: KeyId,
    },
    /// The same key signed twice, which adds nothing and could pass for two signers.
    #[error("key {key} signed the package twice; remove one of the signatures")]
    Twice {
        /// The key.
        key: KeyId,
    },
}

/// A signature as it is in a package; not verified.
#[derive(Debug, Clone)]
pub struct SignatureBlock {
    public_key: [u8; 32],
    signature: [u8; 64],
    covered: blake3::Hash,
}

impl SignatureBlock {
    /// Reads a whole section. Only the one canonical encoding is read, so that no byte of it can be changed unnoticed.
    pub(crate) fn parse(section: &[u8], covered: blake3::Hash) -> Result<Self, &'static str> {
        let payload = section
            .len()
            .checked_sub(PAYLOAD)
            .and_then(|at| section.split_at_checked(at));
        let (_, payload) = payload.ok_or("it is too short")?;
        let (&version, rest) = payload.split_first().ok_or("it is too short")?;
        if version != VERSION {
            return Err("its version is not 1");
        }
        let (key, signature) = rest.split_at_checked(32).ok_or("it is too short")?;
        let public_key = key.try_into().map_err(|_| "its key does not have 32 bytes")?;
        let signature = signature
            .try_into()
            .map_err(|_| "its signature does not have 64 bytes")?;
        let block = Self {
            public_key,
            signature,
            covered,
        };
        let mut canonical = Vec::with_capacity(section.len());
        block.append_to(&mut canonical);
        if canonical == section {
            Ok(block)
        } else {
            Err("it is not in its canonical form")
        }
    }

    fn append_to(&self, bytes: &mut Vec<u8>) {
        append_custom(
            bytes,
            SIGNATURE_SECTION,
            &[&[VERSION], &self.public_key, &self.signature],
        );
    }

    /// The id of the key it claims to be by; nothing is proven.
    pub fn claimed_key(&self) -> KeyId {
        KeyId::of(&self.public_key)
    }
}

fn message(covered: &blake3::Hash) -> Vec<u8> {
    [DOMAIN, covered.as_bytes()].concat()
}

pub(crate) fn verify_all(signatures: &[SignatureBlock]) -> Result<Vec<PublicKey>, SignatureError> {
    let mut signers: Vec<PublicKey> = Vec::with_capacity(signatures.len());
    for (index, block) in signatures.iter().enumerate() {
        let position = index + 1;
        let key = PublicKey::from_bytes(&block.public_key).ok_or(SignatureError::BadKey { position })?;
        if !key.verifies(&message(&block.covered), &block.signature) {
            return Err(SignatureError::Wrong {
                position,
                key: key.id(),
            });
        }
        if signers.contains(&key) {
            return Err(SignatureError::Twice { key: key.id() });
        }
        signers.push(key);
    }
    if signers.is_empty() {
        Err(SignatureError::Unsigned)
    } else {
        Ok(signers)
    }
}

/// Appends a signature to the bytes of a package, signed or not.
///
/// # Errors
/// When the bytes are not a package, or it has as many signatures as it may have.
pub fn sign(mut package: Vec<u8>, key: &SecretKey) -> Result<Vec<u8>, PackageError> {
    let parsed = Package::parse(package.clone())?;
    if parsed.signatures().len() == MAX_SIGNATURES {
        return Err(PackageError::TooManySignatures);
    }
    let covered = blake3::hash(&package);
    let signature = key.sign(&message(&covered));
    SignatureBlock {
        public_key: *key.public().as_bytes(),
        signature,
        covered,
    }
    .append_to(&mut package);
    Ok(package)
}
