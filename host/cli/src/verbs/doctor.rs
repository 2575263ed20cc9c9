//! `mizzen doctor`.

use crate::data::{Data, host_public_key};
use crate::examine_host::{ExamineHost, usual_config};
use crate::home::{ConfigFile, Home};
use crate::output;
use anyhow::Result;
use mizzen_catalog::config::PluginConfig;
use mizzen_model::governance::{Mount, PackMode};
use mizzen_ops::{Examined, Host};
use mizzen_store::{AuditHead, CheckReport};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use uuid::Uuid;

/// Check the host: what would keep it from starting, damaged data, executions that cannot be resumed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen doctor --data .mizzen
  mizzen doctor --audit-head \"$(tail -n 1 heads)\"    (what `mizzen audit head` printed before)

Reads everything that a start would read (configuration, plugins, secrets, mounts, TLS files, the
host's key); verifies the file, the audit log, the journal and seal of every execution that has ended,
and the fingerprints of sprites; shows how every open execution would go on, and warns of what the
configuration leaves open. May run beside the server. Exits 1 when something is wrong.")]
pub(crate) struct Doctor {
    #[command(flatten)]
    data: Data,
    /// The host's configuration [default: mizzen.toml, when there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    home: Home,
    /// A head of the audit log that was kept elsewhere: the log must still hold everything up to it
    #[arg(long, value_name = "HEAD")]
    audit_head: Option<AuditHead>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn run(self) -> Result<ExitCode> {
        let config = usual_config(self.config.clone());
        let examined = ExamineHost {
            config: config.as_deref(),
            data: &self.data,
            home: &self.home,
            listen: None,
        };
        let start = examined.problems();
        // A configuration that cannot be read is among the problems.
        let config = config.and_then(|config| ConfigFile { config }.load().ok());
        let warnings = config.as_ref().map(unpinned_mounts).unwrap_or_default();
        let Looked {
            report,
            runs,
            examined,
        } = match self.data() {
            Ok(looked) => looked,
            // Without a database there is nothing else to look at; what keeps the host from starting is still shown.
            Err(error) if start.iter().any(|problem| *problem != format!("{error:#}")) => {
                return self.start_alone(&start, &warnings, &error);
            }
            Err(error) => return Err(error),
        };
        let mut problems = does_not_start(&start);
        problems.extend(report.problems);
        problems.extend(examined.problems);
        if examined.omitted > 0 {
            problems.push(format!("and {} more of these", examined.omitted));
        }
        let mut open = Vec::new();
        for (id, state) in runs {
            match state {
                Ok(state) => open.push(serde_json::json!({"execution_id": id.to_string(), "state": state})),
                Err(error) => problems.push(format!("execution {id} cannot be continued: {error}")),
            }
        }
        if self.json {
            output::json(&serde_json::json!({
                "open": open,
                "problems": problems,
                "warnings": warnings,
                "verified": {
                    "audit_entries": report.audit_entries, "executions": examined.executions, "erased": examined.erased,
                    "sprites": examined.sprites,
                },
            }))?;
        } else {
            println!("{}", output::counted(open.len(), "open execution"));
            for run in &open {
                println!(
                    "  {}  {}",
                    run["execution_id"].as_str().unwrap_or_default(),
                    run["state"].as_str().unwrap_or_default()
                );
            }
            print(&problems, &warnings);
            if problems.is_empty() {
                let entries = match report.audit_entries {
                    1 => "1 audit entry".to_owned(),
                    count => format!("{count} audit entries"),
                };
                let erased = match examined.erased {
                    0 => String::new(),
                    erased => format!(" ({erased} of them erased)"),
                };
                println!(
                    "ok: {entries}, {}{erased} and {} verified",
                    output::counted(examined.executions, "ended execution"),
                    output::counted(examined.sprites, "sprite")
                );
            }
        }
        Ok(if problems.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}

/// What the data folder shows.
struct Looked {
    report: CheckReport,
    runs: Vec<(Uuid, Result<String, String>)>,
    examined: Examined,
}

impl Doctor {
    fn data(&self) -> Result<Looked> {
        let key = host_public_key(self.data.folder())?;
        let head = self.audit_head;
        self.data.with_existing_store(|store| async move {
            let mut report = store.check().await?;
            if let Some(head) = head
                && !store.audit_holds(head).await?
            {
                report.problems.push(format!(
                    "the audit log does not hold entry {} as it was: it was cut off or written anew, or this is an older backup",
                    head.seq
                ));
            }
            let host = Arc::new(Host::new(store));
            Ok(Looked {
                runs: host.examine_runs().await?,
                examined: host.examine_records(key.as_ref()).await?,
                report,
            })
        })
    }

    /// The report of a host whose data cannot be looked at.
    fn start_alone(&self, start: &[String], warnings: &[String], error: &anyhow::Error) -> Result<ExitCode> {
        let mut problems = does_not_start(start);
        let unread = format!("{error:#}");
        if !start.contains(&unread) {
            problems.push(unread);
        }
        if self.json {
            output::json(&serde_json::json!({ "open": [], "problems": problems, "warnings": warnings }))?;
        } else {
            print(&problems, warnings);
        }
        Ok(ExitCode::from(output::EXIT_REFUSED))
    }
}

fn does_not_start(problems: &[String]) -> Vec<String> {
    let start = problems.iter();
    start
        .map(|problem| format!("the host does not start: {problem}"))
        .collect()
}

fn print(problems: &[String], warnings: &[String]) {
    for problem in problems {
        println!("problem: {}", output::harmless(problem));
    }
    for warning in warnings {
        println!("warning: {warning}");
    }
}

/// What a configuration leaves open.
fn unpinned_mounts(config: &PluginConfig) -> Vec<String> {
    let open = |mount: &&Mount| mount.version.is_none() && mount.mode() == PackMode::Mandatory;
    let unpinned = config.governance.iter().filter(open).map(|mount| {
        format!(
            "[[governance]] mounts {} as mandatory without a version: whichever version is installed governs, an older one too; \
             add version = \"…\"",
            mount.id
        )
    });
    unpinned.collect()
}
