//! What a host says no to.

use super::chapter;
use super::workshop::Workshop;
use crate::home::Home;
use crate::local_host::LocalHost;
use crate::workbench::Workbench;
use anyhow::{Context, Result, bail, ensure};
use mizzen_engine::CallPolicy;
use mizzen_ops::toolbox::{CallError, CallRequest};
use mizzen_sandbox::CallContext;
use serde_json::json;

/// A call whose input is not what the tool takes.
pub(super) async fn bad_input(local: &LocalHost) -> Result<()> {
    let set = local.host.plugin_set().context("the host has no plugins")?;
    let (tool, input) = ("text.word_count", json!({ "words": 7 }));
    println!("  {tool} {input}");
    let request = CallRequest {
        tool: tool.to_owned(),
        input,
        context: CallContext::default(),
        policy: CallPolicy::default(),
    };
    match set.toolbox().call(request).await {
        Err(CallError::Refused { refused, report }) => {
            ensure!(report.is_none(), "the guest ran although its input does not fit");
            println!("  refused  {refused}");
            Ok(())
        }
        Err(error) => Err(error.into()),
        Ok(result) => bail!(
            "{tool} answered {} to an input that does not fit its schema",
            result.output
        ),
    }
}

/// A component that asks its host for more than its manifest says.
pub(super) fn greedy_plugin(workshop: &Workshop, home: &Home) -> Result<()> {
    chapter(
        13,
        "A component that imports more than its manifest declares is refused before any of it runs",
    );
    let greedy = workshop.build("tests/guests/imports-undeclared", "refused")?;
    match Workbench::open(vec![greedy.path], &home.author_terms()?, home)? {
        Ok(_) => bail!("a plugin with an undeclared import was loaded; this is a bug in Mizzen"),
        Err(failure) => {
            for error in &failure.errors {
                println!(
                    "  refused  {}: {}\n           {}",
                    error.code, error.message, error.help
                );
            }
        }
    }
    Ok(())
}
