//! What an execution shows of the calls that tools make.

use super::super::Run;
use super::{NestedAsked, Within};
use mizzen_model::execution::{CallLog, ExecutionError, NestedExecution, NestedStatus};
use mizzen_model::timestamp::Timestamp;

impl<C> Run<C> {
    /// The calls that the result shows of the outermost call under way.
    fn listed(&mut self, within: Within) -> Option<&mut Vec<NestedExecution>> {
        match within {
            Within::Step { order, .. } => {
                let step = self.result.steps.get_mut(order as usize)?;
                Some(&mut step.calls)
            }
            Within::Gate { .. } => Some(&mut self.task.nested.of_the_gate),
        }
    }

    pub(super) fn list(&mut self, asked: &NestedAsked, now_ms: u64) {
        let attempt = match asked.within {
            Within::Step { attempt, .. } => attempt,
            Within::Gate { .. } => 1,
        };
        let call = NestedExecution {
            path: asked.path.clone(),
            attempt,
            caller: asked.caller.clone(),
            tool: asked.callee.tool.tool.clone(),
            version: asked.callee.tool.version.clone(),
            status: NestedStatus::Running,
            error: None,
            started_at: Timestamp::from_unix_ms(now_ms),
            duration_ms: None,
            log: Vec::new(),
            log_dropped: 0,
        };
        let Some(calls) = self.listed(asked.within) else {
            return;
        };
        // A call that is made again after the host stopped is the same call.
        let same = |known: &&mut NestedExecution| known.path == call.path && known.attempt == attempt;
        match calls.iter_mut().rev().find(same) {
            Some(known) => *known = call,
            None => calls.push(call),
        }
    }

    /// What its guest wrote.
    pub(super) fn list_log(&mut self, path: &str, log: CallLog) {
        let Some(calls) = self.within().and_then(|within| self.listed(within)) else {
            return;
        };
        if let Some(call) = calls.iter_mut().rev().find(|call| call.path == path) {
            (call.log, call.log_dropped) = (log.lines, log.dropped);
        }
    }

    pub(super) fn list_end(
        &mut self,
        path: &str,
        status: NestedStatus,
        error: Option<ExecutionError>,
        now_ms: u64,
    ) {
        let Some(calls) = self.within().and_then(|within| self.listed(within)) else {
            return;
        };
        if let Some(call) = calls.iter_mut().rev().find(|call| call.path == path) {
            let begun = u64::try_from(call.started_at.unix_ms()).unwrap_or(0);
            call.status = status;
            call.error = error;
            call.duration_ms = Some(now_ms.saturating_sub(begun));
        }
    }
}
