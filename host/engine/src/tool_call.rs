//! One call of a tool, stage by stage: input against its schema → permission → profile → replay policy → call → output
//! against its schema → size → result. The stages are pure; whoever makes the call journals each of them.

mod installed;

pub use installed::InstalledTool;

use crate::outcome::{CallReport, Outcome};
use crate::permit::Permit;
use crate::profile::Profile;
use crate::schema::{Schema, SchemaRefusal, Violation};
use mizzen_json::{ReadLimits, parse};
use mizzen_model::tool_spec::ToolSpec;
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
    /// The tool's own code, where it reported the error itself and its code is one that programs can match.
    pub tool_code: Option<String>,
}

/// The longest code of a tool's own that programs are given.
const TOOL_CODE_MAX: usize = 64;

/// Whether a tool's own error code can be matched by programs: letters, digits, `_`, `-`, `.` and `:`, at most 64 of them. It comes
/// from the guest; what is none stands in the message only.
fn is_tool_code(code: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    (1..=TOOL_CODE_MAX).contains(&code.len()) && code.bytes().all(letter)
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
        let compiled = |field: &str, schema| Schema::compile(schema).map_err(|refusal| refusal.within(field));
        let input = compiled("input_schema", spec.input_schema())?;
        let output = compiled("output_schema", spec.output_schema())?;
        Ok(Self { spec, input, output })
    }

    /// The tool's descriptor.
    pub fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
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
            other => {
                let tool_code = match other {
                    Outcome::ToolError(crate::ToolError::Failed { code, .. }) if is_tool_code(code) => {
                        Some(code.clone())
                    }
                    _ => None,
                };
                return Err(Refused {
                    tool_code,
                    ..refused(CallStage::Call, call_code(other), call_reason(other))
                });
            }
        };
        let value = read_output(text).map_err(|reason| {
            refused(
                CallStage::Output,
                "BAD_OUTPUT",
                format!("the plugin's answer cannot be used: {reason}"),
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

/// The answer as a value with the same numbers. serde_json stops at 128 levels, so a guest cannot make the host recurse, and reads most
/// answers; only one with a number that it holds as a float may have been rounded, and is read again exactly.
fn read_output(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if has_float(&value) {
        let tape = parse(text, ReadLimits::default()).map_err(|error| error.to_string())?;
        let exact = tape.root().to_json().to_serde_exact();
        exact.map_err(|error| error.to_string())?;
    }
    Ok(value)
}

fn has_float(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Number(number) if number.is_f64() => return true,
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    false
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

/// Why a call has no output. The code says `DENIED` or `UNAVAILABLE` already.
fn call_reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::ToolError(crate::ToolError::Denied(reason) | crate::ToolError::Unavailable(reason)) => {
            reason.clone()
        }
        other => other.explain(),
    }
}

fn refused(stage: CallStage, code: &'static str, reason: String) -> Refused {
    Refused {
        stage,
        code,
        reason,
        violations: Vec::new(),
        tool_code: None,
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
        tool_code: None,
    }
}

#[cfg(test)]
mod tests {
    use super::{call_reason, is_tool_code, read_output};
    use crate::{Outcome, ToolError};
    use serde_json::json;

    #[test]
    fn a_reason_does_not_repeat_its_code() {
        let check =
            |error: ToolError, expected: &str| assert_eq!(call_reason(&Outcome::ToolError(error)), expected);
        check(
            ToolError::Denied("kv:write is not declared".into()),
            "kv:write is not declared",
        );
        check(
            ToolError::Unavailable("`x:1` cannot be reached".into()),
            "`x:1` cannot be reached",
        );
        let failed = ToolError::Failed {
            code: "QUOTA".into(),
            message: "used up".into(),
        };
        check(failed, "QUOTA: used up");
    }

    #[test]
    fn a_whole_number_of_an_answer_is_never_rounded() {
        let largest = json!({"n": u64::MAX, "f": 1.5, "s": "99999999999999999999"});
        assert_eq!(read_output(&largest.to_string()), Ok(largest));
        assert_eq!(read_output("1e20"), Ok(json!(1e20)));
        let refused = read_output(r#"{"a": [0, {"n": -9223372036854775809}]}"#).unwrap_err();
        assert!(
            refused.starts_with("/a/1/n: the whole number -9223372036854775809"),
            "{refused}"
        );
        assert!(read_output("1e999").is_err() && read_output("{").is_err());
    }

    #[test]
    fn a_code_is_short_and_plain() {
        for code in ["QUOTA", "http.404", "a", "db:LOCKED-1_2", &"x".repeat(64)] {
            assert!(is_tool_code(code), "{code}");
        }
        for code in [
            "",
            "two words",
            "é",
            "line\nbreak",
            "quote\"",
            "[x]",
            &"x".repeat(65),
        ] {
            assert!(!is_tool_code(code), "{code}");
        }
    }
}
