//! For native tests: stand-ins for the host's interfaces, and the declared examples as tests.
//!
//! ```
//! use mizzen_sdk::{kv, testing::Host};
//!
//! let (value, host) = Host::new().key("greeting", "hi").run(|| kv::get("greeting"));
//! assert_eq!(value, Ok(Some(b"hi".to_vec())));
//! assert!(host.log_lines().is_empty());
//! ```

#![cfg_attr(target_family = "wasm", allow(dead_code))]

mod examples;

pub use examples::check_examples;

use crate::http::{Request, Response};
use crate::log::Level;
use crate::{ToolError, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

type HttpAnswer = Box<dyn FnMut(&Request) -> Result<Response, ToolError>>;
type ToolAnswer = Box<dyn FnMut(&Value) -> Result<Value, ToolError>>;

thread_local! {
    static CURRENT: RefCell<Host> = RefCell::new(Host::new());
}

/// One line that the code under test logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: Level,
    /// The message.
    pub message: String,
    /// The fields.
    pub fields: Vec<(String, String)>,
}

/// A stand-in for the host, for the code that [`Host::run`] runs. Without one, keys and values work and nothing else.
#[derive(Default)]
pub struct Host {
    pub(crate) kv: BTreeMap<String, Vec<u8>>,
    pub(crate) now_ms: u64,
    config: Option<Value>,
    secrets: BTreeMap<String, String>,
    http: Option<HttpAnswer>,
    tools: BTreeMap<String, ToolAnswer>,
    lines: Vec<LogLine>,
    random_state: u64,
}

impl Host {
    /// A host that has nothing.
    pub fn new() -> Self {
        Host::default()
    }

    /// With settings.
    #[must_use]
    pub fn config(mut self, settings: Value) -> Self {
        self.config = Some(settings);
        self
    }

    /// With a secret.
    #[must_use]
    pub fn secret(mut self, name: &str, value: &str) -> Self {
        self.secrets.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With a key and its value.
    #[must_use]
    pub fn key(mut self, key: &str, value: impl AsRef<[u8]>) -> Self {
        self.kv.insert(key.to_owned(), value.as_ref().to_owned());
        self
    }

    /// With a time.
    #[must_use]
    pub fn now_ms(mut self, milliseconds: u64) -> Self {
        self.now_ms = milliseconds;
        self
    }

    /// With a response to every request.
    #[must_use]
    pub fn http(mut self, respond: impl FnMut(&Request) -> Result<Response, ToolError> + 'static) -> Self {
        self.http = Some(Box::new(respond));
        self
    }

    /// With another tool, by its id `namespace.name`.
    #[must_use]
    pub fn tool(
        mut self,
        id: &str,
        answer: impl FnMut(&Value) -> Result<Value, ToolError> + 'static,
    ) -> Self {
        self.tools.insert(id.to_owned(), Box::new(answer));
        self
    }

    /// Runs code with this host, and returns the host for inspection.
    pub fn run<T>(self, code: impl FnOnce() -> T) -> (T, Host) {
        /// Restores the previous host, also when the code panics.
        struct Restore(Option<Host>);
        impl Drop for Restore {
            fn drop(&mut self) {
                if let Some(previous) = self.0.take() {
                    CURRENT.set(previous);
                }
            }
        }
        let mut restore = Restore(Some(CURRENT.replace(self)));
        let value = code();
        let used = CURRENT.replace(restore.0.take().unwrap_or_default());
        (value, used)
    }

    /// What the code logged.
    pub fn log_lines(&self) -> &[LogLine] {
        &self.lines
    }

    /// The value of a key afterwards.
    pub fn stored(&self, key: &str) -> Option<&[u8]> {
        self.kv.get(key).map(Vec::as_slice)
    }

    pub(crate) fn log(&mut self, level: Level, message: &str, fields: &[(&str, &str)]) {
        let fields = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        self.lines.push(LogLine {
            level,
            message: message.to_owned(),
            fields,
        });
    }

    pub(crate) fn config_text(&self) -> String {
        self.config
            .as_ref()
            .map_or_else(|| "{}".to_owned(), Value::to_string)
    }

    pub(crate) fn secret_value(&self, name: &str) -> Result<String, ToolError> {
        let missing = || {
            ToolError::denied(format!(
                "the test's host has no secret `{name}`: Host::new().secret(…)"
            ))
        };
        self.secrets.get(name).cloned().ok_or_else(missing)
    }

    pub(crate) fn random_bytes(&mut self, count: u32) -> Vec<u8> {
        // Not random at all: a test sees the same bytes every time (splitmix64).
        let mut next = || {
            self.random_state = self.random_state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.random_state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)).to_le_bytes()[0]
        };
        (0..count.min(65_536)).map(|_| next()).collect()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("kv", &self.kv)
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}

/// Accesses the current stand-in.
pub(crate) fn with<T>(look: impl FnOnce(&mut Host) -> T) -> T {
    CURRENT.with_borrow_mut(look)
}

// The closures run outside of the borrow, so that they may use the host's interfaces themselves.

pub(crate) fn answer_http(request: &Request) -> Result<Response, ToolError> {
    let Some(mut respond) = with(|host| host.http.take()) else {
        return Err(ToolError::denied(format!(
            "the test's host has no HTTP ({}): use Host::new().http(…)",
            request.url
        )));
    };
    let response = respond(request);
    with(|host| {
        host.http.get_or_insert(respond);
    });
    response
}

pub(crate) fn answer_tool(tool: &str, input: &str) -> Result<String, ToolError> {
    let id = tool.split('@').next().unwrap_or(tool);
    let input: Value = crate::exchange::read(input)?;
    let Some(mut answer) = with(|host| host.tools.remove(id)) else {
        return Err(ToolError::denied(format!(
            "the test's host has no tool `{id}`: Host::new().tool(…)"
        )));
    };
    let output = answer(&input);
    with(|host| {
        host.tools.entry(id.to_owned()).or_insert(answer);
    });
    output.map(|value| value.to_string())
}
