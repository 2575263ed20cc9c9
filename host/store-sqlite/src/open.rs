//! Opening the database: pragmas, migrations, the writer and the readers.

use crate::database::Database;
use crate::readers::Readers;
use crate::sqlite_store::SqliteStore;
use crate::writer::Writer;
use crate::{folder, migrations};
use mizzen_store::Stats;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The database's name inside the data folder.
pub(crate) const FILE: &str = "mizzen.db";

/// How long a connection waits for another process (`mizzen key api new`, `mizzen db backup`) to release a lock.
pub(crate) const BUSY: Duration = Duration::from_secs(5);

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Connections that read at the same time.
    pub readers: usize,
    /// The database may not grow beyond this many bytes; writes that would are refused as a full disk.
    pub max_bytes: Option<u64>,
    /// The time of opening, in milliseconds since 1970 (recorded with migrations).
    pub now: i64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: 4,
            max_bytes: None,
            now: 0,
        }
    }
}

/// Why a database was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database was written by a newer build.
    #[error(
        "the database is at migration {database}, this build of mizzen knows migrations up to {build}; \
         use the newer mizzen, or restore a backup that was made before the upgrade"
    )]
    Newer {
        /// The newest migration in the database.
        database: u32,
        /// The newest migration of this build.
        build: u32,
    },
    /// An applied migration differs from the one in this build.
    #[error(
        "migration {number} ({name}) of the database differs from the one in this build of mizzen; \
             the file was made by another build: use that one, or another data folder"
    )]
    Diverged {
        /// Its number.
        number: u32,
        /// Its name.
        name: &'static str,
    },
    /// A SQLite file that something else made.
    #[error("the file is a SQLite database, but not one of mizzen's; choose another data folder")]
    NotOurs,
    /// The file is no database, or no longer one.
    #[error(
        "{path} is damaged, or not a database ({detail}); put a backup made with `mizzen db backup` in its place, or choose another data folder"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The file does not exist, and the caller asked not to make one.
    #[error(
        "there is no database at {0}; start `mizzen serve` on this folder first, or name another one with --data"
    )]
    Missing(PathBuf),
    /// The folder cannot be made.
    #[error("the data folder {path} cannot be made: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file cannot be made.
    #[error(
        "the database {path} cannot be made: {source}; choose a data folder that you may write to, with --data"
    )]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// SQLite refused.
    #[error("the database cannot be opened: {0}")]
    Sql(#[from] rusqlite::Error),
    /// The writer's thread did not start.
    #[error("the writer thread cannot be started: {0}")]
    Thread(std::io::Error),
}

impl SqliteStore {
    /// Opens the database in `data`, making folder and file when they are missing, and brings it up to date.
    pub fn open(data: &Path, options: &Options) -> Result<Self, OpenError> {
        folder::make(data).map_err(|source| OpenError::Folder {
            path: data.to_path_buf(),
            source,
        })?;
        let path = data.join(FILE);
        folder::keep_private(&path).map_err(|source| OpenError::File {
            path: path.clone(),
            source,
        })?;
        Self::open_file(&path, options).map_err(|error| match error {
            OpenError::Sql(error)
                if matches!(
                    error.sqlite_error_code(),
                    Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
                ) =>
            {
                OpenError::Damaged {
                    path,
                    detail: error.to_string(),
                }
            }
            other => other,
        })
    }

    fn open_file(path: &Path, options: &Options) -> Result<Self, OpenError> {
        let mut connection = Connection::open(path)?;
        prepare_writer(&connection)?;
        migrations::apply(&mut connection, options.now)?;
        if let Some(bytes) = options.max_bytes {
            limit_size(&connection, bytes)?;
        }
        let stats = Arc::new(Stats::default());
        let readers = Readers::open(path, options.readers.max(1))?;
        let writer =
            Writer::start(connection, path.to_owned(), Arc::clone(&stats)).map_err(OpenError::Thread)?;
        Ok(Self::new(Database::new(path.to_owned(), writer, readers, stats)))
    }

    /// Whether there is a database in a folder.
    pub fn is_in(data: &Path) -> bool {
        data.join(FILE).is_file()
    }

    /// As [`SqliteStore::open`], but refuses when there is no database yet.
    pub fn open_existing(data: &Path, options: &Options) -> Result<Self, OpenError> {
        if !Self::is_in(data) {
            return Err(OpenError::Missing(data.join(FILE)));
        }
        Self::open(data, options)
    }
}

fn prepare_writer(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(128);
    // `wal_autocheckpoint`: 32 MiB. The pages that every commit touches are then folded into the file once for many commits and
    // not after each thousand pages; a start after a crash reads that much log, which takes a fraction of a second.
    // `trusted_schema=OFF`: a tampered file may not call functions from its schema.
    // `auto_vacuum`: first, since a file that has a page keeps what it was made with. `secure_delete`: what is erased is overwritten.
    connection.execute_batch(
        "PRAGMA auto_vacuum = INCREMENTAL;
         PRAGMA secure_delete = ON;
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -32768;
         PRAGMA wal_autocheckpoint = 8192;
         PRAGMA journal_size_limit = 67108864;",
    )
}

/// A read-only connection to the same file.
pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection
        .execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;")?;
    Ok(connection)
}

fn limit_size(connection: &Connection, bytes: u64) -> rusqlite::Result<()> {
    let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
    connection.query_row(&format!("PRAGMA max_page_count = {}", pages.max(1)), [], |_| {
        Ok(())
    })
}
