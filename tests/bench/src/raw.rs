//! The engine with nothing of ours around it: what a fresh instance and one call cost at the least.

mod bindings;
mod database;
mod server;

pub(crate) use database::Database;
pub(crate) use server::{serve_chain, serve_constant};

use anyhow::{Context, Result, anyhow};
use bindings::exports::mizzen::plugin::tool::GuestIndices;
use bindings::mizzen::plugin::types::CallContext;
use std::num::NonZeroUsize;
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};

/// A component, compiled and linked.
pub(crate) struct Raw {
    engine: Engine,
    pre: InstancePre<()>,
    tool: GuestIndices,
}

/// The settings of `host/sandbox/src/machine.rs`; what differs would not be a comparison.
fn engine() -> Result<Engine> {
    const SLOTS: u32 = 64;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(SLOTS)
        .total_core_instances(SLOTS * 4)
        .total_memories(SLOTS)
        .total_tables(SLOTS * 2)
        .total_stacks(SLOTS)
        .max_memories_per_component(1)
        .max_tables_per_component(4)
        .max_core_instances_per_component(8)
        .max_memory_size(512 << 20)
        .table_elements(20_000)
        .linear_memory_keep_resident(1 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config
        .concurrency_support(false)
        .epoch_interruption(true)
        .gc_support(false)
        .memory_init_cow(true)
        .max_wasm_stack(512 << 10)
        .wasm_backtrace_max_frames(NonZeroUsize::new(16))
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Ok(Engine::new(&config)?)
}

impl Raw {
    /// Every import is a trap: the cheapest linker there is. The tool that is called uses none of them.
    pub(crate) fn new(component: &[u8]) -> Result<Self> {
        let engine = engine()?;
        let component = Component::new(&engine, component)?;
        let mut linker = Linker::new(&engine);
        linker.define_unknown_imports_as_traps(&component)?;
        let pre = linker.instantiate_pre(&component)?;
        component.initialize_copy_on_write_image()?;
        let tool = GuestIndices::new(&pre)?;
        Ok(Self { engine, pre, tool })
    }

    /// The component of a signed package.
    pub(crate) fn of_package(package: &std::path::Path) -> Result<Self> {
        let bytes = std::fs::read(package).with_context(|| package.display().to_string())?;
        Self::new(mizzen_catalog::package::Package::parse(bytes)?.component())
    }

    /// A fresh instance and one call.
    #[allow(
        clippy::ptr_arg,
        reason = "what the generated bindings take; anything else would copy the input"
    )]
    pub(crate) async fn call(&self, tool: &String, input: &String) -> Result<String> {
        let mut store = Store::new(&self.engine, ());
        store.set_epoch_deadline(1 << 40);
        let instance = self.pre.instantiate_async(&mut store).await?;
        let guest = self.tool.load(&mut store, &instance)?;
        let context = CallContext {
            run_id: String::new(),
            step: None,
            sprite_name: String::new(),
            system_prompt: String::new(),
            idempotency_key: None,
            deadline_ms: 10_000,
        };
        let answer = guest.call_invoke(&mut store, tool, input, &context).await?;
        answer.map_err(|error| anyhow!("the guest refused: {error:?}"))
    }
}
