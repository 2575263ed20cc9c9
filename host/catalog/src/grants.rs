//! What the operator grants: per plugin, or per namespace. Default: nothing.

use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::{NamespacePattern, PluginName};
use mizzen_model::permission::{Permission, PermissionSet};
use serde::Serialize;
use std::collections::BTreeMap;

/// The grants of `mizzen.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Grants {
    /// By the plugin's name.
    pub plugin: BTreeMap<PluginName, PermissionSet>,
    /// By a namespace that the plugin claims. Claims are exclusive and covered by trust, so this is as good as a name.
    pub namespace: BTreeMap<NamespacePattern, PermissionSet>,
}

impl Grants {
    /// Everything that is granted to a plugin.
    pub fn to_plugin(&self, manifest: &Manifest) -> PermissionSet {
        let by_name = self.plugin.get(manifest.name()).into_iter();
        let by_namespace = self
            .namespace
            .iter()
            .filter(|(pattern, _)| {
                manifest
                    .namespaces()
                    .iter()
                    .any(|claimed| pattern.matches(claimed))
            })
            .map(|(_, granted)| granted);
        by_name
            .chain(by_namespace)
            .flat_map(PermissionSet::iter)
            .cloned()
            .collect()
    }
}

/// The command that grants permissions to a plugin, as a shell takes it.
pub(crate) fn command<'a>(
    plugin: &PluginName,
    permissions: impl IntoIterator<Item = &'a Permission>,
) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || ":._-/@".contains(c);
    let mut command = format!("mizzen plugins grants {plugin}");
    for permission in permissions {
        let text = permission.to_string();
        // No permission holds a quote; a text that a shell would expand is quoted.
        let quote = if text.chars().all(plain) { "" } else { "'" };
        command.push_str(&format!(" --add {quote}{text}{quote}"));
    }
    command
}

/// Where grants come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantPolicy {
    /// From the operator's list: a host.
    Listed(Grants),
    /// Whatever the plugin declares: an author who runs their own plugin, never a host.
    AsDeclared,
}

impl GrantPolicy {
    /// Everything that is granted to a plugin.
    pub fn to_plugin(&self, manifest: &Manifest) -> PermissionSet {
        match self {
            Self::Listed(grants) => grants.to_plugin(manifest),
            Self::AsDeclared => manifest.permission_set(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let permissions =
            ["kv:read", "net:GET@a.example", "net:*.example"].map(|text| Permission::parse(text).unwrap());
        assert_eq!(
            command(&PluginName::parse("feed").unwrap(), &permissions),
            "mizzen plugins grants feed --add kv:read --add net:GET@a.example --add 'net:*.example'"
        );
    }

    #[test]
    fn a_plugin_gets_what_its_name_and_its_namespaces_were_given() {
        let manifest = Manifest::parse(
            "[plugin]\nname = \"text\"\nversion = \"1.0.0\"\napi_version = \"1\"\nnamespaces = [\"acme.text\"]\nprovides = [\"tool\"]\n[permissions]\nclock = \"x\"\n",
        )
        .unwrap();
        let set = |texts: &[&str]| -> PermissionSet {
            texts
                .iter()
                .map(|text| Permission::parse(text).unwrap())
                .collect()
        };
        let grants = Grants {
            plugin: [
                (PluginName::parse("text").unwrap(), set(&["kv:read"])),
                (PluginName::parse("other").unwrap(), set(&["random"])),
            ]
            .into(),
            namespace: [
                (NamespacePattern::parse("acme.*").unwrap(), set(&["net:a.com"])),
                (NamespacePattern::parse("acme").unwrap(), set(&["net:b.com"])),
            ]
            .into(),
        };
        assert_eq!(grants.to_plugin(&manifest), set(&["kv:read", "net:a.com"]));
        assert!(Grants::default().to_plugin(&manifest).is_empty());
        assert_eq!(GrantPolicy::AsDeclared.to_plugin(&manifest), set(&["clock"]));
    }
}
