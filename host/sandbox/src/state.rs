//! What one call holds inside its store.

use crate::closed::{self, Ambient};
use crate::guest_log::Log;
use crate::limiter::Limiter;
use crate::memory::Held;
use crate::plugin::PreparedPlugin;
use crate::services::{CallTool, Services};
use mizzen_engine::{Deadline, Permit};
use mizzen_model::permission::Use;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// A guest can hold this many streams and pollables. Rust's standard library uses five.
const MAX_RESOURCES: usize = 1024;

/// The store's data: created for one call, dropped after it.
pub(crate) struct CallState {
    /// The context behind WASI, created when the guest first uses it: most calls never do.
    world: Option<Box<World>>,
    plugin: Arc<PreparedPlugin>,
    pub(crate) limiter: Limiter,
    pub(crate) log: Log,
    pub(crate) permit: Permit,
    /// The tools that led to this call, outermost first, without this one.
    callers: Vec<String>,
    /// Makes this guest's calls of other tools, if it is not the plugin's own service.
    tools: Option<Arc<dyn CallTool>>,
    /// The call's deadline.
    pub(crate) end: Instant,
    /// How long that is after its beginning.
    pub(crate) wall_clock: Duration,
    pub(crate) host_calls: u64,
    pub(crate) stopped: Option<Deadline>,
}

struct World {
    wasi: WasiCtx,
    table: ResourceTable,
}

/// The terms of a call.
pub(crate) struct Terms {
    pub(crate) permit: Permit,
    pub(crate) callers: Vec<String>,
    pub(crate) tools: Option<Arc<dyn CallTool>>,
    pub(crate) end: Instant,
    pub(crate) wall_clock: Duration,
}

/// The guest made more host calls than it may. Ends the call.
#[derive(Debug, thiserror::Error)]
#[error("too many host calls")]
pub(crate) struct HostCallsExhausted;

impl CallState {
    pub(crate) fn new(terms: Terms, plugin: Arc<PreparedPlugin>) -> Self {
        let limits = terms.permit.limits();
        let held = Held::nothing(Arc::clone(&plugin.memory));
        Self {
            world: None,
            plugin,
            limiter: Limiter::new(limits, held),
            log: Log::new(limits.log.get()),
            permit: terms.permit,
            callers: terms.callers,
            tools: terms.tools,
            end: terms.end,
            wall_clock: terms.wall_clock,
            host_calls: 0,
            stopped: None,
        }
    }

    /// The services behind the plugin's imports.
    pub(crate) fn services(&self) -> &Services {
        &self.plugin.services
    }

    /// Makes the guest's calls of other tools.
    pub(crate) fn tools(&self) -> Option<Arc<dyn CallTool>> {
        self.tools.clone().or_else(|| self.services().tools.clone())
    }

    /// The tools that led here, outermost first, this one last.
    pub(crate) fn lineage(&self) -> Vec<String> {
        let mut lineage = self.callers.clone();
        lineage.push(self.permit.tool().to_owned());
        lineage
    }

    /// Every import of the contract counts itself before it does anything.
    pub(crate) fn count_host_call(&mut self) -> wasmtime::Result<()> {
        self.host_calls = self.host_calls.saturating_add(1);
        if self.host_calls > u64::from(self.permit.limits().host_calls) {
            return Err(HostCallsExhausted.into());
        }
        Ok(())
    }
}

impl World {
    fn new(log: &mut Log, permit: &Permit, seed: &[u8; 32]) -> Self {
        let ambient = Ambient {
            clock: permit.allows(&Use::Clock),
            random: permit.allows(&Use::Random),
        };
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        Self {
            wasi: closed::context(log, ambient, seed),
            table,
        }
    }
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Self {
            world,
            log,
            permit,
            plugin,
            ..
        } = self;
        let world = world.get_or_insert_with(|| Box::new(World::new(log, permit, &plugin.seed)));
        WasiCtxView {
            ctx: &mut world.wasi,
            table: &mut world.table,
        }
    }
}
