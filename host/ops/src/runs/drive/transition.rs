//! What just happened in a run, as the store takes it: journal entries, hooks to deliver, and the seal of a run that ended.

use super::super::body::Body;
use super::super::entry;
use super::super::seal::Seal;
use super::{Driver, is_judged, result_text};
use crate::hooks;
use mizzen_engine::run::{Command, KeptLog, Released};
use mizzen_model::rule::Hook;
use mizzen_store::{AuditEntry, NewDelivery, RunStep, Sealed};
use serde_json::json;
use std::sync::Arc;

impl Driver {
    /// Journals what follows from an event, and what was held until now.
    pub(super) fn record(
        &mut self,
        body: Body,
        audit: Option<AuditEntry>,
        commands: &[Command],
        now_ms: u64,
    ) {
        self.ledger.judging = is_judged(commands);
        let first_seq = self.journal.next_seq;
        let step = self.transition(body, commands, now_ms);
        self.ledger.add(first_seq, step, audit);
    }

    /// The store's form of what just happened.
    fn transition(&mut self, mut body: Body, commands: &[Command], now_ms: u64) -> RunStep {
        let mut events = Vec::new();
        let held = std::mem::take(&mut self.held);
        let last = held.len().saturating_sub(1);
        for (place, mut held) in held.into_iter().enumerate() {
            // What packs let through is of the last one; the others were lost while they looked.
            let released = (place == last).then(|| self.run.take_released()).flatten();
            let log = match &released {
                Some(_) => self.run.kept_log(),
                None => KeptLog::No,
            };
            let released = released.or(held.otherwise.map(|failed| Released::Ended(Err(failed))));
            entry::release(&mut held.body, released.as_ref(), log);
            events.push(self.journal.write(held.at_ms, held.body));
        }
        if !body.is_empty() {
            self.journal.tell(&mut body, self.run.result());
            events.push(self.journal.write(now_ms, body));
        }
        for command in commands {
            if let Some(intent) = self.intent(command) {
                events.push(self.journal.write(now_ms, intent));
            }
        }
        let deliveries = commands
            .iter()
            .filter_map(|command| match command {
                Command::Notify { rule_id, hook } => Some(self.delivery(rule_id, hook, now_ms)),
                _ => None,
            })
            .collect();
        let status = self.run.result().status;
        // What packs have taken out of the inputs of calls goes from the input of the run, too, as soon as that is not needed any more.
        let rewritten = self.run.redacted_input().filter(|_| status.is_final());
        let rewritten = rewritten.and_then(|input| self.journal.rewrite_input(input));
        self.rewrote |= rewritten.is_some();
        let sealed = status.is_final().then(|| self.seal(now_ms));
        self.sealed = sealed.as_ref().map(|sealed| Arc::clone(&sealed.result));
        RunStep {
            events,
            status: status.as_str().to_owned(),
            sealed,
            deliveries,
            rewritten,
        }
    }

    /// Said before a call that changes the world.
    fn intent(&self, command: &Command) -> Option<Body> {
        let Command::Call { order, attempt, .. } = command else {
            return entry::intent_of(self.id, command);
        };
        let pin = &self.run.call_of(*order)?.pin;
        entry::intent(&self.run, pin, *order, *attempt)
    }

    /// Stable over attempts and restarts.
    pub(super) fn idempotency_key(&self, order: u32) -> String {
        entry::idempotency_key(&self.run, order)
    }

    fn delivery(&self, rule_id: &str, hook: &Hook, now_ms: u64) -> NewDelivery {
        let result = self.run.result();
        let rule = result.rules.iter().find(|rule| rule.rule_id == rule_id);
        NewDelivery {
            rule_id: rule_id.to_owned(),
            hook: hook.to_string(),
            destination: hooks::destination(hook),
            payload: json!({
                "execution_id": self.id.to_string(), "council_id": result.council_id.to_string(),
                "chain_id": result.chain_id.to_string(), "rule": rule, "status": result.status,
                "escalation_id": result.escalation.as_ref().map(|escalation| &escalation.escalation_id),
            })
            .to_string(),
            due_at: i64::try_from(now_ms).unwrap_or(i64::MAX),
        }
    }

    fn seal(&self, now_ms: u64) -> Sealed {
        let result = self.run.result();
        let text: Arc<str> = result_text(result).into();
        let seal = self.host.host_key().map(|key| {
            key.seal(&Seal {
                events: self.journal.next_seq.saturating_sub(1),
                head: self.journal.head,
                load_plan: &self.load_plan,
                result,
                result_text: &text,
            })
        });
        Sealed {
            completed_at: i64::try_from(now_ms).unwrap_or(i64::MAX),
            result: text,
            seal,
        }
    }
}
