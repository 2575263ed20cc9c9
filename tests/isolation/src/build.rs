//! Guests, from their folders to signed packages.

use crate::Expected;
use anyhow::{Context, Result, ensure};
use mizzen_builder::{BuildRequest, build_plugin};
use mizzen_catalog::key::SecretKey;
use mizzen_catalog::package::{Package, embed_manifest};
use mizzen_catalog::signature::sign;
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of all hostile guests.
///
/// # Errors
/// When the folder cannot be read.
pub fn guests() -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/guests"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").exists() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// A key that every test knows. It signs nothing outside of the tests.
pub fn key() -> SecretKey {
    SecretKey::from_seed(b"a key for the isolation tests !!")
}

/// Builds a plugin's folder into `scratch`, which all guests share so that their dependencies are built once.
///
/// # Errors
/// When it does not build.
pub fn build(folder: &Path, scratch: &Path) -> Result<PathBuf> {
    let (target, output) = (scratch.join("target"), scratch.join("dist"));
    let request = BuildRequest {
        folder,
        key: &key(),
        target_folder: Some(&target),
        shared_target_folder: None,
        output_folder: Some(&output),
    };
    let built =
        build_plugin(request, &mut |_| ()).with_context(|| format!("building {}", folder.display()))?;
    Ok(built.path)
}

/// Builds a guest, with the changes that its expectation asks for.
///
/// # Errors
/// When it does not build, or has nothing to change.
pub fn build_expected(folder: &Path, scratch: &Path, expected: &Expected) -> Result<PathBuf> {
    let built = build(folder, scratch)?;
    let mut changes = Vec::new();
    if expected.grows_table {
        changes.push((constant(GROW), grow_instructions()));
    }
    if expected.fills_table {
        changes.push((fill_constants(), fill_instructions()));
    }
    if changes.is_empty() {
        return Ok(built);
    }
    let mut missing = 0;
    let bytes = rebuilt(&std::fs::read(&built)?, |mut component, manifest| {
        for (from, to) in &changes {
            let changed = replaced(&component, from, to);
            missing += usize::from(changed == component);
            component = changed;
        }
        (component, manifest)
    })?;
    ensure!(
        missing == 0,
        "{}: it has not the constants to replace",
        folder.display()
    );
    let package = scratch
        .join("changed")
        .join(built.file_name().context("no name")?);
    std::fs::create_dir_all(scratch.join("changed"))?;
    ensure!(bytes.len() > 1000, "the guest is gone");
    std::fs::write(&package, bytes)?;
    Ok(package)
}

/// A package made again from its changed component and manifest, and signed again.
///
/// # Errors
/// When it is not a package, or what it was changed into is none.
pub fn rebuilt(package: &[u8], change: impl FnOnce(Vec<u8>, String) -> (Vec<u8>, String)) -> Result<Vec<u8>> {
    let package = Package::parse(package.to_vec())?;
    let (component, manifest) = change(package.component().to_vec(), package.manifest_text().to_owned());
    Ok(sign(embed_manifest(&component, &manifest)?, &key())?)
}

/// Some plugins that are the same but for their name, from the guest `waits-and-tells`: written into a folder.
///
/// # Errors
/// When it does not build.
pub fn copies(count: usize, folder: &Path, scratch: &Path) -> Result<()> {
    const NAME: &str = "waits-and-tells";
    let package = std::fs::read(build(&root().join("tests/guests").join(NAME), scratch)?)?;
    for number in 0..count {
        // As long as the name that it replaces inside of the component.
        let name = format!("bench-numb-{number:04}");
        let copy = rebuilt(&package, |component, manifest| {
            let component = replaced(&component, NAME.as_bytes(), name.as_bytes());
            (component, manifest.replace(NAME, &name))
        })?;
        std::fs::write(folder.join(format!("{name}.wasm")), copy)?;
    }
    Ok(())
}

/// Stands for `table.grow` in a guest.
const GROW: i64 = -0x7ab1_e000_7ab1_e000;
/// Stand for `table.fill` in a guest, with `i64.xor` between them.
const FILL: (i64, i64) = (-0x7ab1_f111_7ab1_f111, -0x7ab1_f222_7ab1_f222);
/// `i64.xor`.
const XOR: u8 = 0x85;

/// `i64.const` of a large negative number, as LLVM writes it: ten bytes of LEB128.
fn constant(mut value: i64) -> Vec<u8> {
    let mut bytes = vec![0x42];
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or(0);
        value >>= 7;
        if value == -1 && low & 0x40 != 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// `ref.null func`, `i32.const 10000`, `table.grow 0`, `i64.extend_i32_s`, `nop`: as long as the constant, and with a
/// number as its result like the constant, so that nothing around it has to move.
fn grow_instructions() -> Vec<u8> {
    vec![0xd0, 0x70, 0x41, 0x90, 0xce, 0x00, 0xfc, 0x0f, 0x00, 0xac, 0x01]
}

/// The constants that stand for filling a table.
fn fill_constants() -> Vec<u8> {
    [constant(FILL.0), vec![XOR], constant(FILL.1)].concat()
}

/// `i32.const 0`, `ref.null func`, `table.size 0`, `table.fill 0`; then what is left of the constants' own work: `i64.const 0`, `i64.xor`,
/// `i64.const 0`, and `nop` up to their length.
fn fill_instructions() -> Vec<u8> {
    let mut bytes = vec![
        0x41, 0x00, 0xd0, 0x70, 0xfc, 0x10, 0x00, 0xfc, 0x11, 0x00, 0x42, 0x00, XOR, 0x42, 0x00,
    ];
    bytes.resize(fill_constants().len(), 0x01);
    bytes
}

/// Every occurrence of some bytes replaced by others of the same length.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        match rest.strip_prefix(from) {
            Some(behind) => {
                result.extend_from_slice(to);
                rest = behind;
            }
            None => {
                result.push(*first);
                rest = after;
            }
        }
    }
    result
}
