//! Rules: the first match decides (D6).

use super::state::{Checkpoint, State};
use super::{Command, Run};
use mizzen_condition::{Context, Fuel, Variable};
use mizzen_model::execution::{Escalation, ExecutionError, ExecutionStatus, RuleEvaluation};
use mizzen_model::rule::{Enforcement, RuleAction};
use std::sync::Arc;

impl<C> Run<C> {
    /// Evaluates the rules until one decides.
    ///
    /// An advisory deny or escalate never decides, so that it cannot stand before a mandatory rule: its match is recorded and
    /// the next rule is asked. A mandatory rule whose condition has no answer denies.
    pub(super) fn judge_rules(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        let plan = Arc::clone(&self.plan);
        self.task.state = State::Moving(Checkpoint::Start, 0);
        for rule in &plan.rules {
            let context = Context::new()
                .with(Variable::Input, &self.input)
                .with(Variable::Chain, &plan.chain)
                .with(Variable::Council, &plan.council);
            let answer = rule.condition.evaluate(&context, &mut Fuel::new(Fuel::DEFAULT));
            let (matched, action, reason) = match &answer {
                Ok(true) => (
                    true,
                    rule.action,
                    format!("{:?} matched: {}", rule.name, rule.action),
                ),
                Ok(false) => (false, rule.action, "did not match".to_owned()),
                Err(error) => (
                    true,
                    RuleAction::Deny,
                    format!("the condition has no answer: {error}"),
                ),
            };
            self.result.rules.push(RuleEvaluation {
                rule_id: rule.id.clone(),
                name: rule.name.clone(),
                matched,
                action,
                enforcement: rule.enforcement,
                reason: reason.clone(),
            });
            if !matched {
                continue;
            }
            if let Some(hook) = &rule.hook {
                commands.push(Command::Notify {
                    rule_id: rule.id.clone(),
                    hook: hook.clone(),
                });
            }
            match (rule.enforcement, action) {
                (Enforcement::Advisory, RuleAction::Deny | RuleAction::Escalate) => {}
                (_, RuleAction::Allow) => return,
                (Enforcement::Mandatory, RuleAction::Deny) => {
                    let message = format!("rule {:?} ({}) denied: {reason}", rule.name, rule.id);
                    let error = ExecutionError::new("RULE_DENIED", message, None);
                    self.finish(ExecutionStatus::Vetoed, Some(error), now_ms, commands);
                    return;
                }
                (Enforcement::Mandatory, RuleAction::Escalate) => {
                    // One question per run can be open, and it is named after what asks it.
                    let escalation_id = format!("{}:{}", self.result.execution_id, rule.id);
                    commands.push(Command::Escalated {
                        escalation_id: escalation_id.clone(),
                    });
                    let escalation = Escalation {
                        escalation_id,
                        rule_id: rule.id.clone(),
                        reason,
                        expires_at: None,
                        answer: None,
                    };
                    self.escalate(escalation, rule.expires_ms, None, now_ms);
                    return;
                }
            }
        }
    }
}
