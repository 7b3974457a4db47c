//! Linear Thompson sampling, with the score of its posterior samples (lemma 9).
//!
//! ```text
//! sample_i = mu_i + sigma sqrt(v_i) eps_i,  eps_i ~ N(0, 1);  the largest sample is played
//! d log p / d mu_i = eps_i / (sigma sqrt(v_i)),  d log p / d v_i = (eps_i^2 - 1) / (2 v_i)   (0 where v_i = 0)
//! ```
//! What is drawn is the samples, not the arm: all arms contribute.

use super::{INTERCEPT, NOISE_SD, OFFSET, RANK, RIDGE, noise_sd, player};
use crate::numeric::lanes::{Best, Real};
use crate::policy::definition::Definition;
use crate::policy::params::Param;
use crate::simulate::linear::{Draws, LinearKernel, Slopes};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "lin-thompson",
    summary: "linear Thompson sampling in a learned projection W of the contexts (untuned: LinTS)",
    params: &[Param::PROJECTION],
    settings: &[RIDGE, NOISE_SD, RANK, INTERCEPT, OFFSET],
    player: |problem, choice, _| {
        Ok(player(LinThompson { noise_sd: noise_sd(problem, choice), learn: true }, choice))
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
    fn act<R: Real<Mask = bool>, const SCORE: bool>(
        &self,
        mu: &[R],
        v: &[R],
        draws: &[R],
        slopes: &mut Slopes<R>,
    ) -> usize {
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
                slopes.mean[i] = R::select(known, by_mean, zero);
                slopes.variance[i] = R::select(known, by_variance, zero);
            }
        }
        best.arm.indices()[0] as usize
    }
}
