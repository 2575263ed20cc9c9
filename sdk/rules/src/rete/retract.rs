//! A fact leaves: what was made from it goes, and what it kept from going on goes on.

use super::{Change, Rete};
use crate::budget::Exhausted;
use crate::condition::Sense;
use crate::fact::FactId;
use crate::matches::{Kind, Match, MatchId, NONE};

impl Rete<'_> {
    /// Takes away everything that follows from a fact; `false` where it is not there.
    pub(super) fn depart(&mut self, id: FactId) -> Result<bool, Exhausted> {
        let Some(first) = self.facts.get(id).map(|stored| stored.matches) else {
            return Ok(false);
        };
        self.meter.spend(1)?;
        self.facts.unlink(id);
        self.leaving = Some(id);
        let mut at = first;
        while at != NONE {
            self.meter.spend(1)?;
            let next = self.matches.at(at).next_of_fact;
            self.take_made_with(at)?;
            self.release(at, Change::Retract)?;
            self.drop_match(at);
            at = next;
        }
        self.leaving = None;
        Ok(true)
    }

    /// Whether a match has the fact in it that is being taken away.
    pub(super) fn will_leave(&mut self, id: MatchId) -> Result<bool, Exhausted> {
        let Some(leaving) = self.leaving else {
            return Ok(false);
        };
        let mut at = id;
        while at != NONE {
            self.meter.spend(1)?;
            let Match {
                kind, left, right, ..
            } = *self.matches.at(at);
            if kind == Kind::Fact(leaving) || self.matches.at(right).kind == Kind::Fact(leaving) {
                return Ok(true);
            }
            at = left;
        }
        Ok(false)
    }

    /// Takes away the matches that the match of a fact was added to.
    fn take_made_with(&mut self, fact: MatchId) -> Result<(), Exhausted> {
        let mut at = self.matches.at(fact).children;
        while at != NONE {
            self.meter.spend(1)?;
            self.take_children(at, Change::Retract)?;
            if self.matches.at(at).kind == Kind::Right {
                self.release(at, Change::Retract)?;
            }
            self.disarm(at);
            let next = self.matches.at(at).next_right_child;
            self.matches.forget_right(at);
            if self.matches.at(at).left != NONE {
                self.matches.forget_left(at);
            }
            if self.matches.at(at).blocker != NONE {
                self.matches.unblock(at);
            }
            self.drop_match(at);
            at = next;
        }
        Ok(())
    }

    /// Takes away everything that was made from a match, the last first.
    pub(super) fn take_children(&mut self, parent: MatchId, change: Change) -> Result<(), Exhausted> {
        let mut at = self.matches.at(parent).children;
        while at != NONE {
            self.meter.spend(1)?;
            let Match {
                children,
                next_left_child,
                left,
                blocks,
                right,
                ..
            } = *self.matches.at(at);
            if children != NONE {
                at = children;
                continue;
            }
            let next = match next_left_child {
                NONE => {
                    self.matches.change(left, |left| left.children = NONE);
                    left
                }
                next => next,
            };
            if blocks != NONE {
                self.release(at, change)?;
            } else {
                self.disarm(at);
            }
            if right != NONE {
                self.matches.forget_right(at);
            }
            if self.matches.at(at).blocker != NONE {
                self.matches.unblock(at);
            }
            self.drop_match(at);
            if next == parent {
                return Ok(());
            }
            at = next;
        }
        Ok(())
    }

    /// It no longer waits to fire.
    fn disarm(&mut self, id: MatchId) {
        let number = self.matches.at(id).activation;
        if number != NONE {
            self.agenda.remove(number);
            self.matches.change(id, |found| found.activation = NONE);
        }
    }

    /// What a match keeps is let go, or kept by another one.
    fn release(&mut self, blocker: MatchId, change: Change) -> Result<(), Exhausted> {
        loop {
            let kept = self.matches.at(blocker).blocks;
            if kept == NONE {
                return Ok(());
            }
            self.meter.spend(1)?;
            self.matches.unblock(kept);
            if self.keep_by_another(kept, blocker, change)? {
                continue;
            }
            let id = self.matches.at(kept).owner;
            let Some(join) = self.join(id) else { continue };
            match join.sense {
                Sense::Exists => self.take_children(kept, change)?,
                _ if join.is_first => self.begin_again(id, change)?,
                _ => {
                    if self.passes(&join.after, join, kept, NONE)?
                        && (change == Change::Assert || !self.will_leave(kept)?)
                    {
                        self.go_on(kept, NONE, id, change)?;
                    }
                }
            }
        }
    }

    /// Looks for another match behind the one that goes which keeps the same.
    fn keep_by_another(&mut self, kept: MatchId, gone: MatchId, change: Change) -> Result<bool, Exhausted> {
        let Some(join) = self.join(self.matches.at(kept).owner) else {
            return Ok(false);
        };
        let mut at = self.matches.at(gone).next;
        while at != NONE {
            self.meter.spend(1)?;
            let is_there = change == Change::Assert || !self.will_leave(at)?;
            if is_there && self.passes(&join.tests, join, kept, at)? {
                self.matches.block(kept, at);
                return Ok(true);
            }
            at = self.matches.at(at).next;
        }
        Ok(false)
    }
}
