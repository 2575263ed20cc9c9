//! Councils: unique by domain, with the sprites and chains they hold indexed.

use crate::audit::{self, AuditEntry};
use crate::cursor::{Cursor, Page, take_page};
use crate::error::{Stop, StoreError, WriteError};
use crate::idempotency::{self, Idempotency, IdempotencyMismatch, Written};
use crate::sprites::id as id_column;
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// A council to be stored, new or changed.
#[derive(Debug, Clone)]
pub struct NewCouncil {
    /// Its id.
    pub id: Uuid,
    /// Its domain; no two councils share one.
    pub domain: String,
    /// Its name.
    pub name: String,
    /// The sprites it holds; they must exist when it is stored.
    pub sprites: Vec<Uuid>,
    /// Its chains.
    pub chains: Vec<Uuid>,
    /// The whole document, JSON.
    pub document: String,
    /// Now, in milliseconds since 1970.
    pub at: i64,
}

/// A stored council.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouncilRecord {
    /// Its id.
    pub id: Uuid,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// The whole document, JSON.
    pub document: String,
}

/// A council with what follows from its document.
#[derive(Debug)]
pub struct KeptCouncil {
    /// The council.
    pub record: CouncilRecord,
    /// BLAKE3 of its document.
    pub hash: [u8; 32],
}

/// A change of one council, refused unless it still has the revision that the change was made from.
#[derive(Debug, Clone)]
pub struct CouncilChange {
    /// The revision that the change was made from.
    pub from: u64,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// Why a write of a council was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CouncilRefused {
    /// There is no such council.
    #[error("there is no council with this id")]
    NotFound,
    /// Somebody else changed it in between.
    #[error("the council has changed; it is at revision {0} now")]
    Changed(u64),
    /// Another council has the domain.
    #[error("the domain belongs to council {0}")]
    DomainTaken(Uuid),
    /// Sprites were deleted before the council could be stored.
    #[error("some sprites do not exist")]
    MissingSprites(Vec<Uuid>),
    /// See [`IdempotencyMismatch`].
    #[error(transparent)]
    Mismatch(#[from] IdempotencyMismatch),
}

/// Councils that are kept; all are dropped when there would be more.
const KEPT: usize = 256;

/// Councils as they were last read. Never trusted without a look at the revision in the database.
#[derive(Debug, Default)]
pub(crate) struct KeptCouncils(Mutex<HashMap<Uuid, Arc<KeptCouncil>>>);

impl KeptCouncils {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<KeptCouncil>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Stores a new council.
    pub async fn create_council(
        &self,
        council: NewCouncil,
        answer: String,
        idempotency: Option<Idempotency>,
        audit: AuditEntry,
    ) -> Result<Written, WriteError<CouncilRefused>> {
        self.write(move |connection| {
            if let before @ Written::Before(_) =
                idempotency::claim(connection, idempotency.as_ref(), &answer)?
            {
                return Ok(before);
            }
            refuse_missing(connection, &council.sprites)?;
            refuse_taken(connection, &council)?;
            connection
                .prepare_cached(
                    "INSERT INTO councils (id, domain, name, revision, created_at, updated_at, document)
                     VALUES (?1, ?2, ?3, 1, ?4, ?4, ?5)",
                )?
                .execute(params![
                    council.id.to_string(),
                    council.domain,
                    council.name,
                    council.at,
                    council.document
                ])?;
            index(connection, connection.last_insert_rowid(), &council)?;
            audit::append(connection, &audit)?;
            Ok(Written::Now)
        })
        .await
    }

    /// A council by id.
    pub async fn council(&self, id: Uuid) -> Result<Option<CouncilRecord>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT id, revision, document, seq FROM councils WHERE id = ?1")?
                .query_row([id.to_string()], |row| record(row).map(|(record, _, _)| record))
                .optional()
        })
        .await
    }

    /// A council by id, for those who ask again and again: only its revision is read while it does not change.
    pub async fn kept_council(&self, id: Uuid) -> Result<Option<Arc<KeptCouncil>>, StoreError> {
        let revision: Option<u64> = self
            .look(move |connection| {
                connection
                    .prepare_cached("SELECT revision FROM councils WHERE id = ?1")?
                    .query_row([id.to_string()], |row| row.get(0))
                    .optional()
            })
            .await?;
        let kept = self.kept_councils();
        let Some(revision) = revision else {
            kept.lock().remove(&id);
            return Ok(None);
        };
        if let Some(record) = kept
            .lock()
            .get(&id)
            .filter(|kept| kept.record.revision == revision)
        {
            return Ok(Some(Arc::clone(record)));
        }
        let Some(record) = self.council(id).await? else {
            return Ok(None);
        };
        let record = Arc::new(KeptCouncil {
            hash: *blake3::hash(record.document.as_bytes()).as_bytes(),
            record,
        });
        let mut kept = kept.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(id, Arc::clone(&record));
        Ok(Some(record))
    }

    /// The id of the council that has a domain.
    pub async fn council_of_domain(&self, domain: String) -> Result<Option<Uuid>, StoreError> {
        self.read(move |connection| holder(connection, &domain)).await
    }

    /// The council that owns a chain.
    pub async fn council_of_chain(&self, chain: Uuid) -> Result<Option<CouncilRecord>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT c.id, c.revision, c.document, c.seq FROM council_chains AS m
                     JOIN councils AS c ON c.seq = m.council WHERE m.chain_id = ?1",
                )?
                .query_row([chain.to_string()], |row| {
                    record(row).map(|(record, _, _)| record)
                })
                .optional()
        })
        .await
    }

    /// A page of councils in the order of their creation, all or those of one domain.
    pub async fn list_councils(
        &self,
        domain: Option<String>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<CouncilRecord>, StoreError> {
        self.read(move |connection| {
            let after = after.map_or(0, |cursor| cursor.position[0]);
            let fetch = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
            match domain {
                None => {
                    let mut statement = connection.prepare_cached(
                        "SELECT id, revision, document, seq FROM councils WHERE seq > ?1 ORDER BY seq LIMIT ?2",
                    )?;
                    take_page(limit, statement.query_map(params![after, fetch], record)?)
                }
                Some(domain) => {
                    let mut statement = connection.prepare_cached(
                        "SELECT id, revision, document, seq FROM councils WHERE domain = ?3 AND seq > ?1 LIMIT ?2",
                    )?;
                    take_page(limit, statement.query_map(params![after, fetch, domain], record)?)
                }
            }
        })
        .await
    }

    /// How many councils there are.
    pub async fn count_councils(&self) -> Result<u64, StoreError> {
        self.read(|connection| connection.query_row("SELECT count(*) FROM councils", [], |row| row.get(0)))
            .await
    }

    /// Replaces a council. Returns its new revision.
    pub async fn update_council(
        &self,
        council: NewCouncil,
        change: CouncilChange,
    ) -> Result<u64, WriteError<CouncilRefused>> {
        self.write(move |connection| {
            let (seq, revision) = at_revision(connection, council.id, change.from)?;
            refuse_missing(connection, &council.sprites)?;
            refuse_taken(connection, &council)?;
            let next = revision + 1;
            connection
                .prepare_cached(
                    "UPDATE councils SET domain = ?2, name = ?3, revision = ?4, updated_at = ?5, document = ?6
                     WHERE seq = ?1",
                )?
                .execute(params![seq, council.domain, council.name, next, council.at, council.document])?;
            connection
                .prepare_cached("DELETE FROM council_sprites WHERE council = ?1")?
                .execute([seq])?;
            connection
                .prepare_cached("DELETE FROM council_chains WHERE council = ?1")?
                .execute([seq])?;
            index(connection, seq, &council)?;
            audit::append(connection, &change.audit)?;
            Ok(next)
        })
        .await
    }

    /// Deletes a council.
    pub async fn delete_council(
        &self,
        id: Uuid,
        change: CouncilChange,
    ) -> Result<(), WriteError<CouncilRefused>> {
        self.write(move |connection| {
            let (seq, _) = at_revision(connection, id, change.from)?;
            connection
                .prepare_cached("DELETE FROM councils WHERE seq = ?1")?
                .execute([seq])?;
            audit::append(connection, &change.audit)?;
            Ok(())
        })
        .await
    }
}

fn record(row: &rusqlite::Row<'_>) -> rusqlite::Result<(CouncilRecord, i64, usize)> {
    let record = CouncilRecord {
        id: id_column(row, 0)?,
        revision: row.get(1)?,
        document: row.get(2)?,
    };
    let size = record.document.len();
    Ok((record, row.get(3)?, size))
}

fn holder(connection: &Connection, domain: &str) -> rusqlite::Result<Option<Uuid>> {
    connection
        .prepare_cached("SELECT id FROM councils WHERE domain = ?1")?
        .query_row([domain], |row| id_column(row, 0))
        .optional()
}

fn refuse_taken(connection: &Connection, council: &NewCouncil) -> Result<(), Stop<CouncilRefused>> {
    match holder(connection, &council.domain)? {
        Some(other) if other != council.id => Err(Stop::Refused(CouncilRefused::DomainTaken(other))),
        Some(_) | None => Ok(()),
    }
}

fn refuse_missing(connection: &Connection, sprites: &[Uuid]) -> Result<(), Stop<CouncilRefused>> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM sprites WHERE id = ?1")?;
    let mut missing = Vec::new();
    for sprite in sprites {
        if !statement.exists([sprite.to_string()])? {
            missing.push(*sprite);
        }
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(Stop::Refused(CouncilRefused::MissingSprites(missing)))
    }
}

fn index(connection: &Connection, seq: i64, council: &NewCouncil) -> rusqlite::Result<()> {
    let mut sprites = connection
        .prepare_cached("INSERT OR IGNORE INTO council_sprites (sprite_id, council) VALUES (?1, ?2)")?;
    for sprite in &council.sprites {
        sprites.execute(params![sprite.to_string(), seq])?;
    }
    let mut chains =
        connection.prepare_cached("INSERT INTO council_chains (chain_id, council) VALUES (?1, ?2)")?;
    for chain in &council.chains {
        chains.execute(params![chain.to_string(), seq])?;
    }
    Ok(())
}

fn at_revision(connection: &Connection, id: Uuid, from: u64) -> Result<(i64, u64), Stop<CouncilRefused>> {
    let found: Option<(i64, u64)> = connection
        .prepare_cached("SELECT seq, revision FROM councils WHERE id = ?1")?
        .query_row([id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        None => Err(Stop::Refused(CouncilRefused::NotFound)),
        Some((_, revision)) if revision != from => Err(Stop::Refused(CouncilRefused::Changed(revision))),
        Some(found) => Ok(found),
    }
}
