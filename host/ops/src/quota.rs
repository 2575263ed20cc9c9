//! Something that there is so much of, shared out: in all, to one holder, and a part that is kept for those who hold little.
//!
//! Open runs, event streams and unread answers are counted here. Without shares the first caller who takes everything leaves nothing to the
//! others; without the kept part a few of them do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How much there is, and how it is shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaLimits {
    /// For everybody together.
    pub all: usize,
    /// For one holder.
    pub each: usize,
    /// The part of `all` that only those get who hold less than `little`.
    pub kept: usize,
    /// See `kept`.
    pub little: usize,
}

/// Which limit stands against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaExceeded {
    /// There is nothing left for anybody.
    All,
    /// The holder has its share.
    Each,
    /// What is left is kept for those who hold less.
    Kept,
}

/// What is held now, by name.
#[derive(Debug)]
pub struct Quota {
    limits: QuotaLimits,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    all: usize,
    by_name: HashMap<Arc<str>, usize>,
}

impl Held {
    fn of(&self, name: &str) -> usize {
        self.by_name.get(name).copied().unwrap_or(0)
    }
}

impl Quota {
    /// Nothing is held yet.
    pub fn new(limits: QuotaLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            held: Mutex::default(),
        })
    }

    /// The limits.
    pub fn limits(&self) -> QuotaLimits {
        self.limits
    }

    /// How much is held by everybody.
    pub fn held(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).all
    }

    /// How much one holder has.
    pub fn held_by(&self, name: &str) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).of(name)
    }

    /// Takes an amount, until the share is dropped. A holder without anything gets what it asks for while there is some: one answer may be
    /// larger than a share.
    pub fn take(self: &Arc<Self>, name: &str, amount: usize) -> Result<QuotaShare, QuotaExceeded> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, own) = (held.all.saturating_add(amount), held.of(name));
        if held.all > 0 && all > self.limits.all {
            return Err(QuotaExceeded::All);
        }
        if own > 0 && own.saturating_add(amount) > self.limits.each {
            return Err(QuotaExceeded::Each);
        }
        if all > self.limits.all.saturating_sub(self.limits.kept) && own > 0 && own >= self.limits.little {
            return Err(QuotaExceeded::Kept);
        }
        Ok(self.add(&mut held, name, amount))
    }

    /// Takes an amount whatever is held: for what is there already and must be counted.
    pub fn count(self: &Arc<Self>, name: &str, amount: usize) -> QuotaShare {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        self.add(&mut held, name, amount)
    }

    fn add(self: &Arc<Self>, held: &mut Held, name: &str, amount: usize) -> QuotaShare {
        held.all = held.all.saturating_add(amount);
        let name = match held.by_name.get_key_value(name) {
            Some((name, _)) => Arc::clone(name),
            None => Arc::from(name),
        };
        let own = held.by_name.entry(Arc::clone(&name)).or_default();
        *own = own.saturating_add(amount);
        QuotaShare {
            quota: Arc::clone(self),
            name,
            amount,
        }
    }
}

/// An amount that is held until this is dropped.
#[derive(Debug)]
pub struct QuotaShare {
    quota: Arc<Quota>,
    name: Arc<str>,
    amount: usize,
}

impl Drop for QuotaShare {
    fn drop(&mut self) {
        let mut held = self.quota.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all = held.all.saturating_sub(self.amount);
        let left = held.of(&self.name).saturating_sub(self.amount);
        // Names come from callers: one that holds nothing is not remembered.
        if left == 0 {
            held.by_name.remove(&self.name);
        } else if let Some(own) = held.by_name.get_mut(&self.name) {
            *own = left;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn quota() -> Arc<Quota> {
        Quota::new(QuotaLimits {
            all: 16,
            each: 8,
            kept: 4,
            little: 2,
        })
    }

    #[test]
    fn one_holder_gets_its_share_and_others_what_is_left() {
        let quota = quota();
        let greedy: Vec<QuotaShare> = (0..8).map(|_| quota.take("greedy", 1).unwrap()).collect();
        assert_eq!(quota.take("greedy", 1).unwrap_err(), QuotaExceeded::Each);
        let second: Vec<QuotaShare> = (0..4).map(|_| quota.take("second", 1).unwrap()).collect();
        // Twelve are held: the last four are for those who hold less than two.
        assert_eq!(quota.take("second", 1).unwrap_err(), QuotaExceeded::Kept);
        let honest: Vec<QuotaShare> = (0..2).map(|_| quota.take("honest", 1).unwrap()).collect();
        assert_eq!(quota.take("honest", 1).unwrap_err(), QuotaExceeded::Kept);
        let others = [quota.take("a", 1).unwrap(), quota.take("b", 1).unwrap()];
        assert_eq!(quota.take("c", 1).unwrap_err(), QuotaExceeded::All);
        drop((greedy, second, honest, others));
        assert_eq!((quota.held(), quota.held_by("greedy")), (0, 0));
        assert!(quota.held.lock().unwrap().by_name.is_empty());
    }

    #[test]
    fn one_amount_may_be_larger_than_a_share_and_what_is_there_is_counted() {
        let quota = quota();
        let large = quota.take("a", 12).unwrap();
        assert_eq!(quota.take("a", 1).unwrap_err(), QuotaExceeded::Each);
        assert_eq!(quota.take("b", 5).unwrap_err(), QuotaExceeded::All);
        let counted = quota.count("b", 20);
        assert_eq!(quota.held(), 32);
        drop((large, counted));
        assert_eq!(quota.held(), 0);
    }
}
