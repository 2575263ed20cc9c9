//! Matches: of one fact with a pattern, and of several with the first conditions of a rule. All of them lie in one list and know
//! each other by number, so that taking one away takes away what was made from it, in the order in which CLIPS does.

use crate::fact::{FactId, HashedMap};

/// Which match.
pub(crate) type MatchId = u32;
/// No match.
pub(crate) const NONE: MatchId = MatchId::MAX;

/// What a match is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It was taken away; its place is free.
    Gone,
    /// Of one fact with a pattern.
    Fact(FactId),
    /// Of conditions; it waits at the left of a join.
    Left,
    /// Of a group; it waits at the right of a join.
    Right,
}

/// A match. Links are numbers of other matches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Match {
    pub(crate) kind: Kind,
    /// The join where it waits, or the memory of its pattern.
    pub(crate) owner: usize,
    /// What the first of two `$?` takes.
    pub(crate) split: u32,
    /// The match of the conditions before.
    pub(crate) left: MatchId,
    /// The match of a fact that it adds to it.
    pub(crate) right: MatchId,
    pub(crate) hash: u64,
    /// Its neighbours in the memory; of a match of a fact also the next of the same fact.
    pub(crate) next: MatchId,
    pub(crate) previous: MatchId,
    pub(crate) next_of_fact: MatchId,
    /// The first match that was made from it, and its neighbours among those made from the same.
    pub(crate) children: MatchId,
    pub(crate) next_left_child: MatchId,
    pub(crate) previous_left_child: MatchId,
    pub(crate) next_right_child: MatchId,
    pub(crate) previous_right_child: MatchId,
    /// The match that keeps it from going on, or lets it go on where that takes one.
    pub(crate) blocker: MatchId,
    /// The first match that it keeps, and its neighbours among those kept by the same.
    pub(crate) blocks: MatchId,
    pub(crate) next_blocked: MatchId,
    pub(crate) previous_blocked: MatchId,
    /// The number of its activation, while it waits to fire.
    pub(crate) activation: u32,
}

impl Match {
    /// A match without any link.
    pub(crate) const EMPTY: Self = Self {
        kind: Kind::Gone,
        owner: 0,
        split: 0,
        left: NONE,
        right: NONE,
        hash: 0,
        next: NONE,
        previous: NONE,
        next_of_fact: NONE,
        children: NONE,
        next_left_child: NONE,
        previous_left_child: NONE,
        next_right_child: NONE,
        previous_right_child: NONE,
        blocker: NONE,
        blocks: NONE,
        next_blocked: NONE,
        previous_blocked: NONE,
        activation: NONE,
    };
}

/// What a match costs of the memory budget: its place in the list, and its share of a table.
pub(crate) const WEIGHT: usize = size_of::<Match>() + 32;

/// The first and the last of a list.
#[derive(Debug, Clone, Copy)]
struct Ends {
    first: MatchId,
    last: MatchId,
}

const EMPTY: Ends = Ends {
    first: NONE,
    last: NONE,
};

/// Where matches wait, found by the hash of their key. Without a key all hashes are the same.
#[derive(Debug)]
pub(crate) struct Memory {
    plain: Ends,
    keyed: Option<HashedMap<Ends>>,
    pub(crate) count: usize,
}

impl Memory {
    pub(crate) fn new(has_key: bool) -> Self {
        Self {
            plain: EMPTY,
            keyed: has_key.then(HashedMap::default),
            count: 0,
        }
    }

    /// The first match with this hash.
    pub(crate) fn first(&self, hash: u64) -> MatchId {
        match &self.keyed {
            None => self.plain.first,
            Some(keyed) => keyed.get(&hash).map_or(NONE, |ends| ends.first),
        }
    }

    /// Room for that many keys, found when they come.
    pub(crate) fn make_room(&mut self, count: usize) {
        if let Some(keyed) = &mut self.keyed {
            keyed.reserve(count);
        }
    }

    fn ends(&mut self, hash: u64) -> &mut Ends {
        match &mut self.keyed {
            None => &mut self.plain,
            Some(keyed) => keyed.entry(hash).or_insert(EMPTY),
        }
    }
}

/// All matches of a session.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    list: Vec<Match>,
    free: Vec<MatchId>,
}

impl Matches {
    pub(crate) fn make_room(&mut self, count: usize) {
        self.list.reserve(count);
        self.free.reserve(count);
    }

    /// The match; an empty one where there is none.
    pub(crate) fn at(&self, id: MatchId) -> &Match {
        self.list.get(id as usize).unwrap_or(&Match::EMPTY)
    }

    pub(crate) fn change(&mut self, id: MatchId, change: impl FnOnce(&mut Match)) {
        if let Some(found) = self.list.get_mut(id as usize) {
            change(found);
        }
    }

    pub(crate) fn add(&mut self, new: Match) -> MatchId {
        if let Some(id) = self.free.pop() {
            self.change(id, |place| *place = new);
            return id;
        }
        let id = MatchId::try_from(self.list.len()).unwrap_or(NONE);
        self.list.push(new);
        id
    }

    /// Gives its place back. Nothing must lead to it any more.
    pub(crate) fn drop(&mut self, id: MatchId) {
        self.change(id, |gone| gone.kind = Kind::Gone);
        self.free.push(id);
    }

    /// Puts a match into a memory: those that enter from the left come first, those from the right last.
    pub(crate) fn enter(&mut self, id: MatchId, memory: &mut Memory) {
        memory.count += 1;
        let is_left = self.at(id).kind == Kind::Left;
        let ends = memory.ends(self.at(id).hash);
        let (first, last) = (ends.first, ends.last);
        if is_left {
            self.change(id, |new| new.next = first);
            self.change(first, |old| old.previous = id);
            ends.first = id;
            if last == NONE {
                ends.last = id;
            }
        } else {
            self.change(id, |new| new.previous = last);
            self.change(last, |old| old.next = id);
            ends.last = id;
            if first == NONE {
                ends.first = id;
            }
        }
    }

    /// Takes a match out of its memory.
    pub(crate) fn leave(&mut self, id: MatchId, memory: &mut Memory) {
        memory.count = memory.count.saturating_sub(1);
        let Match {
            next, previous, hash, ..
        } = *self.at(id);
        let ends = memory.ends(hash);
        if ends.first == id {
            ends.first = next;
        }
        if ends.last == id {
            ends.last = previous;
        }
        if ends.first == NONE
            && let Some(keyed) = &mut memory.keyed
        {
            keyed.remove(&hash);
        }
        self.change(previous, |before| before.next = next);
        self.change(next, |after| after.previous = previous);
        self.change(id, |left| (left.next, left.previous) = (NONE, NONE));
    }

    /// Makes a match known to those that it was made from.
    pub(crate) fn descend(&mut self, id: MatchId) {
        let Match { left, right, .. } = *self.at(id);
        if right != NONE {
            let first = self.at(right).children;
            self.change(id, |new| new.next_right_child = first);
            self.change(first, |old| old.previous_right_child = id);
            self.change(right, |parent| parent.children = id);
        }
        if left != NONE {
            let first = self.at(left).children;
            self.change(id, |new| new.next_left_child = first);
            self.change(first, |old| old.previous_left_child = id);
            self.change(left, |parent| parent.children = id);
        }
    }

    /// Makes the match of its fact forget it.
    pub(crate) fn forget_right(&mut self, id: MatchId) {
        let Match {
            right,
            next_right_child: next,
            previous_right_child: previous,
            ..
        } = *self.at(id);
        match previous {
            NONE => self.change(right, |parent| parent.children = next),
            previous => self.change(previous, |before| before.next_right_child = next),
        }
        self.change(next, |after| after.previous_right_child = previous);
    }

    /// Makes the match of the conditions before forget it.
    pub(crate) fn forget_left(&mut self, id: MatchId) {
        let Match {
            left,
            next_left_child: next,
            previous_left_child: previous,
            ..
        } = *self.at(id);
        match previous {
            NONE => self.change(left, |parent| parent.children = next),
            previous => self.change(previous, |before| before.next_left_child = next),
        }
        self.change(next, |after| after.previous_left_child = previous);
    }

    /// `blocker` keeps a match from now on.
    pub(crate) fn block(&mut self, id: MatchId, blocker: MatchId) {
        let first = self.at(blocker).blocks;
        self.change(id, |kept| {
            kept.blocker = blocker;
            kept.next_blocked = first;
        });
        self.change(first, |old| old.previous_blocked = id);
        self.change(blocker, |keeper| keeper.blocks = id);
    }

    /// Nothing keeps the match any more.
    pub(crate) fn unblock(&mut self, id: MatchId) {
        let Match {
            blocker,
            next_blocked: next,
            previous_blocked: previous,
            ..
        } = *self.at(id);
        match previous {
            NONE => self.change(blocker, |keeper| keeper.blocks = next),
            previous => self.change(previous, |before| before.next_blocked = next),
        }
        self.change(next, |after| after.previous_blocked = previous);
        self.change(id, |free| {
            (free.blocker, free.next_blocked, free.previous_blocked) = (NONE, NONE, NONE);
        });
    }

    /// The match of a fact at a position, in a match of that many conditions; nothing where the condition has no fact.
    pub(crate) fn fact_at(&self, id: MatchId, length: usize, position: usize) -> MatchId {
        let mut at = id;
        for _ in position + 1..length {
            at = self.at(at).left;
        }
        self.at(at).right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(matches: &mut Matches, kind: Kind, hash: u64) -> MatchId {
        matches.add(Match {
            kind,
            hash,
            ..Match::EMPTY
        })
    }

    fn listed(matches: &Matches, memory: &Memory, hash: u64) -> Vec<MatchId> {
        let mut all = Vec::new();
        let mut at = memory.first(hash);
        while at != NONE {
            all.push(at);
            at = matches.at(at).next;
        }
        all
    }

    #[test]
    fn a_memory_lists_the_latest_from_the_left_first_and_from_the_right_last() {
        for (kind, wanted) in [(Kind::Left, [4, 2, 0]), (Kind::Right, [0, 2, 4])] {
            let mut matches = Matches::default();
            let mut memory = Memory::new(true);
            for at in 0..6_u64 {
                let id = add(&mut matches, kind, at % 2);
                matches.enter(id, &mut memory);
            }
            assert_eq!(listed(&matches, &memory, 0), wanted);
            matches.leave(2, &mut memory);
            assert_eq!(listed(&matches, &memory, 0), [wanted[0], wanted[2]]);
            matches.leave(wanted[0], &mut memory);
            matches.leave(wanted[2], &mut memory);
            assert!(listed(&matches, &memory, 0).is_empty());
            assert_eq!((listed(&matches, &memory, 1).len(), memory.count), (3, 3));
        }
    }

    #[test]
    fn links_are_taken_away_in_any_order() {
        let mut matches = Matches::default();
        let parent = add(&mut matches, Kind::Left, 0);
        let children: Vec<MatchId> = (0..3)
            .map(|_| {
                let id = matches.add(Match {
                    kind: Kind::Left,
                    left: parent,
                    ..Match::EMPTY
                });
                matches.descend(id);
                matches.block(id, parent);
                id
            })
            .collect();
        assert_eq!((matches.at(parent).children, matches.at(parent).blocks), (3, 3));
        for id in [children[1], children[2], children[0]] {
            matches.forget_left(id);
            matches.unblock(id);
            matches.drop(id);
        }
        assert_eq!(
            (matches.at(parent).children, matches.at(parent).blocks),
            (NONE, NONE)
        );
        assert_eq!(
            add(&mut matches, Kind::Left, 0),
            children[0],
            "places are used again"
        );
    }
}
