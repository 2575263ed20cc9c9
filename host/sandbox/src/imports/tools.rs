//! `tools`: calls of other tools. The callee runs with its own permissions only; in a run, the run decides on the call (D23).

use super::{absent, guest_error};
use crate::bindings::mizzen::plugin::{tools, types};
use crate::machine::LEVELS;
use crate::services::NestedCall;
use crate::state::CallState;
use mizzen_model::permission::Use;

impl tools::Host for CallState {
    async fn call(&mut self, tool: String, input: String) -> wasmtime::Result<Result<String, types::Error>> {
        let id = tool.split_once('@').map_or(tool.as_str(), |(id, _)| id);
        if let Err(denied) = self.check(&Use::Tool(id))? {
            return Ok(Err(denied));
        }
        let lineage = self.lineage();
        if lineage.iter().any(|earlier| earlier == id) {
            let path = lineage.join(" → ");
            return Ok(Err(types::Error::Denied(format!(
                "{path} → {id}: a tool cannot call itself, directly or through others"
            ))));
        }
        if lineage.len() >= LEVELS {
            let message = format!(
                "{}: tools call tools at most {} deep",
                lineage.join(" → "),
                LEVELS - 1
            );
            return Ok(Err(types::Error::Denied(message)));
        }
        let Some(service) = self.tools() else {
            return Ok(Err(absent("calls of other tools")));
        };
        let call = NestedCall {
            tool,
            input,
            lineage,
            deadline: self.end,
        };
        Ok(service.call(call).await.map_err(guest_error))
    }
}
