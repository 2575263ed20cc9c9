//! After a restart: every open run is made again from its journal and driven on.

use super::definition::graphs_council;
use super::drive::{Driver, Kept, Past, RunPlan};
use super::entry::{self, Journal, What};
use super::parked::{Parked, is_waiting, waits_for_a_person};
use super::resolve::{MadeOf, StepCall};
use crate::error::{Fault, OpError, Refusal};
use crate::host::Host;
use mizzen_engine::run::{Run, Start};
use mizzen_model::execution::ChainExecutionResult;
use mizzen_model::id::{ChainId, CouncilId, ExecutionId};
use mizzen_model::journal::Link;
use mizzen_store::{OpenRun, RunEvent, RunRecord};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Journals that are read at once.
const PIECE: usize = 256;

/// A run, and what its journal says of the time before.
type MadeAgain = (Run<StepCall>, Past);

/// What came of a look at the open runs.
#[derive(Debug, Default)]
pub struct Recovered {
    /// How many runs are driven again.
    pub resumed: usize,
    /// Runs that nobody can drive, and why.
    pub stuck: Vec<(Uuid, String)>,
}

/// Plans of one chain in one definition.
type PlansOfChain = Vec<(MadeOf, Arc<RunPlan>)>;

/// Plans of runs that are made again, by what they are made of: thousands of open runs share a few.
#[derive(Default)]
struct Plans {
    definitions: HashMap<[u8; 32], Option<Arc<str>>>,
    plans: HashMap<([u8; 32], ChainId), PlansOfChain>,
}

impl Host {
    /// Drives every open run that nobody drives. Called at start, and again and again: an error in between is not the last word.
    pub async fn resume_runs(self: &Arc<Self>) -> Result<Recovered, OpError> {
        let mut recovered = Recovered::default();
        // First who is driven, then what is open: a run that was not driven and is open afterwards has nobody. The other way round it
        // might just have ended.
        let open = self.store.open_runs().await?;
        let left = open.into_iter().map(|record| record.id);
        let left: Vec<Uuid> = left.filter(|id| !self.runs.is_driven(*id)).collect();
        self.make_again(&left, |record, made| match made {
            Ok((run, past)) => {
                let share = self
                    .runs
                    .count(&past.actor, record.council_id.into(), record.chain_id.into());
                let clock = past.clock(self);
                let kept = Kept {
                    clock: Some(clock),
                    ..Kept::default()
                };
                if waits_for_a_person(&run, clock.now_ms(self)) {
                    self.runs.park(record.id, Parked::new(&run, kept));
                    self.runs.keep(record.id, share);
                } else {
                    let driver = Driver::resumed(self, run, past, kept);
                    self.runs.keep(record.id, share);
                    driver.launch();
                }
                recovered.resumed += 1;
            }
            Err(error) => {
                tracing::error!(execution = %record.id, %error, "an open run cannot be resumed");
                recovered.stuck.push((record.id, error.to_string()));
            }
        })
        .await?;
        self.runs.set_stuck(recovered.stuck.len());
        self.wake_expired().await?;
        Ok(recovered)
    }

    /// Says of every open run how it would go on, without driving it; for `mizzen doctor`.
    pub async fn examine_runs(&self) -> Result<Vec<(Uuid, Result<String, String>)>, OpError> {
        let mut examined = Vec::new();
        let open = self.store.open_runs().await?;
        let open: Vec<Uuid> = open.into_iter().map(|record| record.id).collect();
        self.make_again(&open, |record, made| {
            let state = match made {
                Ok((run, _)) => Ok(match run.wake_at_ms() {
                    _ if is_waiting(run.result().status) => "waits for a person".to_owned(),
                    Some(_) if run.pending().is_empty() => "waits for a timer".to_owned(),
                    _ => "is runnable".to_owned(),
                }),
                Err(error) => Err(error.to_string()),
            };
            examined.push((record.id, state));
        })
        .await?;
        Ok(examined)
    }

    /// How far an open run has come, as its journal tells; none when it is not open any more.
    pub(crate) async fn recall(&self, id: Uuid) -> Result<Option<ChainExecutionResult>, OpError> {
        let mut recalled = None;
        self.make_again(&[id], |_, made| {
            recalled = Some(made.map(|(run, _)| run.result().clone()));
        })
        .await?;
        recalled.transpose()
    }

    /// Goes through a run of a graph again, up to an entry of its journal; `with` sees it after every entry.
    pub(crate) async fn walk_run(
        &self,
        id: Uuid,
        last: u64,
        mut with: impl FnMut(u64, &ChainExecutionResult),
    ) -> Result<(), OpError> {
        let record = self.store.run(id).await?.ok_or(Refusal::ExecutionNotFound(id))?;
        if CouncilId::from(record.council_id) != graphs_council() {
            return Err(Refusal::NoGraph(id).into());
        }
        let text = self.store.run_definition(record.definition_hash).await?;
        let definition =
            text.ok_or_else(|| Fault::Internal(format!("the definition of run {id} is gone")))?;
        let mut run: Option<Run<StepCall>> = None;
        let mut after = 0;
        loop {
            let events = self.store.run_events(id, after, PIECE).await?;
            let Some(newest) = events.last().map(|event| event.seq) else {
                break;
            };
            after = newest;
            for event in events.iter().take_while(|event| event.seq <= last) {
                let entry = entry::read(&event.bytes)?;
                match entry.what {
                    What::Started(started) if run.is_none() => {
                        let of = MadeOf {
                            resolutions: started.resolutions,
                            pins: started.packs,
                            governs: started.governs,
                        };
                        let plan = self.plan_again(&definition, record.chain_id.into(), &of)?;
                        let start = Start {
                            execution_id: id.into(),
                            input: started.input,
                            now_ms: entry.at_ms,
                            escalation_ms: started.escalation_ms,
                        };
                        run = Some(Run::start(Arc::new(plan), start).0);
                    }
                    what => {
                        let Some(run) = &mut run else {
                            return Err(
                                Fault::Internal(format!("the journal of run {id} has no start")).into()
                            );
                        };
                        for cleared in &entry.cleared {
                            run.handle(cleared.event(), cleared.at_ms);
                        }
                        if let What::Happened(event) = what {
                            run.handle(event, entry.at_ms);
                        }
                    }
                }
                if let Some(run) = &run {
                    with(event.seq, run.result());
                }
            }
            if after >= last {
                break;
            }
        }
        Ok(())
    }

    /// Makes runs again from their journals, which are read many at a time. A run that cannot be made again does not stop the others;
    /// one that has ended meanwhile is left out.
    async fn make_again(
        &self,
        mut left: &[Uuid],
        mut with: impl FnMut(&RunRecord, Result<MadeAgain, OpError>),
    ) -> Result<(), OpError> {
        let mut plans = Plans::default();
        while !left.is_empty() {
            let ids = left.iter().take(PIECE).copied().collect();
            let open = self.store.open_journals(ids).await?;
            left = left.get(open.len().max(1)..).unwrap_or_default();
            for OpenRun { record, events } in open.into_iter().flatten() {
                let made = match self.definition(record.definition_hash, &mut plans).await? {
                    Some(definition) => self.again(&record, &events, |of| {
                        self.plan_of(&record, &definition, of, &mut plans)
                    }),
                    None => Err(Fault::Internal(format!(
                        "the definition of run {} is gone or damaged",
                        record.id
                    ))
                    .into()),
                };
                with(&record, made);
            }
        }
        Ok(())
    }

    async fn definition(&self, hash: [u8; 32], plans: &mut Plans) -> Result<Option<Arc<str>>, OpError> {
        if let Some(known) = plans.definitions.get(&hash) {
            return Ok(known.clone());
        }
        let text = self.store.run_definition(hash).await?;
        let sound = text.filter(|text| *blake3::hash(text.as_bytes()).as_bytes() == hash);
        let sound: Option<Arc<str>> = sound.map(Into::into);
        plans.definitions.insert(hash, sound.clone());
        Ok(sound)
    }

    fn plan_of(
        &self,
        record: &RunRecord,
        definition: &str,
        of: MadeOf,
        plans: &mut Plans,
    ) -> Result<Arc<RunPlan>, OpError> {
        let chain = ChainId::from(record.chain_id);
        let made = plans.plans.entry((record.definition_hash, chain)).or_default();
        if let Some((_, plan)) = made.iter().find(|(from, _)| *from == of) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(self.plan_again(definition, chain, &of)?);
        made.push((of, Arc::clone(&plan)));
        Ok(plan)
    }

    /// Makes a run again from its journal.
    pub(super) fn again(
        &self,
        record: &RunRecord,
        events: &[RunEvent],
        plan_of: impl FnOnce(MadeOf) -> Result<Arc<RunPlan>, OpError>,
    ) -> Result<MadeAgain, OpError> {
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
        let plan = plan_of(MadeOf {
            resolutions: started.resolutions,
            pins: started.packs,
            governs: started.governs,
        })?;
        let (mut run, _) = Run::start(
            plan,
            Start {
                execution_id: id,
                input: started.input,
                now_ms: first.at_ms,
                escalation_ms: started.escalation_ms,
            },
        );
        let mut last_ms = first.at_ms;
        for event in rest {
            let entry = entry::read(&event.bytes)?;
            last_ms = last_ms.max(entry.at_ms);
            for cleared in &entry.cleared {
                run.handle(cleared.event(), cleared.at_ms);
            }
            if let What::Happened(event) = entry.what {
                run.handle(event, entry.at_ms);
            }
        }
        let mut journal = Journal::new(id);
        journal.pass(record.next_seq, link, run.result());
        if run.plan().may_redact_input() {
            journal.keep_whole(events.iter().map(|event| event.bytes.clone()).collect());
        }
        Ok((
            run,
            Past {
                journal,
                last_ms,
                load_plan: started.load_plan.into(),
                actor: started.actor,
            },
        ))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::drive::{Beginning, begin};
    use super::super::packs::PackSet;
    use super::super::resolve::{Found, Pin, Pinned, Planned, Resolution};
    use super::*;
    use crate::caller::Caller;
    use mizzen_json::{Json, ReadLimits, parse};
    use mizzen_model::execution::ExecutionStatus;
    use mizzen_model::tool_spec::SideEffects;
    use mizzen_store_sqlite::{Options, SqliteStore};
    use serde_json::{Value, json};

    fn document(value: &Value) -> Json {
        parse(&value.to_string(), ReadLimits::default())
            .unwrap()
            .root()
            .to_json()
    }

    /// A host that stopped in the middle of a call, as its store shows it; then how the run ends after a restart.
    async fn ended_after_restart(side_effects: SideEffects, repeatable: bool) -> (ExecutionStatus, String) {
        let folder = tempfile::tempdir().unwrap();
        let host = Arc::new(Host::new(
            SqliteStore::open(folder.path(), &Options::default())
                .unwrap()
                .store(),
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
            fields: None,
            found: Found::Tool(Pin {
                tool: "bank.pay".to_owned(),
                version: "1.0.0".to_owned(),
                plugin: "bank".to_owned(),
                digest: "blake3:00".to_owned(),
                side_effects,
                repeatable,
            }),
        }];
        let of = MadeOf {
            resolutions,
            ..MadeOf::default()
        };
        let pinned = Pinned {
            definition: &council.json,
            load_plan: "",
            resolutions: &of.resolutions,
            pins: &[],
        };
        let plan = host.plan_again(&council.json, chain, &of).unwrap();
        let planned = Planned::new(plan, PackSet::default(), &pinned);
        let id = ExecutionId::from(host.new_id().unwrap());
        let beginning = Beginning {
            id,
            planned: &planned,
            input: json!({}),
            actor: "local",
            idempotency: None,
            audit: host.audit(&caller, "execute_chain", id.to_string()),
        };
        // Nobody drives it on: the host has stopped.
        begin(&host, beginning).store_and_stop().await;
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
        let in_doubt = ended_after_restart(SideEffects::External, false).await;
        assert_eq!(in_doubt, (ExecutionStatus::Failed, "IN_DOUBT".to_owned()));
        // The others are called again, and the plugin is not there any more.
        for (side_effects, repeatable) in [(SideEffects::External, true), (SideEffects::None, true)] {
            let again = ended_after_restart(side_effects, repeatable).await;
            assert_eq!(again, (ExecutionStatus::Failed, "PLUGIN_GONE".to_owned()));
        }
    }
}
