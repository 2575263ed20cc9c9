//! Tools that call tools: the callee is found, checked and run like any other, with its own permissions only.

use super::{CallError, CallRequest, Toolbox};
use mizzen_engine::{CallPolicy, ToolError};
use mizzen_sandbox::{CallContext, CallTool, NestedCall, Pending};
use std::sync::Weak;

/// Calls tools of the set that runs when the call is made. Weak: plugins must not keep their toolbox alive.
pub(super) struct Nested {
    pub(super) toolbox: Weak<Toolbox>,
    pub(super) policy: CallPolicy,
}

impl CallTool for Nested {
    fn call(&self, asked: NestedCall) -> Pending<'_, Result<String, ToolError>> {
        Box::pin(async move {
            let toolbox = self
                .toolbox
                .upgrade()
                .ok_or_else(|| ToolError::Unavailable("the host is stopping".into()))?;
            let input = serde_json::from_str(&asked.input).map_err(|error| ToolError::InvalidInput {
                path: String::new(),
                message: error.to_string(),
            })?;
            let context = CallContext {
                lineage: asked.lineage,
                deadline: Some(asked.deadline),
                ..CallContext::default()
            };
            let request = CallRequest {
                tool: asked.tool,
                input,
                context,
                policy: self.policy.clone(),
            };
            // Boxed: a call inside a call inside a call would otherwise be a future of unknown size.
            match Box::pin(toolbox.call(request)).await {
                Ok(result) => Ok(result.output.to_string()),
                Err(CallError::BadId(message)) => Err(ToolError::InvalidInput {
                    path: String::new(),
                    message,
                }),
                Err(CallError::Unknown(error)) => Err(ToolError::Unavailable(error.to_string())),
                Err(CallError::Refused { refused, .. }) => Err(ToolError::Failed {
                    code: refused.code.to_owned(),
                    message: refused.reason,
                }),
                Err(CallError::Fault(fault)) => Err(ToolError::Unavailable(fault.to_string())),
            }
        })
    }
}
