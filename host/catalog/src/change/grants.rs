//! Grants by name of permissions that nothing installed asks for any more.
//!
//! A grant outlives the version that it was given to. Left behind, it would apply to a later version that asks again, without
//! an approval. So it is removed with the last version that asks for it; granting it again needs approval.

use crate::config::{EditError, add_grants, remove_grants};
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::PluginName;
use mizzen_model::permission::{Permission, PermissionSet};

/// The changes of a plugin's grants by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Orphans {
    /// Grants to remove.
    pub(super) dropped: Vec<Permission>,
    /// What is granted in the place of those that were wider than what is still asked for.
    pub(super) instead: Vec<Permission>,
}

/// Finds the grants that only removed versions asked for. Grants that no version ever asked for stay.
pub(super) fn orphans(
    granted: Option<&PermissionSet>,
    going: &[&Manifest],
    staying: &[&Manifest],
) -> Orphans {
    let asked: PermissionSet = staying
        .iter()
        .flat_map(|manifest| asked_by(manifest).cloned())
        .collect();
    let no_longer: Vec<&Permission> = going
        .iter()
        .flat_map(|manifest| asked_by(manifest))
        .filter(|permission| !asked.covers(permission))
        .collect();
    let mut orphans = Orphans::default();
    for grant in granted.into_iter().flat_map(PermissionSet::iter) {
        let touched: Vec<&Permission> = asked.iter().filter(|still| grant.overlaps(still)).collect();
        let is_orphaned = no_longer.iter().any(|gone| grant.overlaps(gone));
        // Two patterns that only overlap have no pattern for their intersection: such a grant stays, so that not too much is removed.
        if !is_orphaned || touched.iter().any(|still| !grant.covers(still)) || touched.contains(&grant) {
            continue;
        }
        orphans.dropped.push(grant.clone());
        orphans.instead.extend(touched.into_iter().cloned());
    }
    orphans
}

fn asked_by(manifest: &Manifest) -> impl Iterator<Item = &Permission> {
    manifest.permissions().keys()
}

/// The text of `mizzen.toml` without the removed grants.
pub(super) fn without_orphans(
    text: &str,
    plugin: &PluginName,
    orphans: &Orphans,
) -> Result<String, EditError> {
    if orphans.dropped.is_empty() {
        return Ok(text.to_owned());
    }
    let text = remove_grants(text, plugin, &orphans.dropped)?;
    if orphans.instead.is_empty() {
        return Ok(text);
    }
    add_grants(&text, plugin, &orphans.instead)
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

    #[test]
    fn a_grant_goes_with_the_last_version_that_asks_for_it() {
        let texts = |permissions: &[Permission]| -> Vec<String> {
            permissions.iter().map(ToString::to_string).collect()
        };
        for (granted, going, staying, dropped, instead) in [
            (
                &["clock", "kv:read"][..],
                &["clock", "kv:read"][..],
                &["kv:read"][..],
                &["clock"][..],
                &[][..],
            ),
            (&["clock"], &["clock"], &["clock"], &[], &[]),
            (
                &["net:GET@a.example"],
                &["net:GET@a.example"],
                &[],
                &["net:GET@a.example"],
                &[],
            ),
            // Wider than what is left: narrowed to it.
            (
                &["kv:*"],
                &["kv:read", "kv:write"],
                &["kv:read"],
                &["kv:*"],
                &["kv:read"],
            ),
            (&["kv:*"], &["kv:*"], &["kv:read"], &["kv:*"], &["kv:read"]),
            (
                &["kv:*"],
                &["kv:*"],
                &["kv:read", "kv:write"],
                &["kv:*"],
                &["kv:read", "kv:write"],
            ),
            (
                &["net:*.example"],
                &["net:a.example", "net:b.example"],
                &["net:b.example"],
                &["net:*.example"],
                &["net:b.example"],
            ),
            // Granted beforehand, and no plugin asks for it yet.
            (&["random"], &["clock"], &["kv:read"], &[], &[]),
            // What is asked for more widely than granted, and still is.
            (&["net:a.example"], &["net:*"], &["net:*.example"], &[], &[]),
        ] {
            let granted: PermissionSet = granted
                .iter()
                .map(|text| Permission::parse(text).unwrap())
                .collect();
            let found = orphans(Some(&granted), &[&manifest(going)], &[&manifest(staying)]);
            assert_eq!(
                texts(&found.dropped),
                dropped,
                "{granted:?} {going:?} {staying:?}"
            );
            assert_eq!(
                texts(&found.instead),
                instead,
                "{granted:?} {going:?} {staying:?}"
            );
        }
        assert_eq!(orphans(None, &[&manifest(&["clock"])], &[]), Orphans::default());
    }
}
