//! The parts of `mizzen.toml` that the server, the store and the prompts read. The catalog reads the others.

use crate::moment::Age;
use anyhow::{Context, Result, bail, ensure};
use mizzen_engine::{Profile, WebUrl};
use mizzen_model::limits::ByteSize;
use mizzen_model::rule::Hook;
use mizzen_ops::outgoing::{Outgoing, OutgoingLimits, Purpose};
use mizzen_ops::{
    Channel, ChannelSecret, Collector, Hooks, Prompts, RunLimits, Share, SystemEntropy, Traces,
};
use mizzen_server::{Config, TlsFiles};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a configuration file.
const MAX_BYTES: u64 = 1 << 20;

/// Bytes of memory for all guests together: below, even small ones would be refused.
const LEAST_TOTAL_MEMORY: u64 = 64 << 20;
/// How long an execution waits for a person: thirty days. A question that nobody has answered by then is denied.
const ESCALATION_EXPIRES: &str = "720h";

/// How long executions are kept after their end, at least: zero would erase them under the caller who waits for one.
const LEAST_KEEP: Duration = Duration::from_secs(1);

/// Where `mizzen serve` listens unless told otherwise.
const LISTEN: &str = "127.0.0.1:7437";

/// Everything that is set; what is not set has a default.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Settings {
    #[serde(default)]
    host: HostSection,
    #[serde(default)]
    server: ServerSection,
    #[serde(default)]
    runs: RunsSection,
    #[serde(default)]
    store: StoreSection,
    #[serde(default)]
    prompts: PromptSection,
    #[serde(default)]
    sandbox: SandboxSection,
    #[serde(default)]
    hooks: HooksSection,
    #[serde(default)]
    channels: BTreeMap<String, ChannelSection>,
    #[serde(default)]
    telemetry: TelemetrySection,
    /// Relative paths are relative to the file.
    #[serde(skip)]
    base: PathBuf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostSection {
    #[serde(default)]
    profile: HostProfile,
}

/// What the host refuses whatever is granted (D18).
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HostProfile {
    #[default]
    Open,
    Cleared,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerSection {
    listen: Option<String>,
    rate_per_second: Option<u32>,
    rate_burst: Option<u32>,
    connections: Option<usize>,
    connections_per_address: Option<usize>,
    unsent_bytes: Option<usize>,
    event_streams: Option<usize>,
    header_bytes: Option<usize>,
    header_fields: Option<usize>,
    receive_seconds: Option<u64>,
    grace_seconds: Option<u64>,
    tls_certificate: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    #[serde(default)]
    cors_origins: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunsSection {
    open: Option<usize>,
    open_per_caller: Option<usize>,
    escalation_expires: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreSection {
    readers: Option<usize>,
    max_bytes: Option<u64>,
    keep: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SandboxSection {
    slots: Option<u32>,
    max_memory: Option<String>,
    total_memory: Option<String>,
    threads: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptSection {
    root: Option<PathBuf>,
    #[serde(default)]
    hosts: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HooksSection {
    #[serde(default)]
    private_hosts: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChannelSection {
    url: String,
    secret: Option<SecretText>,
}

/// A secret, or the name of the variable that holds it.
#[derive(Deserialize)]
#[serde(untagged)]
enum SecretText {
    Text(String),
    Variable { env: String },
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText")
    }
}

impl SecretText {
    fn read(&self, channel: &str) -> Result<ChannelSecret> {
        let secret = match self {
            Self::Text(text) => text.clone(),
            Self::Variable { env } => std::env::var(env)
                .with_context(|| format!("channels.{channel}.secret: the variable {env} cannot be read"))?,
        };
        ensure!(!secret.is_empty(), "channels.{channel}.secret is empty");
        Ok(ChannelSecret::new(secret))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TelemetrySection {
    otlp: Option<String>,
    service_name: Option<String>,
    sample: Option<f64>,
    #[serde(default)]
    headers: BTreeMap<String, FromEnvironment>,
}

/// A value that does not stand in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FromEnvironment {
    env: String,
}

/// The machine's network, within the usual limits.
pub(crate) fn outgoing(purpose: Purpose) -> Outgoing {
    Outgoing::system(OutgoingLimits::default()).serving(purpose)
}

/// Whether this is how a browser writes an origin.
fn is_origin(text: &str) -> bool {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        !host.is_empty()
            && host
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b':' | b'[' | b']'))
    })
}

impl Settings {
    /// Reads the named file; without a name `mizzen.toml` when there is one, and nothing when there is none.
    pub(crate) fn load(named: Option<&Path>) -> Result<Self> {
        let usual = Path::new("mizzen.toml");
        let path = match named {
            Some(path) => path,
            // What is there and cannot be read is refused: the defaults would not be what the operator wants.
            None if usual.exists() => usual,
            None => return Ok(Self::default()),
        };
        let text = mizzen_catalog::files::read_text(path, MAX_BYTES)?;
        let mut settings: Self =
            toml::from_str(&text).with_context(|| format!("{} is not a configuration", path.display()))?;
        settings
            .check()
            .with_context(|| format!("{} is not a configuration", path.display()))?;
        settings.base = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(settings)
    }

    /// A number with which nothing could be served, or that nothing could hold, is a mistake and not a wish.
    fn check(&self) -> Result<()> {
        let server = &self.server;
        let wide = |value: Option<usize>| value.map(|value| u64::try_from(value).unwrap_or(u64::MAX));
        for (name, value, least, most) in [
            (
                "server.rate_per_second",
                server.rate_per_second.map(u64::from),
                1,
                1_000_000,
            ),
            (
                "server.rate_burst",
                server.rate_burst.map(u64::from),
                1,
                1_000_000,
            ),
            ("server.connections", wide(server.connections), 1, 1_000_000),
            (
                "server.connections_per_address",
                wide(server.connections_per_address),
                1,
                1_000_000,
            ),
            ("server.unsent_bytes", wide(server.unsent_bytes), 1 << 20, 1 << 40),
            ("server.event_streams", wide(server.event_streams), 1, 1_000_000),
            ("server.header_bytes", wide(server.header_bytes), 1_024, 16 << 20),
            ("server.header_fields", wide(server.header_fields), 8, 10_000),
            ("server.receive_seconds", server.receive_seconds, 1, 86_400),
            ("server.grace_seconds", server.grace_seconds, 0, 86_400),
            ("runs.open", wide(self.runs.open), 1, 1_000_000),
            (
                "runs.open_per_caller",
                wide(self.runs.open_per_caller),
                1,
                1_000_000,
            ),
            ("store.readers", wide(self.store.readers), 1, 64),
            ("store.max_bytes", self.store.max_bytes, 1 << 20, i64::MAX as u64),
        ] {
            if let Some(value) = value {
                let fits = (least..=most).contains(&value);
                ensure!(fits, "{name} is {value}; write {least} to {most}");
            }
        }
        self.keep()?;
        Ok(())
    }

    /// The host's profile.
    pub(crate) fn profile(&self) -> Profile {
        match self.host.profile {
            HostProfile::Open => Profile::Open,
            HostProfile::Cleared => Profile::Cleared,
        }
    }

    /// Where to listen.
    pub(crate) fn listen(&self) -> &str {
        self.server.listen.as_deref().unwrap_or(LISTEN)
    }

    /// The server's part.
    pub(crate) fn server(&self) -> Result<Config> {
        let section = &self.server;
        let tls = match (&section.tls_certificate, &section.tls_key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(TlsFiles {
                certificate: self.base.join(certificate),
                key: self.base.join(key),
            }),
            _ => bail!("server.tls_certificate and server.tls_key belong together; set both or none"),
        };
        for origin in &section.cors_origins {
            // Compared as text with what browsers send: anything else would never be equal to it, and nobody would be told.
            ensure!(
                is_origin(origin),
                "server.cors_origins: {origin:?} is not an origin as browsers send it; write https://HOST or http://HOST:PORT, \
                 lowercase, without a path or a slash at the end"
            );
        }
        let usual = Config::default();
        let seconds = |set: Option<u64>, usual: Duration| set.map_or(usual, Duration::from_secs);
        Ok(Config {
            rate_per_second: section.rate_per_second.unwrap_or(usual.rate_per_second),
            rate_burst: section.rate_burst.unwrap_or(usual.rate_burst),
            connections: section.connections.unwrap_or(usual.connections),
            connections_per_address: section.connections_per_address,
            unsent_bytes: section.unsent_bytes.unwrap_or(usual.unsent_bytes),
            event_streams: section.event_streams.unwrap_or(usual.event_streams),
            header_bytes: section.header_bytes.unwrap_or(usual.header_bytes),
            header_fields: section.header_fields.unwrap_or(usual.header_fields),
            receive: seconds(section.receive_seconds, usual.receive),
            grace: seconds(section.grace_seconds, usual.grace),
            tls,
            cors_origins: section.cors_origins.clone(),
            ..usual
        })
    }

    /// How many executions may be open, and how long they wait for a person.
    pub(crate) fn runs(&self) -> Result<RunLimits> {
        let (section, usual) = (&self.runs, RunLimits::default());
        let open = section.open.unwrap_or(usual.open);
        let escalation = match section
            .escalation_expires
            .as_deref()
            .unwrap_or(ESCALATION_EXPIRES)
        {
            "never" => None,
            text => {
                let time = mizzen_model::duration::Duration::parse(text).with_context(|| {
                    format!("runs.escalation_expires is {text:?}; write a time or \"never\"")
                })?;
                Some(Duration::from_millis(time.milliseconds()))
            }
        };
        Ok(RunLimits {
            open,
            open_per_caller: section.open_per_caller.unwrap_or((open / 4).max(1)),
            escalation,
        })
    }

    /// The store's part.
    pub(crate) fn store(&self, now: i64) -> mizzen_store_sqlite::Options {
        let usual = mizzen_store_sqlite::Options::default();
        mizzen_store_sqlite::Options {
            readers: self.store.readers.unwrap_or(usual.readers),
            max_bytes: self.store.max_bytes,
            now,
        }
    }

    /// How long an execution is kept after its end; none: for ever.
    pub(crate) fn keep(&self) -> Result<Option<Age>> {
        let Some(text) = &self.store.keep else {
            return Ok(None);
        };
        let age = Age::parse(text).filter(|age| age.duration() >= LEAST_KEEP);
        age.map(Some).with_context(|| {
            format!("store.keep is {text:?}; write how long an execution is kept after its end: 90d, 24h, 30m, at least 1s")
        })
    }

    /// Where prompts may come from.
    pub(crate) fn prompts(&self) -> Prompts {
        Prompts {
            root: self.prompts.root.as_ref().map(|root| self.base.join(root)),
            hosts: self
                .prompts
                .hosts
                .iter()
                .map(|host| host.to_ascii_lowercase())
                .collect(),
            fetch: (!self.prompts.hosts.is_empty()).then(|| Arc::new(outgoing(Purpose::Prompts)) as _),
        }
    }

    /// Where hooks may lead.
    pub(crate) fn hooks(&self) -> Result<Hooks> {
        let mut hooks = Hooks::default();
        for host in &self.hooks.private_hosts {
            // Read as a URL's host is, so that both are spelled alike.
            let url = WebUrl::parse(&format!("http://{host}/"))
                .ok()
                .filter(|url| url.target().port() == 80 && url.path_and_query() == "/");
            let url = url.with_context(|| {
                format!(
                    "hooks.private_hosts: {host:?} is not a host; write a name or an address, without a port"
                )
            })?;
            hooks.private_hosts.insert(url.target().host().to_owned());
        }
        for (name, section) in &self.channels {
            ensure!(
                Hook::parse(&format!("notify:{name}:x")).is_ok(),
                "channels.{name}: a channel's name has small letters, digits, - and _, and begins with a letter"
            );
            let channel = Channel {
                url: WebUrl::parse(&section.url).with_context(|| format!("channels.{name}.url"))?,
                secret: section
                    .secret
                    .as_ref()
                    .map(|secret| secret.read(name))
                    .transpose()?,
            };
            hooks.channels.insert(name.clone(), channel);
        }
        Ok(hooks)
    }

    /// Where spans go; nowhere when no collector is named. To be called inside of the runtime.
    pub(crate) fn traces(&self) -> Result<Traces> {
        Ok(match self.telemetry()? {
            Some((collector, share)) => Traces::to(collector, share, Arc::new(SystemEntropy)),
            None => Traces::default(),
        })
    }

    /// The collector, and the share of traces that it gets.
    pub(crate) fn telemetry(&self) -> Result<Option<(Collector, Share)>> {
        let section = &self.telemetry;
        let Some(otlp) = &section.otlp else {
            ensure!(
                section.service_name.is_none() && section.sample.is_none() && section.headers.is_empty(),
                "[telemetry] names no collector; add otlp = \"http://HOST:4318\""
            );
            return Ok(None);
        };
        let share = Share::parse(section.sample.unwrap_or(1.0))
            .context("telemetry.sample is the share of traces to record: write a number from 0.0 to 1.0")?;
        let mut headers = Vec::new();
        for (name, FromEnvironment { env }) in &section.headers {
            let value = std::env::var(env)
                .ok()
                .filter(|value| !value.is_empty() && value.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
            let value = value.with_context(|| {
                format!(
                    "telemetry.headers.{name}: the environment variable {env} is not set to a header's value"
                )
            })?;
            let fits = !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            ensure!(fits, "telemetry.headers: {name:?} is not the name of a header");
            headers.push((name.to_ascii_lowercase(), value));
        }
        let http = Arc::new(outgoing(Purpose::Operator));
        let service = section.service_name.as_deref().unwrap_or("mizzen");
        let collector = Collector::new(otlp, service, headers, http).context("telemetry.otlp")?;
        Ok(Some((collector, share)))
    }

    /// The sandbox's part; its artifacts are kept under the data folder.
    pub(crate) fn sandbox(&self, data: &Path) -> Result<mizzen_sandbox::Settings> {
        let usual = mizzen_sandbox::Settings::default();
        let section = &self.sandbox;
        let max_memory = match &section.max_memory {
            Some(text) => ByteSize::parse(text).context("sandbox.max_memory")?.get(),
            None => usual.max_memory,
        };
        let total_memory = match &section.total_memory {
            Some(text) => ByteSize::parse(text).context("sandbox.total_memory")?.get(),
            None => usual.total_memory,
        };
        let within = |name: &str, value: u64, most: u64| {
            ensure!(
                (1..=most).contains(&value),
                "sandbox.{name} is {value}; write 1 to {most}"
            );
            Ok(())
        };
        within("slots", u64::from(section.slots.unwrap_or(usual.slots)), 10_000)?;
        within(
            "threads",
            section.threads.unwrap_or(usual.guest_threads) as u64,
            1_024,
        )?;
        within("max_memory", max_memory, 4 << 30)?;
        ensure!(
            total_memory >= LEAST_TOTAL_MEMORY,
            "sandbox.total_memory is {}; no guest could run with less than {}",
            ByteSize::bytes(total_memory),
            ByteSize::bytes(LEAST_TOTAL_MEMORY)
        );
        Ok(mizzen_sandbox::Settings {
            slots: section.slots.unwrap_or(usual.slots),
            max_memory,
            total_memory,
            guest_threads: section.threads.unwrap_or(usual.guest_threads),
            cache: Some(data.join("artifacts")),
            ..usual
        })
    }
}
