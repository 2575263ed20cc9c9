//! `mizzen plugin inspect FILE`.

use crate::output;
use mizzen_catalog::component::{Need, Shape};
use mizzen_catalog::package::{MAX_PACKAGE, Package};
use mizzen_model::limits::Limits;
use mizzen_model::manifest::Manifest;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugin inspect dist/text-0.1.0.wasm

It shows what the file says; nothing of it is trusted. `plugin check` and `plugin verify` decide.")]
pub(crate) struct Inspect {
    /// The package
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let package = Package::read(&self.file, MAX_PACKAGE)?;
        let manifest = Manifest::parse(package.manifest_text());
        let shape = Shape::read(package.component());
        let verified = package.verify();
        if self.json {
            let signatures: Vec<_> = package
                .signatures()
                .iter()
                .map(|block| block.claimed_key())
                .collect();
            output::json(&json!({
                "file": self.file,
                "digest": package.digest(),
                "component_bytes": package.component().len(),
                "signatures": signatures,
                "signatures_hold": verified.is_ok(),
                "signature_problem": verified.err().map(|error| error.to_string()),
                "manifest": manifest.as_ref().ok(),
                "manifest_problems": manifest.as_ref().err().map(|problems| &problems.problems),
                "imports": shape.as_ref().ok().map(|shape| &shape.imports),
                "exports": shape.as_ref().ok().map(|shape| &shape.exports),
                "component_problem": shape.as_ref().err().map(ToString::to_string),
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        println!("file        {}", self.file.display());
        println!("digest      {}", package.digest());
        println!("component   {} bytes", package.component().len());
        match &manifest {
            Ok(manifest) => print_manifest(manifest),
            Err(problems) => println!("manifest    not valid:\n{}", output::harmless(&problems)),
        }
        match &shape {
            Ok(shape) => print_shape(shape),
            Err(error) => println!("component   not readable: {}", output::harmless(&error)),
        }
        for block in package.signatures() {
            println!("signature   {}", block.claimed_key());
        }
        match verified {
            Ok(_) => println!("signatures  all hold; whether to trust their keys is another question"),
            Err(error) => println!("signatures  DO NOT HOLD: {}", output::harmless(&error)),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_manifest(manifest: &Manifest) {
    println!("plugin      {}@{}", manifest.name(), manifest.version());
    for namespace in manifest.namespaces() {
        println!("namespace   {namespace}");
    }
    for kind in manifest.provides() {
        println!("provides    {kind}");
    }
    println!("order       {}", manifest.order());
    for (permission, reason) in manifest.permissions() {
        println!(
            "permission  {permission}  ({})",
            mizzen_model::namespace::shorten(reason)
        );
    }
    let limits = manifest.limits().or(Limits::DEFAULT);
    println!(
        "limits      memory {}, cpu {}, wall clock {}, input {}, output {}, {} host calls, log {}",
        limits.memory,
        limits.cpu,
        limits.wall_clock,
        limits.input,
        limits.output,
        limits.host_calls,
        limits.log
    );
}

fn print_shape(shape: &Shape) {
    for import in &shape.imports {
        let name = mizzen_model::namespace::shorten(&import.name);
        match import.need() {
            Need::Nothing => println!("import      {name}"),
            Need::Permission { example, .. } => println!("import      {name}  (takes {example})"),
            Need::Refused { reason } => println!("import      {name}  (refused: {reason})"),
        }
    }
    for export in &shape.exports {
        println!("export      {}", mizzen_model::namespace::shorten(export));
    }
}
