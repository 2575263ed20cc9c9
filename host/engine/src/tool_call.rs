//! One call of a tool, stage by stage: input against its schema → permission → profile → replay policy → call → output
//! against its schema → size → result. The stages are pure; whoever makes the call journals each of them.

use crate::outcome::{CallReport, Outcome};
use crate::permit::Permit;
use crate::profile::Profile;
use crate::schema::{Schema, SchemaRefusal, Violation};
use mizzen_catalog::VerifiedPlugin;
use mizzen_model::permission::{Kind, Permission};
use mizzen_model::tool_spec::{ReplayPolicy, ToolSpec};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// A tool whose schemas are compiled: made once, at load.
#[derive(Debug)]
pub struct Tool {
    spec: Arc<ToolSpec>,
    input: Schema,
    output: Schema,
}

/// The stages of a call, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallStage {
    /// The input fits the tool's `input_schema`.
    Input,
    /// What the tool asks for is declared and granted.
    Permission,
    /// The host's profile lets tools with these side effects run.
    Profile,
    /// The tool may be called in this mode.
    ReplayPolicy,
    /// The sandboxed call.
    Call,
    /// The output fits the tool's `output_schema`.
    Output,
    /// The output is within the limit.
    Size,
    /// The result.
    Result,
}

impl CallStage {
    /// What has to be passed on the way to a result.
    const ORDER: [Self; 7] = [
        Self::Input,
        Self::Permission,
        Self::Profile,
        Self::ReplayPolicy,
        Self::Call,
        Self::Output,
        Self::Size,
    ];

    /// As it is written in journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Permission => "permission",
            Self::Profile => "profile",
            Self::ReplayPolicy => "replay-policy",
            Self::Call => "call",
            Self::Output => "output",
            Self::Size => "size",
            Self::Result => "result",
        }
    }

    /// The stages that a call had passed when it came to this one.
    pub const fn passed_before(self) -> &'static [Self] {
        match self {
            Self::Input => &[],
            Self::Permission => &[Self::Input],
            Self::Profile => &[Self::Input, Self::Permission],
            Self::ReplayPolicy => &[Self::Input, Self::Permission, Self::Profile],
            Self::Call => &[Self::Input, Self::Permission, Self::Profile, Self::ReplayPolicy],
            // An answer beyond the limit is never read, so its size is known before its shape.
            Self::Output | Self::Size => &[
                Self::Input,
                Self::Permission,
                Self::Profile,
                Self::ReplayPolicy,
                Self::Call,
            ],
            Self::Result => &Self::ORDER,
        }
    }
}

impl fmt::Display for CallStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether the world may be touched.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Mode {
    /// For real.
    #[default]
    Live,
    /// A recorded run is gone through again: this is what the call gave then, or a stand-in that somebody supplied.
    Replay {
        /// The result that was recorded.
        recorded: Option<Value>,
        /// A stand-in for it.
        stand_in: Option<Value>,
    },
}

/// Everything that decides about a call beside the tool itself.
#[derive(Debug, Clone, Default)]
pub struct CallPolicy {
    /// The host's profile.
    pub profile: Profile,
    /// For real, or again.
    pub mode: Mode,
}

/// A call that did not get a result, and the stage that stopped it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{stage}: {reason}")]
pub struct Refused {
    /// The stage that said no.
    pub stage: CallStage,
    /// A stable code, such as `INVALID_INPUT`.
    pub code: &'static str,
    /// Why, and what to do.
    pub reason: String,
    /// Where in the input or output, for violations of a schema.
    pub violations: Vec<(String, String)>,
}

/// What the stages before the call decided.
#[derive(Debug)]
pub enum Admission {
    /// Call it, with this permit.
    Call {
        /// The right to make the call.
        permit: Permit,
        /// The idempotency key that the input carries, if the tool names a field for it.
        idempotency_key: Option<String>,
    },
    /// Do not call it: this is the result.
    Answered(Value),
}

impl Tool {
    /// Compiles the tool's schemas.
    ///
    /// # Errors
    /// When one of them is refused; the field's name stands before its path.
    pub fn compile(spec: Arc<ToolSpec>) -> Result<Self, SchemaRefusal> {
        let named = |field: &'static str| {
            move |refusal: SchemaRefusal| SchemaRefusal {
                path: format!("{field}{}", refusal.path),
                ..refusal
            }
        };
        let input = Schema::compile(spec.input_schema()).map_err(named("input_schema"))?;
        let output = Schema::compile(spec.output_schema()).map_err(named("output_schema"))?;
        Ok(Self { spec, input, output })
    }

    /// The tool's descriptor.
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    /// The stages before the call.
    ///
    /// # Errors
    /// With the stage that says no, and why.
    pub fn admit(
        &self,
        plugin: &VerifiedPlugin,
        input: &Value,
        policy: &CallPolicy,
    ) -> Result<Admission, Refused> {
        self.input.check(input).map_err(|found| {
            refused_with(
                CallStage::Input,
                "INVALID_INPUT",
                "the input does not fit the tool's input_schema",
                found,
            )
        })?;
        self.check_permissions(plugin)?;
        let permit = Permit::for_tool(plugin, &self.spec, policy.profile)
            .map_err(|error| refused(CallStage::Profile, "PROFILE_REFUSED", error.to_string()))?;
        if let Mode::Replay { recorded, stand_in } = &policy.mode {
            return self.replayed(recorded.as_ref(), stand_in.as_ref());
        }
        Ok(Admission::Call {
            permit,
            idempotency_key: self.idempotency_key(input),
        })
    }

    /// Every kind of thing that the tool asks for must be left after declared ∩ granted.
    fn check_permissions(&self, plugin: &VerifiedPlugin) -> Result<(), Refused> {
        let effective = plugin
            .effective()
            .narrowed(Arc::new(self.spec.permissions().clone()));
        let missing = |permission: &&Permission| -> bool {
            let kind: Kind = permission.kind();
            !effective.touches(kind)
        };
        match self.spec.permissions().iter().find(missing) {
            None => Ok(()),
            Some(permission) => Err(refused(
                CallStage::Permission,
                "PERMISSION_DENIED",
                format!(
                    "`{}` asks for `{permission}`, which is not granted; the operator grants it with `mizzen plugins grants {} --add {permission}`",
                    self.spec.id(),
                    plugin.name(),
                ),
            )),
        }
    }

    fn replayed(&self, recorded: Option<&Value>, stand_in: Option<&Value>) -> Result<Admission, Refused> {
        let no = |reason: &str| {
            Err(refused(
                CallStage::ReplayPolicy,
                "REPLAY_REFUSED",
                format!("`{}` {reason}", self.spec.id()),
            ))
        };
        match (self.spec.replay_policy(), stand_in, recorded) {
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
        match input.get(self.spec.idempotency_key()?)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }

    /// The stages after the call.
    ///
    /// # Errors
    /// With the stage that says no: the call itself, or an output that does not fit.
    pub fn accept(&self, report: &CallReport) -> Result<Value, Refused> {
        let text = match &report.outcome {
            Outcome::Output(text) => text,
            Outcome::OutputTooLarge { .. } => {
                return Err(refused(
                    CallStage::Size,
                    "OUTPUT_TOO_LARGE",
                    report.outcome.explain(),
                ));
            }
            Outcome::BadOutput { .. } => {
                return Err(refused(CallStage::Output, "BAD_OUTPUT", report.outcome.explain()));
            }
            other => return Err(refused(CallStage::Call, call_code(other), other.explain())),
        };
        // serde_json stops at 128 levels: a guest cannot make the host recurse.
        let value: Value = serde_json::from_str(text).map_err(|error| {
            refused(
                CallStage::Output,
                "BAD_OUTPUT",
                format!("the plugin's answer cannot be used: {error}"),
            )
        })?;
        self.output.check(&value).map_err(|found| {
            refused_with(
                CallStage::Output,
                "BAD_OUTPUT",
                "the output does not fit the tool's output_schema",
                found,
            )
        })?;
        Ok(value)
    }
}

fn call_code(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Output(_) => "OK",
        Outcome::ToolError(crate::ToolError::InvalidInput { .. }) => "INVALID_INPUT",
        Outcome::ToolError(crate::ToolError::Denied(_)) => "DENIED",
        Outcome::ToolError(crate::ToolError::Unavailable(_)) => "UNAVAILABLE",
        Outcome::ToolError(crate::ToolError::Failed { .. }) => "TOOL_FAILED",
        Outcome::Trap(_) => "TRAP",
        Outcome::Deadline(_) => "TIMEOUT",
        Outcome::OutOfMemory { .. } => "OUT_OF_MEMORY",
        Outcome::OutputTooLarge { .. } => "OUTPUT_TOO_LARGE",
        Outcome::BadOutput { .. } => "BAD_OUTPUT",
        Outcome::HostCallsExhausted { .. } => "HOST_CALLS_EXHAUSTED",
    }
}

fn refused(stage: CallStage, code: &'static str, reason: String) -> Refused {
    Refused {
        stage,
        code,
        reason,
        violations: Vec::new(),
    }
}

fn refused_with(stage: CallStage, code: &'static str, what: &str, found: Vec<Violation>) -> Refused {
    let list = found.iter().map(|v| {
        if v.path.is_empty() {
            v.message.clone()
        } else {
            format!("{}: {}", v.path, v.message)
        }
    });
    let reason = format!("{what}: {}", list.collect::<Vec<_>>().join("; "));
    let violations = found
        .into_iter()
        .map(|violation| (violation.path, violation.message))
        .collect();
    Refused {
        stage,
        code,
        reason,
        violations,
    }
}
