//! Randomness. Needs the permission `random`.

/// `count` random bytes, at most 65,536.
pub fn bytes(count: u32) -> Vec<u8> {
    #[cfg(target_family = "wasm")]
    {
        crate::bindings::mizzen::plugin::random::bytes(count)
    }
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.random_bytes(count))
}
