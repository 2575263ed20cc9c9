//! From the contract's exports to a [`Plugin`](crate::Plugin). Authors reach it through `export_plugin!` only.

use crate::bindings::exports::mizzen::plugin::tool::{Descriptor, Example, Guest};
use crate::bindings::mizzen::plugin::types as wit;
use crate::{Context, Plugin, ReplayPolicy, SideEffects, ToolError};
use std::marker::PhantomData;
use std::time::Duration;

/// What `export_plugin!` implements for its plugin.
pub trait Exported {
    /// The plugin.
    const PLUGIN: Plugin;
}

/// Exports a plugin's tools.
#[derive(Debug)]
pub struct Tools<P>(PhantomData<P>);

impl<P: Exported> Guest for Tools<P> {
    fn describe() -> Vec<Descriptor> {
        P::PLUGIN
            .describe()
            .into_iter()
            .map(|tool| descriptor(tool, P::PLUGIN.namespace()))
            .collect()
    }

    fn invoke(name: String, input: String, context: wit::CallContext) -> Result<String, wit::Error> {
        let context = Context {
            run_id: context.run_id,
            step: context.step,
            sprite_name: context.sprite_name,
            system_prompt: context.system_prompt,
            idempotency_key: context.idempotency_key,
            deadline: Duration::from_millis(context.deadline_ms),
        };
        P::PLUGIN.invoke(&name, &input, &context).map_err(Into::into)
    }
}

fn descriptor(tool: crate::Descriptor, namespace: &str) -> Descriptor {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Descriptor {
        name: tool.name.to_owned(),
        namespace: tool.namespace.unwrap_or(namespace).to_owned(),
        version: tool.version.to_owned(),
        description: tool.description.to_owned(),
        input_schema: tool.input_schema,
        output_schema: tool.output_schema,
        side_effects: match tool.side_effects {
            SideEffects::None => wit::SideEffects::None,
            SideEffects::Read => wit::SideEffects::Read,
            SideEffects::Write => wit::SideEffects::Write,
            SideEffects::External => wit::SideEffects::External,
        },
        replay_policy: match tool.replay_policy {
            ReplayPolicy::MustStub => wit::ReplayPolicy::MustStub,
            ReplayPolicy::FailLoud => wit::ReplayPolicy::FailLoud,
            ReplayPolicy::RecordedResult => wit::ReplayPolicy::RecordedResult,
        },
        permissions: owned(tool.permissions),
        idempotency_key: tool.idempotency_key.map(str::to_owned),
        cost_estimate: tool.cost_estimate.map(str::to_owned),
        examples: tool
            .examples
            .iter()
            .map(|example| Example {
                name: example.name.to_owned(),
                input: example.input.to_owned(),
                output: example.output.map(str::to_owned),
            })
            .collect(),
        tags: owned(tool.tags),
        deprecated: tool.deprecated,
    }
}

impl From<ToolError> for wit::Error {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::InvalidInput { path, message } => {
                wit::Error::InvalidInput(wit::InvalidInput { path, message })
            }
            ToolError::Denied(message) => wit::Error::Denied(message),
            ToolError::Unavailable(message) => wit::Error::Unavailable(message),
            ToolError::Failed { code, message } => wit::Error::Failed(wit::Failure { code, message }),
        }
    }
}

impl From<wit::Error> for ToolError {
    fn from(error: wit::Error) -> Self {
        match error {
            wit::Error::InvalidInput(wit::InvalidInput { path, message }) => {
                ToolError::InvalidInput { path, message }
            }
            wit::Error::Denied(message) => ToolError::Denied(message),
            wit::Error::Unavailable(message) => ToolError::Unavailable(message),
            wit::Error::Failed(wit::Failure { code, message }) => ToolError::Failed { code, message },
        }
    }
}

/// Exports tools as a plugin, and makes `plugin()` for tests:
/// `mizzen_sdk::export_plugin! { namespace: "hello", tools: [greet] }`.
#[macro_export]
macro_rules! export_plugin {
    (namespace: $namespace:literal, tools: [$($tool:ty),+ $(,)?] $(,)?) => {
        #[doc(hidden)]
        #[derive(Debug)]
        pub struct MizzenPlugin;

        impl $crate::export::Exported for MizzenPlugin {
            const PLUGIN: $crate::Plugin = $crate::Plugin::new($namespace, &[$($crate::Entry::of::<$tool>()),+]);
        }

        /// This plugin, for tests: describe its tools and call them natively.
        pub fn plugin() -> $crate::Plugin {
            <MizzenPlugin as $crate::export::Exported>::PLUGIN
        }

        #[cfg(target_family = "wasm")]
        type MizzenExports = $crate::export::Tools<MizzenPlugin>;
        #[cfg(target_family = "wasm")]
        $crate::bindings::export!(MizzenExports with_types_in $crate::bindings);
    };
}
