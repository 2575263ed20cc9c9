//! What is installed: a snapshot of the loaded plugins and what they provide, replaced as a whole by whoever loads plugins.
//!
//! Operations read it to list tools and to say which capabilities of a sprite something performs. Not here: loading, trust and
//! calls.

use mizzen_model::manifest::Provides;
use mizzen_model::namespace::Namespace;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// One installed plugin.
#[derive(Debug, Clone)]
pub struct InstalledPlugin {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
    /// Everything there is to show: manifest, digest, signatures, trust decision, grants, limits, what it provides.
    pub document: Value,
}

/// One tool, skill, store or pack.
#[derive(Debug, Clone)]
pub struct Provided {
    /// What it is.
    pub kind: Provides,
    /// `namespace.name`.
    pub id: String,
    /// The version of the plugin that provides it.
    pub version: semver::Version,
    /// The plugin.
    pub plugin: String,
    /// Its description with schemas.
    pub document: Value,
}

/// A plugin that is installed and not loaded: what it would provide is not known, which namespaces it claims is.
#[derive(Debug, Clone)]
pub struct DisabledPlugin {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
    /// What it claims.
    pub namespaces: Vec<Namespace>,
}

/// Everything that is installed, at one moment.
#[derive(Debug, Clone, Default)]
pub struct Installed {
    /// The plugins, by name.
    pub plugins: BTreeMap<String, InstalledPlugin>,
    /// What they provide.
    pub provided: Vec<Provided>,
    /// Plugins that are installed and disabled.
    pub disabled: Vec<DisabledPlugin>,
    /// The hash of the load plan, once plugins are loaded.
    pub load_plan_hash: Option<String>,
    /// What keeps the loaded set from working; shown by the health check.
    pub problems: Vec<String>,
}

/// Holds the current [`Installed`].
#[derive(Debug, Default)]
pub struct Inventory {
    current: RwLock<Arc<Installed>>,
    reload_failures: AtomicU64,
}

/// Why nothing performs a capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// The capability.
    pub capability: String,
    /// What to install or to write.
    pub reason: String,
}

impl Inventory {
    /// What is installed now. Later changes do not change what was returned.
    pub fn installed(&self) -> Arc<Installed> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records that the set on disk was refused and the running one stays, with the reasons. The next [`Inventory::replace`] clears it.
    pub fn set_problems(&self, problems: Vec<String>) {
        self.reload_failures.fetch_add(1, Ordering::Relaxed);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(Installed {
            problems,
            ..Installed::clone(&current)
        });
    }

    /// How often the set on disk was refused.
    pub fn reload_failures(&self) -> u64 {
        self.reload_failures.load(Ordering::Relaxed)
    }

    /// Replaces everything at once.
    pub fn replace(&self, installed: Installed) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(installed);
    }
}

impl Installed {
    /// Finds what performs a capability: the tool or skill that its reference names, or the only one with the capability's
    /// name.
    pub fn resolve(
        &self,
        capability: &str,
        reference: Option<(&str, Option<&semver::VersionReq>)>,
    ) -> Result<&Provided, Unresolved> {
        let unresolved = |reason: String| Unresolved {
            capability: capability.to_owned(),
            reason,
        };
        let callable = || {
            self.provided
                .iter()
                .filter(|item| matches!(item.kind, Provides::Tool | Provides::Skill))
        };
        if let Some((id, versions)) = reference {
            let newest = callable()
                .filter(|item| {
                    item.id == id && versions.is_none_or(|versions| versions.matches(&item.version))
                })
                .max_by(|a, b| a.version.cmp_precedence(&b.version));
            return newest.ok_or_else(|| {
                if let Some(disabled) = self.disabled_reason(id) {
                    return unresolved(disabled);
                }
                let versions = versions.map_or_else(String::new, |versions| format!("@{versions}"));
                unresolved(format!(
                    "no installed plugin provides {id}{versions}; install one that does"
                ))
            });
        }
        let mut named: Vec<&Provided> = callable()
            .filter(|item| {
                item.id
                    .rsplit_once('.')
                    .is_some_and(|(_, name)| name == capability)
            })
            .collect();
        // Two versions of one tool are one tool: the newest serves.
        named.sort_by(|a, b| a.id.cmp(&b.id).then_with(|| b.version.cmp_precedence(&a.version)));
        named.dedup_by(|a, b| a.id == b.id);
        match named.as_slice() {
            [only] => Ok(only),
            [] => {
                let disabled: Vec<String> = self.disabled.iter().map(DisabledPlugin::id).collect();
                let disabled = match disabled.is_empty() {
                    true => String::new(),
                    false => format!(" (disabled: {})", disabled.join(", ")),
                };
                Err(unresolved(format!(
                    "no installed tool or skill is named {capability}{disabled}; install one, or name one with `tool`"
                )))
            }
            [first, second, ..] => Err(unresolved(format!(
                "several tools are named {capability} ({}, {}, …); say which one with `tool`",
                first.id, second.id
            ))),
        }
    }
}

impl Installed {
    /// Why a thing is missing that a disabled plugin may provide.
    pub(crate) fn disabled_reason(&self, id: &str) -> Option<String> {
        let DisabledPlugin { name, version, .. } = self.disabled_owner(id)?;
        Some(format!(
            "{id} is in a namespace of {name}@{version}, which is disabled; run `mizzen plugins enable {name}`"
        ))
    }

    /// The disabled plugin that claims the namespace of an id, in its newest version, unless a plugin that runs has things there.
    fn disabled_owner(&self, id: &str) -> Option<&DisabledPlugin> {
        if self.provided.iter().any(|item| item.id == id) {
            return None;
        }
        let claims =
            |plugin: &&DisabledPlugin| plugin.namespaces.iter().any(|claimed| claimed.contains_id(id));
        self.disabled
            .iter()
            .filter(claims)
            .max_by(|a, b| a.version.cmp_precedence(&b.version))
    }
}

impl DisabledPlugin {
    fn id(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provided(kind: Provides, id: &str, version: &str) -> Provided {
        Provided {
            kind,
            id: id.into(),
            version: semver::Version::parse(version).unwrap(),
            plugin: "p".into(),
            document: Value::Null,
        }
    }

    #[test]
    fn a_capability_is_performed_by_the_tool_it_names_or_the_only_one_of_its_name() {
        let installed = Installed {
            provided: vec![
                provided(Provides::Tool, "acme.dev.generate_code", "1.2.0"),
                provided(Provides::Tool, "acme.dev.generate_code", "1.10.0"),
                provided(Provides::Tool, "acme.dev.generate_code", "2.0.0"),
                provided(Provides::Skill, "acme.dev.review", "1.0.0"),
                provided(Provides::Tool, "other.review", "1.0.0"),
                provided(Provides::Pack, "acme.dev.govern", "1.0.0"),
            ],
            disabled: vec![DisabledPlugin {
                name: "feed".into(),
                version: semver::Version::new(0, 3, 0),
                namespaces: vec![Namespace::parse("acme.feed").unwrap()],
            }],
            ..Installed::default()
        };
        let one = semver::VersionReq::parse("^1").unwrap();
        let three = semver::VersionReq::parse("^3").unwrap();
        let check = |capability: &str, reference, expected: Result<(&str, &str), &str>| match (
            installed.resolve(capability, reference),
            expected,
        ) {
            (Ok(found), Ok((id, version))) => {
                assert_eq!(
                    (found.id.as_str(), found.version.to_string().as_str()),
                    (id, version)
                );
            }
            (Err(unresolved), Err(part)) => {
                assert!(unresolved.reason.contains(part), "{}", unresolved.reason)
            }
            (found, expected) => panic!("{capability}: {found:?}, expected {expected:?}"),
        };
        check(
            "x",
            Some(("acme.dev.generate_code", Some(&one))),
            Ok(("acme.dev.generate_code", "1.10.0")),
        );
        check(
            "x",
            Some(("acme.dev.generate_code", Some(&three))),
            Err("generate_code@^3"),
        );
        check(
            "x",
            Some(("acme.dev.generate_code", None)),
            Ok(("acme.dev.generate_code", "2.0.0")),
        );
        check("generate_code", None, Ok(("acme.dev.generate_code", "2.0.0")));
        check("review", None, Err("several tools"));
        check("govern", None, Err("no installed tool"));
        check("nothing", None, Err("install one"));
        // W18: what is disabled is not said to be missing.
        check(
            "x",
            Some(("acme.feed.parse_csv", None)),
            Err("feed@0.3.0, which is disabled; run `mizzen plugins enable feed`"),
        );
        check(
            "x",
            Some(("acme.feeds.parse_csv", None)),
            Err("no installed plugin"),
        );
        check("parse_csv", None, Err("(disabled: feed@0.3.0)"));
    }
}
