//! Documents, and when they are valid.
