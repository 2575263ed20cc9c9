//! Packs that are mounted on a running host.

mod mounted_packs;
mod reference_packs;
