//! On whose behalf and under what terms a call is made.

use std::time::Duration;

/// On whose behalf and under what terms a call is made. Nothing in it grants authority.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// The run this call belongs to; empty when it belongs to none.
    pub run_id: String,
    /// The zero-based order of the step in its chain; none outside of a chain.
    pub step: Option<u32>,
    /// The sprite on whose behalf the call is made; empty when there is none.
    pub sprite_name: String,
    /// The sprite's system prompt, dereferenced; empty when there is none.
    pub system_prompt: String,
    /// Stable over retries of the same step; pass it on to whatever should act at most once.
    pub idempotency_key: Option<String>,
    /// How long the call may take from its start. Then the host stops it.
    pub deadline: Duration,
}
