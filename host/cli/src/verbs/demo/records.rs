//! What is left of the runs: their history, and journals that can be checked without the host.

use super::story::Council;
use super::workshop::short;
use crate::local_host::LocalHost;
use anyhow::{Context, Result, bail, ensure};
use mizzen_catalog::key::PublicKey;
use mizzen_model::execution::ChainExecutionResult;
use mizzen_ops::{ExecutionPlace, RunFilter, verify_audit};

/// Why the person of the story approves: it stands in the journal.
pub(super) const REASON: &str = "approved in the demo";
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
    let mut approved = None;
    for run in runs {
        let export = local.host.export_audit(run.execution_id.uuid()).await?;
        let verified = verify_audit(&export, &key)?;
        println!(
            "  verified  {:<10} {:>2} entries  head {}",
            verified.status,
            verified.events,
            short(&verified.head)
        );
        approved = approved.or(export.contains(REASON).then_some(export));
    }
    let approved = approved.context("no run was approved")?;
    match verify_audit(&approved.replace(REASON, "approved by nobody"), &key) {
        Ok(_) => bail!("a journal that was changed is verified; this is a bug in Mizzen"),
        Err(error) => println!("  one word changed: {error}"),
    }
    Ok(())
}

/// What a pack took out must be gone from the answer.
pub(super) fn check_redacted(run: &ChainExecutionResult) -> Result<()> {
    let outputs = run.steps.iter().filter_map(|step| step.output.as_ref());
    let is_out = outputs
        .clone()
        .any(|output| output.to_string().contains("[redacted]"));
    let is_left = outputs
        .clone()
        .any(|output| output.to_string().contains("ada@example.com"));
    ensure!(
        is_out && !is_left,
        "the address is still there; this is a bug in Mizzen"
    );
    Ok(())
}
