//! ed25519 keys: ids, public and secret halves. Where they are kept is in [`store`].

mod store;

pub use store::{DEV_KEY, KeyEntry, KeyName, KeyStore, KeyStoreError, read_public_file};

use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use mizzen_model::hex;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

const ID_DOMAIN: &[u8] = b"mizzen/key-id/v1\0";
const PREFIX: &str = "ed25519:";

/// A key's id: `mzk_` and 32 hexadecimal digits, derived from the public key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(Arc<str>);

impl KeyId {
    pub(crate) fn of(public_key: &[u8; 32]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(ID_DOMAIN).update(public_key);
        let hex = hasher.finalize().to_hex();
        Self(format!("mzk_{}", hex.get(..32).unwrap_or_default()).into())
    }

    /// Reads an id. Only what has the exact shape passes, so that an id can never lead out of a folder.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("mzk_")?;
        hex::is_digits(digits, 32).then(|| Self(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for KeyId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A public key that can verify: on the curve, and not one of the weak points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Takes 32 bytes; none when they are not a key, or a weak one.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes)
            .ok()
            .filter(|key| !key.is_weak())
            .map(Self)
    }

    /// Reads `ed25519:` and 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = hex::decode(text.strip_prefix(PREFIX)?)?;
        Self::from_bytes(&bytes)
    }

    /// The id.
    pub fn id(&self) -> KeyId {
        KeyId::of(self.0.as_bytes())
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Whether a signature of [`SecretKey::sign_for`] is of this key and fits.
    pub fn verifies_for(&self, domain: &str, message: &[u8], signature: &[u8; 64]) -> bool {
        self.verifies(&separated(domain, message), signature)
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        self.0.verify_strict(message, &signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(&hex::encode(self.as_bytes()))
    }
}

impl serde::Serialize for PublicKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A secret key. Wiped from memory when it is dropped, and never printed.
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// A new key from the operating system's randomness.
    ///
    /// # Errors
    /// When the operating system has none.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut())?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// The key with this seed, for tests and fixtures that must be the same every time.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(hex::decode(text.strip_prefix(PREFIX)?)?);
        Some(Self(SigningKey::from_bytes(&bytes)))
    }

    /// The text that [`Self::parse`] reads; wiped when it is dropped.
    fn to_text(&self) -> Zeroizing<String> {
        use fmt::Write as _;
        // With its capacity from the start: growing would leave copies of the secret behind.
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + 64));
        text.push_str(PREFIX);
        for byte in self.0.as_bytes() {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The id.
    pub fn id(&self) -> KeyId {
        self.public().id()
    }

    /// Signs something that is not a package. `domain` separates purposes: a signature for one is invalid for another.
    pub fn sign_for(&self, domain: &str, message: &[u8]) -> [u8; 64] {
        self.sign(&separated(domain, message))
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.id())
    }
}

/// The domain, a zero, and the hash of the message: of fixed shape whatever the message is.
fn separated(domain: &str, message: &[u8]) -> Vec<u8> {
    let mut bytes = domain.as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(blake3::hash(message).as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_derived_from_the_public_key_and_only_its_exact_shape_is_read() {
        let key = SecretKey::from_seed(&[7; 32]);
        let id = key.id();
        assert_eq!(KeyId::parse(id.as_str()), Some(id.clone()));
        assert_ne!(SecretKey::from_seed(&[8; 32]).id(), id);
        let upper = id.as_str().to_uppercase();
        for text in [
            "",
            "mzk_",
            "../../etc/passwd",
            "mzk_../../../../../../etc/passwd00000",
            &upper,
            &format!("{id}0"),
            &format!("{id}\n"),
        ] {
            assert_eq!(KeyId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn keys_are_read_back_from_their_text() {
        let key = SecretKey::generate().unwrap();
        assert_eq!(SecretKey::parse(&key.to_text()).unwrap().id(), key.id());
        assert_eq!(PublicKey::parse(&key.public().to_string()), Some(key.public()));
        assert_eq!(
            PublicKey::parse(&format!("ed25519:{}", "0".repeat(64))),
            None,
            "a weak key"
        );
        assert_eq!(PublicKey::parse("ed25519:00"), None);
    }

    #[test]
    fn a_secret_key_does_not_show_in_debug_output() {
        let key = SecretKey::from_seed(&[0xab; 32]);
        assert!(!format!("{key:?}").contains("abab"));
    }
}
