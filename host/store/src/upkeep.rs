//! What the host and its operators need of a backend beside its contents.

use crate::port::port;

/// What a check of everything that is kept found.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CheckReport {
    /// What is wrong; empty when everything fits.
    pub problems: Vec<String>,
    /// Entries of the audit log that were verified.
    pub audit_entries: u64,
}

port! {
    /// Keeps a backend in order.
    pub trait Upkeep {
        /// Checks that the backend responds; after it was full also that it takes writes again.
        fn probe() -> ();

        /// Verifies the references, the kept sums and the audit chain, and what the backend itself can verify.
        fn check() -> CheckReport;

        /// Gives some of the space of erased data back. Returns whether there is more.
        fn give_back() -> bool;

        /// Removes what erased data has left in logs of the backend. False while something still reads it: try again.
        fn purge_erased() -> bool;
    }
}
