//! Per plugin: compiled, linked with exactly what it may import, ready to be instantiated for every call.

use crate::artifact::Compiled;
use crate::bindings::exports::mizzen::plugin::{pack, skill, store, tool};
use crate::call::{Answer, CallFault, CallWindow, Ended, Evaluation, Request, ToolCall, execute};
use crate::describe::{DescribeError, bounded_items, descriptions};
use crate::evaluate::{EvaluationReport, report};
use crate::machine::Machine;
use crate::memory::PluginMemory;
use crate::services::Services;
use crate::state::CallState;
use crate::threads::Pace;
use crate::{Sandbox, closed, imports};
use mizzen_catalog::VerifiedPlugin;
use mizzen_catalog::register::ItemDraft;
use mizzen_engine::{CallReport, Permit};
use mizzen_model::manifest::Provides;
use mizzen_model::tool_spec::ToolDraft;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use wasmtime::component::{ComponentExportIndex, InstancePre, Linker};

/// What a call needs of its plugin, and nothing that is computed per call.
pub(crate) struct PreparedPlugin {
    pub(crate) pre: InstancePre<CallState>,
    pub(crate) tool: Option<tool::GuestIndices>,
    pub(crate) skill: Option<skill::GuestIndices>,
    pub(crate) store: Option<store::GuestIndices>,
    pub(crate) pack: Option<pack::GuestIndices>,
    /// The two functions that are called again and again. Loading the whole of their interfaces for every call would check the
    /// types of the descriptions, too.
    pub(crate) invoke: Option<ComponentExportIndex>,
    pub(crate) evaluate: Option<ComponentExportIndex>,
    pub(crate) services: Services,
    /// Deterministic randomness differs between plugins, not between calls.
    pub(crate) seed: [u8; 32],
    pub(crate) share: Semaphore,
    pub(crate) pace: Arc<Pace>,
    pub(crate) memory: Arc<PluginMemory>,
}

/// A plugin that can be called.
#[derive(Clone)]
pub struct CallablePlugin {
    machine: Arc<Machine>,
    prepared: Arc<PreparedPlugin>,
    verified: Arc<VerifiedPlugin>,
    compiled: Compiled,
}

/// A plugin that passed every static check and still cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// It does not compile.
    #[error("{0}")]
    Compile(String),
    /// It needs more than any plugin of this host can have, before its first instruction.
    #[error("{0}")]
    TooLarge(String),
    /// An import has no counterpart in the host, or one of another shape.
    #[error("{0}")]
    Link(String),
}

impl Sandbox {
    /// Compiles (or takes from the cache), checks its needs and links it.
    ///
    /// # Errors
    /// When it does not compile, does not fit, or imports what the host does not have.
    pub fn prepare(
        &self,
        verified: Arc<VerifiedPlugin>,
        services: Services,
    ) -> Result<CallablePlugin, PrepareError> {
        let machine = self.machine();
        let engine = &machine.engine;
        let (component, compiled) = self
            .artifacts()
            .component(engine, verified.component())
            .map_err(|e| PrepareError::Compile(e.0))?;
        let largest = machine.memory.total().min(self.settings().max_memory);
        let largest = verified.limits().memory.get().min(largest);
        if let Some(needs) = component.resources_required() {
            let memory = needs
                .max_initial_memory_size
                .unwrap_or(0)
                .saturating_mul(64 << 10);
            if needs.num_memories > 1 || memory > largest {
                return Err(PrepareError::TooLarge(format!(
                    "it starts with {} linear memories of up to {memory} bytes; this host allows one of {largest} bytes. Build with a smaller --initial-memory or raise limits.memory in plugin.toml",
                    needs.num_memories,
                )));
            }
            let table = needs.max_initial_table_size.unwrap_or(0);
            if table > u64::from(self.settings().max_table_elements) {
                return Err(PrepareError::TooLarge(format!(
                    "it starts with a table of {table} elements; this host allows {}",
                    self.settings().max_table_elements
                )));
            }
        }
        let mut linker = Linker::<CallState>::new(engine);
        let authority = verified.effective();
        closed::link(&mut linker)
            .and_then(|()| imports::link(&mut linker, |kind| authority.touches(kind)))
            .map_err(|e| PrepareError::Link(format!("{e:#}")))?;
        let pre = linker
            .instantiate_pre(&component)
            .map_err(|e| PrepareError::Link(format!("{e:#}")))?;
        // Otherwise the first call would build the memory image.
        component
            .initialize_copy_on_write_image()
            .map_err(|e| PrepareError::Compile(format!("{e:#}")))?;
        let function = |interface: &str, name: &str| {
            let interface = component.get_export_index(None, interface)?;
            component.get_export_index(Some(&interface), name)
        };
        let prepared = PreparedPlugin {
            invoke: function("mizzen:plugin/tool@1.0.0", "invoke"),
            evaluate: function("mizzen:plugin/pack@1.0.0", "evaluate"),
            tool: tool::GuestIndices::new(&pre).ok(),
            skill: skill::GuestIndices::new(&pre).ok(),
            store: store::GuestIndices::new(&pre).ok(),
            pack: pack::GuestIndices::new(&pre).ok(),
            pre,
            services,
            seed: *blake3::hash(verified.component()).as_bytes(),
            share: Semaphore::new(machine.share),
            pace: Arc::default(),
            memory: PluginMemory::new(&machine.memory),
        };
        Ok(CallablePlugin {
            machine: Arc::clone(machine),
            prepared: Arc::new(prepared),
            verified,
            compiled,
        })
    }
}

impl CallablePlugin {
    /// What was verified.
    pub fn verified(&self) -> &Arc<VerifiedPlugin> {
        &self.verified
    }

    /// Where its compiled form came from.
    pub fn compiled(&self) -> Compiled {
        self.compiled
    }

    /// Reads the plugin's tools twice, in two fresh sandboxes: the results must be equal.
    ///
    /// # Errors
    /// When the guest traps, is stopped, or returns two different results.
    pub async fn describe_tools(&self, permit: impl Fn() -> Permit) -> Result<Vec<ToolDraft>, DescribeError> {
        let first = self.described(permit()).await?;
        let second = self.described(permit()).await?;
        if first != second {
            return Err(DescribeError::Unstable);
        }
        Ok(first)
    }

    async fn described(&self, permit: Permit) -> Result<Vec<ToolDraft>, DescribeError> {
        match self.run(permit, Request::Describe(Provides::Tool)).await?.answer {
            Ok(Answer::Tools(tools)) => descriptions(tools),
            Ok(_) => Ok(Vec::new()),
            Err(outcome) => Err(DescribeError::Ended(outcome)),
        }
    }

    /// Reads the plugin's skills, stores or pack twice, in two fresh sandboxes: the results must be equal.
    ///
    /// # Errors
    /// When the guest traps, is stopped, or returns two different results.
    pub async fn describe_items(
        &self,
        kind: Provides,
        permit: impl Fn() -> Permit,
    ) -> Result<Vec<ItemDraft>, DescribeError> {
        let first = self.described_items(kind, permit()).await?;
        let second = self.described_items(kind, permit()).await?;
        if first != second {
            return Err(DescribeError::Unstable);
        }
        Ok(first)
    }

    async fn described_items(&self, kind: Provides, permit: Permit) -> Result<Vec<ItemDraft>, DescribeError> {
        match self.run(permit, Request::Describe(kind)).await?.answer {
            Ok(Answer::Items(items)) => bounded_items(items),
            Ok(_) => Ok(Vec::new()),
            Err(outcome) => Err(DescribeError::Ended(outcome)),
        }
    }

    /// Calls one tool in a fresh sandbox.
    ///
    /// # Errors
    /// A [`CallFault`] when nothing of the guest ran. How a guest ended is an outcome in the report.
    pub async fn invoke(&self, permit: Permit, call: ToolCall) -> Result<CallReport, CallFault> {
        let limits = *permit.limits();
        let size = call.input.len() as u64;
        if size > limits.input.get() {
            return Err(CallFault::InputTooLarge {
                size,
                limit: limits.input.get(),
            });
        }
        Ok(self
            .run(permit, Request::Invoke(call))
            .await?
            .into_report(limits.output.get()))
    }

    /// Evaluates the plugin's pack in a fresh sandbox.
    ///
    /// # Errors
    /// A [`CallFault`] when nothing of the guest ran. How a guest ended is in the report.
    pub async fn evaluate(
        &self,
        permit: Permit,
        evaluation: Evaluation,
    ) -> Result<EvaluationReport, CallFault> {
        let limits = *permit.limits();
        let size = evaluation.facts.len() as u64;
        if size > limits.input.get() {
            return Err(CallFault::InputTooLarge {
                size,
                limit: limits.input.get(),
            });
        }
        Ok(report(
            self.run(permit, Request::Evaluate(evaluation)).await?,
            limits.output.get(),
        ))
    }

    async fn run(&self, permit: Permit, request: Request) -> Result<Ended, CallFault> {
        if permit.plugin_digest() != self.verified.digest() {
            return Err(CallFault::WrongPermit {
                permitted: permit.plugin_digest().to_string(),
                plugin: self.verified.digest().to_string(),
            });
        }
        let prepared = &self.prepared;
        let (wanted, there) = match &request {
            Request::Describe(Provides::Tool) | Request::Invoke(_) => {
                (Provides::Tool, prepared.tool.is_some())
            }
            Request::Describe(Provides::Skill) => (Provides::Skill, prepared.skill.is_some()),
            Request::Describe(Provides::Store) => (Provides::Store, prepared.store.is_some()),
            Request::Describe(Provides::Pack) | Request::Evaluate(_) => {
                (Provides::Pack, prepared.pack.is_some())
            }
        };
        if !there {
            return Err(CallFault::NotProvided {
                plugin: self.verified.name().to_string(),
                interface: wanted.as_str(),
            });
        }
        let started = Instant::now();
        let span = CallWindow {
            started,
            end: request.end(permit.limits().wall_clock.get(), started),
        };
        let call = execute(
            Arc::clone(&self.machine),
            Arc::clone(prepared),
            permit,
            request,
            span,
        );
        let threads = &self.machine.threads;
        threads.make(Box::pin(call), span.end, &prepared.pace).await
    }
}
