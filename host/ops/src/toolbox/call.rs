//! One call of a tool by its id: the engine's stages around the sandbox's call.

use super::{Callable, Toolbox};
use mizzen_catalog::VerifiedPlugin;
use mizzen_catalog::register::ResolveError;
use mizzen_catalog::requirement::ToolRequirement;
use mizzen_engine::{Admission, CallPolicy, CallReport, Refused};
use mizzen_model::tool_spec::ToolSpec;
use mizzen_sandbox::{CallContext, CallFault, ToolCall};
use serde_json::Value;
use std::sync::Arc;

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// `namespace.name`, possibly with `@REQUIREMENT`.
    pub tool: String,
    /// The input.
    pub input: Value,
    /// For whom and under what terms.
    pub context: CallContext,
    /// Profile and mode.
    pub policy: CallPolicy,
}

/// A call that has a result.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// The tool that answered.
    pub tool: Arc<ToolSpec>,
    /// The output, checked against the tool's schema.
    pub output: Value,
    /// What the call used and logged; none when it was answered without one.
    pub report: Option<CallReport>,
}

/// A call that has none.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The id is not one.
    #[error("{0}")]
    BadId(String),
    /// No installed tool fits.
    #[error(transparent)]
    Unknown(#[from] ResolveError),
    /// A stage said no.
    #[error("{refused}")]
    Refused {
        /// Which stage, and why.
        refused: Refused,
        /// What the call used and logged, if it was made.
        report: Option<Box<CallReport>>,
    },
    /// The call could not be made.
    #[error(transparent)]
    Fault(#[from] CallFault),
}

impl Toolbox {
    /// Calls a tool of the running set.
    ///
    /// # Errors
    /// When there is no such tool, a stage refuses, or the sandbox cannot make the call.
    pub async fn call(&self, mut request: CallRequest) -> Result<ToolResult, CallError> {
        // A caller can ask for more caution than the host's own, never for less.
        request.policy.profile = request.policy.profile.stricter(self.outfit().policy.profile);
        let callable = self.find(&request.tool)?;
        callable.call(request).await
    }

    pub(crate) fn find(&self, tool: &str) -> Result<Arc<Callable>, CallError> {
        let loaded = self.loaded();
        if let Some(callable) = loaded.by_id.get(tool) {
            return Ok(Arc::clone(callable));
        }
        let wanted = ToolRequirement::parse(tool).map_err(|error| CallError::BadId(error.to_string()))?;
        let entered = loaded.registry.resolve(&wanted)?;
        let key = (entered.plugin().digest(), entered.spec().id().to_string());
        loaded
            .tools
            .get(&key)
            .cloned()
            .ok_or_else(|| CallError::BadId(format!("`{tool}` is not loaded")))
    }
}

impl Callable {
    /// The tool's descriptor.
    pub(crate) fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// The plugin that it comes from.
    pub(crate) fn plugin(&self) -> &VerifiedPlugin {
        self.plugin.verified()
    }

    pub(crate) async fn call(&self, request: CallRequest) -> Result<ToolResult, CallError> {
        let CallRequest {
            input,
            mut context,
            policy,
            ..
        } = request;
        let spec = self.tool.spec();
        if spec.deprecated() {
            tracing::warn!(tool = %spec.id(), "a deprecated tool is called");
        }
        let refuse = |refused| CallError::Refused {
            refused,
            report: None,
        };
        let finished = |output, report| ToolResult {
            tool: Arc::clone(spec),
            output,
            report,
        };
        let permit = match self.tool.admit(&input, &policy).map_err(refuse)? {
            Admission::Answered(output) => return Ok(finished(output, None)),
            Admission::Call {
                permit,
                idempotency_key,
            } => {
                context.idempotency_key = context.idempotency_key.or(idempotency_key);
                permit
            }
        };
        let call = ToolCall {
            tool: spec.name().to_string(),
            input: input.to_string(),
            context,
        };
        let report = self.plugin.invoke(permit, call).await?;
        match self.tool.accept(&report) {
            Ok(output) => Ok(finished(output, Some(report))),
            Err(refused) => Err(CallError::Refused {
                refused,
                report: Some(Box::new(report)),
            }),
        }
    }
}
