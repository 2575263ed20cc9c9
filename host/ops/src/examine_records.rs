//! Goes through everything that has a hash or a signature and says what no longer fits; for `mizzen doctor`.

use crate::error::OpError;
use crate::host::Host;
use crate::sprite::from_record;
use mizzen_catalog::key::PublicKey;
use mizzen_store::{RunFilter, RunPlace, SpriteFilter};

/// Records that are read at once.
const PIECE: usize = 100;
/// Problems that are listed; the rest is counted.
const PROBLEMS: usize = 100;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examined {
    /// Executions that have ended and are as they were signed.
    pub executions: u64,
    /// Those of them that were erased: their hashes are as they were signed.
    pub erased: u64,
    /// Sprites whose document has their fingerprint.
    pub sprites: u64,
    /// What does not fit, up to a bound.
    pub problems: Vec<String>,
    /// How many problems there were beyond the bound.
    pub omitted: u64,
}

impl Examined {
    fn problem(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(problem);
        } else {
            self.omitted += 1;
        }
    }
}

impl Host {
    /// Verifies the journal, result and seal of every execution that has ended, and the fingerprint of every sprite.
    pub async fn examine_records(&self, key: Option<&PublicKey>) -> Result<Examined, OpError> {
        let mut examined = Examined::default();
        self.examine_ended(key, &mut examined).await?;
        let mut after = None;
        loop {
            let page = self
                .store
                .list_sprites(SpriteFilter::default(), after, PIECE)
                .await?;
            for record in &page.items {
                match from_record(record) {
                    Ok(sprite) if sprite.computed_fingerprint() == sprite.fingerprint => {
                        examined.sprites += 1
                    }
                    Ok(_) => examined.problem(format!(
                        "sprite {} was edited in the database: its document does not have its fingerprint",
                        record.id
                    )),
                    Err(error) => examined.problem(format!("sprite {} cannot be read: {error}", record.id)),
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(examined),
            }
        }
    }

    async fn examine_ended(&self, key: Option<&PublicKey>, examined: &mut Examined) -> Result<(), OpError> {
        let mut place = RunPlace::Offset(0);
        // Said once, however many there are.
        let mut unverified: u64 = 0;
        loop {
            let page = self.store.list_runs(RunFilter::default(), place, PIECE).await?;
            for record in page.runs.into_iter().filter(|record| record.result.is_some()) {
                let (id, status) = (record.id, record.status.clone());
                let Some(key) = key else {
                    unverified += 1;
                    continue;
                };
                match self.verify_ended(record, key).await? {
                    Ok(verified) if verified.status == status => {
                        examined.executions += 1;
                        examined.erased += u64::from(verified.erased.is_some());
                    }
                    Ok(verified) => examined.problem(format!(
                        "execution {id} was edited in the database: it ended as {} and is listed as {status}",
                        verified.status
                    )),
                    Err(error) => {
                        examined.problem(format!("execution {id} is not what was recorded: {error}"))
                    }
                }
            }
            match page.next {
                Some(next) => place = RunPlace::After(next),
                None => break,
            }
        }
        if unverified > 0 {
            let plural = if unverified == 1 { "" } else { "s" };
            examined.problem(format!(
                "the host's key in keys/ is gone, and {unverified} ended execution{plural} cannot be verified: restore it from a backup"
            ));
        }
        Ok(())
    }
}
