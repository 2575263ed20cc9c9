//! The README's tour, run as a reader runs it.

use crate::support::commands;
use std::path::Path;

#[test]
fn every_command_of_the_tour_works_in_an_empty_folder_in_order() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let folder = tempfile::tempdir().unwrap();
    let blocks = commands::run(&readme, folder.path(), &[]);
    assert!(blocks >= 6, "only {blocks} blocks were found");
}

#[test]
fn every_command_of_the_ir_guide_works_in_an_empty_folder_in_order() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ir.md");
    let folder = tempfile::tempdir().unwrap();
    let blocks = commands::run(&guide, folder.path(), &[]);
    assert!(blocks >= 4, "only {blocks} blocks were found");
}

#[test]
fn every_command_of_the_guide_to_graphs_works_in_an_empty_folder_in_order() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/graphs.md");
    let folder = tempfile::tempdir().unwrap();
    let blocks = commands::run(&guide, folder.path(), &[]);
    assert!(blocks >= 2, "only {blocks} blocks were found");
}
