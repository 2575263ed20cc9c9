//! Lists the files that ship inside the binary: the SDK, the contract, the lock file and the templates.
//!
//! Everything is embedded under the path it has in this repository, so that relative paths between the parts hold
//! wherever they are unpacked.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = here.join("../..").canonicalize()?;
    let mut text = String::new();
    list(&mut text, "SDK", &root, &["sdk", "wit/v1"])?;
    list(
        &mut text,
        "TEMPLATES",
        &here.join("templates"),
        &["tool", "pack", "rules"],
    )?;
    list(&mut text, "LOCK", &root, &["Cargo.lock"])?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("embedded.rs"), text)?;
    Ok(())
}

fn list(text: &mut String, name: &str, root: &Path, parts: &[&str]) -> Result<(), Box<dyn Error>> {
    writeln!(text, "pub(crate) static {name}: &[(&str, &[u8])] = &[")?;
    for part in parts {
        let start = root.join(part);
        // Cargo looks into folders for changed files by itself.
        println!("cargo:rerun-if-changed={}", start.display());
        let mut files = Vec::new();
        walk(&start, &mut files)?;
        files.sort();
        for file in files {
            let relative = file
                .strip_prefix(root)?
                .to_str()
                .ok_or("a file name is not UTF-8")?;
            let absolute = file.to_str().ok_or("a file name is not UTF-8")?;
            writeln!(text, "    ({relative:?}, include_bytes!({absolute:?})),")?;
        }
    }
    writeln!(text, "];")?;
    Ok(())
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    if path.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        // Build output, hidden files and what only this repository's tests need stay behind.
        let left_out = name
            .to_str()
            .is_none_or(|name| name.starts_with('.') || matches!(name, "target" | "tests"));
        if !left_out {
            walk(&entry.path(), files)?;
        }
    }
    Ok(())
}
