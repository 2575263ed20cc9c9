//! A tool of a loaded plugin: what does not depend on the call is decided when it is loaded.

use super::{Admission, CallPolicy, CallStage, Mode, Refused, Tool, refused, refused_with};
use crate::outcome::CallReport;
use crate::permit::Permit;
use mizzen_catalog::VerifiedPlugin;
use mizzen_model::permission::Permission;
use mizzen_model::tool_spec::{ReplayPolicy, ToolSpec};
use serde_json::Value;
use std::sync::Arc;

/// A tool that can be called in the plugin that has it.
#[derive(Debug)]
pub struct InstalledTool {
    tool: Tool,
    /// What the tool asks for and did not get.
    missing: Option<Refused>,
    /// What every call of it gets, once the stages before have passed.
    permit: Permit,
}

impl InstalledTool {
    /// Decides what the tool may touch in this plugin: declared ∩ granted ∩ asked, the same for all of its calls.
    pub fn new(tool: Tool, plugin: &VerifiedPlugin) -> Self {
        let permit = Permit::for_tool(plugin, tool.spec());
        Self {
            missing: missing(tool.spec(), plugin, &permit),
            permit,
            tool,
        }
    }

    /// The tool's descriptor.
    pub fn spec(&self) -> &Arc<ToolSpec> {
        self.tool.spec()
    }

    /// The stages before the call.
    ///
    /// # Errors
    /// With the stage that says no, and why.
    pub fn admit(&self, input: &Value, policy: &CallPolicy) -> Result<Admission, Refused> {
        self.tool.input.check(input).map_err(|found| {
            refused_with(
                CallStage::Input,
                "INVALID_INPUT",
                "the input does not fit the tool's input_schema",
                found,
            )
        })?;
        if let Some(missing) = &self.missing {
            return Err(missing.clone());
        }
        policy
            .profile
            .check(self.spec())
            .map_err(|error| refused(CallStage::Profile, "PROFILE_REFUSED", error.to_string()))?;
        if let Mode::Replay { recorded, stand_in } = &policy.mode {
            return self.replayed(recorded.as_ref(), stand_in.as_ref());
        }
        Ok(Admission::Call {
            permit: self.permit.clone().under(policy.profile),
            idempotency_key: self.idempotency_key(input),
        })
    }

    /// The stages after the call.
    ///
    /// # Errors
    /// With the stage that says no: the call itself, or an output that does not fit.
    pub fn accept(&self, report: &CallReport) -> Result<Value, Refused> {
        self.tool.accept(report)
    }

    fn replayed(&self, recorded: Option<&Value>, stand_in: Option<&Value>) -> Result<Admission, Refused> {
        let no = |reason: &str| {
            Err(refused(
                CallStage::ReplayPolicy,
                "REPLAY_REFUSED",
                format!("`{}` {reason}", self.spec().id()),
            ))
        };
        match (self.spec().replay_policy(), stand_in, recorded) {
            // A stand-in is what somebody asked "what if" with: it goes before what was recorded.
            (ReplayPolicy::MustStub | ReplayPolicy::RecordedResult, Some(value), _) => {
                Ok(Admission::Answered(value.clone()))
            }
            (ReplayPolicy::RecordedResult, None, Some(value)) => Ok(Admission::Answered(value.clone())),
            (ReplayPolicy::RecordedResult, None, None) => no("has no recorded result"),
            (ReplayPolicy::MustStub, None, _) => {
                no("must be given a stand-in for a replay (replay policy must-stub)")
            }
            (ReplayPolicy::FailLoud, _, _) => no("cannot be replayed (replay policy fail-loud)"),
        }
    }

    /// The value of the input field that makes repeated calls the same call.
    fn idempotency_key(&self, input: &Value) -> Option<String> {
        match input.get(self.spec().idempotency_key()?)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }
}

/// Every kind of thing that the tool asks for must be left after declared ∩ granted.
fn missing(spec: &ToolSpec, plugin: &VerifiedPlugin, permit: &Permit) -> Option<Refused> {
    let missing = |asked: &&Permission| !permit.touches(asked.kind());
    let permission = spec.permissions().iter().find(missing)?;
    Some(refused(
        CallStage::Permission,
        "PERMISSION_DENIED",
        format!(
            "`{}` asks for `{permission}`, which is not granted; the operator grants it with `mizzen plugins grants {} --add {permission}`",
            spec.id(),
            plugin.name(),
        ),
    ))
}
