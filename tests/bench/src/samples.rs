//! Times of single acts, and how they are taken.

use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// Some measured values, in nanoseconds unless a row says otherwise.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn push(&mut self, took: Duration) {
        self.0.push(took.as_secs_f64() * 1e9);
    }

    pub(crate) fn push_value(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The value that this share of all values is not above.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index below the length"
        )]
        let place = (last as f64 * share).round() as usize;
        sorted.get(place.min(last)).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn p50(&self) -> f64 {
        self.quantile(0.5)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.quantile(0.99)
    }
}

impl From<Vec<Duration>> for Samples {
    fn from(times: Vec<Duration>) -> Self {
        let mut samples = Self::default();
        times.into_iter().for_each(|time| samples.push(time));
        samples
    }
}

/// How often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) rounds: usize,
    pub(crate) each: usize,
}

/// Does something some times and gives the time of each.
pub(crate) type Batch<'a> = dyn FnMut(usize) -> Result<Samples> + 'a;

/// Lets several take turns. The first round warms up and does not count.
pub(crate) fn in_turns(rounds: Rounds, sides: &mut [&mut Batch<'_>]) -> Result<Vec<Samples>> {
    let mut all = vec![Samples::default(); sides.len()];
    for side in sides.iter_mut() {
        side(rounds.each)?;
    }
    for _ in 0..rounds.rounds.max(1) {
        for (side, samples) in sides.iter_mut().zip(&mut all) {
            samples.extend(side(rounds.each)?);
        }
    }
    if all.iter().any(|samples| samples.len() == 0) {
        bail!("a measurement gave no samples");
    }
    Ok(all)
}

/// Lets one work, with a warm-up.
pub(crate) fn alone(rounds: Rounds, side: &mut Batch<'_>) -> Result<Samples> {
    let mut all = in_turns(rounds, &mut [side])?;
    Ok(all.pop().unwrap_or_default())
}

/// Lets two take turns.
pub(crate) fn versus(
    rounds: Rounds,
    ours: &mut Batch<'_>,
    theirs: &mut Batch<'_>,
) -> Result<(Samples, Samples)> {
    let mut all = in_turns(rounds, &mut [ours, theirs])?;
    let theirs = all.pop().unwrap_or_default();
    Ok((all.pop().unwrap_or_default(), theirs))
}

/// A batch of something that takes microseconds or more: each act is timed.
pub(crate) fn timed(count: usize, mut act: impl FnMut() -> Result<()>) -> Result<Samples> {
    let mut samples = Samples::default();
    for _ in 0..count {
        let began = Instant::now();
        act()?;
        samples.push(began.elapsed());
    }
    Ok(samples)
}

/// A batch of something that takes nanoseconds: a hundred acts are timed together.
pub(crate) fn timed_small(count: usize, mut act: impl FnMut()) -> Result<Samples> {
    const TOGETHER: u32 = 100;
    let mut samples = Samples::default();
    for _ in 0..count {
        let began = Instant::now();
        for _ in 0..TOGETHER {
            act();
        }
        samples.push(began.elapsed() / TOGETHER);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let mut samples = Samples::default();
        (1..=101).for_each(|value| samples.push_value(f64::from(value)));
        assert_eq!(
            (samples.p50(), samples.p99(), samples.quantile(1.0)),
            (51.0, 100.0, 101.0)
        );
    }

    #[test]
    fn two_that_are_compared_take_turns_and_the_first_round_does_not_count() {
        let order = std::cell::RefCell::new(String::new());
        let side = |name: char| {
            let order = &order;
            move |count: usize| {
                order.borrow_mut().push(name);
                timed(count, || Ok(()))
            }
        };
        let rounds = Rounds { rounds: 2, each: 3 };
        let (ours, theirs) = versus(rounds, &mut side('a'), &mut side('b')).unwrap_or_default();
        assert_eq!((ours.len(), theirs.len()), (6, 6));
        assert_eq!(order.into_inner(), "ababab");
    }
}
