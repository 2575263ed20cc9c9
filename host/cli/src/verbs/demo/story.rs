//! The council of the story, and what happens to it.

use super::records::REASON;
use super::workshop::{Workshop, short};
use crate::account::{self, Layout, Names};
use crate::council_file;
use crate::local_host::LocalHost;
use anyhow::{Context, Result, ensure};
use mizzen_json::{Json, ReadLimits, parse};
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_ops::{Caller, Executed, Force, Wait};
use serde_json::{Value, json};
use std::path::Path;
use uuid::Uuid;

/// One run of a chain.
pub(super) struct Scene {
    /// What it shows.
    pub(super) title: &'static str,
    chain: &'static str,
    input: &'static str,
    status: ExecutionStatus,
    /// The code of its error, when it has one.
    code: Option<&'static str>,
    is_escalated: bool,
}

/// What the demo shows, in order. A run that ends otherwise is a mistake of ours, and the demo fails.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        title: "A chain completes: code is generated, reviewed and released",
        chain: "deliver",
        input: "staging.json",
        status: ExecutionStatus::Completed,
        code: None,
        is_escalated: false,
    },
    Scene {
        title: "Vetoed before anything is done: the task is out of scope",
        chain: "deliver",
        input: "moon.json",
        status: ExecutionStatus::Vetoed,
        code: Some("GATE_VETO"),
        is_escalated: false,
    },
    Scene {
        title: "Vetoed afterwards: the reviewer is not sure enough",
        chain: "propose",
        input: "bare.json",
        status: ExecutionStatus::Vetoed,
        code: Some("GATE_VETO"),
        is_escalated: false,
    },
    Scene {
        title: "Time is up: the guest is stopped in the middle of its work",
        chain: "rehearse",
        input: "forever.json",
        status: ExecutionStatus::Failed,
        code: Some("TIMEOUT"),
        is_escalated: false,
    },
    Scene {
        title: "Escalated: a rule asks a person before production, and the run goes on when it is approved",
        chain: "deliver",
        input: "production.json",
        status: ExecutionStatus::Completed,
        code: None,
        is_escalated: true,
    },
];

/// A run with four packs mounted.
pub(super) const GOVERNED: Scene = Scene {
    title: "Four packs mounted together: an address is taken out of an answer, everything is written down",
    chain: "propose",
    input: "contact.json",
    status: ExecutionStatus::Completed,
    code: None,
    is_escalated: false,
};

/// The council, as the host keeps it.
pub(super) struct Council {
    pub(super) id: Uuid,
    pub(super) names: Names,
    pub(super) chains: Vec<(String, String)>,
    document: Value,
}

/// What the plugins provide.
pub(super) fn show_tools(local: &LocalHost) -> Result<()> {
    let set = local.host.plugin_set().context("the host has no plugins")?;
    let loaded = set.toolbox().loaded();
    for tool in loaded.registry().tools() {
        let about = tool
            .spec()
            .description()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        let line = format!("  {:<30} {about}", tool.spec().id().to_string());
        println!("{}", account::cut(&line, Layout::of_stdout().width));
    }
    println!("  load plan {}", short(loaded.plan_hash()));
    Ok(())
}

impl Council {
    /// Registers the sprites of the file and creates the council, or finds them where an earlier demo left them.
    pub(super) async fn adopt(local: &LocalHost, file: &Path) -> Result<Self> {
        let caller = Caller::local(local.host.new_request_id());
        let adopted = local
            .host
            .adopt_council(&caller, &council_file::read(file)?, Force::No)
            .await?;
        let document: Value = serde_json::from_str(&adopted.json)?;
        Ok(Self {
            id: adopted.id,
            names: named(&document, "sprites").collect(),
            chains: named(&document, "chains").collect(),
            document,
        })
    }

    /// Who acts, with what, and what is asked first.
    pub(super) fn show(&self) {
        let text = |value: &Value, name: &str| {
            value
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        for sprite in list(&self.document, "sprites") {
            let acts: Vec<String> = list(&sprite, "capabilities")
                .iter()
                .map(|capability| match text(capability, "tool") {
                    tool if tool.is_empty() => text(capability, "name"),
                    tool => format!("{} by {tool}", text(capability, "name")),
                })
                .collect();
            println!(
                "  sprite  {:<12} {:<10} {}",
                text(&sprite, "name"),
                text(&sprite, "role"),
                acts.join(", ")
            );
        }
        for rule in list(&self.document, "rules") {
            println!("  rule    {:<23} {}", text(&rule, "action"), text(&rule, "name"));
        }
    }

    /// Runs a chain, answers the question that it asks, if any, and shows what happened.
    pub(super) async fn play(
        &self,
        local: &LocalHost,
        scene: &Scene,
        workshop: &Workshop,
    ) -> Result<ChainExecutionResult> {
        let host = &local.host;
        let caller = Caller::local(host.new_request_id());
        let input: Value = serde_json::from_str(&workshop.input(scene.input)?)?;
        let chain = self
            .chains
            .iter()
            .find(|(_, name)| name == scene.chain)
            .with_context(|| format!("the council has no chain {}", scene.chain))?;
        let request = json!({"council_id": self.id.to_string(), "chain_id": chain.0, "input": input});
        let executed = host
            .execute_chain(&caller, &document(&request)?, None, Wait::ForEnd)
            .await?;
        ensure!(
            matches!(executed, Executed::Waiting(_)) == scene.is_escalated,
            "{}: a person is asked, or not, where it should be otherwise; this is a bug in Mizzen",
            scene.chain
        );
        let id = executed.id();
        if let Executed::Waiting(waiting) = &executed {
            let escalation = waiting.escalation.as_ref().context("nothing is asked")?;
            println!("  waits for a person: {}", account::shown(&escalation.reason));
            let answer = json!({
                "decision": "approve", "reason": REASON, "escalation_id": escalation.escalation_id,
            });
            host.decide_execution(&caller, id, &document(&answer)?).await?;
            println!("  a person approves: {REASON}");
            let mut after = 0;
            while let Some(events) = host.next_events(id, after).await? {
                after = events.last().map_or(after, |event| event.seq);
            }
        }
        let result = host.execution(id).await?;
        self.tell(&result);
        let code = result.error.as_ref().map(|error| error.code.as_str());
        ensure!(
            result.status == scene.status && code == scene.code,
            "{} should have been {}; this is a bug in Mizzen",
            scene.chain,
            scene.status
        );
        Ok(result)
    }

    fn tell(&self, result: &ChainExecutionResult) {
        let mut rows = account::rows(result, &self.names);
        rows.push(account::end(result));
        let mut layout = Layout::of_stdout();
        layout.width = layout.width.saturating_sub(2);
        for line in account::lines(&rows, layout) {
            println!("  {line}");
        }
    }
}

fn document(value: &Value) -> Result<Json> {
    Ok(parse(&value.to_string(), ReadLimits::default())?.root().to_json())
}

fn list(value: &Value, name: &str) -> Vec<Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

/// Ids and names of a list's members.
fn named(value: &Value, name: &str) -> impl Iterator<Item = (String, String)> {
    list(value, name).into_iter().filter_map(|item| {
        let text = |name: &str| Some(item.get(name)?.as_str()?.to_owned());
        Some((text("id")?, text("name")?))
    })
}
