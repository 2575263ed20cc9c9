//! The folder of keys: `NAME.key` (secret, mode 0600) and `NAME.pub`, one pair for each name.

use super::{KeyId, PublicKey, SecretKey};
use crate::files::{self, FileError};
use mizzen_json::strict_toml::{Problems, Reader};
use mizzen_model::namespace::{NameError, PluginName};
use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The name of the key that `mizzen plugin build` makes for itself on a developer's machine.
pub const DEV_KEY: &str = "dev";

const MAX_KEY_FILE: u64 = 4 * 1024;
const MAX_COMMENT: usize = 200;

/// The name of a key in the store: of the shape of a plugin's name, so that it can be part of a file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyName(PluginName);

impl KeyName {
    /// Reads a name.
    ///
    /// # Errors
    /// When it does not have the shape of one.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        PluginName::parse(text).map(Self).map_err(|error| NameError {
            kind: "key name",
            ..error
        })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a key could not be made, found or read.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The name is taken.
    #[error("there is a key `{name}` already in {}; choose another name, or remove it by hand if nothing needs it", folder.display())]
    Exists {
        /// The name.
        name: KeyName,
        /// The folder.
        folder: PathBuf,
    },
    /// There is no such key.
    #[error("there is no key `{name}` in {}; make it with `mizzen key new {name}`", folder.display())]
    Missing {
        /// The name.
        name: KeyName,
        /// The folder.
        folder: PathBuf,
    },
    /// Others can read the secret.
    #[error("others can read the secret key {} (mode {mode:o}); run `chmod 600` on it", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file is not a key file.
    #[error("{} is not a key file: {problems}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problems: Problems,
    },
    /// No randomness.
    #[error("the operating system gave no randomness: {0}")]
    Randomness(String),
    /// The comment does not fit on a line.
    #[error("a comment is one line of at most {MAX_COMMENT} characters without quotes or backslashes")]
    BadComment,
}

/// What is known of a key without its secret.
#[derive(Debug, Clone, serde::Serialize)]
pub struct KeyEntry {
    /// The name in this store.
    pub name: String,
    /// The id.
    pub id: KeyId,
    /// The public key.
    pub public_key: PublicKey,
    /// What its owner wrote about it.
    pub comment: String,
}

/// A folder of keys.
#[derive(Debug, Clone)]
pub struct KeyStore {
    folder: PathBuf,
}

impl KeyStore {
    /// The store in this folder, which is created when the first key is.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn secret_path(&self, name: &KeyName) -> PathBuf {
        self.folder.join(format!("{name}.key"))
    }

    fn public_path(&self, name: &KeyName) -> PathBuf {
        self.folder.join(format!("{name}.pub"))
    }

    /// Makes a key.
    ///
    /// # Errors
    /// When the name is taken, or a file cannot be written.
    pub fn create(&self, name: &KeyName, comment: &str) -> Result<SecretKey, KeyStoreError> {
        let plain = |c: char| !c.is_control() && c != '"' && c != '\\';
        if comment.chars().count() > MAX_COMMENT || !comment.chars().all(plain) {
            return Err(KeyStoreError::BadComment);
        }
        files::private_folder(&self.folder)?;
        let key = SecretKey::generate().map_err(|error| KeyStoreError::Randomness(error.to_string()))?;
        let public = format!(
            "# Mizzen public key. Give it to those who should trust what you sign.\nid = \"{}\"\npublic_key = \"{}\"\ncomment = \"{comment}\"\n",
            key.id(),
            key.public()
        );
        let secret_text = key.to_text();
        let head = "# Mizzen SECRET key. Its holder can sign as you: never share it, never commit it.\n";
        let mut secret = Zeroizing::new(String::with_capacity(
            head.len() + public.len() + secret_text.len() + 32,
        ));
        secret.push_str(head);
        secret.push_str("secret_key = \"");
        secret.push_str(&secret_text);
        secret.push_str("\"\n");
        files::create_new(&self.secret_path(name), secret.as_bytes(), 0o600).map_err(
            |error| match &error {
                FileError::Io { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => {
                    KeyStoreError::Exists {
                        name: name.clone(),
                        folder: self.folder.clone(),
                    }
                }
                _ => error.into(),
            },
        )?;
        files::replace(&self.public_path(name), public.as_bytes(), 0o644)?;
        Ok(key)
    }

    /// The secret key of this name.
    ///
    /// # Errors
    /// When there is none, others can read it, or it is damaged.
    pub fn secret(&self, name: &KeyName) -> Result<SecretKey, KeyStoreError> {
        let path = self.secret_path(name);
        let bytes = files::read_bounded(&path, MAX_KEY_FILE);
        let bytes = Zeroizing::new(bytes.map_err(|error| self.or_missing(name, error))?);
        let mode = std::fs::metadata(&path)
            .map_err(FileError::io("read", &path))?
            .permissions()
            .mode()
            & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyStoreError::Exposed { path, mode });
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| FileError::NotText { path: path.clone() })?;
        let key = Reader::read(text, text.len(), |mut root| {
            let key = root.require("secret_key", "restore the file from a backup, or make a new key")?;
            root.finish();
            key.parsed("restore the file from a backup", |text| {
                SecretKey::parse(text).ok_or("it is not a secret key")
            })
        });
        key.map_err(|problems| KeyStoreError::Malformed { path, problems })
    }

    /// The public half of the key of this name.
    ///
    /// # Errors
    /// When there is none, or it is damaged.
    pub fn public(&self, name: &KeyName) -> Result<KeyEntry, KeyStoreError> {
        let path = self.public_path(name);
        match read_public_file(&path) {
            Ok(entry) => Ok(KeyEntry {
                name: name.to_string(),
                ..entry
            }),
            // The public half is written second: it may not be there yet, and it can be derived from the secret one.
            Err(KeyStoreError::File(error)) if error.is_missing() => {
                let public_key = self.secret(name)?.public();
                Ok(KeyEntry {
                    name: name.to_string(),
                    id: public_key.id(),
                    public_key,
                    comment: String::new(),
                })
            }
            Err(error) => Err(error),
        }
    }

    fn or_missing(&self, name: &KeyName, error: FileError) -> KeyStoreError {
        if error.is_missing() {
            KeyStoreError::Missing {
                name: name.clone(),
                folder: self.folder.clone(),
            }
        } else {
            error.into()
        }
    }

    /// The secret key of this name, made now if there is none. For the development key.
    ///
    /// # Errors
    /// As [`Self::secret`] and [`Self::create`].
    pub fn secret_or_create(&self, name: &KeyName, comment: &str) -> Result<SecretKey, KeyStoreError> {
        match self.secret(name) {
            Err(KeyStoreError::Missing { .. }) => match self.create(name, comment) {
                // Another process was faster: use its key.
                Err(KeyStoreError::Exists { .. }) => self.secret(name),
                made => made,
            },
            found => found,
        }
    }

    /// Every key, by name. Files that are not named like keys are not looked at.
    ///
    /// # Errors
    /// When the folder cannot be read or a key file is damaged.
    pub fn list(&self) -> Result<Vec<KeyEntry>, KeyStoreError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(FileError::io("read", &self.folder)(error).into()),
        };
        let mut names = BTreeSet::new();
        for entry in entries {
            let file = entry.map_err(FileError::io("read", &self.folder))?.file_name();
            let stem = file
                .to_str()
                .and_then(|file| file.strip_suffix(".pub").or_else(|| file.strip_suffix(".key")));
            names.extend(stem.and_then(|stem| KeyName::parse(stem).ok()));
        }
        names.iter().map(|name| self.public(name)).collect()
    }
}

/// Reads a `.pub` file from any path, such as one received from its owner.
///
/// # Errors
/// When it cannot be read, or the id in it is not the key's.
pub fn read_public_file(path: &Path) -> Result<KeyEntry, KeyStoreError> {
    let text = files::read_text(path, MAX_KEY_FILE)?;
    let entry = Reader::read(&text, text.len(), |mut root| {
        let again = "copy the .pub file again";
        let id = root.require("id", again)?;
        let public_key = root.require("public_key", again)?;
        let comment = root
            .take("comment")
            .and_then(|node| node.string())
            .unwrap_or_default()
            .to_owned();
        root.finish();
        let public_key = public_key.parsed(again, |text| {
            PublicKey::parse(text).ok_or("it is not an ed25519 public key")
        })?;
        if id.string()? != public_key.id().as_str() {
            id.report("it is not the id of this public key", again);
        }
        Some(KeyEntry {
            name: String::new(),
            id: public_key.id(),
            public_key,
            comment,
        })
    });
    entry.map_err(|problems| KeyStoreError::Malformed {
        path: path.to_owned(),
        problems,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn name(text: &str) -> KeyName {
        KeyName::parse(text).unwrap()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_key_is_private_and_can_be_read_back() {
        let home = tempfile::tempdir().unwrap();
        let store = KeyStore::new(home.path().join("keys"));
        let key = store.create(&name("release"), "Acme release").unwrap();
        assert_eq!(mode(&home.path().join("keys/release.key")), 0o600);
        assert_eq!(mode(&home.path().join("keys")), 0o700);
        assert_eq!(store.secret(&name("release")).unwrap().id(), key.id());
        let entry = store.public(&name("release")).unwrap();
        assert_eq!((entry.id, entry.comment.as_str()), (key.id(), "Acme release"));
        let public = fs::read_to_string(home.path().join("keys/release.pub")).unwrap();
        assert!(!public.contains("secret_key"));
        let left: Vec<_> = fs::read_dir(home.path().join("keys")).unwrap().collect();
        assert_eq!(left.len(), 2, "no temporary file is left behind");
    }

    #[test]
    fn a_key_is_never_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let store = KeyStore::new(home.path());
        let first = store.create(&name("a"), "").unwrap().id();
        assert!(matches!(
            store.create(&name("a"), ""),
            Err(KeyStoreError::Exists { .. })
        ));
        assert_eq!(store.secret(&name("a")).unwrap().id(), first);
        assert_eq!(store.public(&name("a")).unwrap().id, first);
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let store = KeyStore::new(home.path());
        store.create(&name("a"), "").unwrap();
        fs::set_permissions(home.path().join("a.key"), fs::Permissions::from_mode(0o640)).unwrap();
        let error = store.secret(&name("a")).unwrap_err();
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }

    #[test]
    fn names_that_could_leave_the_folder_are_not_names() {
        for text in ["", "..", "../a", "a/b", "/etc/passwd", "a.key", "A", "a\0"] {
            assert!(KeyName::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_development_key_is_made_once() {
        let home = tempfile::tempdir().unwrap();
        let store = KeyStore::new(home.path());
        let first = store.secret_or_create(&name(DEV_KEY), "").unwrap().id();
        assert_eq!(store.secret_or_create(&name(DEV_KEY), "").unwrap().id(), first);
        assert_eq!(store.list().unwrap().len(), 1);
    }

    #[test]
    fn a_key_whose_public_half_was_lost_is_still_shown() {
        let home = tempfile::tempdir().unwrap();
        let store = KeyStore::new(home.path());
        let id = store.create(&name("a"), "").unwrap().id();
        fs::remove_file(home.path().join("a.pub")).unwrap();
        assert_eq!(store.public(&name("a")).unwrap().id, id);
        assert_eq!(store.list().unwrap().len(), 1);
        assert!(matches!(
            store.public(&name("b")),
            Err(KeyStoreError::Missing { .. })
        ));
    }

    #[test]
    fn damaged_key_files_are_named() {
        let home = tempfile::tempdir().unwrap();
        let store = KeyStore::new(home.path());
        store.create(&name("a"), "").unwrap();
        let other = store.create(&name("b"), "").unwrap();
        let public = fs::read_to_string(home.path().join("a.pub")).unwrap();
        let id = store.public(&name("a")).unwrap().id;
        fs::write(
            home.path().join("a.pub"),
            public.replace(id.as_str(), other.id().as_str()),
        )
        .unwrap();
        assert!(
            store
                .public(&name("a"))
                .unwrap_err()
                .to_string()
                .contains("not the id of this public key")
        );
        fs::write(home.path().join("b.key"), "secret_key = \"ed25519:xyz\"").unwrap();
        assert!(
            store
                .secret(&name("b"))
                .unwrap_err()
                .to_string()
                .contains("not a secret key")
        );
        assert!(matches!(
            store.secret(&name("unknown")),
            Err(KeyStoreError::Missing { .. })
        ));
    }

    #[test]
    fn a_comment_cannot_write_other_fields() {
        let home = tempfile::tempdir().unwrap();
        let store = KeyStore::new(home.path());
        for comment in ["a\"\nid = \"x", "a\nb", "\\", &"x".repeat(201)] {
            assert!(matches!(
                store.create(&name("a"), comment),
                Err(KeyStoreError::BadComment)
            ));
        }
    }
}
