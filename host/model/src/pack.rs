//! Bosun packs as they describe themselves, checked.

use crate::ir::{PackRequires, validate_pack_id};
use crate::record::choice;
use mizzen_json::shorten;
use semver::Version;
use serde::Serialize;

const MAX_DESCRIPTION: usize = 2_000;
const MAX_TEMPLATES: usize = 256;
const MAX_TEMPLATE_NAME: usize = 128;
const MAX_REQUIREMENT: usize = 64;

choice! {
    /// When a pack can be asked, in the order of a run; spelled so in `pack.toml`, in facts and in the journal.
    #[derive(PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Moment {
        /// Before anything of a run happens.
        BeforeRun = "before-run",
        /// Before a step, its input known.
        BeforeStep = "before-step",
        /// After a step that succeeded, its output known.
        AfterStep = "after-step",
        /// After a step that failed.
        OnError = "on-error",
        /// When the run has come to its end.
        AtEnd = "at-end",
    }
}

/// What a pack says of itself; everything still hostile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackDraft {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// What it governs.
    pub description: String,
    /// The vocabulary that it was written for.
    pub facts_version: Option<String>,
    /// The contract that it was written for.
    pub api_version: Option<String>,
    /// When it wants to be asked; empty for always.
    pub moments: Vec<Moment>,
    /// The templates that it reads.
    pub reads: Vec<String>,
    /// The templates that it asserts.
    pub writes: Vec<String>,
    /// Those of `writes` that others may see.
    pub shares: Vec<String>,
}

/// What a pack says of itself, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackDescriptor {
    id: String,
    version: Version,
    description: String,
    stargraph_facts_version: Option<String>,
    api_version: Option<String>,
    moments: Vec<Moment>,
    reads: Vec<String>,
    writes: Vec<String>,
    shares: Vec<String>,
}

impl PackDescriptor {
    /// Checks a description.
    ///
    /// # Errors
    /// With every problem it has, in words.
    pub fn check(draft: PackDraft) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        if let Err(error) = validate_pack_id(&draft.id) {
            problems.push(error.to_string());
        }
        let version = Version::parse(&draft.version);
        if let Err(error) = &version {
            problems.push(format!(
                "its version `{}` is not SemVer ({error})",
                shorten(&draft.version)
            ));
        }
        if draft.description.len() > MAX_DESCRIPTION {
            problems.push(format!("its description is longer than {MAX_DESCRIPTION} bytes"));
        }
        for required in [&draft.facts_version, &draft.api_version].into_iter().flatten() {
            if required.len() > MAX_REQUIREMENT {
                problems.push(format!("`{}` is not a version", shorten(required)));
            }
        }
        for (list, names) in [
            ("reads", &draft.reads),
            ("writes", &draft.writes),
            ("shares", &draft.shares),
        ] {
            if names.len() > MAX_TEMPLATES {
                problems.push(format!("`{list}` has more than {MAX_TEMPLATES} templates"));
            }
            for name in names.iter().take(MAX_TEMPLATES).filter(|name| !is_template(name)) {
                problems.push(format!(
                    "`{list}` has `{}`, which is no name of a template",
                    shorten(name)
                ));
            }
        }
        for name in draft.shares.iter().take(MAX_TEMPLATES) {
            if !draft.writes.contains(name) {
                problems.push(format!("it shares `{}`, which is not in `writes`", shorten(name)));
            }
        }
        for name in draft.writes.iter().take(MAX_TEMPLATES) {
            if crate::facts::is_host_template(name) || name.contains("::") {
                problems.push(format!(
                    "it writes `{}`, which is not its own template",
                    shorten(name)
                ));
            }
        }
        match version {
            Ok(version) if problems.is_empty() => {
                let mut moments = draft.moments;
                moments.sort();
                moments.dedup();
                if moments.is_empty() {
                    moments = Moment::ALL.to_vec();
                }
                Ok(Self {
                    id: draft.id,
                    version,
                    description: draft.description,
                    stargraph_facts_version: draft.facts_version,
                    api_version: draft.api_version,
                    moments,
                    reads: draft.reads,
                    writes: draft.writes,
                    shares: draft.shares,
                })
            }
            _ => Err(problems),
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its version.
    pub const fn version(&self) -> &Version {
        &self.version
    }

    /// What it governs.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Which host it needs, as a mount would say it.
    pub fn requires(&self) -> PackRequires {
        PackRequires {
            stargraph_facts_version: self.stargraph_facts_version.clone(),
            api_version: self.api_version.clone(),
        }
    }

    /// When it is asked.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Whether it wants to be asked now.
    pub fn wants(&self, moment: Moment) -> bool {
        self.moments.contains(&moment)
    }

    /// The templates that it reads.
    pub fn reads(&self) -> &[String] {
        &self.reads
    }

    /// The templates that it asserts; nobody else sees their facts.
    pub fn writes(&self) -> &[String] {
        &self.writes
    }

    /// Those of [`Self::writes`] whose facts later packs see as `ID::TEMPLATE`.
    pub fn shares(&self) -> &[String] {
        &self.shares
    }
}

/// A symbol that can stand for a template in a rule file.
fn is_template(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let rest = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':');
    first && name.len() <= MAX_TEMPLATE_NAME && name.bytes().all(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> PackDraft {
        PackDraft {
            id: "acme.night".into(),
            version: "1.2.0".into(),
            reads: vec!["step".into()],
            writes: vec!["late".into()],
            shares: vec!["late".into()],
            ..PackDraft::default()
        }
    }

    fn check(change: impl FnOnce(&mut PackDraft), wanted: Option<&str>) {
        let mut draft = draft();
        change(&mut draft);
        match (PackDescriptor::check(draft), wanted) {
            (Ok(_), None) => {}
            (Err(problems), Some(part)) => {
                assert!(problems.iter().any(|p| p.contains(part)), "{problems:?}");
            }
            (checked, wanted) => panic!("{checked:?}, wanted {wanted:?}"),
        }
    }

    #[test]
    fn a_description_is_checked_field_by_field() {
        check(|_| {}, None);
        check(|d| d.id = "../night".into(), Some("pack id"));
        check(|d| d.version = "one".into(), Some("not SemVer"));
        check(|d| d.description = "x".repeat(3_000), Some("longer than"));
        check(|d| d.reads = vec!["a b".into()], Some("no name of a template"));
        check(|d| d.writes = vec!["step".into()], Some("not its own"));
        check(|d| d.writes = vec!["other::late".into()], Some("not its own"));
        check(|d| d.shares = vec!["early".into()], Some("not in `writes`"));
        check(|d| d.api_version = Some("1".repeat(99)), Some("not a version"));
    }

    #[test]
    fn no_moments_are_all_moments() {
        let all = PackDescriptor::check(draft()).unwrap();
        assert_eq!(all.moments(), Moment::ALL);
        let some = PackDescriptor::check(PackDraft {
            moments: vec![Moment::AtEnd, Moment::OnError, Moment::AtEnd],
            ..draft()
        })
        .unwrap();
        assert_eq!(some.moments(), [Moment::OnError, Moment::AtEnd]);
        assert!(some.wants(Moment::AtEnd) && !some.wants(Moment::BeforeRun));
        assert!(
            Moment::ALL
                .iter()
                .all(|moment| Moment::parse(moment.as_str()) == Some(*moment))
        );
    }
}
