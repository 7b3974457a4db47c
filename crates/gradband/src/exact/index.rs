//! What is known of an arm, and policies that pull the arm with the largest index, an index being a function of that and the
//! round.

use super::CountKernel;
use super::space::for_each_outcome;

/// What is known of an arm. Rewards may be pending, and need not be 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arm {
    /// How often it was pulled, pulls with pending rewards among them.
    pub pulls: f64,
    /// How many of its rewards are known.
    pub known: f64,
    /// Their mean; that of past arms if there are none.
    pub mean: f64,
    /// Their variance around that, biased; none before the first.
    pub variance: f64,
    /// The mean of them, each rounded at random to 0 or 1.
    pub ones: f64,
    /// The sum of them, each divided by the probability of its pull.
    pub weighted: f64,
}

impl Arm {
    /// Of an arm with so many rewards, all known, that are 0 or 1.
    #[inline(always)]
    fn of_counts(pulls: u32, successes: u32) -> Self {
        let (pulls, mean) = (f64::from(pulls), mean(successes, pulls.max(1)));
        Self { pulls, known: pulls, mean, variance: mean * (1.0 - mean), ones: mean, weighted: 0.0 }
    }

    /// How many of its rewards are 1 after rounding, those that are pending as on average.
    pub fn successes(&self) -> f64 {
        self.ones * self.pulls
    }
}

/// An index for each arm by itself.
pub trait Index: Send + Sync {
    /// Whether each arm is pulled once before indices are compared.
    const EACH_ARM_ONCE: bool;

    /// Whether indices mean nothing after the horizon.
    const ENDS: bool = false;

    /// The index of an arm in `round` (0-based).
    fn index(&self, round: usize, arm: &Arm) -> f64;

    /// The probability of exploring instead: an arm uniformly at random. None for policies without a
    /// parameter.
    fn epsilon(&self) -> Option<f64> {
        None
    }
}

/// Plays the arm with the largest index; ties go to the lowest arm.
#[derive(Clone, Copy, Debug)]
pub struct IndexPolicy<I>(pub I);

impl<I: Index> CountKernel for IndexPolicy<I> {
    fn dim(&self) -> usize {
        usize::from(self.0.epsilon().is_some())
    }

    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        let (arms, round) = (pulls.len(), pulls.iter().sum::<u32>() as usize);
        if let Some(arm) = unpulled(pulls).filter(|_| I::EACH_ARM_ONCE) {
            return certain(arm, arms, pi, dpi);
        }
        let best =
            argmax(pulls.iter().zip(successes).map(|(&t, &s)| self.0.index(round, &Arm::of_counts(t, s)))).0;
        for arm in 0..arms {
            self.choose(arms, std::iter::once(arm == best), &mut pi[arm..], dpi.get_mut(arm..));
        }
    }

    fn block(&self, pulls: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        let (arms, round) = (pulls.len(), pulls.iter().sum::<u32>() as usize);
        if let Some(arm) = unpulled(pulls).filter(|_| I::EACH_ARM_ONCE) {
            return certain(arm, arms, pi, dpi);
        }
        // An arm's index depends on its own successes only: a few values serve the whole block.
        let mut indices: Vec<Vec<f64>> = pulls
            .iter()
            .map(|&t| (0..=t).map(|s| self.0.index(round, &Arm::of_counts(t, s))).collect())
            .collect();
        let Some(last) = indices.pop() else { return };
        let len = pi.len() / arms;
        // Row by row over the last arm's successes: it is pulled if it beats the best of the others.
        for_each_outcome(&pulls[..arms - 1], |row, successes| {
            let (best, value) = argmax(indices.iter().zip(successes).map(|(values, &s)| values[s as usize]));
            for arm in 0..arms {
                let start = arm * len + row * last.len();
                let (pi, dpi) = (&mut pi[start..], dpi.get_mut(start..));
                if arm == arms - 1 {
                    self.choose(arms, last.iter().map(|&v| v > value), pi, dpi);
                } else {
                    self.choose(arms, last.iter().map(|&v| arm == best && v <= value), pi, dpi);
                }
            }
        });
    }
}

impl<I: Index> IndexPolicy<I> {
    /// One arm's pi = (1 - epsilon) [arm is best] + epsilon / K in some states, and its derivative.
    fn choose(
        &self,
        arms: usize,
        best: impl Iterator<Item = bool> + Clone,
        pi: &mut [f64],
        dpi: Option<&mut [f64]>,
    ) {
        let share = 1.0 / arms as f64;
        let epsilon = self.0.epsilon().unwrap_or(0.0);
        let (explore, exploit) = (epsilon * share, 1.0 - epsilon + epsilon * share);
        pi.iter_mut().zip(best.clone()).for_each(|(p, best)| *p = if best { exploit } else { explore });
        for (slope, best) in dpi.into_iter().flatten().zip(best) {
            *slope = if best { share - 1.0 } else { share };
        }
    }
}

/// The arm that "each arm once" pulls next: the first that has not been pulled.
pub(crate) fn unpulled(pulls: &[u32]) -> Option<usize> {
    pulls.iter().position(|&count| count == 0)
}

/// Fills `pi` (states of arm 0, then of arm 1, …) with certainty of one arm, and `dpi` with zeros.
pub(crate) fn certain(arm: usize, arms: usize, pi: &mut [f64], dpi: &mut [f64]) {
    let len = pi.len() / arms;
    pi.fill(0.0);
    pi[arm * len..(arm + 1) * len].fill(1.0);
    dpi.fill(0.0);
}

/// Empirical mean. The quotient is correctly rounded, so equal means are equal floats, and ties are ties.
#[inline(always)]
pub(crate) fn mean(successes: u32, pulls: u32) -> f64 {
    f64::from(successes) / f64::from(pulls)
}

/// Index of the largest value, and the value; ties go to the lowest index.
pub(crate) fn argmax(values: impl Iterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (arm, value) in values.enumerate() {
        if value > best.1 {
            best = (arm, value);
        }
    }
    best
}
