//! What a session remembers of its facts, and how it follows them: facts enter and leave, matches come and go.

mod assert;
mod facing;
mod retract;

use crate::agenda::Agenda;
use crate::budget::{Budget, Exhausted, Meter};
use crate::fact::{Fact, FactId, Facts};
use crate::matches::{Kind, Match, MatchId, Matches, Memory, NONE, WEIGHT};
use crate::network::{Input, Join, JoinId, Network, NodeId};

/// Whether a fact enters or leaves: what is made while one leaves must not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Assert,
    Retract,
}

/// Facts and matches.
#[derive(Debug)]
pub(crate) struct Rete<'p> {
    pub(crate) network: &'p Network,
    pub(crate) facts: Facts,
    pub(crate) matches: Matches,
    pub(crate) memories: Memories,
    /// By join: the match without facts that a rule begins with when its first condition is `not` or `exists`.
    beginnings: Vec<MatchId>,
    pub(crate) agenda: Agenda,
    pub(crate) meter: Meter,
    pub(crate) errors: Vec<String>,
    /// The fact that is being taken away.
    leaving: Option<FactId>,
    open: Vec<Open<'p>>,
}

/// Where matches wait.
#[derive(Debug)]
pub(crate) struct Memories {
    /// By pattern: matches of facts.
    pub(crate) alphas: Vec<Memory>,
    /// By join: what waits at its left.
    pub(crate) lefts: Vec<Memory>,
    /// By join: matches of a group at its right.
    rights: Vec<Memory>,
}

impl Memories {
    fn new(network: &Network) -> Self {
        let joins = || network.joins.iter();
        Self {
            alphas: network
                .alphas
                .iter()
                .map(|alpha| Memory::new(!alpha.key.is_empty()))
                .collect(),
            lefts: joins()
                .map(|join| Memory::new(!join.left_key.is_empty()))
                .collect(),
            rights: joins()
                .map(|join| Memory::new(!join.right_key.is_empty()))
                .collect(),
        }
    }

    /// The memory of a match.
    fn of(&mut self, found: &Match) -> Option<&mut Memory> {
        match found.kind {
            Kind::Gone => None,
            Kind::Fact(_) => self.alphas.get_mut(found.owner),
            Kind::Left => self.lefts.get_mut(found.owner),
            Kind::Right => self.rights.get_mut(found.owner),
        }
    }

    /// The first match with this hash that waits at the right of a join.
    fn first_right(&self, id: JoinId, input: Input, hash: u64) -> MatchId {
        let memory = match input {
            Input::Nothing => None,
            Input::Facts(alpha) => self.alphas.get(alpha),
            Input::Group(_) => self.rights.get(id),
        };
        memory.map_or(NONE, |memory| memory.first(hash))
    }

    fn first_left(&self, id: JoinId, hash: u64) -> MatchId {
        self.lefts.get(id).map_or(NONE, |memory| memory.first(hash))
    }
}

/// What is left to visit while a fact looks for its patterns.
#[derive(Debug)]
enum Open<'p> {
    /// Steps, of which so many are left, and what the first `$?` takes.
    Nodes(&'p [NodeId], usize, Option<usize>),
    /// A `$?` that can take so many numbers of fields, from the largest down.
    Span(NodeId, usize),
}

impl<'p> Rete<'p> {
    /// Without facts. Rules that need none already wait.
    pub(crate) fn new(network: &'p Network, budget: Budget) -> Result<Self, Exhausted> {
        let mut rete = Self {
            network,
            facts: Facts::default(),
            matches: Matches::default(),
            memories: Memories::new(network),
            beginnings: vec![NONE; network.joins.len()],
            agenda: Agenda::new(network),
            meter: Meter::new(budget),
            errors: Vec::new(),
            leaving: None,
            open: Vec::new(),
        };
        rete.begin()?;
        Ok(rete)
    }

    /// Rules that begin without a fact, or with one that is not there.
    fn begin(&mut self) -> Result<(), Exhausted> {
        for (id, join) in self.network.joins.iter().enumerate() {
            if join.has_beginning() {
                let start = self.add_match(Match {
                    kind: Kind::Left,
                    owner: id,
                    ..Match::EMPTY
                })?;
                if let Some(place) = self.beginnings.get_mut(id) {
                    *place = start;
                }
            }
        }
        for join in self.network.begin_right.iter().rev() {
            self.enter_first(NONE, *join, Change::Assert)?;
        }
        for join in self.network.begin_left.iter().rev() {
            self.begin_again(*join, Change::Assert)?;
        }
        Ok(())
    }

    /// Finds room for that many facts now, and everything that changes with a fact a place together.
    pub(crate) fn make_room(&mut self, facts: usize) {
        self.facts.make_room(facts);
        self.matches.make_room(facts * 4);
        self.agenda.make_room(facts / 2);
        let Memories { alphas, lefts, .. } = &mut self.memories;
        moved(alphas);
        moved(lefts);
        for memory in alphas.iter_mut().chain(lefts) {
            memory.make_room(facts / 8);
        }
        self.open.reserve(facts);
    }

    /// Adds a fact; `None` where the same fact is there already.
    pub(crate) fn assert(&mut self, fact: Fact, cycle: u32) -> Result<Option<FactId>, Exhausted> {
        let Some(id) = self.facts.insert(fact, cycle, &mut self.meter)? else {
            return Ok(None);
        };
        self.arrive(id)?;
        Ok(Some(id))
    }

    /// Takes a fact away; `false` where it is not there.
    pub(crate) fn retract(&mut self, id: FactId) -> Result<bool, Exhausted> {
        if !self.depart(id)? {
            return Ok(false);
        }
        self.facts.take(id, &mut self.meter);
        Ok(true)
    }

    /// Puts a fact into the place of another, which it keeps; `false` where the same fact is there already, and then it is gone.
    pub(crate) fn replace(&mut self, id: FactId, fact: Fact, cycle: u32) -> Result<bool, Exhausted> {
        self.depart(id)?;
        let is_new = self.facts.replace(id, fact, cycle, &mut self.meter)?;
        if is_new {
            self.arrive(id)?;
        }
        Ok(is_new)
    }

    fn join(&self, id: JoinId) -> Option<&'p Join> {
        let network: &'p Network = self.network;
        network.joins.get(id)
    }

    /// Adds a match to its memory.
    fn add_match(&mut self, new: Match) -> Result<MatchId, Exhausted> {
        self.meter.spend(1)?;
        self.meter.add_match(WEIGHT)?;
        let id = self.matches.add(new);
        if let Some(memory) = self.memories.of(&new) {
            self.matches.enter(id, memory);
        }
        Ok(id)
    }

    /// Takes a match, to which nothing leads any more, out of its memory.
    fn drop_match(&mut self, id: MatchId) {
        let gone = *self.matches.at(id);
        if let Some(memory) = self.memories.of(&gone) {
            self.matches.leave(id, memory);
        }
        self.matches.drop(id);
        self.meter.drop_match(WEIGHT);
    }
}

/// Moves what changes to where the rest of it is.
fn moved<T>(list: &mut Vec<T>) {
    let mut anew = Vec::with_capacity(list.len());
    anew.append(list);
    *list = anew;
}
