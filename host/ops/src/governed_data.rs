//! Whether a configuration may run on a data folder: it must mount every mandatory pack that has governed what is kept there.
//!
//! A host's governance stands in its `mizzen.toml`, and its runs stand in its data folder. Whoever has the folder could run a chain
//! on it with a configuration of their own, without the packs; so the folder remembers them, and who signed them. Mounting more
//! needs nobody. Mounting less is an act of the operator, which is audited: `mizzen governance accept`.

use crate::toolbox::Loaded;
use mizzen_model::governance::{Mount, PackMode};
use mizzen_store::{AuditEntry, GoverningPack, Store, StoreError};
use serde_json::json;

/// Why a configuration may not run on a data folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ungoverned {
    /// It does not mount packs that govern the folder.
    #[error(
        "the data folder is governed by packs that the configuration does not mount as mandatory: {}; mount them under [[governance]] \
         in mizzen.toml, or, if they are to go, run `mizzen governance accept`",
        .0.join(", ")
    )]
    NotMounted(Vec<String>),
    /// A pack of that id is mounted, and somebody else has signed it.
    #[error(
        "the data folder is governed by the pack {id}, signed with {}, and the installed one is signed with {}; install the former, \
         or, if the change is right, run `mizzen governance accept`",
        was.join(", "), is.join(", ")
    )]
    Resigned {
        /// The pack.
        id: String,
        /// The keys that signed the one which governs the folder.
        was: Vec<String>,
        /// The keys that signed the installed one.
        is: Vec<String>,
    },
}

/// The ids of the packs that a configuration mounts as mandatory.
pub(crate) fn mandatory(mounts: &[Mount]) -> impl Iterator<Item = &str> {
    let mandatory = mounts.iter().filter(|mount| mount.mode() == PackMode::Mandatory);
    mandatory.map(|mount| mount.id.as_str())
}

/// Refuses a configuration without a pack that governs the folder.
pub fn check_mounts(governing: &[GoverningPack], mounts: &[Mount]) -> Result<(), Ungoverned> {
    let lost: Vec<String> = governing
        .iter()
        .filter(|pack| mandatory(mounts).all(|id| id != pack.id))
        .map(|pack| pack.id.clone())
        .collect();
    if lost.is_empty() {
        Ok(())
    } else {
        Err(Ungoverned::NotMounted(lost))
    }
}

/// The mandatory packs of a set. Refuses one that no key has signed which signed the one that governs the folder: a pack of the same id
/// that always says yes is quickly made.
pub(crate) fn governing(
    known: &[GoverningPack],
    next: &Loaded,
    now_ms: i64,
) -> Result<Vec<GoverningPack>, Ungoverned> {
    let mut packs = Vec::new();
    for mount in next.governance() {
        if mount.mode() != PackMode::Mandatory {
            continue;
        }
        let Some(pack) = crate::governance::find(next, "", mount).ok() else {
            // Checked before: a set that cannot mount what it must is not loaded.
            continue;
        };
        let signers: Vec<String> = pack.signers().iter().map(ToString::to_string).collect();
        let before = known.iter().find(|known| known.id == mount.id);
        packs.push(checked(before, &mount.id, signers, now_ms)?);
    }
    Ok(packs)
}

fn checked(
    before: Option<&GoverningPack>,
    id: &str,
    signers: Vec<String>,
    now_ms: i64,
) -> Result<GoverningPack, Ungoverned> {
    if let Some(before) = before
        && !before.signers.is_empty()
        && !before.signers.iter().any(|signer| signers.contains(signer))
    {
        return Err(Ungoverned::Resigned {
            id: id.to_owned(),
            was: before.signers.clone(),
            is: signers,
        });
    }
    Ok(GoverningPack {
        id: id.to_owned(),
        signers,
        since: before.map_or(now_ms, |before| before.since),
    })
}

/// Writes down what is new of the packs that govern the folder.
pub(crate) async fn remember(
    store: &Store,
    known: &[GoverningPack],
    packs: Vec<GoverningPack>,
    now_ms: i64,
) -> Result<(), StoreError> {
    let new: Vec<GoverningPack> = packs.into_iter().filter(|pack| !known.contains(pack)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let entry = entry("govern", &new, now_ms, json!({}));
    store.add_governing_packs(new, entry).await
}

/// What an operator's change of a folder's governance came to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct AcceptedGovernance {
    /// Packs that govern the folder from now on, and did not.
    pub added: Vec<String>,
    /// Packs that govern it no more.
    pub dropped: Vec<String>,
    /// Packs that govern it as before.
    pub kept: Vec<String>,
}

/// Makes the mandatory packs of a configuration those that govern the folder, whatever did before; audited. Who signed them is
/// written down when they are loaded.
pub async fn accept_governance(
    store: &Store,
    mounts: &[Mount],
    now_ms: i64,
) -> Result<AcceptedGovernance, StoreError> {
    let known = store.governing_packs().await?;
    let packs: Vec<GoverningPack> = mandatory(mounts)
        .map(|id| GoverningPack {
            id: id.to_owned(),
            signers: Vec::new(),
            since: known
                .iter()
                .find(|pack| pack.id == id)
                .map_or(now_ms, |pack| pack.since),
        })
        .collect();
    let ids = |keep: &dyn Fn(&str) -> bool, packs: &[GoverningPack]| -> Vec<String> {
        let ids = packs.iter().map(|pack| pack.id.clone());
        ids.filter(|id| keep(id)).collect()
    };
    let is_known = |id: &str| known.iter().any(|pack| pack.id == id);
    let stays = |id: &str| packs.iter().any(|pack| pack.id == id);
    let accepted = AcceptedGovernance {
        added: ids(&|id| !is_known(id), &packs),
        dropped: ids(&|id| !stays(id), &known),
        kept: ids(&is_known, &packs),
    };
    let entry = entry("accept_governance", &packs, now_ms, json!(accepted));
    store.replace_governing_packs(packs, entry).await?;
    Ok(accepted)
}

fn entry(action: &str, packs: &[GoverningPack], now_ms: i64, detail: serde_json::Value) -> AuditEntry {
    let ids: Vec<&str> = packs.iter().map(|pack| pack.id.as_str()).collect();
    AuditEntry {
        at: now_ms,
        actor: "local".to_owned(),
        action: action.to_owned(),
        subject: ids.join(" "),
        outcome: "done".to_owned(),
        request_id: String::new(),
        detail: detail.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_json::{ReadLimits, parse};

    fn mounts(text: &str) -> Vec<Mount> {
        let limits = ReadLimits::default();
        let tape = parse(text, limits).unwrap();
        let mizzen_json::Json::Array(items) = tape.root().to_json() else {
            panic!("{text}")
        };
        items.iter().map(|item| Mount::parse(item).unwrap()).collect()
    }

    fn known(id: &str, signers: &[&str]) -> GoverningPack {
        GoverningPack {
            id: id.to_owned(),
            signers: signers.iter().map(|&signer| signer.to_owned()).collect(),
            since: 1,
        }
    }

    #[test]
    fn a_configuration_mounts_every_pack_that_governs_the_folder() {
        let governing = [known("a", &[]), known("b", &[])];
        let lost = |text: &str| check_mounts(&governing, &mounts(text)).err();
        assert_eq!(
            lost(r#"[{"id": "a"}, {"id": "b", "mode": "mandatory"}, {"id": "c"}]"#),
            None
        );
        let without = |ids: &[&str]| {
            Some(Ungoverned::NotMounted(
                ids.iter().map(|&id| id.to_owned()).collect(),
            ))
        };
        assert_eq!(lost("[]"), without(&["a", "b"]));
        assert_eq!(lost(r#"[{"id": "a"}]"#), without(&["b"]));
        assert_eq!(
            lost(r#"[{"id": "a"}, {"id": "b", "mode": "advisory"}]"#),
            without(&["b"])
        );
        assert_eq!(check_mounts(&[], &[]), Ok(()));
    }

    #[test]
    fn a_pack_of_the_same_id_is_signed_by_somebody_who_signed_the_first() {
        let signed = |signers: &[&str]| {
            signers
                .iter()
                .map(|&signer| signer.to_owned())
                .collect::<Vec<_>>()
        };
        let before = known("a", &["alice", "bob"]);
        let check = |signers: &[&str]| checked(Some(&before), "a", signed(signers), 9);
        assert_eq!(check(&["bob", "carol"]).unwrap(), known("a", &["bob", "carol"]));
        assert!(matches!(check(&["mallory"]), Err(Ungoverned::Resigned { .. })));
        assert!(check(&[]).is_err());
        // Accepted by hand, and not loaded since.
        assert!(checked(Some(&known("a", &[])), "a", signed(&["carol"]), 9).is_ok());
        assert_eq!(checked(None, "a", signed(&["carol"]), 9).unwrap().since, 9);
    }
}
