//! What the host remembers.
