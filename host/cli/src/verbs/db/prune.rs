//! `mizzen db prune`.

use crate::data::{Data, signing_key};
use crate::moment::Moment;
use crate::output;
use crate::settings::Settings;
use anyhow::Result;
use mizzen_model::id::CouncilId;
use mizzen_model::timestamp::Timestamp;
use mizzen_ops::{Caller, Clock, ErasureFilter, Host, HostKey, Sweep, SystemClock};
use mizzen_store_sqlite::{FolderLock, SqliteStore};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Erase executions that have ended, and give their space back
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen db prune --dry-run                      (by [store] keep of mizzen.toml)
  mizzen db prune --before 90d
  mizzen db prune --council 3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35
  mizzen db prune --before 2026-01-01T00:00:00Z --json

Erases what callers and plugins wrote: journals, results, what hooks carried. Hashes stay, with a statement
that the host signs: `mizzen audit verify` still verifies an export, and says what was erased, when and by
whom. Open executions, the audit log, plugins' own keys and backups stay as they are.

May run beside the server. Stopped in the middle, it has erased some executions whole and left the others.
A database that an earlier build made is written anew to give space back, which only happens while no
server uses it.")]
pub(crate) struct Prune {
    /// Only executions that ended before this time: RFC 3339, or so long ago (24h, 90d)
    #[arg(long, value_name = "TIME")]
    before: Option<Moment>,
    /// Only executions of this council
    #[arg(long, value_name = "ID")]
    council: Option<CouncilId>,
    /// Only count them
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    data: Data,
    /// The host's configuration [default: mizzen.toml, when there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was done about the space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    /// It was given back.
    GivenBack,
    /// The file keeps it until no server uses it.
    Kept,
}

struct Pruned {
    erased: u64,
    open: u64,
    /// Whether the file gives free pages back by itself.
    gives_back: bool,
    /// Whether nothing is left of it in the write-ahead log.
    is_settled: bool,
}

/// How long a server is given to leave the write-ahead log alone for a moment.
const SETTLE: Duration = Duration::from_secs(60);

impl Prune {
    pub(super) fn run(self) -> Result<ExitCode> {
        let keep = Settings::load(self.config.as_deref())?.keep()?;
        let before = match (self.before, self.council) {
            (Some(before), _) => Some(before.unix_ms()),
            (None, Some(_)) => None,
            (None, None) => match keep {
                Some(keep) => Some(keep.before(SystemClock.now_ms())),
                None => {
                    return Ok(output::usage_error(
                        &"nothing says what to erase: add --before TIME or --council ID, or [store] keep to mizzen.toml",
                    ));
                }
            },
        };
        let filter = ErasureFilter {
            council: self.council.map(|id| id.uuid()),
            before,
        };
        let until = before.map(|at| Timestamp::from_unix_ms(u64::try_from(at).unwrap_or(0)));
        let until = until.as_ref().map(Timestamp::as_str);
        if self.dry_run {
            let (erasable, open) = self.data.with_existing_store(|store| async move {
                Ok(Host::new(store).count_sweep(filter).await?)
            })?;
            if self.json {
                output::json(&json!({"would_erase": erasable, "open": open, "until": until}))?;
            } else {
                println!("would erase {}{}", executions(erasable), passed_over(open));
            }
            return Ok(ExitCode::SUCCESS);
        }
        // A file of an earlier build is written anew, and nobody may use it then. With a server the erasure itself goes on.
        let folder = self.data.folder();
        let lock = folder.is_dir().then(|| FolderLock::take(folder).ok()).flatten();
        let (folder, shows_progress, is_alone) = (folder.to_path_buf(), !self.json, lock.is_some());
        let pruned = self.data.with_database(|database| async move {
            let store = database.store();
            let host = Host::new(store.clone());
            host.sign_with(HostKey::new(signing_key(&folder, &store).await?));
            let (erased, is_settled) = prune(&host, filter, shows_progress).await?;
            Ok(Pruned {
                erased,
                open: host.count_open(filter).await?,
                gives_back: database.gives_back().await?,
                is_settled,
            })
        })?;
        let space = match (pruned.gives_back, is_alone) {
            (true, _) => Space::GivenBack,
            (false, true) => {
                SqliteStore::rebuild(self.data.folder())?;
                Space::GivenBack
            }
            (false, false) => Space::Kept,
        };
        let bytes = self
            .data
            .with_database(|database| async move { Ok(database.info().await?.bytes) })?;
        drop(lock);
        if self.json {
            output::json(&json!({
                "erased": pruned.erased, "open": pruned.open, "until": until, "bytes": bytes,
                "space_given_back": space == Space::GivenBack, "log_cut_off": pruned.is_settled,
            }))?;
        } else {
            println!(
                "erased {}{}; the database has {} bytes",
                executions(pruned.erased),
                passed_over(pruned.open),
                bytes
            );
            if !pruned.is_settled {
                println!(
                    "the write-ahead log still holds what was erased, because a server uses it all the time: it goes when the server stops, \
                     or run this again"
                );
            }
            if space == Space::Kept {
                println!(
                    "the file was made by an earlier build and keeps its size while a server uses it: stop the server and run this again"
                );
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// How many were erased, and whether nothing is left of them in the write-ahead log.
async fn prune(host: &Host, filter: ErasureFilter, shows_progress: bool) -> Result<(u64, bool)> {
    let mut sweep = Sweep::of(&Caller::local(host.new_request_id()), filter);
    let mut erased = 0_u64;
    loop {
        let swept = host.sweep(&mut sweep, usize::MAX).await?;
        erased = erased.saturating_add(swept.erased);
        if !swept.more {
            break;
        }
        if shows_progress && swept.erased > 0 {
            eprintln!("{} erased so far", executions(erased));
        }
    }
    let began = Instant::now();
    // A server that writes all the time leaves little room in between.
    let is_settled = loop {
        if host.settle_erasures().await? {
            break true;
        }
        if began.elapsed() > SETTLE {
            break false;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    Ok((erased, is_settled))
}

fn executions(count: u64) -> String {
    match count {
        1 => "1 execution".to_owned(),
        count => format!("{count} executions"),
    }
}

fn passed_over(open: u64) -> String {
    match open {
        0 => String::new(),
        open => format!(", passed over {} that have not ended", open),
    }
}
