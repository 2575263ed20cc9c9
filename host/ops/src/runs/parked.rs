//! Runs that wait for a person: they are in the store, and here is only how to go on with them.
//!
//! A person may take weeks, and thousands of runs may wait; each would hold its input and everything that it has computed. What a run has
//! become is in its journal, so nothing is lost: it is made again when somebody answers, cancels it, or its question expires.

use super::drive::{Driver, Kept, RunPlan};
use super::resolve::StepCall;
use super::{Message, Open, Place, Reached, Runs};
use crate::error::OpError;
use crate::host::Host;
use mizzen_engine::run::Run;
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_store::OpenRun;
use std::sync::Arc;
use tokio::sync::watch;
use uuid::Uuid;

/// Bytes of a result that is kept at hand; a larger one is read from the journal when somebody asks.
const SHOWN: usize = 4 << 10;

/// A run that waits for a person.
#[derive(Debug)]
pub(super) struct Parked {
    /// What it was begun with, which may not be installed any more. Runs of one chain share it.
    plan: Arc<RunPlan>,
    kept: Kept,
    expires_ms: Option<u64>,
    shown: Option<Arc<ChainExecutionResult>>,
    waits: watch::Sender<()>,
}

impl Parked {
    /// Of a run that waits for a person, everything of which is durable.
    pub(super) fn new(run: &Run<StepCall>, kept: Kept) -> Self {
        let result = run.result();
        let is_small = super::result_text(result).len() <= SHOWN;
        Self {
            plan: Arc::clone(run.plan()),
            kept,
            expires_ms: run.wake_at_ms(),
            shown: is_small.then(|| Arc::new(result.clone())),
            waits: watch::Sender::new(()),
        }
    }

    /// How far it has come, if that is little.
    pub(super) fn shown(&self) -> Option<Arc<ChainExecutionResult>> {
        self.shown.clone()
    }

    fn has_expired(&self, host: &Host) -> bool {
        let now_ms = self.kept.clock.map(|clock| clock.now_ms(host));
        self.expires_ms
            .zip(now_ms)
            .is_some_and(|(at_ms, now_ms)| at_ms <= now_ms)
    }

    /// A signal that ends when it waits no more.
    pub(super) fn watch(&self) -> watch::Receiver<()> {
        self.waits.subscribe()
    }
}

/// Whether a run with this status goes on when a person wants it to.
pub(super) fn is_waiting(status: ExecutionStatus) -> bool {
    matches!(
        status,
        ExecutionStatus::AwaitingApproval | ExecutionStatus::AwaitingInput | ExecutionStatus::Paused
    )
}

/// Whether a run waits for a person and for nothing else at this time.
pub(super) fn waits_for_a_person(run: &Run<StepCall>, now_ms: u64) -> bool {
    is_waiting(run.result().status) && run.wake_at_ms().is_none_or(|at_ms| at_ms > now_ms)
}

impl Runs {
    /// Puts a run down: it has no driver any more.
    pub(super) fn park(&self, id: Uuid, parked: Parked) {
        self.put(id, Place::Parked(parked));
    }

    /// Takes a parked run up, for whoever comes first.
    fn take_up(&self, id: Uuid) -> Option<Parked> {
        let mut places = self.places();
        let Open { place, .. } = places.get_mut(&id)?;
        match std::mem::replace(place, Place::Waking(watch::Sender::new(()))) {
            Place::Parked(parked) => Some(parked),
            other => {
                *place = other;
                None
            }
        }
    }

    /// Parked runs whose question has expired.
    fn expired(&self, host: &Host) -> Vec<Uuid> {
        let places = self.places();
        let expired = places.iter().filter(|(_, open)| match &open.place {
            Place::Parked(parked) => parked.has_expired(host),
            Place::Driven(_) | Place::Waking(_) => false,
        });
        expired.map(|(id, _)| *id).collect()
    }
}

/// A run that is taken up. If that fails it is put down again.
struct Waking<'a> {
    runs: &'a Runs,
    id: Uuid,
    parked: Option<Parked>,
}

impl Drop for Waking<'_> {
    fn drop(&mut self) {
        if let Some(parked) = self.parked.take() {
            self.runs.park(self.id, parked);
        }
    }
}

impl Host {
    /// Gives a message to whoever drives a run; to a parked one together with a driver. Returns the message when the run is not open here.
    pub(crate) async fn hand_over(
        self: &Arc<Self>,
        id: Uuid,
        mut message: Message,
    ) -> Result<Option<Message>, OpError> {
        loop {
            match self.runs.reach(id) {
                None => return Ok(Some(message)),
                Some(Reached::Driven(live)) => match live.inbox.send(message).await {
                    Ok(()) => return Ok(None),
                    // Its driver ends, or has just parked it.
                    Err(unsent) => {
                        message = unsent.0;
                        live.inbox.closed().await;
                        if self
                            .runs
                            .find(id)
                            .is_some_and(|now| now.inbox.same_channel(&live.inbox))
                        {
                            return Ok(Some(message));
                        }
                    }
                },
                Some(Reached::Soon(mut awake)) => drop(awake.changed().await),
                Some(Reached::Parked(..)) => match self.wake(id, Some(message)).await? {
                    None => return Ok(None),
                    Some(unsent) => message = unsent,
                },
            }
        }
    }

    /// Gives a parked run its driver again, and a message to begin with. Returns the message when it was not parked any more.
    async fn wake(self: &Arc<Self>, id: Uuid, message: Option<Message>) -> Result<Option<Message>, OpError> {
        let Some(parked) = self.runs.take_up(id) else {
            return Ok(message);
        };
        let plan = Arc::clone(&parked.plan);
        let mut waking = Waking {
            runs: &self.runs,
            id,
            parked: Some(parked),
        };
        let open = self.store.open_journals(vec![id]).await?;
        let Some(OpenRun { record, events }) = open.into_iter().flatten().next() else {
            // It has ended: another process has the store.
            waking.parked = None;
            self.runs.leave(id);
            return Ok(message);
        };
        let (run, past) = self.again(&record, &events, |_| Ok(plan))?;
        let kept = waking.parked.take().map(|parked| parked.kept);
        let driver = Driver::resumed(self, run, past, kept.unwrap_or_default());
        // Before it runs: it would park itself again if nothing was there to do.
        let unsent = match (message, self.runs.find(id)) {
            (Some(message), Some(live)) => live.inbox.try_send(message).err().map(|error| error.into_inner()),
            (message, _) => message,
        };
        driver.launch();
        Ok(unsent)
    }

    /// Takes up what waited for a person for too long; its driver ends it.
    pub(super) async fn wake_expired(self: &Arc<Self>) -> Result<(), OpError> {
        for id in self.runs.expired(self) {
            self.wake(id, None).await?;
        }
        Ok(())
    }
}
