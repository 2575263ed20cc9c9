//! What is under way in a run: one lane for the chain or graph itself, and one for each branch that runs beside others.

use super::super::nested::Awaited;
use super::super::perform::Ended;
use super::{Call, Driver};
use crate::host::Host;
use mizzen_engine::run::{Command, Within};
use std::future::{Future, poll_fn};
use std::task::Poll;
use tokio::sync::oneshot;

/// Calls that are under way one inside of the other.
#[derive(Default)]
pub(super) struct Lane {
    /// The branch; none for the run's own.
    pub(super) branch: Option<u32>,
    /// Outermost first.
    pub(super) work: Vec<Call>,
    /// Calls that tools wait for, outermost first. The first one is of the tool that is called at the bottom of `work`.
    pub(super) awaited: Vec<Awaited>,
}

impl Lane {
    /// Stops the calls that tools make, beginning with those inside of this many others; and everything, with 0.
    pub(super) fn stop_from(&mut self, depth: usize) {
        self.work.truncate(depth);
        self.awaited.truncate(depth);
    }
}

impl Driver {
    /// The branch of a call, if it is one.
    pub(super) fn branch_within(&self, within: Within) -> Option<u32> {
        match within {
            Within::Step { order, .. } => self.branch_at(Some(order)),
            Within::Gate { .. } => None,
        }
    }

    /// The branch of a step, if it is one.
    pub(super) fn branch_at(&self, step: Option<u32>) -> Option<u32> {
        step.filter(|order| self.run.is_branch(*order))
    }

    pub(super) fn lane(&mut self, branch: Option<u32>) -> &mut Lane {
        let known = self.lanes.iter().position(|lane| lane.branch == branch);
        let place = known.unwrap_or_else(|| {
            self.lanes.push(Lane {
                branch,
                ..Lane::default()
            });
            self.lanes.len().saturating_sub(1)
        });
        self.lanes.get_mut(place).unwrap_or(&mut self.nowhere)
    }

    /// Stops what branches do that are over.
    pub(super) fn close_lanes(&mut self) {
        if self.lanes.len() > 1 {
            let run = &self.run;
            self.lanes
                .retain(|lane| lane.branch.is_none_or(|order| run.is_branch(order)));
        }
    }

    /// Stops everything that is under way.
    pub(super) fn stop_all(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.stop_from(0));
        self.barred.clear();
    }

    /// Stops the calls of one branch, also one that waits for the store.
    pub(super) fn stop_branch(&mut self, order: u32) {
        let about = |command: &Command| match command {
            Command::Call { order, .. } => Some(*order),
            Command::NestedCall { within, .. } => match within {
                Within::Step { order, .. } => Some(*order),
                Within::Gate { .. } => None,
            },
            Command::AskPacks(question) => question.step,
            _ => None,
        };
        self.barred.retain(|command| about(command) != Some(order));
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.branch == Some(order)) {
            lane.stop_from(0);
        }
    }
}

/// Makes a call in a task of its own, so that branches run at the same time. It is stopped when its driver does not wait for it any more.
pub(super) fn beside(host: &Host, call: impl Future<Output = Ended> + Send + 'static) -> Call {
    let (mut reply, answer) = oneshot::channel();
    host.spawn_run(async move {
        let mut call = Box::pin(call);
        let ended = poll_fn(|context| {
            if reply.poll_closed(context).is_ready() {
                return Poll::Ready(None);
            }
            call.as_mut().poll(context).map(Some)
        });
        if let Some(ended) = ended.await {
            // Nobody waits for it any more: the branch was stopped meanwhile.
            let _ = reply.send(ended);
        }
    });
    Box::pin(async move {
        match answer.await {
            Ok(ended) => ended,
            // The host stops: the run is made again from its journal.
            Err(_) => std::future::pending().await,
        }
    })
}
