//! The host's signature under a run that has ended.

use super::body::Body;
use mizzen_catalog::key::SecretKey;
use mizzen_model::execution::ChainExecutionResult;
use mizzen_model::hex;
use mizzen_model::journal::Link;

/// What a seal is signed for.
pub(super) const DOMAIN: &str = "mizzen/run-seal/v1";

/// What a hook is signed for.
const HOOK_DOMAIN: &str = "mizzen/hook/v2";

/// The key that the host signs ended runs with.
#[derive(Debug)]
pub struct HostKey {
    secret: SecretKey,
    /// Written under every seal, so it is put into words once.
    public: String,
}

impl HostKey {
    /// Signs with this key.
    pub fn new(key: SecretKey) -> Self {
        Self {
            public: key.public().to_string(),
            secret: key,
        }
    }

    /// The public half, as `mizzen audit verify --key` takes it.
    pub fn public(&self) -> String {
        self.public.clone()
    }

    /// The signature under a hook's timestamp and body, as 128 hexadecimal digits.
    pub(crate) fn sign_hook(&self, signed: &str) -> String {
        hex::encode(&self.secret.sign_for(HOOK_DOMAIN, signed.as_bytes()))
    }

    /// A seal, JSON: what was signed, and the signature.
    pub(super) fn seal(&self, sealed: &Seal<'_>) -> String {
        self.signed(DOMAIN, &sealed.statement())
    }

    /// A statement with its signature, JSON.
    pub(super) fn signed(&self, domain: &str, statement: &str) -> String {
        let signature = hex::encode(&self.secret.sign_for(domain, statement.as_bytes()));
        let mut signed = Body::default();
        signed.text("statement", statement);
        signed.text("signature", &signature);
        signed.text("key", &self.public);
        signed.finish()
    }
}

/// What is signed: the last hash with the number of entries, the plugins that were loaded, and the result.
pub(super) struct Seal<'a> {
    pub(super) events: u64,
    pub(super) head: Link,
    pub(super) load_plan: &'a str,
    pub(super) result: &'a ChainExecutionResult,
    pub(super) result_text: &'a str,
}

impl Seal<'_> {
    fn statement(&self) -> String {
        let hash = blake3::hash(self.result_text.as_bytes());
        let mut statement = Body::default();
        statement.text("execution_id", &self.result.execution_id.to_string());
        statement.text("status", self.result.status.as_str());
        statement.model("completed_at", &self.result.completed_at);
        statement.number("events", self.events);
        statement.text("head", &self.head.to_string());
        statement.text("load_plan", self.load_plan);
        statement.text("result", &format!("blake3:{}", hash.to_hex()));
        statement.finish()
    }
}
