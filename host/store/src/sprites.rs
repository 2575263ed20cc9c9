//! Sprites: the document as text, and the fields that lists are filtered by.

use crate::audit::{self, AuditEntry};
use crate::cursor::{Cursor, Page, take_page};
use crate::error::{Stop, StoreError, WriteError};
use crate::idempotency::{self, Idempotency, IdempotencyMismatch, Written};
use crate::store::Store;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use uuid::Uuid;

/// A sprite to be stored, new or changed.
#[derive(Debug, Clone)]
pub struct NewSprite {
    /// Its id.
    pub id: Uuid,
    /// The fields that are searched.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its role, if it has one.
    pub role: Option<String>,
    /// `blake3:…` or `sha256:…`.
    pub fingerprint: String,
    /// The tags of its metadata.
    pub tags: Vec<String>,
    /// The names of its capabilities.
    pub capabilities: Vec<String>,
    /// The whole document, JSON.
    pub document: String,
    /// Now, in milliseconds since 1970.
    pub at: i64,
}

/// A stored sprite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpriteRecord {
    /// Its id.
    pub id: Uuid,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// The whole document, JSON.
    pub document: String,
}

/// Which sprites a list shows: those for which every given field matches exactly.
#[derive(Debug, Clone, Default)]
pub struct SpriteFilter {
    /// By name.
    pub name: Option<String>,
    /// By a tag.
    pub tag: Option<String>,
    /// By role.
    pub role: Option<String>,
    /// By the name of a capability.
    pub capability: Option<String>,
}

/// A change of one sprite, refused unless the sprite still has the revision that the change was made from.
#[derive(Debug, Clone)]
pub struct SpriteChange {
    /// The revision that the change was made from.
    pub from: u64,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// Why a write of a sprite was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpriteRefused {
    /// There is no such sprite.
    #[error("there is no sprite with this id")]
    NotFound,
    /// Somebody else changed it in between.
    #[error("the sprite has changed; it is at revision {0} now")]
    Changed(u64),
    /// Another sprite has this name and version (D25).
    #[error("sprite {0} has this name and version")]
    Taken(Uuid),
    /// Councils have it as a member; some of their ids.
    #[error("the sprite is a member of councils")]
    InUse(Vec<Uuid>),
    /// See [`IdempotencyMismatch`].
    #[error(transparent)]
    Mismatch(#[from] IdempotencyMismatch),
}

/// What a delete does about councils that have the sprite as a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InUse {
    /// Refuse.
    Refuse,
    /// Delete all the same; the councils keep their snapshots.
    Ignore,
}

impl Store {
    /// Stores a new sprite.
    pub async fn create_sprite(
        &self,
        sprite: NewSprite,
        answer: String,
        idempotency: Option<Idempotency>,
        audit: AuditEntry,
    ) -> Result<Written, WriteError<SpriteRefused>> {
        self.write(move |connection| {
            if let before @ Written::Before(_) = idempotency::claim(connection, idempotency.as_ref(), &answer)? {
                return Ok(before);
            }
            not_taken(connection, &sprite)?;
            connection
                .prepare_cached(
                    "INSERT INTO sprites (id, name, version, role, fingerprint, revision, created_at, updated_at, document)
                     VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6, ?7)",
                )?
                .execute(params![
                    sprite.id.to_string(),
                    sprite.name,
                    sprite.version,
                    sprite.role,
                    sprite.fingerprint,
                    sprite.at,
                    sprite.document
                ])?;
            index(connection, connection.last_insert_rowid(), &sprite)?;
            audit::append(connection, &audit)?;
            Ok(Written::Now)
        })
        .await
    }

    /// A sprite by id.
    pub async fn sprite(&self, id: Uuid) -> Result<Option<SpriteRecord>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT id, revision, document, seq FROM sprites WHERE id = ?1")?
                .query_row([id.to_string()], |row| record(row).map(|(record, _, _)| record))
                .optional()
        })
        .await
    }

    /// Those of the sprites that exist, in the order asked for.
    pub async fn sprites_by_id(&self, ids: Vec<Uuid>) -> Result<Vec<SpriteRecord>, StoreError> {
        self.read(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT id, revision, document, seq FROM sprites WHERE id = ?1")?;
            let mut found = Vec::new();
            for id in ids {
                let row = statement.query_row([id.to_string()], record).optional()?;
                found.extend(row.map(|(record, _, _)| record));
            }
            Ok(found)
        })
        .await
    }

    /// The fingerprints that sprites have now, for those of `ids` that exist.
    pub async fn fingerprints(&self, ids: Vec<Uuid>) -> Result<Vec<(Uuid, String)>, StoreError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached("SELECT fingerprint FROM sprites WHERE id = ?1")?;
            let mut found = Vec::new();
            for id in ids {
                let row: Option<String> = statement
                    .query_row([id.to_string()], |row| row.get(0))
                    .optional()?;
                found.extend(row.map(|fingerprint| (id, fingerprint)));
            }
            Ok(found)
        })
        .await
    }

    /// A page of sprites in the order of their creation.
    pub async fn list_sprites(
        &self,
        filter: SpriteFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<SpriteRecord>, StoreError> {
        self.read(move |connection| {
            let (sql, values) = select(&filter, after.map_or(0, |cursor| cursor.position[0]), limit);
            let mut statement = connection.prepare_cached(&sql)?;
            take_page(limit, statement.query_map(params_from_iter(values), record)?)
        })
        .await
    }

    /// How many sprites there are. Counts an index: for `db info`, not for requests.
    pub async fn count_sprites(&self) -> Result<u64, StoreError> {
        self.read(|connection| connection.query_row("SELECT count(*) FROM sprites", [], |row| row.get(0)))
            .await
    }

    /// Replaces a sprite. Returns its new revision.
    pub async fn update_sprite(
        &self,
        sprite: NewSprite,
        change: SpriteChange,
    ) -> Result<u64, WriteError<SpriteRefused>> {
        self.write(move |connection| {
            let (seq, revision) = at_revision(connection, sprite.id, change.from)?;
            not_taken(connection, &sprite)?;
            let next = revision + 1;
            connection
                .prepare_cached(
                    "UPDATE sprites SET name = ?2, version = ?3, role = ?4, fingerprint = ?5, revision = ?6,
                        updated_at = ?7, document = ?8 WHERE seq = ?1",
                )?
                .execute(params![
                    seq,
                    sprite.name,
                    sprite.version,
                    sprite.role,
                    sprite.fingerprint,
                    next,
                    sprite.at,
                    sprite.document
                ])?;
            connection
                .prepare_cached("DELETE FROM sprite_tags WHERE sprite = ?1")?
                .execute([seq])?;
            connection
                .prepare_cached("DELETE FROM sprite_capabilities WHERE sprite = ?1")?
                .execute([seq])?;
            index(connection, seq, &sprite)?;
            audit::append(connection, &change.audit)?;
            Ok(next)
        })
        .await
    }

    /// Deletes a sprite.
    pub async fn delete_sprite(
        &self,
        id: Uuid,
        in_use: InUse,
        change: SpriteChange,
    ) -> Result<(), WriteError<SpriteRefused>> {
        self.write(move |connection| {
            let (seq, _) = at_revision(connection, id, change.from)?;
            if in_use == InUse::Refuse {
                let councils = councils_of(connection, id)?;
                if !councils.is_empty() {
                    return Err(Stop::Refused(SpriteRefused::InUse(councils)));
                }
            }
            connection
                .prepare_cached("DELETE FROM sprites WHERE seq = ?1")?
                .execute([seq])?;
            audit::append(connection, &change.audit)?;
            Ok(())
        })
        .await
    }
}

fn record(row: &rusqlite::Row<'_>) -> rusqlite::Result<(SpriteRecord, i64, usize)> {
    let record = SpriteRecord {
        id: id(row, 0)?,
        revision: row.get(1)?,
        document: row.get(2)?,
    };
    let size = record.document.len();
    Ok((record, row.get(3)?, size))
}

/// An id column. The file may have been edited by hand, so it is parsed, not assumed.
pub(crate) fn id(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    let text: String = row.get(column)?;
    Uuid::parse_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// The query for a list. The most selective filter that was given drives it by its index, which is also the order of the
/// list, so a page never sorts and never counts; the other filters are probed row by row.
fn select(filter: &SpriteFilter, after: i64, limit: usize) -> (String, Vec<Value>) {
    let mut values = vec![
        Value::Integer(after),
        Value::Integer(i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX)),
    ];
    let mut bind = |text: &str| {
        values.push(Value::Text(text.to_owned()));
        values.len()
    };
    let mut from = "sprites AS s";
    let mut order = "s.seq";
    let mut conditions = Vec::new();
    if let Some(name) = &filter.name {
        conditions.push(format!("s.name = ?{}", bind(name)));
    }
    for (value, table, column) in [
        (
            &filter.capability,
            "sprite_capabilities AS f CROSS JOIN sprites AS s ON s.seq = f.sprite",
            "capability",
        ),
        (
            &filter.tag,
            "sprite_tags AS f CROSS JOIN sprites AS s ON s.seq = f.sprite",
            "tag",
        ),
    ] {
        let Some(value) = value else { continue };
        let number = bind(value);
        if filter.name.is_none() && order == "s.seq" {
            from = table;
            order = "f.sprite";
            conditions.push(format!("f.{column} = ?{number}"));
        } else {
            let side = if column == "tag" {
                "sprite_tags"
            } else {
                "sprite_capabilities"
            };
            conditions.push(format!(
                "EXISTS (SELECT 1 FROM {side} AS x WHERE x.{column} = ?{number} AND x.sprite = s.seq)"
            ));
        }
    }
    if let Some(role) = &filter.role {
        conditions.push(format!("s.role = ?{}", bind(role)));
    }
    conditions.push(format!("{order} > ?1"));
    let conditions = conditions.join(" AND ");
    let sql = format!(
        "SELECT s.id, s.revision, s.document, s.seq FROM {from} WHERE {conditions} ORDER BY {order} LIMIT ?2"
    );
    (sql, values)
}

fn index(connection: &Connection, seq: i64, sprite: &NewSprite) -> rusqlite::Result<()> {
    let mut tags =
        connection.prepare_cached("INSERT OR IGNORE INTO sprite_tags (tag, sprite) VALUES (?1, ?2)")?;
    for tag in &sprite.tags {
        tags.execute(params![tag, seq])?;
    }
    let mut capabilities = connection
        .prepare_cached("INSERT OR IGNORE INTO sprite_capabilities (capability, sprite) VALUES (?1, ?2)")?;
    for capability in &sprite.capabilities {
        capabilities.execute(params![capability, seq])?;
    }
    Ok(())
}

fn at_revision(connection: &Connection, id: Uuid, from: u64) -> Result<(i64, u64), Stop<SpriteRefused>> {
    let found: Option<(i64, u64)> = connection
        .prepare_cached("SELECT seq, revision FROM sprites WHERE id = ?1")?
        .query_row([id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        None => Err(Stop::Refused(SpriteRefused::NotFound)),
        Some((_, revision)) if revision != from => Err(Stop::Refused(SpriteRefused::Changed(revision))),
        Some(found) => Ok(found),
    }
}

/// Refuses a name and version that another sprite has.
fn not_taken(connection: &Connection, sprite: &NewSprite) -> Result<(), Stop<SpriteRefused>> {
    let other = connection
        .prepare_cached("SELECT id FROM sprites WHERE name = ?1 AND version = ?2 AND id <> ?3 LIMIT 1")?
        .query_row(
            params![sprite.name, sprite.version, sprite.id.to_string()],
            |row| id(row, 0),
        )
        .optional()?;
    other.map_or(Ok(()), |other| Err(Stop::Refused(SpriteRefused::Taken(other))))
}

/// At most ten of the councils that have the sprite as a member: enough to say what is in the way.
fn councils_of(connection: &Connection, sprite: Uuid) -> rusqlite::Result<Vec<Uuid>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.id FROM council_sprites AS m JOIN councils AS c ON c.seq = m.council
         WHERE m.sprite_id = ?1 ORDER BY m.council LIMIT 10",
    )?;
    statement
        .query_map([sprite.to_string()], |row| id(row, 0))?
        .collect()
}
