//! The mandatory packs that the host's configuration mounts. They are kept with the data that they govern, so that a host without
//! them notices what it would leave out.

use crate::audit::{self, AuditEntry};
use crate::error::{Never, StoreError};
use crate::store::Store;
use rusqlite::params;

/// A mandatory pack of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoverningPack {
    /// The pack's id.
    pub id: String,
    /// The keys that signed the package it came in; none until it has been loaded.
    pub signers: Vec<String>,
    /// When it was first mounted, in milliseconds since 1970.
    pub since: i64,
}

impl Store {
    /// The mandatory packs that govern what is kept here, by id.
    pub async fn governing_packs(&self) -> Result<Vec<GoverningPack>, StoreError> {
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
        .await
    }

    /// Adds packs, or says anew who signed them. None goes: that takes [`Store::replace_governing_packs`].
    pub async fn add_governing_packs(
        &self,
        packs: Vec<GoverningPack>,
        audit: AuditEntry,
    ) -> Result<(), StoreError> {
        self.write::<_, Never, _>(move |connection| {
            for pack in &packs {
                connection.execute(
                    "INSERT INTO governance (pack_id, signers, since) VALUES (?1, ?2, ?3)
                     ON CONFLICT (pack_id) DO UPDATE SET signers = excluded.signers",
                    params![pack.id, pack.signers.join(" "), pack.since],
                )?;
            }
            Ok(audit::append(connection, &audit)?)
        })
        .await
        .map_err(Into::into)
    }

    /// Puts these packs in the place of all that there are: an act of the operator.
    pub async fn replace_governing_packs(
        &self,
        packs: Vec<GoverningPack>,
        audit: AuditEntry,
    ) -> Result<(), StoreError> {
        self.write::<_, Never, _>(move |connection| {
            connection.execute("DELETE FROM governance", [])?;
            for pack in &packs {
                connection.execute(
                    "INSERT INTO governance (pack_id, signers, since) VALUES (?1, ?2, ?3)",
                    params![pack.id, pack.signers.join(" "), pack.since],
                )?;
            }
            Ok(audit::append(connection, &audit)?)
        })
        .await
        .map_err(Into::into)
    }
}
