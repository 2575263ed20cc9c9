//! The time. Needs the permission `clock`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub fn now_ms() -> u64 {
    #[cfg(target_family = "wasm")]
    {
        crate::bindings::mizzen::plugin::clock::now_ms()
    }
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.now_ms)
}

/// The time as the standard library has it.
pub fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(now_ms())
}
