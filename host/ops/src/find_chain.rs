//! Finds councils and chains by what callers call them: ids, domains, names.

use crate::council::from_record;
use crate::error::{OpError, Refusal};
use crate::host::Host;
use mizzen_model::chain::Chain;
use mizzen_model::council::Council;
use mizzen_model::execution::Named;
use mizzen_model::id::{ChainId, CouncilId};
use std::sync::Arc;
use uuid::Uuid;

/// Characters of a name that a refusal shows, and how many names it lists.
const SHOWN: usize = 128;
const LISTED: usize = 16;

/// A chain that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundChain {
    /// Its id.
    pub id: ChainId,
    /// Its name.
    pub name: String,
}

impl Host {
    /// The id of a council that is named by its id or by its domain.
    pub async fn find_council(&self, named: &Named<CouncilId>) -> Result<Uuid, OpError> {
        match named {
            Named::Id(id) => Ok(id.uuid()),
            Named::Name(domain) => {
                let found = self.store.council_of_domain(domain.clone()).await?;
                found.ok_or_else(|| Refusal::NoCouncilNamed(shown(domain)).into())
            }
        }
    }

    /// A chain of a council, by its id or its name; the only one when none is named.
    pub async fn find_chain(&self, council: Uuid, wanted: Option<&str>) -> Result<FoundChain, OpError> {
        let record = self
            .store
            .kept_council(council)
            .await?
            .ok_or(Refusal::CouncilNotFound(council))?;
        let council = from_record(&record.record)?;
        let chain = match wanted {
            Some(wanted) => chain_of(&council, wanted)?,
            None => match council.chains.as_slice() {
                [only] => only,
                [] => return Err(Refusal::BadRequest("the council has no chain".to_owned()).into()),
                _ => {
                    let known = known(&council);
                    let message = format!("the council has several chains; name one with --chain: {known}");
                    return Err(Refusal::BadRequest(message).into());
                }
            },
        };
        Ok(FoundChain {
            id: chain.id,
            name: chain.body.name.clone(),
        })
    }

    /// The id of a chain of a council that a request names.
    pub(crate) fn chain_named(
        record: &Arc<mizzen_store::KeptCouncil>,
        named: &Named<ChainId>,
    ) -> Result<ChainId, OpError> {
        match named {
            Named::Id(id) => Ok(*id),
            Named::Name(name) => Ok(chain_of(&from_record(&record.record)?, name)?.id),
        }
    }
}

/// The chain with an id or a name. A name that several chains have is none of them.
fn chain_of<'a>(council: &'a Council, wanted: &str) -> Result<&'a Chain, Refusal> {
    let found: Vec<&Chain> = council
        .chains
        .iter()
        .filter(|chain| chain.body.name == wanted || chain.id.to_string() == wanted)
        .collect();
    match found.as_slice() {
        [only] => Ok(only),
        [] => Err(Refusal::NoChainNamed {
            name: shown(wanted),
            known: known(council),
        }),
        several => Err(Refusal::SeveralChains {
            name: shown(wanted),
            ids: several.iter().map(|chain| chain.id.uuid()).collect(),
        }),
    }
}

fn shown(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

fn known(council: &Council) -> String {
    let mut names: Vec<&str> = council
        .chains
        .iter()
        .map(|chain| chain.body.name.as_str())
        .take(LISTED)
        .collect();
    if council.chains.len() > LISTED {
        names.push("…");
    }
    names.join(", ")
}
