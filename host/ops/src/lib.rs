//! Everything a caller can ask the host to do.
