//! One file on its way to being a verified plugin. Every stage reports its problems and lets the next ones run, as
//! far as they can, so that an author sees all problems at once.

use super::{Sources, Terms};
use crate::component::{Need, Shape};
use crate::error::{LoadCode, PluginLoadError, Stage, Subject};
use crate::grants;
use crate::key::{KeyId, PublicKey};
use crate::package::{Package, PackageError};
use crate::signature::SignatureError;
use crate::trust::{Decision, Policy, UnixTime};
use crate::verified::{Judge, VerifiedPlugin};
use mizzen_model::manifest::{API_VERSION_PATH, Manifest, Provides};
use mizzen_model::namespace::Namespace;
use mizzen_model::permission::{Permission, PermissionSet};
use semver::Version;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct Candidate {
    file: PathBuf,
    pub(super) subject: Subject,
    pub(super) manifest: Option<Arc<Manifest>>,
    package: Option<Package>,
    signers: Option<Vec<PublicKey>>,
    decision: Option<Decision>,
    imports: Vec<String>,
    granted: PermissionSet,
    ceiling: mizzen_model::limits::Limits,
    warnings: Vec<String>,
    errors: Vec<PluginLoadError>,
}

impl Candidate {
    pub(super) fn read(file: &Path, terms: &Terms) -> Self {
        Self::of(file, Package::read(file, terms.max_package), terms)
    }

    pub(super) fn parse(file: &Path, bytes: Vec<u8>, terms: &Terms) -> Self {
        Self::of(file, Package::parse(bytes), terms)
    }

    fn of(file: &Path, package: Result<Package, PackageError>, terms: &Terms) -> Self {
        let mut candidate = Self {
            file: file.to_owned(),
            subject: Subject::of_file(file),
            manifest: None,
            package: None,
            signers: None,
            decision: None,
            imports: Vec::new(),
            granted: PermissionSet::default(),
            ceiling: terms.ceiling,
            warnings: Vec::new(),
            errors: Vec::new(),
        };
        match package {
            Ok(package) => {
                candidate.read_manifest(&package);
                candidate.check_signatures(&package);
                candidate.check_component(&package, terms);
                candidate.package = Some(package);
            }
            Err(PackageError::File(error)) => {
                let help = "check the path and the file's mode; packages above the size limit are not read";
                candidate.fail(Stage::Read, LoadCode::Unreadable, error.to_string(), help);
            }
            Err(error) => {
                let help =
                    "build the package again with `mizzen plugin build`, or get it again from where it came";
                candidate.fail(Stage::Read, LoadCode::Package, error.to_string(), help);
            }
        }
        candidate
    }

    fn fail(&mut self, stage: Stage, code: LoadCode, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(self.subject.error(stage, code, message, help));
    }

    fn read_manifest(&mut self, package: &Package) {
        match Manifest::parse(package.manifest_text()) {
            Ok(manifest) => {
                self.subject.plugin = Some(format!("{}@{}", manifest.name(), manifest.version()));
                self.manifest = Some(Arc::new(manifest));
            }
            Err(problems) => {
                for problem in problems.problems {
                    let (stage, code) = if problem.path == API_VERSION_PATH {
                        (Stage::ApiVersion, LoadCode::ApiVersion)
                    } else {
                        (Stage::Manifest, LoadCode::Manifest)
                    };
                    let place = problem.position.map_or_else(
                        || "plugin.toml".to_owned(),
                        |at| format!("plugin.toml, line {}, column {}", at.line, at.column),
                    );
                    let message = if problem.path.is_empty() {
                        format!("{place}: {}", problem.message)
                    } else {
                        format!("{place}: {}: {}", problem.path, problem.message)
                    };
                    self.fail(stage, code, message, problem.help);
                }
            }
        }
    }

    fn check_signatures(&mut self, package: &Package) {
        match package.verify() {
            Ok(signers) => self.signers = Some(signers),
            Err(error) => {
                let help = match &error {
                    SignatureError::Unsigned => {
                        "get the package that its author signed; if it is yours, run `mizzen plugin sign FILE --key NAME`"
                    }
                    SignatureError::Twice { .. } => "build and sign the package again",
                    // A new signature would vouch for bytes that the author never signed.
                    _ => "do not use the file; get it again from its author",
                };
                self.fail(Stage::Signature, LoadCode::Signature, error.to_string(), help);
            }
        }
    }

    fn check_component(&mut self, package: &Package, terms: &Terms) {
        let shape = match Shape::read(package.component()) {
            Ok(shape) => shape,
            Err(error) => {
                let help = "build the package again with `mizzen plugin build`";
                return self.fail(Stage::Imports, LoadCode::Component, error.to_string(), help);
            }
        };
        if let Some(manifest) = self.manifest.clone() {
            self.granted = terms.grants.to_plugin(&manifest);
            self.check_imports(&shape, &manifest);
            self.check_provides(&shape, &manifest);
        }
        self.imports = shape.imports.into_iter().map(|import| import.name).collect();
    }

    fn check_imports(&mut self, shape: &Shape, manifest: &Manifest) {
        let declared = manifest.permission_set();
        let is_pack = shape.provides().0.contains(&Provides::Pack);
        let (mut without_grant, mut missing): (Vec<&str>, Vec<Permission>) = (Vec::new(), Vec::new());
        for import in &shape.imports {
            match import.need() {
                Need::Nothing => {}
                Need::Refused { reason } => {
                    let message = format!(
                        "the component imports {}, which this host does not offer",
                        mizzen_json::shorten(&import.name)
                    );
                    self.fail(Stage::Imports, LoadCode::ImportNotPermitted, message, reason);
                }
                Need::Permission { .. } if is_pack => {
                    let message = format!("the component exports a pack and imports {}", import.name);
                    let help = "a pack sees facts and the log and nothing else; move the rest into a plugin of its own";
                    self.fail(Stage::Imports, LoadCode::ImportNotPermitted, message, help);
                }
                Need::Permission { kind, examples } if declared.of_kind(kind).is_empty() => {
                    let message = format!(
                        "the component imports {}, which no declared permission covers",
                        import.name
                    );
                    let which = match examples {
                        [_] => "",
                        _ => " (those that it uses)",
                    };
                    let lines: String = examples
                        .iter()
                        .map(|example| format!("\n\"{example}\" = \"why this plugin needs it\""))
                        .collect();
                    let help = format!("add to plugin.toml{which}:\n[permissions]{lines}");
                    self.fail(Stage::Imports, LoadCode::ImportNotPermitted, message, help);
                }
                Need::Permission { kind, .. } => {
                    if !declared.overlaps(&self.granted, kind) {
                        without_grant.push(&import.name);
                        missing.extend(declared.of_kind(kind).iter().cloned());
                    }
                }
            }
        }
        // One problem with one command, however many imports it is about: three snippets of one table cannot be pasted.
        if !without_grant.is_empty() {
            let message = format!(
                "the component imports {}, and nothing that it needs for that is granted",
                without_grant.join(", ")
            );
            let help = format!(
                "if you agree, run: {}",
                grants::command(manifest.name(), &missing)
            );
            self.fail(Stage::Imports, LoadCode::PermissionNotGranted, message, help);
        }
        for clamped in manifest.limits().clamped(self.ceiling) {
            self.warnings.push(clamped.to_string());
        }
        for permission in declared.iter() {
            if !self.granted.covers(permission) {
                self.warnings.push(format!(
                    "`{permission}` is declared, but not granted in full: calls that need it will be denied"
                ));
            }
        }
    }

    fn check_provides(&mut self, shape: &Shape, manifest: &Manifest) {
        let (exported, unknown) = shape.provides();
        for name in unknown {
            let message = format!(
                "the component exports {name}, which the contract does not have in a version that this host offers"
            );
            self.fail(
                Stage::Provides,
                LoadCode::ProvidesMismatch,
                message,
                "build it with the SDK of this host's contract, 1.0",
            );
        }
        for kind in manifest.provides().difference(&exported) {
            let message = format!(
                "plugin.toml declares that it provides `{kind}`, and the component does not export mizzen:plugin/{kind}"
            );
            self.fail(
                Stage::Provides,
                LoadCode::ProvidesMismatch,
                message,
                format!("remove \"{kind}\" from `provides`, or export it"),
            );
        }
        for kind in exported.difference(manifest.provides()) {
            let message = format!(
                "the component exports mizzen:plugin/{kind}, and plugin.toml does not declare that it provides `{kind}`"
            );
            self.fail(
                Stage::Provides,
                LoadCode::ProvidesMismatch,
                message,
                format!("add \"{kind}\" to `provides`"),
            );
        }
    }

    /// The trust stage, for packages whose signatures hold. Returns what `tofu` would pin.
    pub(super) fn decide(&mut self, policy: &Policy, terms: &Terms) -> Vec<(Namespace, KeyId)> {
        let (Some(manifest), Some(package), Some(signers)) = (&self.manifest, &self.package, &self.signers)
        else {
            return Vec::new();
        };
        match policy.decide(manifest.namespaces(), signers, &package.digest(), terms.now) {
            Ok(decision) => {
                let pins = decision.new_pins.clone();
                self.decision = Some(decision);
                pins
            }
            Err(refusals) => {
                for refusal in refusals {
                    self.fail(
                        Stage::Trust,
                        refusal.kind.code(),
                        format!("refused: {}", refusal.message),
                        refusal.help,
                    );
                }
                Vec::new()
            }
        }
    }

    pub(super) fn is_disabled(&self, sources: &Sources) -> bool {
        self.manifest
            .as_ref()
            .is_some_and(|manifest| sources.is_disabled(manifest.name(), manifest.version()))
    }

    pub(super) fn sort_key(&self) -> (Option<(&str, &Version)>, &Path) {
        (
            self.manifest
                .as_ref()
                .map(|manifest| (manifest.name().as_str(), manifest.version())),
            &self.file,
        )
    }

    /// `policy` is the one that the whole set was decided by: with what the set itself pins.
    pub(super) fn finish(
        self,
        policy: &Arc<Policy>,
        now: UnixTime,
    ) -> Result<VerifiedPlugin, Vec<PluginLoadError>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let incomplete = self.subject.error(
            Stage::Trust,
            LoadCode::UntrustedKey,
            "the package did not pass every stage",
            "this is a fault of the host; report it",
        );
        let parts = (self.manifest, self.package, self.signers, self.decision);
        let (Some(manifest), Some(package), Some(signers), Some(decision)) = parts else {
            return Err(vec![incomplete]);
        };
        Ok(VerifiedPlugin {
            file: self.file,
            component: Arc::clone(package.unsigned()),
            digest: package.digest(),
            signers: signers.iter().map(PublicKey::id).collect(),
            decision,
            judge: Judge {
                policy: Arc::clone(policy),
                signers,
                now,
            },
            declared: Arc::new(manifest.permission_set()),
            granted: Arc::new(self.granted),
            manifest,
            ceiling: self.ceiling,
            imports: self.imports,
            warnings: self.warnings,
        })
    }
}
