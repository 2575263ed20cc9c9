//! Rule packs: `pack.toml` and `rules.clp`, from their folder to a signed package. No compiler is needed: the rule engine
//! ships in the binary and reads the rules when the pack is built.
//!
//! Starting the engine takes a sandbox, which this crate does not have: [`PackProject::configuration`] is what it is
//! started with, and [`PackProject::package`] takes the resulting component.

mod engine;
mod new_pack;

pub use engine::{RULE_ENGINE, RULES_SECTION};
pub use new_pack::new_pack;

use crate::BuildError;
use crate::build_plugin::{BuiltPlugin, write_package};
use mizzen_catalog::files;
use mizzen_catalog::key::SecretKey;
use mizzen_model::facts::{FACTS_VERSION, VOCABULARY, carried_out_at, published_at};
use mizzen_model::ir::validate_pack_id;
use mizzen_model::manifest::{MAX_MANIFEST, Manifest};
use mizzen_model::pack::Moment;
use mizzen_rules::RuleError;
use mizzen_rules::pack::{Occasion, Ruleset, Source};
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The file that makes a folder a rule pack.
pub const PACK_TOML: &str = "pack.toml";
/// The largest rule file.
const MAX_RULES: u64 = 1024 * 1024;

/// A rule pack's folder, read and checked.
#[derive(Debug)]
pub struct PackProject {
    folder: PathBuf,
    manifest_text: String,
    manifest: Manifest,
    pack: PackTable,
    rules_path: PathBuf,
    rules: String,
}

/// `[pack]` of `pack.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackTable {
    /// The pack's id; the first namespace when left out.
    id: Option<String>,
    description: String,
    #[serde(default)]
    moments: Vec<String>,
    #[serde(default = "facts_version")]
    facts_version: String,
    #[serde(default)]
    shares: Vec<String>,
    #[serde(default = "rules_file")]
    rules: String,
}

fn facts_version() -> String {
    FACTS_VERSION.to_owned()
}

fn rules_file() -> String {
    "rules.clp".to_owned()
}

/// Why a folder cannot be built as a rule pack.
#[derive(Debug, thiserror::Error)]
pub enum PackProjectError {
    /// A file is missing, refused or cannot be written.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// `pack.toml` is refused.
    #[error("{} is refused: {problem}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The rules are refused.
    #[error("{}", lines(path, errors))]
    Rules {
        /// The rule file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong with it, and where; at least one mistake.
        errors: Vec<RuleError>,
    },
}

fn lines(path: &Path, errors: &[RuleError]) -> String {
    let lines: Vec<String> = errors
        .iter()
        .map(|error| format!("{}:{error}", path.display()))
        .collect();
    lines.join("\n")
}

impl PackProject {
    /// Whether a folder holds a rule pack.
    pub fn is_one(folder: &Path) -> bool {
        folder.join(PACK_TOML).is_file()
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// When a file is missing or refused, the rules included.
    pub fn open(folder: &Path) -> Result<Self, PackProjectError> {
        let path = folder.join(PACK_TOML);
        if !path.is_file() {
            return Err(PackProjectError::Toml {
                path,
                problem: "there is no such file; make a pack with `mizzen pack new NAME`".to_owned(),
            });
        }
        let text = files::read_text(&path, MAX_MANIFEST as u64).map_err(BuildError::from)?;
        let refused = |problem: String| PackProjectError::Toml {
            path: path.clone(),
            problem,
        };
        let (manifest_text, pack) = split(&text).map_err(refused)?;
        let manifest =
            Manifest::parse(&manifest_text).map_err(|problems| refused(format!("\n{problems}")))?;
        if let Some(unknown) = pack.moments.iter().find(|text| Moment::parse(text).is_none()) {
            let known: Vec<&str> = Moment::ALL.iter().map(|moment| moment.as_str()).collect();
            return Err(refused(format!(
                "there is no moment `{}`; there are {}",
                unknown.escape_debug(),
                known.join(", ")
            )));
        }
        check_identity(&manifest, &pack).map_err(refused)?;
        // A file name inside of the folder, not a path out of it.
        if pack.rules.is_empty() || pack.rules.contains(['/', '\\']) || pack.rules.starts_with('.') {
            return Err(refused("`rules` names a file beside pack.toml".to_owned()));
        }
        let rules_path = folder.join(&pack.rules);
        let rules = files::read_text(&rules_path, MAX_RULES).map_err(BuildError::from)?;
        let project = Self {
            folder: folder.to_owned(),
            manifest_text,
            manifest,
            pack,
            rules_path,
            rules,
        };
        let idle = project.ruleset()?.idle_rules(&project.occasions());
        match idle.is_empty() {
            true => Ok(project),
            false => Err(project.refused(idle)),
        }
    }

    /// Every moment with what is there then, as far as rules depend on it.
    fn occasions(&self) -> Vec<Occasion<'static>> {
        let occasion = |moment: Moment| Occasion {
            name: moment.as_str(),
            is_asked: self.pack.moments.is_empty()
                || self.pack.moments.iter().any(|name| name == moment.as_str()),
            facts: published_at(moment).collect(),
            actions: carried_out_at(moment),
        };
        Moment::ALL.into_iter().map(occasion).collect()
    }

    fn refused(&self, errors: Vec<RuleError>) -> PackProjectError {
        PackProjectError::Rules {
            path: self.rules_path.clone(),
            text: self.rules.clone(),
            errors,
        }
    }

    /// The rules, parsed.
    ///
    /// # Errors
    /// With the first mistake of every construct of the rule file.
    pub fn ruleset(&self) -> Result<Ruleset, PackProjectError> {
        let source = Source {
            id: self.id(),
            rules: &self.rules,
            vocabulary: VOCABULARY,
            shares: &self.pack.shares,
        };
        Ruleset::parse_all(source).map_err(|errors| self.refused(errors))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The rule file's text.
    pub fn rules(&self) -> &str {
        &self.rules
    }

    /// The manifest that the package carries.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The pack's id.
    pub fn id(&self) -> &str {
        let namespace = self.manifest.namespaces().first();
        self.pack
            .id
            .as_deref()
            .or_else(|| namespace.map(mizzen_model::namespace::Namespace::as_str))
            .unwrap_or_default()
    }

    /// When the pack is asked; empty for always.
    pub fn moments(&self) -> &[String] {
        &self.pack.moments
    }

    /// What the rule engine is to be started with.
    pub fn configuration(&self) -> String {
        json!({
            "id": self.id(),
            "version": self.manifest.version(),
            "description": self.pack.description,
            "facts_version": self.pack.facts_version,
            "moments": self.pack.moments,
            "shares": self.pack.shares,
            "vocabulary": VOCABULARY,
            "rules": self.rules,
        })
        .to_string()
    }

    /// Packages and signs the configured engine as `dist/NAME-VERSION.wasm`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn package(
        &self,
        component: &[u8],
        key: &SecretKey,
        output_folder: Option<&Path>,
    ) -> Result<BuiltPlugin, BuildError> {
        let name = format!("{}-{}.wasm", self.manifest.name(), self.manifest.version());
        let path = match output_folder {
            Some(folder) => folder.join(name),
            None => self.folder.join("dist").join(name),
        };
        write_package(component, &self.manifest_text, path, key)
    }
}

/// Refuses what a host would refuse when it loads or mounts the pack: here the author can correct it.
fn check_identity(manifest: &Manifest, pack: &PackTable) -> Result<(), String> {
    if pack.facts_version != FACTS_VERSION {
        return Err(format!(
            "facts_version is {:?}, and the rules are read with the facts {FACTS_VERSION:?} of this mizzen: write that, or use a \
             mizzen that has the others",
            pack.facts_version
        ));
    }
    let Some(id) = &pack.id else { return Ok(()) };
    validate_pack_id(id).map_err(|error| error.to_string())?;
    let namespaces = manifest.namespaces();
    if !namespaces.iter().any(|namespace| namespace.contains_id(id)) {
        let claimed: Vec<&str> = namespaces.iter().map(|namespace| namespace.as_str()).collect();
        return Err(format!(
            "the id {id:?} is outside of the namespaces that the plugin claims ({}): claim its namespace, or leave `id` out",
            claimed.join(", ")
        ));
    }
    Ok(())
}

/// `pack.toml` is a `plugin.toml` with a table `[pack]`: the table is removed, the rest is the manifest.
fn split(text: &str) -> Result<(String, PackTable), String> {
    let mut document: toml_edit::DocumentMut = text.parse().map_err(|error| format!("\n{error}"))?;
    let Some(table) = document.remove("pack") else {
        return Err("it has no [pack] table; write one with a description".to_owned());
    };
    let table = table
        .into_table()
        .map_err(|_| "`pack` is a table: write [pack]".to_owned())?;
    // Alone it is a document of its own.
    let alone = toml_edit::DocumentMut::from(table).to_string();
    let pack: PackTable =
        toml::from_str(&alone).map_err(|error| format!("in [pack], {}", error.message()))?;
    if let Some(plugin) = document.get_mut("plugin").and_then(|item| item.as_table_mut()) {
        let provides = plugin
            .entry("provides")
            .or_insert(toml_edit::value(toml_edit::Array::from_iter(["pack"])));
        let only = provides
            .as_array()
            .is_some_and(|array| array.len() == 1 && array.get(0).and_then(|v| v.as_str()) == Some("pack"));
        if !only {
            return Err("a rule pack provides a pack and nothing else: leave `provides` out".to_owned());
        }
    }
    Ok((document.to_string(), pack))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "[plugin]\nname = \"night\"\nversion = \"0.1.0\"\napi_version = \"1\"\nnamespaces = [\"acme.night\"]\n\n[pack]\ndescription = \"d\"\n";

    fn open(toml: &str, rules: &str) -> Result<PackProject, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("pack.toml"), toml).unwrap();
        std::fs::write(folder.path().join("rules.clp"), rules).unwrap();
        PackProject::open(folder.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_pack_toml_is_a_plugin_toml_with_a_table_more() {
        let project = open(TOML, "").unwrap();
        assert_eq!(project.id(), "acme.night");
        assert!(!project.manifest_text.contains("[pack]"));
        assert!(project.manifest_text.contains("provides = [\"pack\"]"));
        assert!(project.configuration().contains("deftemplate tool-result"));
    }

    /// T3: a redaction asked for at after-step, in a pack that is asked before steps, was built, mounted and did nothing.
    #[test]
    fn a_rule_that_can_never_act_at_the_packs_moments_is_refused() {
        let redact = "(defrule hide (evidence (subject output) (pointer ?p)) => \
            (assert (decision (action redact) (pointer ?p) (reason \"r\"))))";
        let moments = |names: &str| format!("{TOML}moments = [{names}]\n");
        let refused = |names: &str, rules: &str, parts: &[&str]| {
            let problem = open(&moments(names), rules).unwrap_err();
            for part in parts {
                assert!(problem.contains(part), "{part}: {problem}");
            }
        };
        let before = "\"before-step\"";
        refused(
            before,
            redact,
            &[
                "rules.clp:1:10",
                "rule hide can never fire",
                "(subject output)",
                "after-step, on-error",
                "asked at before-step",
            ],
        );
        assert!(open(&moments("\"before-step\", \"after-step\""), redact).is_ok());
        assert!(open(TOML, redact).is_ok());

        // Named moments, also among alternatives, and what is there only at others.
        let veto =
            |left: &str| format!("(defrule r {left} => (assert (decision (action veto) (reason \"r\"))))");
        for left in [
            "(moment (name at-end))",
            "(moment (name at-end|on-error))",
            "(moment (name ?n&~before-step))",
            "(moment (name ?n&:(eq ?n at-end)))",
            "(exists (tool-result))",
            "(and (run) (or (gate) (cancel)))",
            "(error)",
            "(tokens-used)",
        ] {
            refused(before, &veto(left), &["rule r can never fire"]);
        }
        // What may be there, and what must not be, keeps no rule from firing.
        for left in [
            "(not (tool-result))",
            "(moment (name before-step|at-end))",
            "(or (gate) (run))",
            "(severity 5)",
            "(evidence)",
            "(nested-call)",
            "",
        ] {
            assert!(open(&moments(before), &veto(left)).is_ok(), "{left}");
        }
        refused(
            "\"after-step\", \"at-end\"",
            &veto("(tool-result) (gate)"),
            &["not there together"],
        );

        // What only rules can make is there when one of them can fire.
        let found = "(deftemplate found (slot what (type SYMBOL)))";
        let by = |left: &str| format!("{found}(defrule by {left} => (assert (found (what card))))");
        let use_it = veto("(found (what card))");
        assert!(open(&moments(before), &format!("{}{use_it}", by("(step)"))).is_ok());
        refused(
            before,
            &format!("{}{use_it}", by("(gate)")),
            &["rule by can never fire", "rule r can never fire"],
        );
        refused(
            before,
            &format!("{found}{use_it}"),
            &["nothing makes a fact that matches (found (what card))"],
        );
        refused(
            before,
            &format!("{}{}", by("(step)"), veto("(found (what phone))")),
            &["nothing makes"],
        );
        assert!(
            open(
                &moments(before),
                &format!("{found}(deffacts f (found (what card))){use_it}")
            )
            .is_ok()
        );

        // Decisions without an effect.
        let decide = |action: &str| {
            format!("(defrule d (run) => (assert (decision (action {action}) (reason \"r\"))))")
        };
        refused(
            "\"before-run\", \"at-end\"",
            &decide("redact"),
            &[
                "can ask for `redact` only at before-run, at-end",
                "before-step, after-step, on-error",
            ],
        );
        refused(
            before,
            &decide("retry"),
            &["`retry`", "carried out at after-step, on-error"],
        );
        for action in ["veto", "escalate", "annotate"] {
            assert!(open(&moments("\"at-end\""), &decide(action)).is_ok(), "{action}");
        }
    }

    #[test]
    fn the_first_partys_packs_can_act() {
        let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        let mut packs = 0;
        for entry in std::fs::read_dir(plugins).unwrap() {
            let folder = entry.unwrap().path();
            if PackProject::is_one(&folder) {
                packs += 1;
                PackProject::open(&folder).unwrap();
            }
        }
        assert!(packs >= 4, "{packs}");
    }

    #[test]
    fn every_mistake_of_the_rules_is_reported() {
        let rules = "(deftemplate odd (slot a (type COLOUR)))
            (defrule uses-it (odd (a 1)) => (assert (x)))
            (defrule one (b) => (printout t x))
            (defrule fine (b) => (assert (c)))
            (defrule two (b) => (assert (c ?nothing)))";
        let problem = open(TOML, rules).unwrap_err();
        let lines: Vec<&str> = problem.lines().collect();
        assert_eq!(lines.len(), 3, "{problem}");
        for (line, part) in lines.iter().zip(["rules.clp:1:", "rules.clp:3:", "rules.clp:5:"]) {
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn problems_are_reported_with_their_place() {
        let check = |toml: &str, rules: &str, part: &str| {
            let problem = open(toml, rules).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        };
        check(TOML, "(defrule a (b) => (printout t x))", "rules.clp:1:20");
        check(TOML, "(deftemplate step (slot a))", "exists already");
        check(TOML, "(deftemplate acme.night::x (slot a))", "is the pack's own");
        check("[plugin]\n", "", "no [pack] table");
        check(&format!("{TOML}moments = [\"now\"]\n"), "", "no moment `now`");
        check(&format!("{TOML}colour = 1\n"), "", "colour");
        check(&format!("{TOML}shares = [\"x\"]\n"), "", "shares x");
        check(&format!("{TOML}rules = \"../x\"\n"), "", "beside pack.toml");
        check(&format!("{TOML}facts_version = \"2.0\"\n"), "", "of this mizzen");
        check(&format!("{TOML}id = \"../x\"\n"), "", "pack id");
        check(
            &format!("{TOML}id = \"acme.day\"\n"),
            "",
            "outside of the namespaces",
        );
        check(
            &format!("{TOML}id = \"acme.nights\"\n"),
            "",
            "outside of the namespaces",
        );
        assert!(open(&format!("{TOML}id = \"acme.night.late\"\n"), "").is_ok());
        check(
            &TOML.replace("api_version", "provides = [\"tool\"]\napi_version"),
            "",
            "leave `provides` out",
        );
        check(&TOML.replace("0.1.0", "one"), "", "version");
    }
}
