//! The data folder, as verbs take it.

use anyhow::Result;
use mizzen_catalog::key::{KeyName, KeyStore, KeyStoreError, PublicKey, SecretKey};
use mizzen_ops::{Clock, SystemClock};
use mizzen_store::{RunFilter, RunPlace, Store};
use mizzen_store_sqlite::{Options, SqliteStore};
use std::future::Future;
use std::path::{Path, PathBuf};

/// Where everything is that the host keeps.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Data {
    /// The folder with everything the host keeps
    #[arg(
        long,
        value_name = "DIR",
        env = "MIZZEN_DATA",
        hide_env = true,
        default_value = ".mizzen"
    )]
    data: PathBuf,
}

impl Data {
    /// A folder that was named otherwise: by the demo, or for a group of verbs.
    pub(crate) const fn at(folder: PathBuf) -> Self {
        Self { data: folder }
    }

    /// The folder; it need not exist yet.
    pub(crate) fn folder(&self) -> &Path {
        &self.data
    }

    /// Whether there is a database in it.
    pub(crate) fn has_store(&self) -> bool {
        SqliteStore::is_in(&self.data)
    }

    fn options() -> Options {
        Options {
            readers: 1,
            now: SystemClock.now_ms(),
            ..Options::default()
        }
    }

    /// Opens the database, making it when it is missing, and runs `work` on it.
    pub(crate) fn with_store<T, W>(&self, work: impl FnOnce(Store) -> W) -> Result<T>
    where
        W: Future<Output = Result<T>>,
    {
        let database = SqliteStore::open(&self.data, &Self::options())?;
        run(database, |database| work(database.store()))
    }

    /// As [`Data::with_store`], but refuses when there is no database yet.
    pub(crate) fn with_existing_store<T, W>(&self, work: impl FnOnce(Store) -> W) -> Result<T>
    where
        W: Future<Output = Result<T>>,
    {
        self.with_database(|database| work(database.store()))
    }

    /// As [`Data::with_existing_store`], for what only SQLite has: its file, its size, its backup.
    pub(crate) fn with_database<T, W>(&self, work: impl FnOnce(SqliteStore) -> W) -> Result<T>
    where
        W: Future<Output = Result<T>>,
    {
        run(SqliteStore::open_existing(&self.data, &Self::options())?, work)
    }
}

/// The key that the host signs ended runs with, when there is one.
pub(crate) fn host_secret_key(data: &Path) -> Result<Option<SecretKey>> {
    match KeyStore::new(data.join("keys")).secret(&KeyName::parse(HOST_KEY)?) {
        Ok(key) => Ok(Some(key)),
        Err(KeyStoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The key that the host signs ended runs with; made when there is none. It stays in the data folder.
fn host_key(data: &Path) -> Result<SecretKey> {
    let keys = KeyStore::new(data.join("keys"));
    Ok(keys.secret_or_create(&KeyName::parse(HOST_KEY)?, "signs the ends of executions")?)
}

/// As [`host_key`], and says so when the key is gone from a folder with records that it signed.
pub(crate) async fn signing_key(data: &Path, store: &Store) -> Result<SecretKey> {
    if host_public_key(data)?.is_none() {
        let page = store
            .list_runs(RunFilter::default(), RunPlace::Offset(0), 1)
            .await?;
        if page.total > 0 {
            tracing::warn!(
                keys = %data.join("keys").display(),
                "the host's key is gone and a new one is made: earlier records are signed by another key; restore keys/ from a backup"
            );
        }
    }
    host_key(data)
}

/// The public half of that key, when there is one.
pub(crate) fn host_public_key(data: &Path) -> Result<Option<PublicKey>> {
    match KeyStore::new(data.join("keys")).public(&KeyName::parse(HOST_KEY)?) {
        Ok(entry) => Ok(Some(entry.public_key)),
        Err(KeyStoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The host key's name.
const HOST_KEY: &str = "host";

fn run<T, W: Future<Output = Result<T>>>(
    database: SqliteStore,
    work: impl FnOnce(SqliteStore) -> W,
) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let result = work(database.clone()).await;
        database.store().close().await;
        result
    })
}
