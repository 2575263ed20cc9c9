//! `mizzen serve`.

use crate::data::{Data, signing_key};
use crate::examine_host::{CLEARED_WITHOUT_KEYS, ExamineHost, address, usual_config};
use crate::home::Home;
use crate::logs;
use crate::moment::Age;
use crate::output;
use crate::plugin_host::PluginHost;
use crate::settings::{Settings, outgoing};
use anyhow::{Result, bail};
use mizzen_engine::Profile;
use mizzen_ops::outgoing::Purpose;
use mizzen_ops::{Clock, Host, HostKey, Runs, Sweep, SystemClock};
use mizzen_server::{Server, routes};
use mizzen_store::{Durability, Store};
use mizzen_store_sqlite::{FolderLock, SqliteStore};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The process ended because a commit failed and its outcome is unknown: start it again, it reads what is there.
const EXIT_POISONED: u8 = 3;
/// How often open runs are looked at.
const TEND_RUNS: Duration = Duration::from_secs(5);
/// How often executions are looked for that were kept for long enough.
const ERASE_OLD: Duration = Duration::from_secs(60 * 60);
/// How long the last spans may take to reach their collector.
const FLUSH: Duration = Duration::from_secs(10);

/// Serve the HTTP API
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen serve
  mizzen serve --listen 127.0.0.1:0 --data ./data
  mizzen serve --check                                  (would it start? nothing is served)
  mizzen key api new --grant admin && mizzen serve --listen 0.0.0.0:7437

The first line on stdout is `listening on http://ADDR:PORT`. SIGTERM lets requests in flight
finish.")]
pub(crate) struct Serve {
    /// Where to listen; port 0 picks a free one [default: 127.0.0.1:7437]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    #[command(flatten)]
    data: Data,
    /// The host's configuration [default: mizzen.toml, when there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    home: Home,
    /// Read everything that a start would read, print what would keep the host from starting, and end
    #[arg(long)]
    check: bool,
    /// With --check, print JSON
    #[arg(long, requires = "check")]
    json: bool,
}

impl Serve {
    /// What serves a folder with a configuration, for the demo.
    pub(super) const fn of(listen: Option<String>, data: Data, config: PathBuf, home: Home) -> Self {
        Self {
            listen,
            data,
            config: Some(config),
            home,
            check: false,
            json: false,
        }
    }

    pub(super) fn run(self) -> Result<ExitCode> {
        if self.check {
            return self.check();
        }
        logs::start();
        let settings = Settings::load(self.config.as_deref())?;
        let listen = self.listen.as_deref().unwrap_or(settings.listen()).to_owned();
        let address = address(&listen)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let plugins = PluginHost {
            config: usual_config(self.config),
            home: self.home,
            profile: settings.profile(),
            sandbox: settings.sandbox(self.data.folder())?,
        };
        match runtime.block_on(serve(address, self.data, settings, plugins))? {
            Stopped::Serving(code) => Ok(code),
            Stopped::Starting => {
                // Not dropped: that would wait for a compiler that is at work.
                runtime.shutdown_background();
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

impl Serve {
    fn check(self) -> Result<ExitCode> {
        let config = usual_config(self.config);
        let examined = ExamineHost {
            config: config.as_deref(),
            data: &self.data,
            home: &self.home,
            listen: self.listen.as_deref(),
        };
        let problems = examined.problems();
        if self.json {
            output::json(&serde_json::json!({ "ok": problems.is_empty(), "problems": problems }))?;
        } else if problems.is_empty() {
            println!("ok: the host would start");
        }
        if problems.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        if !self.json {
            for problem in &problems {
                println!("problem: {}", output::harmless(problem));
            }
        }
        Ok(ExitCode::from(output::EXIT_REFUSED))
    }
}

/// What the host was doing when it was stopped.
enum Stopped {
    /// It loaded plugins, or took up open runs.
    Starting,
    /// It served.
    Serving(ExitCode),
}

async fn serve(address: SocketAddr, data: Data, settings: Settings, plugins: PluginHost) -> Result<Stopped> {
    let mut signals = Signals::listen()?;
    let lock = FolderLock::take(data.folder())?;
    let store = SqliteStore::open(data.folder(), &settings.store(SystemClock.now_ms()))?.store();
    let started = tokio::select! {
        biased;
        // Plugins can take long to load, and hostile ones do: whoever stops the host does not wait for them.
        name = signals.stop() => {
            tracing::info!(signal = name, "stopping before the host has started");
            None
        }
        started = start(address, &data, &settings, plugins, &store) => Some(started?),
    };
    let Some((host, server)) = started else {
        store.close().await;
        return Ok(Stopped::Starting);
    };
    log_audit_head(&store).await;
    tracing::info!(url = server.url(), data = %data.folder().display(), "listening");
    // Whoever started us waits for this line; that nobody reads it is no reason to stop.
    let mut stdout = std::io::stdout();
    let _ = writeln!(stdout, "listening on {}", server.url()).and_then(|()| stdout.flush());
    let stop = async {
        tokio::select! {
            name = signals.stop() => tracing::info!(signal = name, "stopping"),
            () = store.durability_unknown() => tracing::error!("stopping: the store is poisoned"),
        }
    };
    server.serve(stop).await;
    host.traces.flush(FLUSH).await;
    let poisoned = store.durability() == Durability::Unknown;
    if !poisoned {
        log_audit_head(&store).await;
    }
    store.close().await;
    drop(lock);
    if poisoned {
        return Ok(Stopped::Serving(ExitCode::from(EXIT_POISONED)));
    }
    tracing::info!("stopped");
    Ok(Stopped::Serving(ExitCode::SUCCESS))
}

/// Everything before the first request: plugins, keys, the socket, open runs.
async fn start(
    address: SocketAddr,
    data: &Data,
    settings: &Settings,
    plugins: PluginHost,
    store: &Store,
) -> Result<(Arc<Host>, Server)> {
    let mut host = Host::new(store.clone());
    host.prompts = settings.prompts();
    host.hooks = settings.hooks()?;
    host.traces = settings.traces()?;
    host.runs = Runs::new(settings.runs()?);
    let host = Arc::new(host);
    if plugins.profile == Profile::Cleared && !host.has_live_key().await? {
        bail!(CLEARED_WITHOUT_KEYS);
    }
    // Plugins take seconds to load: what can be refused before that is.
    let server = settings.server()?;
    server.check_tls()?;
    let watch = plugins.watch().unwrap_or_else(|error| {
        tracing::error!("plugin folders are not watched: {error:#}");
        None
    });
    plugins.start(&host, store).await?;
    host.sign_with(HostKey::new(signing_key(data.folder(), store).await?));
    // Before runs go on: a server that cannot listen ends at once, and must not leave calls that it began in doubt.
    let server = Server::bind(address, Arc::clone(&host), server, routes::all()).await?;
    // Before anybody is answered: every open run is driven again.
    let recovered = host.resume_runs().await?;
    if recovered.resumed > 0 || !recovered.stuck.is_empty() {
        tracing::info!(
            resumed = recovered.resumed,
            stuck = recovered.stuck.len(),
            "open runs"
        );
    }
    tokio::spawn(tend_runs(Arc::clone(&host)));
    if let Some(keep) = settings.keep()? {
        tokio::spawn(erase_old(Arc::clone(&host), keep));
    }
    if let Some(watch) = watch {
        tokio::spawn(watch.run(Arc::clone(&host)));
    }
    tokio::spawn(Arc::clone(&host).deliver_hooks(Arc::new(outgoing(Purpose::Hooks))));
    Ok((host, server))
}

/// Where logs are kept elsewhere, nobody can cut off the end of the audit log unnoticed.
async fn log_audit_head(store: &Store) {
    match store.audit_head().await {
        Ok(head) => tracing::info!(%head, "audit log"),
        Err(error) => tracing::error!(%error, "the end of the audit log cannot be read"),
    }
}

/// Looks again and again for open runs that nobody drives: an error in between must not strand one. And finishes erasures.
async fn tend_runs(host: Arc<Host>) {
    loop {
        tokio::time::sleep(TEND_RUNS).await;
        if let Err(error) = host.resume_runs().await {
            tracing::error!(%error, "the open runs cannot be looked at");
        }
        if let Err(error) = host.settle_erasures().await {
            tracing::error!(%error, "the space of erased executions cannot be given back now");
        }
    }
}

/// Erases executions that ended longer ago than they are to be kept, at once and again and again.
async fn erase_old(host: Arc<Host>, keep: Age) {
    let mut sweep = Sweep::retention(host.new_request_id());
    loop {
        sweep.up_to(keep.before(host.now_ms()));
        let mut erased = 0_u64;
        let result = loop {
            match host.sweep(&mut sweep, usize::MAX).await {
                Ok(swept) => {
                    erased = erased.saturating_add(swept.erased);
                    if !swept.more {
                        break Ok(());
                    }
                }
                Err(error) => break Err(error),
            }
        };
        if erased > 0 {
            tracing::info!(executions = erased, "erased what was kept for long enough");
        }
        // Gone on with the next time: where it stopped is known.
        if let Err(error) = result {
            tracing::error!(%error, "old executions cannot be erased now");
        }
        tokio::time::sleep(keep.duration().min(ERASE_OLD)).await;
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    // Held so that its handler stays: without one, a file that reaches the process's size limit ends the process instead of
    // failing the write, and a full disk is to be answered with 507.
    _file_size: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        const SIGXFSZ: i32 = 25;
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_size: signal(SignalKind::from_raw(SIGXFSZ))?,
        })
    }

    async fn stop(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
