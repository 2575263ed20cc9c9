//! The mandatory packs that the host's configuration mounts. They are kept with the data that they govern, so that a host without
//! them notices what it would leave out.

use crate::audit::AuditEntry;
use crate::error::StoreError;
use crate::port::port;
use crate::store::Store;

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

port! {
    /// Reads of the mandatory packs.
    pub trait Governance {
        /// The mandatory packs that govern what is kept here, by id.
        fn governing_packs() -> Vec<GoverningPack>;
    }
}

/// See [`Store::add_governing_packs`].
#[derive(Debug)]
pub struct AddGoverningPacks {
    /// The packs.
    pub packs: Vec<GoverningPack>,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// See [`Store::replace_governing_packs`].
#[derive(Debug)]
pub struct ReplaceGoverningPacks {
    /// The packs.
    pub packs: Vec<GoverningPack>,
    /// Recorded with it.
    pub audit: AuditEntry,
}

impl Store {
    /// Adds packs, or replaces their signers. None goes: that takes [`Store::replace_governing_packs`].
    pub async fn add_governing_packs(
        &self,
        packs: Vec<GoverningPack>,
        audit: AuditEntry,
    ) -> Result<(), StoreError> {
        self.write(AddGoverningPacks { packs, audit })
            .await
            .map_err(Into::into)
    }

    /// Puts these packs in the place of all that there are: an act of the operator.
    pub async fn replace_governing_packs(
        &self,
        packs: Vec<GoverningPack>,
        audit: AuditEntry,
    ) -> Result<(), StoreError> {
        self.write(ReplaceGoverningPacks { packs, audit })
            .await
            .map_err(Into::into)
    }
}
