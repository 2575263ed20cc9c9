//! Numbered, forward-only changes of the schema, applied at start, each in its own transaction.
//!
//! A file that was released is never edited: its digest is recorded in the database and compared at every start.

use crate::open::OpenError;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

/// `mzn1`: says that a SQLite file is ours.
const APPLICATION_ID: i64 = 0x6d7a_6e31;

struct Migration {
    number: u32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "registry",
        sql: include_str!("../migrations/0001_registry.sql"),
    },
    Migration {
        number: 2,
        name: "executions",
        sql: include_str!("../migrations/0002_executions.sql"),
    },
    Migration {
        number: 3,
        name: "deliveries",
        sql: include_str!("../migrations/0003_deliveries.sql"),
    },
    Migration {
        number: 4,
        name: "run totals",
        sql: include_str!("../migrations/0004_run_totals.sql"),
    },
    Migration {
        number: 5,
        name: "run journal",
        sql: include_str!("../migrations/0005_run_journal.sql"),
    },
    Migration {
        number: 6,
        name: "governance",
        sql: include_str!("../migrations/0006_governance.sql"),
    },
    Migration {
        number: 7,
        name: "sprite versions",
        sql: include_str!("../migrations/0007_sprite_versions.sql"),
    },
    Migration {
        number: 8,
        name: "run erasures",
        sql: include_str!("../migrations/0008_run_erasures.sql"),
    },
];

/// The number of the newest migration that this build knows.
pub fn latest() -> u32 {
    MIGRATIONS.last().map_or(0, |migration| migration.number)
}

/// Brings the database to [`latest`], or refuses it.
pub(crate) fn apply(connection: &mut Connection, now: i64) -> Result<(), OpenError> {
    let application: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION_ID && tables > 0 {
        return Err(OpenError::NotOurs);
    }
    // Two processes may start on a fresh folder at once: everything below is decided under the write lock.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, applied_at INTEGER NOT NULL
        ) STRICT",
    )?;
    let newest: u32 =
        transaction.query_row("SELECT coalesce(max(number), 0) FROM migrations", [], |row| {
            row.get(0)
        })?;
    if newest > latest() {
        return Err(OpenError::Newer {
            database: newest,
            build: latest(),
        });
    }
    for migration in MIGRATIONS {
        let digest = blake3::hash(migration.sql.as_bytes()).to_hex();
        let recorded: Option<String> = transaction
            .query_row(
                "SELECT digest FROM migrations WHERE number = ?1",
                [migration.number],
                |row| row.get(0),
            )
            .optional()?;
        match recorded {
            Some(recorded) if recorded == digest.as_str() => {}
            Some(_) => {
                return Err(OpenError::Diverged {
                    number: migration.number,
                    name: migration.name,
                });
            }
            None => {
                transaction.execute_batch(migration.sql)?;
                transaction.execute(
                    "INSERT INTO migrations (number, name, digest, applied_at) VALUES (?1, ?2, ?3, ?4)",
                    rusqlite::params![migration.number, migration.name, digest.as_str(), now],
                )?;
            }
        }
    }
    if application != APPLICATION_ID {
        transaction.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))?;
    }
    transaction.commit()?;
    Ok(())
}
