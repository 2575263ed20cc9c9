//! What is left of the runs: their history, and journals that can be checked without the host.

use super::story::Council;
use super::workshop::short;
use crate::local_host::LocalHost;
use anyhow::{Context, Result, bail};
use mizzen_catalog::key::PublicKey;
use mizzen_model::execution::ChainExecutionResult;
use mizzen_ops::{ExecutionPlace, RunFilter, verify_audit};

/// Runs of a history that are shown.
const SHOWN: usize = 8;

/// The newest runs of the council.
pub(super) async fn show_history(local: &LocalHost, council: &Council) -> Result<()> {
    let filter = RunFilter {
        council: Some(council.id),
        ..RunFilter::default()
    };
    let page = local
        .host
        .list_executions(filter, ExecutionPlace::Offset(0), SHOWN)
        .await?;
    for item in &page.items {
        let run: ChainExecutionResult = serde_json::from_str(item)?;
        let chain = run.chain_id.to_string();
        let chain = council.chains.iter().find(|(id, _)| *id == chain);
        println!(
            "  {:<10} {:<10} {:>6} ms  {}  {}",
            chain.map_or("", |(_, name)| name.as_str()),
            run.status.to_string(),
            run.duration_ms.unwrap_or_default(),
            run.started_at,
            run.execution_id,
        );
    }
    println!("  {} of {} executions", page.items.len(), page.total);
    Ok(())
}

/// Exports every run and verifies it as somebody would who has the export and the public key; then changes one.
pub(super) async fn verify(local: &LocalHost, runs: &[ChainExecutionResult]) -> Result<()> {
    let key = local.host.host_key().context("the host has no key")?.public();
    println!("  host key {key}");
    let key = PublicKey::parse(&key).context("the host's key cannot be read")?;
    let mut last = String::new();
    for run in runs {
        last = local.host.export_audit(run.execution_id.uuid()).await?;
        let verified = verify_audit(&last, &key)?;
        println!(
            "  verified  {:<10} {:>2} entries  head {}",
            verified.status,
            verified.events,
            short(&verified.head)
        );
    }
    // In the run that was approved: one word.
    match verify_audit(&last.replace("approved in the demo", "approved by nobody"), &key) {
        Ok(_) => bail!("a journal that was changed is verified; this is a bug in Mizzen"),
        Err(error) => println!("  one word changed: {error}"),
    }
    Ok(())
}
