//! `mizzen audit log`.

use crate::data::Data;
use crate::moment::Moment;
use crate::output;
use anyhow::Result;
use mizzen_ops::{AUDIT_OUTCOMES, AuditFilter, Host};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Entries that are read at once.
const PIECE: usize = 500;

/// Show what callers did and were refused, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen audit log
  mizzen audit log --since 24h --outcome denied
  mizzen audit log --actor local --action create_sprite --json

Each entry is hashed together with all before it; `mizzen doctor` checks the chain. May run beside the
server; a server answers GET /v1/audit to keys with the grant audit:read.")]
pub(crate) struct Log {
    /// Only at or after this time: RFC 3339, or so long ago (90s, 30m, 24h, 7d)
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// Only of this caller: the id of an API key, local or anonymous
    #[arg(long)]
    actor: Option<String>,
    /// Only this operation, e.g. create_sprite
    #[arg(long)]
    action: Option<String>,
    /// Only about this id or path
    #[arg(long)]
    subject: Option<String>,
    /// Only with this outcome
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(AUDIT_OUTCOMES))]
    outcome: Option<String>,
    /// At most so many entries
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    data: Data,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Log {
    pub(super) fn run(self) -> Result<ExitCode> {
        let filter = AuditFilter {
            since: self.since.map(Moment::unix_ms),
            until: self.until.map(Moment::unix_ms),
            actor: self.actor,
            action: self.action,
            subject: self.subject,
            outcome: self.outcome,
        };
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let (entries, more) = self
            .data
            .with_existing_store(|store| async move { read(&Host::new(store), filter, limit).await })?;
        if self.json {
            output::json(&json!({ "entries": entries, "more": more }))?;
            return Ok(ExitCode::SUCCESS);
        }
        for entry in &entries {
            println!("{}", output::harmless(&line(entry)));
        }
        if entries.is_empty() {
            eprintln!("no entry matches");
        } else if more {
            eprintln!("older entries are not shown: raise --limit, or name an earlier --until");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Up to `limit` entries, and whether there may be more.
async fn read(host: &Host, filter: AuditFilter, limit: usize) -> Result<(Vec<Value>, bool)> {
    let mut entries: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let piece = limit.saturating_sub(entries.len()).min(PIECE);
        if piece == 0 {
            return Ok((entries, cursor.is_some()));
        }
        let page = host.read_audit(filter.clone(), cursor.as_deref(), piece).await?;
        for item in &page.items {
            entries.push(serde_json::from_str(item)?);
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok((entries, false));
        }
    }
}

/// One line for a person: when, who, what, on what, how it ended, and what else there is.
fn line(entry: &Value) -> String {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut line = format!(
        "{}  {}  {}  {}  {}",
        text("at"),
        text("actor"),
        text("action"),
        text("outcome"),
        text("subject")
    );
    match entry.get("detail") {
        Some(Value::Object(detail)) if detail.is_empty() => {}
        Some(detail) => line.push_str(&format!("  {detail}")),
        None => {}
    }
    line
}
