//! Parallel blocks (D16, D39): which branches there are, and when a block is over.

/// Branches that run beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fork {
    /// The nodes, in order.
    pub(crate) targets: Vec<u32>,
    /// Where the run goes on; none: past the last node.
    pub(crate) next: Option<u32>,
    pub(crate) strategy: Strategy,
}

/// When a block is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Every branch has succeeded; one that fails fails the block.
    All,
    /// The first branch has succeeded; the block fails when all have failed.
    Any,
    /// The first branch has ended, whichever way.
    Race,
    /// So many branches have succeeded.
    Quorum(usize),
}

/// Where a branch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchEnd {
    Open,
    Succeeded,
    Failed,
}

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Open,
    Succeeded,
    Failed,
}

impl Strategy {
    /// Reads `all`, `any`, `race`, `quorum` (the majority) or `quorum:N`; what is wrong with it otherwise.
    pub(super) fn parse(text: &str, targets: usize) -> Result<Self, String> {
        let needed = match text {
            "all" => return Ok(Self::All),
            "any" => return Ok(Self::Any),
            "race" => return Ok(Self::Race),
            "quorum" => targets / 2 + 1,
            other => match other.strip_prefix("quorum:").map(str::parse::<usize>) {
                Some(Ok(needed)) if needed > 0 => needed,
                _ => return Err(format!("{other:?} is no strategy")),
            },
        };
        if needed > targets {
            return Err(format!("{targets} branches cannot reach a quorum of {needed}"));
        }
        Ok(Self::Quorum(needed))
    }

    /// Where a block stands whose branches stand so, in the order in which they ended last.
    pub(crate) fn standing(
        self,
        branches: impl Iterator<Item = BranchEnd>,
        first: Option<BranchEnd>,
    ) -> Standing {
        let (mut succeeded, mut failed, mut all) = (0_usize, 0_usize, 0_usize);
        for branch in branches {
            all += 1;
            match branch {
                BranchEnd::Open => {}
                BranchEnd::Succeeded => succeeded += 1,
                BranchEnd::Failed => failed += 1,
            }
        }
        match (self, first) {
            (Self::Race, Some(BranchEnd::Succeeded)) => Standing::Succeeded,
            (Self::Race, Some(BranchEnd::Failed)) => Standing::Failed,
            (Self::Race, _) => Standing::Open,
            (Self::All, _) if failed > 0 => Standing::Failed,
            (Self::All, _) if succeeded == all => Standing::Succeeded,
            (Self::Any, _) if succeeded > 0 => Standing::Succeeded,
            (Self::Any, _) if failed == all => Standing::Failed,
            (Self::Quorum(needed), _) if succeeded >= needed => Standing::Succeeded,
            (Self::Quorum(needed), _) if all - failed < needed => Standing::Failed,
            _ => Standing::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_over_when_its_strategy_says_so() {
        use BranchEnd::{Failed as F, Open as O, Succeeded as S};
        let check = |strategy: &str, branches: &[BranchEnd], first: Option<BranchEnd>, expected: Standing| {
            let strategy = Strategy::parse(strategy, branches.len()).unwrap();
            let standing = strategy.standing(branches.iter().copied(), first);
            assert_eq!(standing, expected, "{strategy:?} {branches:?}");
        };
        check("all", &[S, O], Some(S), Standing::Open);
        check("all", &[S, S], Some(S), Standing::Succeeded);
        check("all", &[O, F], Some(F), Standing::Failed);
        check("any", &[F, O], Some(F), Standing::Open);
        check("any", &[F, S], Some(F), Standing::Succeeded);
        check("any", &[F, F], Some(F), Standing::Failed);
        check("race", &[O, O], None, Standing::Open);
        check("race", &[O, S], Some(S), Standing::Succeeded);
        check("race", &[F, O], Some(F), Standing::Failed);
        check("quorum", &[S, O, F], Some(S), Standing::Open);
        check("quorum", &[S, S, O], Some(S), Standing::Succeeded);
        check("quorum", &[F, F, O], Some(F), Standing::Failed);
        check("quorum:1", &[F, S, O], Some(F), Standing::Succeeded);
        check("quorum:3", &[S, F, O], Some(S), Standing::Failed);
    }

    #[test]
    fn a_strategy_that_is_none_is_refused() {
        for (text, targets) in [
            ("", 2),
            ("most", 2),
            ("quorum:0", 2),
            ("quorum:3", 2),
            ("quorum:x", 2),
            ("quorum", 0),
        ] {
            assert!(Strategy::parse(text, targets).is_err(), "{text}");
        }
        assert_eq!(Strategy::parse("quorum", 4), Ok(Strategy::Quorum(3)));
    }
}
