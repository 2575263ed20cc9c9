//! Councils in SQL.

use crate::audit;
use crate::cursor::{first_after, take_page};
use crate::database::Database;
use crate::error::Stop;
use crate::idempotency;
use crate::job::Perform;
use crate::sprites::id as id_column;
use mizzen_store::{
    CouncilRecord, CouncilRefused, Councils, CreateCouncil, Cursor, DeleteCouncil, NewCouncil, Page, Pending,
    UpdateCouncil, Written,
};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

impl Councils for Database {
    fn council(&self, id: Uuid) -> Pending<'_, Option<CouncilRecord>> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT id, revision, document, seq FROM councils WHERE id = ?1")?
                .query_row([id.to_string()], |row| record(row).map(|(record, _, _)| record))
                .optional()
        })
    }

    fn council_revision(&self, id: Uuid) -> Pending<'_, Option<u64>> {
        self.look(move |connection| {
            connection
                .prepare_cached("SELECT revision FROM councils WHERE id = ?1")?
                .query_row([id.to_string()], |row| row.get(0))
                .optional()
        })
    }

    fn council_of_domain(&self, domain: String) -> Pending<'_, Option<Uuid>> {
        self.read(move |connection| holder(connection, &domain))
    }

    fn council_of_chain(&self, chain: Uuid) -> Pending<'_, Option<CouncilRecord>> {
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
    }

    fn list_councils(
        &self,
        domain: Option<String>,
        after: Option<Cursor>,
        limit: usize,
    ) -> Pending<'_, Page<CouncilRecord>> {
        self.read(move |connection| {
            let after = first_after(after)?;
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
    }

    fn count_councils(&self) -> Pending<'_, u64> {
        self.read(|connection| connection.query_row("SELECT count(*) FROM councils", [], |row| row.get(0)))
    }

    fn probe_councils(&self) -> Pending<'_, ()> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT document FROM councils LIMIT 1")?
                .exists([])
                .map(drop)
        })
    }
}

impl Perform for CreateCouncil {
    fn perform(&self, connection: &Connection) -> Result<Written, Stop<CouncilRefused>> {
        let Self {
            council,
            answer,
            idempotency,
            audit,
        } = self;
        if let before @ Written::Before(_) = idempotency::claim(connection, idempotency.as_ref(), answer)? {
            return Ok(before);
        }
        refuse_missing(connection, &council.sprites)?;
        refuse_taken(connection, council)?;
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
        index(connection, connection.last_insert_rowid(), council)?;
        audit::append(connection, audit)?;
        Ok(Written::Now)
    }
}

impl Perform for UpdateCouncil {
    fn perform(&self, connection: &Connection) -> Result<u64, Stop<CouncilRefused>> {
        let Self { council, change } = self;
        let (seq, revision) = at_revision(connection, council.id, change.from)?;
        refuse_missing(connection, &council.sprites)?;
        refuse_taken(connection, council)?;
        let next = revision + 1;
        connection
            .prepare_cached(
                "UPDATE councils SET domain = ?2, name = ?3, revision = ?4, updated_at = ?5, document = ?6
                 WHERE seq = ?1",
            )?
            .execute(params![
                seq,
                council.domain,
                council.name,
                next,
                council.at,
                council.document
            ])?;
        connection
            .prepare_cached("DELETE FROM council_sprites WHERE council = ?1")?
            .execute([seq])?;
        connection
            .prepare_cached("DELETE FROM council_chains WHERE council = ?1")?
            .execute([seq])?;
        index(connection, seq, council)?;
        audit::append(connection, &change.audit)?;
        Ok(next)
    }
}

impl Perform for DeleteCouncil {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<CouncilRefused>> {
        let (seq, _) = at_revision(connection, self.id, self.change.from)?;
        connection
            .prepare_cached("DELETE FROM councils WHERE seq = ?1")?
            .execute([seq])?;
        audit::append(connection, &self.change.audit)?;
        Ok(())
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
