//! The documents: their commands are executed, their settings are taken.

mod operators_guide;
mod packs_guide;
mod readme;
mod story;
