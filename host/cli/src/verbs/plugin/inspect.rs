//! `mizzen plugin inspect FILE`.

use super::provided::{self, Provided};
use crate::home::Home;
use crate::output;
use crate::workbench::Workbench;
use anyhow::Result;
use mizzen_catalog::component::{Import, Need, Shape};
use mizzen_catalog::key::PublicKey;
use mizzen_catalog::package::{MAX_PACKAGE, Package};
use mizzen_catalog::trust::TrustedKey;
use mizzen_model::limits::Limits;
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::NamespacePattern;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugin inspect dist/text-0.1.0.wasm
  mizzen plugin inspect dist/text-0.1.0.wasm --schema

It shows what the file states; nothing of it is trusted. `plugin check` and `plugin verify` decide.
To list its tools, a package whose signatures hold is started once in the sandbox, with no authority
at all, and asked to describe itself.")]
pub(crate) struct Inspect {
    /// The package
    file: PathBuf,
    /// Print the schemas of its tools too
    #[arg(long)]
    schema: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(super) fn run(self, home: &Home) -> Result<ExitCode> {
        let package = Package::read(&self.file, MAX_PACKAGE)?;
        let manifest = Manifest::parse(package.manifest_text());
        let shape = Shape::read(package.component());
        let verified = package.verify();
        let described = match &verified {
            Ok(signers) => describe(&self.file, signers, home)?,
            Err(_) => Err("its signatures do not hold".to_owned()),
        };
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
                "provided": described.as_ref().ok().map(|items| provided::json(items)),
                "provided_problem": described.as_ref().err(),
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
        match &described {
            Ok(items) => provided::print(items, self.schema),
            Err(problem) => println!("provided    not shown: {}", output::harmless(problem)),
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

/// What the package provides, as it describes itself in a sandbox without authority: its own signers are trusted for this one look,
/// every other check is a host's. The inner error says why it cannot be asked.
fn describe(file: &Path, signers: &[PublicKey], home: &Home) -> Result<Result<Vec<Provided>, String>> {
    let mut terms = home.author_terms()?;
    for signer in signers {
        terms
            .policy
            .store
            .keys
            .entry(signer.id())
            .or_insert_with(|| TrustedKey {
                public_key: signer.clone(),
                comment: String::new(),
                not_before: None,
                not_after: None,
                namespaces: vec![NamespacePattern::Any],
            });
    }
    let bench = Workbench::look(vec![file.to_owned()], &terms, home)?;
    Ok(bench
        .map(|bench| bench.loaded().installed().provided)
        .map_err(|failure| failure.to_string()))
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
        println!("permission  {permission}  ({})", mizzen_json::shorten(reason));
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
    for clamped in manifest.limits().clamped(Limits::CEILING) {
        println!("warning     {clamped}");
    }
}

fn print_shape(shape: &Shape) {
    let (wasi, contract): (Vec<&Import>, Vec<&Import>) = shape
        .imports
        .iter()
        .partition(|import| import.name.starts_with("wasi:") && matches!(import.need(), Need::Nothing));
    if !wasi.is_empty() {
        println!(
            "import      {} of WASI, answered by closed implementations",
            wasi.len()
        );
    }
    for import in contract {
        let name = mizzen_json::shorten(&import.name);
        match import.need() {
            Need::Nothing => println!("import      {name}"),
            Need::Permission { examples, .. } => {
                println!("import      {name}  (takes {})", examples.join(" or "));
            }
            Need::Refused { reason } => println!("import      {name}  (refused: {reason})"),
        }
    }
    for export in &shape.exports {
        println!("export      {}", mizzen_json::shorten(export));
    }
}
