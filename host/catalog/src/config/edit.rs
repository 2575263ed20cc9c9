//! Changing grants, settings and switches in `mizzen.toml` without changing the operator's text around them.

use mizzen_model::namespace::PluginName;
use mizzen_model::permission::Permission;
use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// The text could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is not TOML.
    #[error("the file is not TOML: {0}")]
    Syntax(#[from] toml_edit::TomlError),
    /// Something else is where the grants belong.
    #[error("`{0}` is not a table; write [grants.plugin] with lines such as name = [\"kv:read\"]")]
    NotATable(&'static str),
    /// The plugin's line is not a list.
    #[error("grants.plugin.{0} is not a list of permissions")]
    NotAList(PluginName),
}

fn table<'a>(
    parent: &'a mut Table,
    key: &'static str,
    shown: &'static str,
) -> Result<&'a mut Table, EditError> {
    let item = parent.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(key == "grants");
        Item::Table(table)
    });
    item.as_table_mut().ok_or(EditError::NotATable(shown))
}

/// Adds grants to a plugin's line; those that are there already are left alone.
///
/// # Errors
/// See [`EditError`].
pub fn add_grants(text: &str, plugin: &PluginName, permissions: &[Permission]) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let grants = table(document.as_table_mut(), "grants", "grants")?;
    let by_plugin = table(grants, "plugin", "grants.plugin")?;
    let line = by_plugin
        .entry(plugin.as_str())
        .or_insert_with(|| Item::Value(Value::Array(Array::new())));
    let list = line
        .as_array_mut()
        .ok_or_else(|| EditError::NotAList(plugin.clone()))?;
    for permission in permissions {
        let there = list.iter().any(|item| is(item, permission));
        if !there {
            list.push(permission.to_string());
        }
    }
    Ok(document.to_string())
}

/// Removes grants from a plugin's line, or the whole line when `permissions` is empty.
///
/// # Errors
/// See [`EditError`].
pub fn remove_grants(
    text: &str,
    plugin: &PluginName,
    permissions: &[Permission],
) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let grants = document
        .as_table_mut()
        .get_mut("grants")
        .and_then(Item::as_table_like_mut);
    let by_plugin = grants
        .and_then(|grants| grants.get_mut("plugin"))
        .and_then(Item::as_table_like_mut);
    if let Some(by_plugin) = by_plugin {
        if permissions.is_empty() {
            by_plugin.remove(plugin.as_str());
        } else if let Some(line) = by_plugin.get_mut(plugin.as_str()) {
            let list = line
                .as_array_mut()
                .ok_or_else(|| EditError::NotAList(plugin.clone()))?;
            list.retain(|item| !permissions.iter().any(|permission| is(item, permission)));
            // What comes first now had a space after the comma before it.
            if let Some(first) = list.get_mut(0)
                && first.decor().prefix().and_then(|prefix| prefix.as_str()) == Some(" ")
            {
                first.decor_mut().set_prefix("");
            }
        }
    }
    Ok(document.to_string())
}

/// Removes the settings of a plugin, `[config.NAME]`.
///
/// # Errors
/// See [`EditError`].
pub fn remove_settings(text: &str, plugin: &PluginName) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let sections = document.as_table_mut();
    let config = sections.get_mut("config").and_then(Item::as_table_like_mut);
    let is_empty = config.is_some_and(|config| {
        config.remove(plugin.as_str());
        config.is_empty()
    });
    if is_empty {
        sections.remove("config");
    }
    Ok(document.to_string())
}

/// Lists a plugin as disabled: `name`, or `name@version`.
///
/// # Errors
/// See [`EditError`].
pub fn disable(text: &str, plugin: &str) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    let list = disabled(&mut document)?;
    if !list.iter().any(|item| item.as_str() == Some(plugin)) {
        list.push(plugin);
    }
    Ok(document.to_string())
}

/// Takes a plugin from the list of disabled ones.
///
/// # Errors
/// See [`EditError`].
pub fn enable(text: &str, plugin: &str) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse()?;
    disabled(&mut document)?.retain(|item| item.as_str() != Some(plugin));
    Ok(document.to_string())
}

fn disabled(document: &mut DocumentMut) -> Result<&mut Array, EditError> {
    let plugins = table(document.as_table_mut(), "plugins", "plugins")?;
    let line = plugins
        .entry("disabled")
        .or_insert_with(|| Item::Value(Value::Array(Array::new())));
    line.as_array_mut()
        .ok_or(EditError::NotATable("plugins.disabled"))
}

/// Compared in the normal form: `net:A.com` and `net:a.com` are the same grant.
fn is(item: &Value, permission: &Permission) -> bool {
    item.as_str()
        .and_then(|text| Permission::parse(text).ok())
        .as_ref()
        == Some(permission)
}
