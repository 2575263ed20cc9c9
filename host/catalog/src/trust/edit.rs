//! Changing `trust.toml` without changing the operator's text around it.

use crate::key::{KeyId, PublicKey};
use crate::package::Digest;
use mizzen_model::namespace::NamespacePattern;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

/// The text could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustEditError {
    /// It is not TOML.
    #[error("trust.toml is not TOML: {0}")]
    Syntax(#[from] toml_edit::TomlError),
    /// Something else is where a list of tables belongs.
    #[error("`{0}` is not a list of tables; write [[{0}]]")]
    NotTables(&'static str),
}

/// A key to be added.
#[derive(Debug, Clone)]
pub struct NewKey<'a> {
    /// The key.
    pub public_key: &'a PublicKey,
    /// What to write next to it.
    pub comment: &'a str,
    /// What it may sign for.
    pub namespaces: &'a [NamespacePattern],
    /// When it begins to count, as a TOML date.
    pub not_before: Option<toml_edit::Datetime>,
    /// When it ceases to count, as a TOML date.
    pub not_after: Option<toml_edit::Datetime>,
}

fn tables<'a>(
    document: &'a mut DocumentMut,
    key: &'static str,
) -> Result<&'a mut ArrayOfTables, TrustEditError> {
    let item = document
        .entry(key)
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    item.as_array_of_tables_mut()
        .ok_or(TrustEditError::NotTables(key))
}

/// Adds a key, or adds namespaces and the new dates to an existing one.
///
/// # Errors
/// See [`TrustEditError`].
pub fn add_key(text: &str, new: &NewKey<'_>) -> Result<String, TrustEditError> {
    let mut document: DocumentMut = text.parse()?;
    let keys = tables(&mut document, "keys")?;
    let id = new.public_key.id();
    let at = keys
        .iter()
        .position(|table| table.get("id").and_then(Item::as_str) == Some(id.as_str()));
    let at = at.unwrap_or_else(|| {
        let mut table = Table::new();
        table.insert("id", value(id.as_str()));
        table.insert("public_key", value(new.public_key.to_string()));
        keys.push(table);
        keys.len() - 1
    });
    let Some(table) = keys.get_mut(at) else {
        return Err(TrustEditError::NotTables("keys"));
    };
    if !new.comment.is_empty() {
        table.insert("comment", value(new.comment));
    }
    for (key, date) in [("not_before", new.not_before), ("not_after", new.not_after)] {
        if let Some(date) = date {
            table.insert(key, value(date));
        }
    }
    let mut namespaces = table
        .get("namespaces")
        .and_then(Item::as_array)
        .cloned()
        .unwrap_or_else(Array::new);
    for pattern in new.namespaces {
        let text = pattern.to_string();
        if !namespaces.iter().any(|item| item.as_str() == Some(&text)) {
            namespaces.push(text);
        }
    }
    table.insert("namespaces", value(namespaces));
    Ok(document.to_string())
}

/// Sets how many signatures a namespace needs.
///
/// # Errors
/// See [`TrustEditError`].
pub fn set_threshold(text: &str, pattern: &NamespacePattern, needed: u8) -> Result<String, TrustEditError> {
    let mut document: DocumentMut = text.parse()?;
    let item = document
        .entry("thresholds")
        .or_insert_with(|| Item::Table(Table::new()));
    let table = item
        .as_table_like_mut()
        .ok_or(TrustEditError::NotTables("thresholds"))?;
    table.insert(&pattern.to_string(), value(i64::from(needed)));
    Ok(document.to_string())
}

/// Revokes a key. Its entry, if there is one, stays for the record; revocation is stronger.
///
/// # Errors
/// See [`TrustEditError`].
pub fn revoke_key(text: &str, id: &KeyId, reason: &str) -> Result<String, TrustEditError> {
    revoke(text, "revoked_keys", "id", id.as_str(), reason)
}

/// Revokes a package.
///
/// # Errors
/// See [`TrustEditError`].
pub fn revoke_digest(text: &str, digest: &Digest, reason: &str) -> Result<String, TrustEditError> {
    revoke(text, "revoked_digests", "digest", &digest.to_string(), reason)
}

fn revoke(
    text: &str,
    list: &'static str,
    key: &str,
    id: &str,
    reason: &str,
) -> Result<String, TrustEditError> {
    let mut document: DocumentMut = text.parse()?;
    let tables = tables(&mut document, list)?;
    if !tables
        .iter()
        .any(|table| table.get(key).and_then(Item::as_str) == Some(id))
    {
        let mut table = Table::new();
        table.insert(key, value(id));
        table.insert("reason", value(reason));
        tables.push(table);
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::SecretKey;
    use crate::trust::TrustStore;

    #[test]
    fn edits_are_read_back_and_leave_comments_alone() {
        let key = SecretKey::from_seed(&[1; 32]).public();
        let patterns = [NamespacePattern::parse("acme").unwrap()];
        let more = [
            NamespacePattern::parse("acme").unwrap(),
            NamespacePattern::parse("acme.*").unwrap(),
        ];
        let new = NewKey {
            public_key: &key,
            comment: "Acme \"release\"",
            namespaces: &patterns,
            not_before: None,
            not_after: "2030-01-01T00:00:00Z".parse().ok(),
        };
        let text = add_key("# ours\n", &new).unwrap();
        let text = add_key(
            &text,
            &NewKey {
                namespaces: &more,
                comment: "",
                ..new
            },
        )
        .unwrap();
        let text = set_threshold(&text, &more[1], 2).unwrap();
        let store = TrustStore::parse(&text).unwrap();
        assert!(text.contains("# ours"), "{text}");
        assert_eq!(store.keys.len(), 1);
        let entry = store.keys.get(&key.id()).unwrap();
        assert_eq!(
            (entry.namespaces.as_slice(), entry.comment.as_str()),
            (&more[..], "Acme \"release\"")
        );
        assert!(entry.not_after.is_some());
        assert_eq!(store.thresholds.get(&more[1]), Some(&2));
        let digest = Digest::parse(&format!("blake3:{}", "0".repeat(64))).unwrap();
        let text = revoke_digest(&revoke_key(&text, &key.id(), "stolen").unwrap(), &digest, "leaks").unwrap();
        let again = revoke_key(&text, &key.id(), "twice").unwrap();
        let store = TrustStore::parse(&again).unwrap();
        assert_eq!(store.revoked_keys.get(&key.id()).unwrap().reason, "stolen");
        assert_eq!(store.revoked_digests.len(), 1);
    }
}
