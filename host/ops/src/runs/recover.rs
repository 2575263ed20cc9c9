//! After a restart: every open run is made again from its journal and driven on.

use super::drive::{Driver, Past, RunPlan};
use super::entry::{self, Journal, What};
use crate::error::{Fault, OpError};
use crate::host::Host;
use mizzen_engine::run::{Run, Start};
use mizzen_model::execution::ChainExecutionResult;
use mizzen_model::id::{ChainId, ExecutionId};
use mizzen_model::journal::Link;
use mizzen_store::{RunEvent, RunRecord};
use std::sync::Arc;
use uuid::Uuid;

/// Events that are read at once.
const PIECE: usize = 1_000;

/// What came of a look at the open runs.
#[derive(Debug, Default)]
pub struct Recovered {
    /// How many runs are driven again.
    pub resumed: usize,
    /// Runs that nobody can drive, and why.
    pub stuck: Vec<(Uuid, String)>,
}

impl Host {
    /// Drives every open run that nobody drives. Called at start, and again and again: an error in between is not the last word.
    pub async fn resume_runs(self: &Arc<Self>) -> Result<Recovered, OpError> {
        let mut recovered = Recovered::default();
        for record in self.store.open_runs().await? {
            if self.runs.is_driven(record.id) {
                continue;
            }
            let id = record.id;
            match self.resume(record).await {
                Ok(()) => recovered.resumed += 1,
                Err(error) => {
                    tracing::error!(execution = %id, %error, "an open run cannot be resumed");
                    recovered.stuck.push((id, error.to_string()));
                }
            }
        }
        self.runs.set_stuck(recovered.stuck.len());
        Ok(recovered)
    }

    /// Says of every open run how it would go on, without driving it; for `mizzen doctor`.
    pub async fn examine_runs(&self) -> Result<Vec<(Uuid, Result<String, String>)>, OpError> {
        let mut examined = Vec::new();
        for record in self.store.open_runs().await? {
            let state = match self.made_again(&record).await {
                Ok((run, _)) => Ok(match run.wake_at_ms() {
                    None => "waits for a person".to_owned(),
                    Some(_) if run.pending().is_empty() => "waits for a timer".to_owned(),
                    Some(_) => "is runnable".to_owned(),
                }),
                Err(error) => Err(error.to_string()),
            };
            examined.push((record.id, state));
        }
        Ok(examined)
    }

    /// How far an open run has come, as its journal tells.
    pub(crate) async fn recall(&self, record: &RunRecord) -> Result<ChainExecutionResult, OpError> {
        Ok(self.made_again(record).await?.0.result().clone())
    }

    async fn resume(self: &Arc<Self>, record: RunRecord) -> Result<(), OpError> {
        let (run, past) = self.made_again(&record).await?;
        Driver::resumed(self, run, past).launch();
        Ok(())
    }

    async fn made_again(&self, record: &RunRecord) -> Result<(Run<super::resolve::StepCall>, Past), OpError> {
        let events = self.whole_journal(record.id).await?;
        let definition = self
            .store
            .run_definition(record.definition_hash)
            .await?
            .filter(|text| *blake3::hash(text.as_bytes()).as_bytes() == record.definition_hash)
            .ok_or_else(|| {
                Fault::Internal(format!("the definition of run {} is gone or damaged", record.id))
            })?;
        self.replay(record, &events, &definition)
    }

    async fn whole_journal(&self, id: Uuid) -> Result<Vec<RunEvent>, OpError> {
        let mut events: Vec<RunEvent> = Vec::new();
        loop {
            let after = events.last().map_or(0, |event| event.seq);
            let piece = self.store.run_events(id, after, PIECE).await?;
            if piece.is_empty() {
                return Ok(events);
            }
            events.extend(piece);
        }
    }

    fn replay(
        &self,
        record: &RunRecord,
        events: &[RunEvent],
        definition: &str,
    ) -> Result<(Run<super::resolve::StepCall>, Past), OpError> {
        let damaged = |what: &str| Fault::Internal(format!("the journal of run {} {what}", record.id));
        let id = ExecutionId::from(record.id);
        let mut link = Link::first(id);
        for (event, seq) in events.iter().zip(1_u64..) {
            link = link.next(&event.bytes);
            if event.seq != seq || event.hash != link.bytes() {
                return Err(damaged("does not hold: an entry was changed").into());
            }
        }
        if link.bytes() != record.head {
            return Err(damaged("is cut off").into());
        }
        let (first, rest) = events.split_first().ok_or_else(|| damaged("is empty"))?;
        let first = entry::read(&first.bytes)?;
        let What::Started(started) = first.what else {
            return Err(damaged("does not begin with the start").into());
        };
        let chain = ChainId::from(record.chain_id);
        let plan: RunPlan = self.plan_again(definition, chain, &started.resolutions, &started.packs)?;
        let (mut run, _) = Run::start(
            Arc::new(plan),
            Start {
                execution_id: id,
                input: started.input,
                now_ms: first.at_ms,
            },
        );
        let mut last_ms = first.at_ms;
        for event in rest {
            let entry = entry::read(&event.bytes)?;
            last_ms = last_ms.max(entry.at_ms);
            if let What::Happened(event) = entry.what {
                run.handle(event, entry.at_ms);
            }
        }
        let mut journal = Journal::new(id);
        journal.pass(record.next_seq, link, run.result());
        Ok((
            run,
            Past {
                journal,
                last_ms,
                load_plan: started.load_plan,
            },
        ))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::drive::{Begun, begin};
    use super::super::resolve::{Found, Pin, Planned, Resolution};
    use super::*;
    use crate::caller::Caller;
    use mizzen_model::execution::ExecutionStatus;
    use mizzen_model::json::{Json, Limits, parse};
    use mizzen_store::{Options, Store};
    use serde_json::{Value, json};

    fn document(value: &Value) -> Json {
        parse(&value.to_string(), Limits::default())
            .unwrap()
            .root()
            .to_json()
    }

    /// A host that stopped in the middle of a call, as its store shows it; then how the run ends after a restart.
    async fn ended_after_restart(side_effects: &str, repeatable: bool) -> (ExecutionStatus, String) {
        let folder = tempfile::tempdir().unwrap();
        let host = Arc::new(Host::new(
            Store::open(folder.path(), &Options::default()).unwrap(),
        ));
        let caller = Caller::local("req-1");
        let sprite = json!({
            "name": "BECK-02", "version": "1.0.0", "system_prompt": "x",
            "capabilities": [{"name": "pay", "description": "x", "parameters": {"type": "object"}}],
            "metadata": {"author": "a", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["x"]},
        });
        let sprite = host
            .create_sprite(&caller, &document(&sprite), None)
            .await
            .unwrap()
            .id
            .to_string();
        let council = json!({
            "domain": "d", "sprites": [sprite], "gate_agents": [sprite],
            "chains": [{"name": "c", "timeout": "30s", "gates": [], "steps": [
                {"order": 0, "sprite_id": sprite, "action": "pay", "input_map": {}}
            ]}],
        });
        let council = host
            .create_council(&caller, &document(&council), None)
            .await
            .unwrap();
        let chain = serde_json::from_str::<Value>(&council.json).unwrap()["chains"][0]["id"].clone();
        let chain = ChainId::parse(chain.as_str().unwrap()).unwrap();
        let resolutions = vec![Resolution {
            sprite_id: sprite,
            capability: "pay".to_owned(),
            found: Found::Tool(Pin {
                tool: "bank.pay".to_owned(),
                version: "1.0.0".to_owned(),
                plugin: "bank".to_owned(),
                digest: "blake3:00".to_owned(),
                side_effects: side_effects.to_owned(),
                repeatable,
            }),
        }];
        let planned = Planned {
            plan: Arc::new(host.plan_again(&council.json, chain, &resolutions, &[]).unwrap()),
            definition_hash: *blake3::hash(council.json.as_bytes()).as_bytes(),
            definition: council.json,
            load_plan: String::new(),
            resolutions,
            pins: Vec::new(),
            packs: Arc::default(),
        };
        let id = ExecutionId::from(host.new_id().unwrap());
        let Begun { driver, run } = begin(&host, id, &planned, json!({}), "local");
        let audit = host.audit(&caller, "execute_chain", id.to_string());
        host.store.start_run(run, None, audit).await.unwrap();
        // Nobody drives it on: the host has stopped.
        driver.abandon();
        assert_eq!(host.resume_runs().await.unwrap().resumed, 1);
        let mut after = 0;
        while let Some(events) = host.next_events(id.uuid(), after).await.unwrap() {
            after = events.last().unwrap().seq;
        }
        let result = host.execution(id.uuid()).await.unwrap();
        (result.status, result.error.unwrap().code)
    }

    #[tokio::test]
    async fn a_call_in_doubt_is_made_again_only_where_that_does_no_harm() {
        let in_doubt = ended_after_restart("external", false).await;
        assert_eq!(in_doubt, (ExecutionStatus::Failed, "IN_DOUBT".to_owned()));
        // The others are called again, and the plugin is not there any more.
        for (side_effects, repeatable) in [("external", true), ("none", true)] {
            let again = ended_after_restart(side_effects, repeatable).await;
            assert_eq!(again, (ExecutionStatus::Failed, "PLUGIN_GONE".to_owned()));
        }
    }
}
