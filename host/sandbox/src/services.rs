//! The services behind the imports of one plugin. The caller provides them; the sandbox only calls them.

use mizzen_engine::{ToolError, WebUrl};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A future of a service, to be polled on the guest runtime.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The services of one plugin. A call of an absent one returns `unavailable`.
#[derive(Clone, Default)]
pub struct Services {
    /// The operator's settings, a JSON object that fits the plugin's schema.
    pub config: Option<String>,
    /// Secrets by name.
    pub secrets: BTreeMap<String, Secret>,
    /// The plugin's own keys and values.
    pub kv: Option<Arc<dyn KeyValue>>,
    /// Outgoing HTTP.
    pub http: Option<Arc<dyn Http>>,
    /// Calls of other tools.
    pub tools: Option<Arc<dyn CallTool>>,
}

/// A secret value. It does not print, so that no log line can hold it by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: String) -> Self {
        Self(value)
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Durable keys and values of one plugin, within its quota.
pub trait KeyValue: Send + Sync {
    /// The value of a key.
    fn get<'a>(&'a self, key: &'a str) -> Pending<'a, Result<Option<Vec<u8>>, ToolError>>;
    /// Sets a key; acknowledged means durable.
    fn set<'a>(&'a self, key: &'a str, value: Vec<u8>) -> Pending<'a, Result<(), ToolError>>;
    /// Removes a key and returns whether there was one.
    fn delete<'a>(&'a self, key: &'a str) -> Pending<'a, Result<bool, ToolError>>;
    /// Keys with a prefix, after one of them, in byte order.
    fn list_keys<'a>(&'a self, page: KeyPage<'a>) -> Pending<'a, Result<Vec<String>, ToolError>>;
}

/// A page of keys.
#[derive(Debug, Clone, Copy)]
pub struct KeyPage<'a> {
    /// What the keys begin with.
    pub prefix: &'a str,
    /// The key before the page.
    pub after: Option<&'a str>,
    /// How many at the most.
    pub limit: u32,
}

/// Sends one request that the permit allows. Responsible for addresses, sizes and time.
pub trait Http: Send + Sync {
    /// Sends it and reads the whole response.
    fn fetch(&self, request: HttpRequest) -> Pending<'_, Result<HttpResponse, ToolError>>;
}

/// A request whose host, port and method the permit allows.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The URL.
    pub url: WebUrl,
    /// Headers as the guest set them.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The guest's own time limit.
    pub timeout: Option<std::time::Duration>,
    /// Whether every layer of permissions names this host literally, so that a private address is meant.
    pub host_named: HostNamed,
}

/// How the permissions came to allow a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostNamed {
    /// By its full name or address: private addresses are allowed.
    Exactly,
    /// By a pattern: only public addresses are allowed.
    ByPattern,
}

/// A response.
#[derive(Debug, Clone)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Calls another tool on behalf of a guest.
pub trait CallTool: Send + Sync + fmt::Debug {
    /// Calls it with the callee's own permissions.
    fn call(&self, call: NestedCall) -> Pending<'_, Result<String, ToolError>>;
}

/// A call that a guest makes.
#[derive(Debug, Clone)]
pub struct NestedCall {
    /// `namespace.name`, possibly with `@REQUIREMENT`.
    pub tool: String,
    /// The input, JSON text.
    pub input: String,
    /// The tools that led here, outermost first, the caller last.
    pub lineage: Vec<String>,
    /// The caller's own deadline.
    pub deadline: std::time::Instant,
}
