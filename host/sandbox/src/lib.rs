//! One isolated call into a signed component.
