//! Everything a caller can ask the host to do, one file per operation, each a method of [`Host`].
//!
//! Ids, time and randomness enter here, through [`Clock`] and [`Entropy`]. An operation answers, refuses ([`Refusal`]: the caller
//! can mend it) or fails ([`Fault`]: we cannot do it now); what a status code is, it does not know. Whether the caller may ask is
//! decided before ([`Host::authenticate`], [`Grant`]).
//!
//! [`toolbox`] is the running set of plugins; [`outgoing`] is what plugins and hooks reach the network through.
//!
//! Not here: the HTTP API, SQL, wasmtime.
//!
//! To add an operation: a file named after it with an `impl Host` block, and its refusals in `error.rs`.

#![forbid(unsafe_code)]

mod adopt_council;
mod api_keys;
mod authenticate;
mod call_tool;
mod caller;
mod change_plugins;
mod clock;
mod council;
mod create_council;
mod create_sprite;
mod delete_council;
mod delete_sprite;
mod deliver_hooks;
mod document;
mod entropy;
mod erase_executions;
mod error;
mod examine_records;
mod execute_chain;
mod executions;
mod find_chain;
mod get_council;
mod get_sprite;
mod governance;
mod governed_data;
mod health;
mod hooks;
mod host;
mod list_councils;
mod list_sprites;
mod metrics;
pub mod outgoing;
mod plugin_set;
mod plugins;
mod prompts;
mod protection;
mod quota;
mod read_audit;
mod redeliver_hook;
mod registry;
mod review;
mod run_graph;
mod runs;
mod show_run;
mod sprite;
mod sprite_names;
mod steer_execution;
mod store_stats;
pub mod toolbox;
mod traces;
mod try_set;
mod update_council;
mod update_sprite;
mod verify_fingerprint;

pub use api_keys::{ApiKeyRequest, MadeApiKey};
pub use authenticate::AccessRefusal;
pub use caller::{Caller, Grant, UnknownGrant};
pub use change_plugins::{Approval, Direction, Placement, PluginUpload, Switch};
pub use clock::{Clock, ManualClock, SystemClock};
pub use document::{Document, Documents, Force, IfMatch};
pub use entropy::{CountingEntropy, Entropy, SystemEntropy};
pub use erase_executions::{Sweep, Swept};
pub use error::{Fault, OpError, Refusal};
pub use examine_records::Examined;
pub use execute_chain::{Executed, Wait};
pub use executions::{ExecutionEvent, ExecutionPlace, Executions};
pub use find_chain::FoundChain;
pub use governance::{MountProblem, Mountable};
pub use governed_data::{
    AcceptedGovernance, Ungoverned, accept_governance, check_mounts as check_governing_mounts,
};
pub use health::{Checks, Health, State};
pub use hooks::{Channel, ChannelSecret, Hooks};
pub use host::{Host, IdempotencyKey, Replayed, timestamp};
pub use metrics::{Family, Metrics};
pub use plugin_set::{MAX_SECRET, PluginSet, PluginSetError, read_secrets};
pub use prompts::{FetchPrompt, Prompts};
pub use quota::{Quota, QuotaExceeded, QuotaLimits, QuotaShare};
pub use read_audit::AUDIT_OUTCOMES;
pub use registry::{DisabledPlugin, Installed, InstalledPlugin, Inventory, Provided, Unresolved};
pub use run_graph::{CheckedGraph, GraphStart};
pub use runs::{
    AuditError, Decided, Difference, EndedRun, EntryKind, EntryMember, EntryShape, ErasedRun, HostKey,
    Recording, RecordingError, Recovered, Replay, RunLimits, Runs, Transition, Verified, replay,
    verify as verify_audit,
};
pub use show_run::{Checkpoint, graph_run, graph_status};
pub use store_stats::StoreStats;
pub use traces::{Attribute, Collector, CollectorError, Share, SpanContext, SpanKind, TraceSpan, Traces};
pub use try_set::{Secrets, SetTrial};
pub use verify_fingerprint::FingerprintReport;

pub use mizzen_store::{AuditFilter, ErasureFilter, List, RunFilter, SpriteFilter};
