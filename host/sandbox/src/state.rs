//! What one call holds inside its store.

use crate::closed::{self, Ambient};
use crate::journal::Log;
use crate::limiter::Limiter;
use crate::plugin::Prepared;
use crate::services::Services;
use mizzen_engine::{Deadline, Permit};
use mizzen_model::permission::Use;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// A guest can hold this many streams and pollables. Rust's standard library uses five.
const MAX_RESOURCES: usize = 1024;

/// The store's data: made for one call, thrown away after it.
pub(crate) struct CallState {
    wasi: WasiCtx,
    table: ResourceTable,
    pub(crate) limiter: Limiter,
    pub(crate) log: Log,
    pub(crate) permit: Permit,
    pub(crate) services: Arc<Services>,
    /// The tools that led to this call, outermost first, this one last.
    pub(crate) lineage: Vec<String>,
    /// When the call's time is up.
    pub(crate) end: Instant,
    pub(crate) host_calls: u64,
    pub(crate) cpu_ticks: u64,
    pub(crate) stopped: Option<Deadline>,
}

/// On what terms a call is made.
pub(crate) struct Terms {
    pub(crate) permit: Permit,
    pub(crate) lineage: Vec<String>,
    pub(crate) end: Instant,
}

/// The guest made more host calls than it may. Ends the call.
#[derive(Debug, thiserror::Error)]
#[error("too many host calls")]
pub(crate) struct HostCallsExhausted;

impl CallState {
    pub(crate) fn new(terms: Terms, plugin: &Prepared) -> Self {
        let Terms { permit, lineage, end } = terms;
        let limits = permit.limits();
        let log = Log::new(limits.log.get());
        let ambient = Ambient {
            clock: permit.check(&Use::Clock).is_ok(),
            random: permit.check(&Use::Random).is_ok(),
        };
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_RESOURCES);
        Self {
            wasi: closed::context(&log, ambient, &plugin.seed),
            table,
            limiter: Limiter::new(limits),
            log,
            permit,
            services: Arc::clone(&plugin.services),
            lineage,
            end,
            host_calls: 0,
            cpu_ticks: 0,
            stopped: None,
        }
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

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}
