//! What the themes share: a host with its plugins, a client, the seeds' documents, programs that tests need.

pub(crate) mod artifacts;
pub(crate) mod commands;
pub(crate) mod council;
pub(crate) mod delivery;
#[allow(dead_code, reason = "the tests of host/server use the rest")]
#[path = "../../../server/tests/api/support/documents.rs"]
pub(crate) mod documents;
pub(crate) mod host;
pub(crate) mod http;
pub(crate) mod http2;
pub(crate) mod pack_rules;
pub(crate) mod packages;
pub(crate) mod place;
pub(crate) mod programs;
pub(crate) mod puppet;
pub(crate) mod shim;
pub(crate) mod terminal;
pub(crate) mod verb;
