//! The mandatory packs in SQL.

use crate::audit;
use crate::database::Database;
use crate::error::Stop;
use crate::job::Perform;
use mizzen_store::{AddGoverningPacks, Governance, GoverningPack, Pending, ReplaceGoverningPacks};
use rusqlite::{Connection, params};
use std::convert::Infallible;

impl Governance for Database {
    fn governing_packs(&self) -> Pending<'_, Vec<GoverningPack>> {
        self.read(|connection| {
            connection
                .prepare("SELECT pack_id, signers, since FROM governance ORDER BY pack_id")?
                .query_map([], |row| {
                    let signers: String = row.get(1)?;
                    Ok(GoverningPack {
                        id: row.get(0)?,
                        signers: signers.split_whitespace().map(str::to_owned).collect(),
                        since: row.get(2)?,
                    })
                })?
                .collect()
        })
    }
}

impl Perform for AddGoverningPacks {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<Infallible>> {
        for pack in &self.packs {
            connection.execute(
                "INSERT INTO governance (pack_id, signers, since) VALUES (?1, ?2, ?3)
                 ON CONFLICT (pack_id) DO UPDATE SET signers = excluded.signers",
                params![pack.id, pack.signers.join(" "), pack.since],
            )?;
        }
        Ok(audit::append(connection, &self.audit)?)
    }
}

impl Perform for ReplaceGoverningPacks {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<Infallible>> {
        connection.execute("DELETE FROM governance", [])?;
        for pack in &self.packs {
            connection.execute(
                "INSERT INTO governance (pack_id, signers, since) VALUES (?1, ?2, ?3)",
                params![pack.id, pack.signers.join(" "), pack.since],
            )?;
        }
        Ok(audit::append(connection, &self.audit)?)
    }
}
