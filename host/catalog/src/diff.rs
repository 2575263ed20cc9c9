//! What an upgrade changes: the permissions that a plugin asks for, its limits, and the namespaces that it claims.

mod limits;

pub use limits::{LimitChange, LimitsDiff};

use mizzen_json::steers_a_terminal;
use mizzen_model::limits::Limits;
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::Namespace;
use mizzen_model::permission::{Permission, PermissionSet};
use semver::Version;
use serde::Serialize;
use std::fmt;

/// Everything that an operator should look at before a version takes the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UpgradeDiff {
    /// The version that it is compared with; none for a first install.
    #[serde(skip)]
    pub from: Option<Version>,
    /// The version that is new.
    #[serde(skip)]
    pub to: Version,
    /// What it asks for.
    pub permissions: PermissionDiff,
    /// Its limits.
    pub limits: LimitsDiff,
    /// What it claims.
    pub namespaces: NamespaceDiff,
}

/// The namespaces that an upgrade claims, or drops.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NamespaceDiff {
    /// Claimed by the new version only.
    pub added: Vec<Namespace>,
    /// Claimed by the old version only.
    pub removed: Vec<Namespace>,
}

impl UpgradeDiff {
    /// From nothing, or from an installed version, to a new one.
    pub fn between(old: Option<&Manifest>, new: &Manifest, ceiling: Limits) -> Self {
        let claimed = old.map(Manifest::namespaces).unwrap_or_default();
        let only = |of: &[Namespace], other: &[Namespace]| -> Vec<Namespace> {
            of.iter().filter(|one| !other.contains(one)).cloned().collect()
        };
        Self {
            from: old.map(|old| old.version().clone()),
            to: new.version().clone(),
            permissions: PermissionDiff::between(old, new),
            limits: LimitsDiff::between(old, new, ceiling),
            namespaces: NamespaceDiff {
                added: only(new.namespaces(), claimed),
                removed: only(claimed, new.namespaces()),
            },
        }
    }
}

/// The permissions, then whatever else changes, each on a line of its own.
impl fmt::Display for UpgradeDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.permissions)?;
        for (sign, limits) in [('+', &self.limits.raised), ('-', &self.limits.lowered)] {
            limits
                .iter()
                .try_for_each(|limit| write!(f, "\n{sign} limit {limit}"))?;
        }
        for (sign, namespaces) in [('+', &self.namespaces.added), ('-', &self.namespaces.removed)] {
            namespaces
                .iter()
                .try_for_each(|namespace| write!(f, "\n{sign} namespace {namespace}"))?;
        }
        Ok(())
    }
}

/// A permission and the author's reason for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The permission.
    pub permission: Permission,
    /// The author's reason for it.
    pub reason: String,
}

/// The difference between what two versions ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PermissionDiff {
    /// What the new version asks for and the old one did not cover.
    pub added: Vec<Asked>,
    /// What the old version asked for and the new one no longer covers.
    pub removed: Vec<Asked>,
    /// What both ask for.
    pub kept: Vec<Asked>,
    /// Those of them that the author gives another reason for: an operator decided by the old one.
    pub reworded: Vec<Reworded>,
}

/// A permission whose reason changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reworded {
    /// The permission.
    pub permission: Permission,
    /// The reason that the old version gave.
    pub was: String,
}

impl PermissionDiff {
    /// From nothing, or from an installed version, to a new one.
    pub fn between(old: Option<&Manifest>, new: &Manifest) -> Self {
        let old_set = old.map(Manifest::permission_set).unwrap_or_default();
        let new_set = new.permission_set();
        let (kept, added) = asked(new).partition(|asked| old_set.covers(&asked.permission));
        let removed = old
            .into_iter()
            .flat_map(asked)
            .filter(|asked| !new_set.covers(&asked.permission))
            .collect();
        let kept: Vec<Asked> = kept;
        let was = |permission: &Permission| old.and_then(|old| old.permissions().get(permission));
        let reworded = kept
            .iter()
            .filter_map(|asked| {
                let was = was(&asked.permission).filter(|was| **was != asked.reason)?;
                Some(Reworded {
                    permission: asked.permission.clone(),
                    was: was.clone(),
                })
            })
            .collect();
        Self {
            added,
            removed,
            kept,
            reworded,
        }
    }

    /// What is added and not yet granted: this needs the operator's approval.
    pub fn needs_approval(&self, granted: &PermissionSet) -> Vec<&Asked> {
        self.added
            .iter()
            .filter(|asked| !granted.covers(&asked.permission))
            .collect()
    }
}

fn asked(manifest: &Manifest) -> impl Iterator<Item = Asked> {
    manifest.permissions().iter().map(|(permission, reason)| Asked {
        permission: permission.clone(),
        reason: reason.clone(),
    })
}

/// One line for each permission: `+` is new, `-` is gone, `~` has another reason, a space is as before.
impl fmt::Display for PermissionDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [('+', &self.added), ('-', &self.removed), (' ', &self.kept)];
        let mut all = lines
            .iter()
            .flat_map(|(sign, asked)| asked.iter().map(move |asked| (sign, asked)))
            .peekable();
        if all.peek().is_none() {
            return f.write_str("  (no permissions)");
        }
        for (index, (sign, asked)) in all.enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            // The operator decides by these lines: a reason must not be able to hide the next one.
            let reworded = self
                .reworded
                .iter()
                .find(|reworded| reworded.permission == asked.permission && *sign == ' ');
            let sign = if reworded.is_some() { '~' } else { *sign };
            write!(f, "{sign} {}  ({})", asked.permission, in_one_line(&asked.reason))?;
            if let Some(reworded) = reworded {
                write!(f, ", the reason was: {}", in_one_line(&reworded.was))?;
            }
        }
        Ok(())
    }
}

/// The author's text without control characters.
fn in_one_line(reason: &str) -> String {
    let shown = |c: char| if steers_a_terminal(c) { '\u{fffd}' } else { c };
    reason.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(permissions: &[&str]) -> Manifest {
        let lines: String = permissions
            .iter()
            .map(|permission| format!("\"{permission}\" = \"because\"\n"))
            .collect();
        Manifest::parse(&format!(
            "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\napi_version = \"1\"\nnamespaces = [\"a\"]\nprovides = [\"tool\"]\n[permissions]\n{lines}"
        ))
        .unwrap()
    }

    fn names(asked: &[Asked]) -> Vec<String> {
        asked.iter().map(|asked| asked.permission.to_string()).collect()
    }

    #[test]
    fn more_less_and_the_same_are_distinguished() {
        let old = manifest(&["kv:*", "net:a.com", "clock"]);
        let new = manifest(&["kv:read", "net:*.com", "clock"]);
        let diff = PermissionDiff::between(Some(&old), &new);
        assert_eq!(names(&diff.added), ["net:*.com"], "a wider scope is more");
        assert_eq!(names(&diff.removed), ["kv:*"], "a narrower scope is less");
        assert_eq!(names(&diff.kept), ["clock", "kv:read"]);
        assert!(diff.to_string().contains("+ net:*.com  (because)"), "{diff}");
    }

    #[test]
    fn another_reason_for_the_same_permission_is_marked() {
        let old = manifest(&["clock", "kv:read"]);
        let text = "[plugin]\nname = \"a\"\nversion = \"1.1.0\"\napi_version = \"1\"\nnamespaces = [\"a\"]\nprovides = [\"tool\"]\n\
                    [permissions]\nclock = \"because\"\n\"kv:read\" = \"to sell it\"\n";
        let diff = PermissionDiff::between(Some(&old), &Manifest::parse(text).unwrap());
        assert_eq!(diff.reworded.len(), 1);
        assert_eq!(
            diff.to_string(),
            "  clock  (because)\n~ kv:read  (to sell it), the reason was: because"
        );
    }

    #[test]
    fn a_reason_cannot_hide_the_line_of_another_permission() {
        let text = "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\napi_version = \"1\"\nnamespaces = [\"a\"]\nprovides = [\"tool\"]\n\
                    [permissions]\nclock = \"time\\u001b[1A\\u001b[2K\\r\\n  (no permissions)\\u202e\"\n";
        let diff = PermissionDiff::between(None, &Manifest::parse(text).unwrap()).to_string();
        assert!(!diff.chars().any(steers_a_terminal), "{diff:?}");
        assert!(diff.starts_with("+ clock  (time"), "{diff:?}");
        for scope in [
            "kv:\u{1b}[2K",
            "kv:a\nb",
            "kv:\u{202e}",
            "net:a\u{0}.com",
            "secret:a\rb",
            "tools:a.\u{9b}",
        ] {
            assert!(Permission::parse(scope).is_err(), "{scope:?}");
        }
    }

    #[test]
    fn what_was_granted_beforehand_needs_no_approval() {
        let diff = PermissionDiff::between(None, &manifest(&["clock", "net:a.com"]));
        let granted: PermissionSet = [Permission::parse("net:*").unwrap()].into_iter().collect();
        let waiting: Vec<String> = diff
            .needs_approval(&granted)
            .iter()
            .map(|asked| asked.permission.to_string())
            .collect();
        assert_eq!(waiting, ["clock"]);
    }
}
