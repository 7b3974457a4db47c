//! The soft index given the counts of Bernoulli arms.

use super::SoftIndex;
use crate::exact::CountKernel;
use crate::exact::index::{Arm, Index};
use crate::exact::space::for_each_outcome;
use crate::numeric::special::exp;
use libm::{log, log1p, pow, sqrt};

/// Parameters that the bound of an arm depends on: all but the temperature.
const OF_BOUND: usize = 5;

/// The same policy over counts.
pub struct Counts(pub SoftIndex);

impl Counts {
    /// The bound of an arm, and its derivatives.
    pub(super) fn bound(&self, round: usize, pulls: u32, successes: u32) -> (f64, [f64; OF_BOUND]) {
        self.bound_of(round, f64::from(pulls), f64::from(successes))
    }

    fn bound_of(&self, round: usize, pulls: f64, sum: f64) -> (f64, [f64; OF_BOUND]) {
        let SoftIndex { mean: m, strength: k, alpha, gamma, delta, .. } = self.0;
        let r = self.0.horizon.remaining(round);
        let n = pulls + k;
        let (p, q) = ((sum + k * m) / n, (pulls - sum + k * (1.0 - m)) / n);
        let l = log1p(delta * r / n);
        let b = sqrt(p * q / (n + 1.0)) * pow(l, gamma);
        let by_p = if p * q > 0.0 { 1.0 + alpha * b * (q - p) / (2.0 * p * q) } else { 1.0 };
        let by_x = alpha * b * gamma / (l * (1.0 + delta * r / n));
        let by_n =
            (pulls * m - sum) / (n * n) * by_p - alpha * b / (2.0 * (n + 1.0)) - by_x * delta * r / (n * n);
        (p + alpha * b, [k / n * by_p, by_n, b, alpha * b * log(l), by_x * r / n])
    }
}

impl Index for Counts {
    const EACH_ARM_ONCE: bool = false;

    fn index(&self, round: usize, arm: &Arm) -> f64 {
        self.bound_of(round, arm.pulls, arm.pulls * arm.mean).0
    }
}

impl CountKernel for Counts {
    fn dim(&self) -> usize {
        OF_BOUND + 1
    }

    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        let round = pulls.iter().sum::<u32>() as usize;
        let bounds: Vec<_> = pulls.iter().zip(successes).map(|(&t, &s)| self.bound(round, t, s)).collect();
        let arms: Vec<_> = bounds.iter().collect();
        self.softmax(&arms, |arm| arm, pi, dpi, pulls.len());
    }

    /// A bound depends on its own arm's successes only: a few serve the whole block.
    fn block(&self, pulls: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        let (arms, round) = (pulls.len(), pulls.iter().sum::<u32>() as usize);
        let of_arm = |&t: &u32| (0..=t).map(|s| self.bound(round, t, s)).collect::<Vec<_>>();
        let bounds: Vec<_> = pulls.iter().map(of_arm).collect();
        let states = pi.len() / arms;
        let mut these: Vec<_> = bounds.iter().map(|of_arm| &of_arm[0]).collect();
        for_each_outcome(pulls, |state, successes| {
            for (this, (of_arm, &s)) in these.iter_mut().zip(bounds.iter().zip(successes)) {
                *this = &of_arm[s as usize];
            }
            self.softmax(&these, |arm| arm * states + state, pi, dpi, arms * states);
        });
    }
}

impl Counts {
    /// Writes the probabilities of arms with these bounds to `pi[at(arm)]`, and their derivatives by parameter p to
    /// `dpi[p * stride + at(arm)]`.
    fn softmax(
        &self,
        bounds: &[&(f64, [f64; OF_BOUND])],
        at: impl Fn(usize) -> usize,
        pi: &mut [f64],
        dpi: &mut [f64],
        stride: usize,
    ) {
        let cold = 1.0 / self.0.temperature;
        let best = bounds.iter().map(|bound| bound.0).fold(f64::MIN, f64::max);
        let mut total = 0.0;
        for (arm, bound) in bounds.iter().enumerate() {
            pi[at(arm)] = exp((bound.0 - best) * cold);
            total += pi[at(arm)];
        }
        // Mean and derivative of what the logit of an arm changes by.
        let slope = |arm: usize, param: usize| match param {
            OF_BOUND => -(bounds[arm].0 - best) * cold * cold,
            _ => bounds[arm].1[param] * cold,
        };
        let mut means = [0.0; OF_BOUND + 1];
        for arm in 0..bounds.len() {
            pi[at(arm)] /= total;
            for (param, mean) in means.iter_mut().enumerate() {
                *mean += pi[at(arm)] * slope(arm, param);
            }
        }
        for arm in 0..bounds.len() {
            for (param, mean) in means.iter().enumerate() {
                dpi[param * stride + at(arm)] = pi[at(arm)] * (slope(arm, param) - mean);
            }
        }
    }
}
