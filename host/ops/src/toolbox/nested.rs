//! Tools that call tools outside of runs (`plugin run`, `plugin test`): the callee is found, checked and run like any other, with its
//! own permissions only. In a run the run decides (`runs::nested`).

use super::{CallError, CallRequest, Toolbox};
use mizzen_engine::{CallPolicy, ToolError};
use mizzen_sandbox::{CallContext, CallTool, NestedCall, Pending};
use std::sync::Weak;

/// Calls tools of the set that runs when the call is made. Weak: plugins must not keep their toolbox alive.
#[derive(Debug)]
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
            let ended = Box::pin(toolbox.call(request)).await;
            ended
                .map(|result| result.output.to_string())
                .map_err(told_to_caller)
        })
    }
}

/// What a tool is told of a call that has no result.
pub(crate) fn told_to_caller(error: CallError) -> ToolError {
    match error {
        CallError::BadId(message) => ToolError::InvalidInput {
            path: String::new(),
            message,
        },
        CallError::Unknown(error) => ToolError::Unavailable(error.to_string()),
        CallError::Refused { refused, .. } => ToolError::Failed {
            code: refused.code.to_owned(),
            message: refused.reason,
        },
        CallError::Fault(fault) => ToolError::Unavailable(fault.to_string()),
    }
}
