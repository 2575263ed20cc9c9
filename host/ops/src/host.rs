//! What every operation works on.

use crate::caller::Caller;
use crate::clock::{Clock, SystemClock};
use crate::entropy::{self, Entropy, SystemEntropy};
use crate::error::Fault;
use crate::hooks::Hooks;
use crate::metrics::Metrics;
use crate::plugin_set::PluginSet;
use crate::prompts::Prompts;
use crate::registry::Inventory;
use crate::runs::{HostKey, Runs};
use crate::toolbox::{Loaded, Toolbox};
use crate::traces::Traces;
use mizzen_engine::CallPolicy;
use mizzen_model::timestamp::Timestamp;
use mizzen_store::{AuditEntry, Idempotency, Store};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use uuid::Uuid;

/// The host: what it remembers, what is installed, and where time and ids come from.
#[derive(Debug)]
pub struct Host {
    /// What is remembered.
    pub store: Store,
    /// What is installed.
    pub registry: Inventory,
    /// What is counted.
    pub metrics: Metrics,
    /// Where spans go.
    pub traces: Traces,
    /// Where `$ref:` prompts may come from.
    pub prompts: Prompts,
    /// Where hooks may lead.
    pub hooks: Hooks,
    plugins: OnceLock<Arc<PluginSet>>,
    /// What is being executed.
    pub runs: Runs,
    toolbox: OnceLock<Arc<Toolbox>>,
    key: OnceLock<HostKey>,
    pub(crate) deliveries: tokio::sync::Notify,
    /// Whether what was erased may still be in the store's log, or its space not given back. So it is when a process begins: the one
    /// before may have died in between.
    pub(crate) unsettled: AtomicBool,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    started_ms: i64,
    #[cfg(test)]
    pub(crate) script: OnceLock<Arc<dyn crate::runs::Script>>,
}

impl Host {
    /// A host on the system's clock and randomness.
    pub fn new(store: Store) -> Self {
        Self::with_ports(store, Arc::new(SystemClock), Arc::new(SystemEntropy))
    }

    /// A host whose time and ids come from elsewhere.
    pub fn with_ports(store: Store, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        let started_ms = clock.now_ms();
        Self {
            store,
            registry: Inventory::default(),
            metrics: Metrics::default(),
            traces: Traces::default(),
            prompts: Prompts::default(),
            hooks: Hooks::default(),
            plugins: OnceLock::new(),
            runs: Runs::default(),
            toolbox: OnceLock::new(),
            key: OnceLock::new(),
            deliveries: tokio::sync::Notify::new(),
            unsettled: AtomicBool::new(true),
            clock,
            entropy,
            started_ms,
            #[cfg(test)]
            script: OnceLock::new(),
        }
    }

    /// Gives the host its plugins, once.
    pub fn set_plugins(&self, plugins: Arc<PluginSet>) {
        if self.plugins.set(plugins).is_err() {
            tracing::error!("the host has its plugins already");
        }
    }

    /// The plugins, on a host that runs some.
    pub fn plugin_set(&self) -> Option<&Arc<PluginSet>> {
        self.plugins.get()
    }

    /// Gives the host its running plugins, once. Without them every step fails in its place.
    pub fn equip(&self, toolbox: Arc<Toolbox>) {
        if self.toolbox.set(toolbox).is_err() {
            tracing::error!("the host has its toolbox already");
        }
    }

    /// Gives the host the key that it signs ended runs with, once.
    pub fn sign_with(&self, key: HostKey) {
        if self.key.set(key).is_err() {
            tracing::error!("the host has its key already");
        }
    }

    /// The key that ended runs are signed with.
    pub fn host_key(&self) -> Option<&HostKey> {
        self.key.get()
    }

    pub(crate) fn loaded(&self) -> Arc<Loaded> {
        self.toolbox
            .get()
            .map_or_else(Arc::default, |toolbox| toolbox.loaded())
    }

    pub(crate) fn toolbox(&self) -> Option<&Arc<Toolbox>> {
        self.toolbox.get()
    }

    pub(crate) fn call_policy(&self) -> CallPolicy {
        self.toolbox
            .get()
            .map_or_else(CallPolicy::default, |toolbox| toolbox.policy())
    }

    /// Runs a driver on the threads where calls begin, so that short ones need no hop; here when there are no guests.
    pub(crate) fn spawn_run(&self, driver: impl Future<Output = ()> + Send + 'static) {
        match self.toolbox.get() {
            None => drop(tokio::spawn(driver)),
            Some(toolbox) => toolbox.sandbox().spawn(driver),
        }
    }

    pub(crate) fn wake_deliveries(&self) {
        self.deliveries.notify_one();
    }

    /// Now, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// How long it is since some moment, whatever the clock is set to.
    pub(crate) fn steady(&self) -> Duration {
        self.clock.steady()
    }

    /// Waits for so long.
    pub(crate) fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.clock.sleep(time)
    }

    /// Performs every call by a script instead of a plugin.
    #[cfg(test)]
    pub(crate) fn play(&self, script: Arc<dyn crate::runs::Script>) {
        assert!(self.script.set(script).is_ok(), "the host has its script already");
    }

    /// Now, as documents write it: to the second, as in the seeds' examples.
    pub fn timestamp(&self) -> Timestamp {
        timestamp(self.now_ms())
    }

    /// Seconds since the host was made.
    pub fn uptime_seconds(&self) -> i64 {
        (self.now_ms() - self.started_ms).max(0) / 1_000
    }

    pub(crate) fn random(&self) -> Result<[u8; 32], Fault> {
        self.entropy
            .bytes()
            .ok_or_else(|| Fault::Internal("the system has no randomness to give".to_owned()))
    }

    pub(crate) fn new_id(&self) -> Result<Uuid, Fault> {
        self.random().map(entropy::uuid)
    }

    /// An id for an execution; later ones are greater.
    pub(crate) fn new_run_id(&self) -> Result<Uuid, Fault> {
        Ok(entropy::uuid_at(self.now_ms(), self.random()?))
    }

    /// An id for a request: `req-` and a UUID.
    pub fn new_request_id(&self) -> String {
        // A request without randomness still needs a name in the logs.
        let id = self.new_id().unwrap_or(Uuid::nil());
        format!("req-{id}")
    }

    pub(crate) fn audit(&self, caller: &Caller, action: &str, subject: String) -> AuditEntry {
        AuditEntry {
            at: self.now_ms(),
            actor: caller.actor().to_owned(),
            action: action.to_owned(),
            subject,
            outcome: "done".to_owned(),
            request_id: caller.request_id().to_owned(),
            detail: "{}".to_owned(),
        }
    }

    /// The store's form of a caller's idempotency key for one operation and body.
    pub(crate) fn idempotency(
        &self,
        caller: &Caller,
        operation: &str,
        key: Option<&IdempotencyKey>,
    ) -> Option<Idempotency> {
        let key = key?;
        let mut hasher = blake3::Hasher::new_derive_key("mizzen/idempotent-request/v1");
        hasher.update(operation.as_bytes());
        hasher.update(&[0]);
        hasher.update(&key.body_digest);
        Some(Idempotency {
            scope: caller.actor().to_owned(),
            key: key.key.clone(),
            digest: *hasher.finalize().as_bytes(),
            at: self.now_ms(),
        })
    }
}

/// Milliseconds since 1970 as documents write them: to the second.
pub fn timestamp(now_ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(u64::try_from(now_ms).unwrap_or(0) / 1_000 * 1_000)
}

/// A caller's `Idempotency-Key`, with the digest of the body it came with.
#[derive(Debug, Clone)]
pub struct IdempotencyKey {
    /// The key, as sent.
    pub key: String,
    /// BLAKE3 of the body's bytes and whatever else makes it another request.
    pub body_digest: [u8; 32],
    /// Set by the operation when its answer was given before.
    pub replayed: Replayed,
}

/// Whether an answer is one that was given before, under the same key: shared by who asks and the operation that finds out.
#[derive(Debug, Clone, Default)]
pub struct Replayed(Arc<AtomicBool>);

impl Replayed {
    /// The answer was given before.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was.
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl IdempotencyKey {
    /// A key with the body that it came with; none for a key that is not 1 to 255 visible characters of ASCII.
    pub fn of(key: &str, media_type: &str, body: &[u8]) -> Option<Self> {
        let visible = |byte: u8| matches!(byte, b' '..=b'~');
        if key.is_empty() || key.len() > 255 || !key.bytes().all(visible) {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(media_type.as_bytes());
        hasher.update(&[0]);
        hasher.update(body);
        Some(Self {
            key: key.to_owned(),
            body_digest: *hasher.finalize().as_bytes(),
            replayed: Replayed::default(),
        })
    }
}
