//! Sprites in SQL.

use crate::audit;
use crate::cursor::{first_after, take_page};
use crate::database::Database;
use crate::error::Stop;
use crate::idempotency;
use crate::job::Perform;
use mizzen_store::{
    CreateSprite, Cursor, DeleteSprite, InUse, NewSprite, Page, Pending, SpriteFilter, SpriteRecord,
    SpriteRefused, Sprites, UpdateSprite, Written,
};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use uuid::Uuid;

impl Sprites for Database {
    fn sprite(&self, id: Uuid) -> Pending<'_, Option<SpriteRecord>> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT id, revision, document, seq FROM sprites WHERE id = ?1")?
                .query_row([id.to_string()], |row| record(row).map(|(record, _, _)| record))
                .optional()
        })
    }

    fn sprites_by_id(&self, ids: Vec<Uuid>) -> Pending<'_, Vec<SpriteRecord>> {
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
    }

    fn fingerprints(&self, ids: Vec<Uuid>) -> Pending<'_, Vec<(Uuid, String)>> {
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
    }

    fn list_sprites(
        &self,
        filter: SpriteFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Pending<'_, Page<SpriteRecord>> {
        self.read(move |connection| {
            let (sql, values) = select(&filter, first_after(after)?, limit);
            let mut statement = connection.prepare_cached(&sql)?;
            take_page(limit, statement.query_map(params_from_iter(values), record)?)
        })
    }

    fn count_sprites(&self) -> Pending<'_, u64> {
        self.read(|connection| connection.query_row("SELECT count(*) FROM sprites", [], |row| row.get(0)))
    }

    fn probe_sprites(&self) -> Pending<'_, ()> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT document FROM sprites LIMIT 1")?
                .exists([])
                .map(drop)
        })
    }
}

impl Perform for CreateSprite {
    fn perform(&self, connection: &Connection) -> Result<Written, Stop<SpriteRefused>> {
        let Self {
            sprite,
            answer,
            idempotency,
            audit,
        } = self;
        if let before @ Written::Before(_) = idempotency::claim(connection, idempotency.as_ref(), answer)? {
            return Ok(before);
        }
        not_taken(connection, sprite)?;
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
        index(connection, connection.last_insert_rowid(), sprite)?;
        audit::append(connection, audit)?;
        Ok(Written::Now)
    }
}

impl Perform for UpdateSprite {
    fn perform(&self, connection: &Connection) -> Result<u64, Stop<SpriteRefused>> {
        let Self { sprite, change } = self;
        let (seq, revision) = at_revision(connection, sprite.id, change.from)?;
        not_taken(connection, sprite)?;
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
        index(connection, seq, sprite)?;
        audit::append(connection, &change.audit)?;
        Ok(next)
    }
}

impl Perform for DeleteSprite {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<SpriteRefused>> {
        let (seq, _) = at_revision(connection, self.id, self.change.from)?;
        if self.in_use == InUse::Refuse {
            let councils = councils_of(connection, self.id)?;
            if !councils.is_empty() {
                return Err(Stop::Refused(SpriteRefused::InUse(councils)));
            }
        }
        connection
            .prepare_cached("DELETE FROM sprites WHERE seq = ?1")?
            .execute([seq])?;
        audit::append(connection, &self.change.audit)?;
        Ok(())
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
