//! Linear Thompson sampling, with the score of its posterior samples (lemma 9).
//!
//! ```text
//! sample_i = mu_i + sigma sqrt(v_i) eps_i,  eps_i ~ N(0, 1);  the largest sample is played
//! d log p / d mu_i = eps_i / (sigma sqrt(v_i)),  d log p / d v_i = (eps_i^2 - 1) / (2 v_i)   (0 where v_i = 0)
//! ```
//! What is drawn is the samples, not the arm: all arms contribute.

use super::{INTERCEPT, NOISE_SD, OFFSET, RANK, RIDGE, assumed_noise_sd, decider, noise_sd, player};
use crate::numeric::lanes::{Best, One, Real};
use crate::numeric::largest::{Law, largest};
use crate::policy::definition::Definition;
use crate::policy::params::Param;
use crate::simulate::linear::{Draws, LinearKernel, Slopes, certain};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "lin-thompson",
    summary: "linear Thompson sampling in a learned projection W of the contexts (untuned: LinTS)",
    params: &[Param::PROJECTION],
    settings: &[RIDGE, NOISE_SD, RANK, INTERCEPT, OFFSET],
    player: |problem, choice, _| {
        Ok(player(LinThompson { noise_sd: noise_sd(problem, choice), learn: true }, choice))
    },
    decider: |problem, choice, _| {
        let noise_sd = assumed_noise_sd(problem.noise_sd, choice);
        Ok(decider(LinThompson { noise_sd, learn: true }, choice))
    },
    ..Definition::CONTEXTS
};

/// Linear Thompson sampling.
#[derive(Clone, Copy, Debug)]
pub struct LinThompson {
    /// Standard deviation of the rewards' noise.
    pub noise_sd: f64,
    /// Is the projection learned?
    pub learn: bool,
}

impl LinearKernel for LinThompson {
    fn draws(&self) -> Draws {
        Draws::Normal
    }

    fn learns_projection(&self) -> bool {
        self.learn
    }

    #[inline(always)]
    fn act<R: Real, const SCORE: bool>(&self, mu: &[R], v: &[R], draws: &[R], slopes: &mut Slopes<R>) -> R {
        let sigma = mu[0].lit(self.noise_sd);
        let (zero, one) = (sigma.zero(), sigma.one());
        let mut best = Best::first((sigma * v[0].sqrt()).fma(draws[0], mu[0]));
        for i in 1..mu.len() {
            best.offer(i, (sigma * v[i].sqrt()).fma(draws[i], mu[i]));
        }
        if SCORE {
            for i in 0..mu.len() {
                let known = zero.lt(v[i]);
                let variance = R::select(known, v[i], one);
                let (by_mean, by_variance) = (
                    draws[i] / (sigma * variance.sqrt()),
                    draws[i].fma(draws[i], -one) / (variance + variance),
                );
                slopes.mean[i] = R::only(known, by_mean);
                slopes.variance[i] = R::only(known, by_variance);
            }
        }
        best.arm
    }

    /// The probability that each arm's sample is the largest. Where W x = 0 no arm has a variance, and there is nothing to sample.
    fn weigh(&self, mu: &[One<f64>], v: &[One<f64>], weights: &mut [f64]) {
        if v.iter().any(|v| v.0 <= 0.0) {
            return certain(Best::of(mu).arm.0 as usize, weights);
        }
        let law = |(mu, v): (&One<f64>, &One<f64>)| Law::Normal { mean: mu.0, sd: self.noise_sd * v.0.sqrt() };
        largest(&mu.iter().zip(v).map(law).collect::<Vec<_>>(), weights);
    }
}
