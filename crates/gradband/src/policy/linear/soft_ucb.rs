//! Soft UCB: a softmax of upper confidence bounds, whose width and temperature are learned with the projection.
//!
//! ```text
//! U_i  = mu_i + alpha sqrt(v_i)
//! pi_i ∝ exp((U_i - max_j U_j) / temperature)
//! d log pi_a / d U_i         = ([i = a] - pi_i) / temperature =: e_i
//! d log pi_a / d mu_i        = e_i,   d log pi_a / d v_i = e_i alpha / (2 sqrt(v_i))   (0 where v_i = 0)
//! d log pi_a / d alpha       = sum_i e_i sqrt(v_i)
//! d log pi_a / d temperature = -sum_i e_i U_i / temperature
//! ```

use super::{INTERCEPT, OFFSET, RANK, RIDGE, decider, player};
use crate::error::Result;
use crate::numeric::lanes::{Best, One, Real, largest};
use crate::policy::choice::Choice;
use crate::policy::definition::Definition;
use crate::policy::params::{Allowed, Initial, Param, Range, Setting};
use crate::simulate::linear::{Draws, LinearKernel, Slopes, certain, draw_arm};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "soft-ucb",
    summary: "a softmax of upper confidence bounds, with learned projection, width and temperature",
    params: &[
        Param::PROJECTION,
        // Both in smaller steps than the projection, which moves the width too: a policy that gets sharp early stops
        // learning where to look.
        Param::number("alpha", Initial::Fixed(1.0), Range::new(0.0, 1e3), Range::new(1e-5, 100.0)).log(0.2),
        Param::number("temperature", Initial::Fixed(0.25), Range::new(1e-6, 1e3), Range::new(1e-3, 100.0))
            .log(0.5)
            .polished(),
    ],
    settings: &[
        RIDGE,
        Setting { name: "hard", allowed: Allowed::Flag, summary: "play the largest bound, for deployment" },
        RANK,
        INTERCEPT,
        OFFSET,
    ],
    player: |_, choice, _| Ok(player(SoftUcb::of(choice)?, choice)),
    decider: |_, choice, _| Ok(decider(SoftUcb::of(choice)?, choice)),
    ..Definition::CONTEXTS
};

/// Soft UCB.
#[derive(Clone, Copy, Debug)]
pub struct SoftUcb {
    /// Width of the bounds, in standard deviations.
    pub alpha: f64,
    /// Larger explores more.
    pub temperature: f64,
    /// Play the largest bound (the lowest arm on ties); there is no score then.
    pub hard: bool,
}

impl SoftUcb {
    fn of(choice: &Choice) -> Result<Self> {
        let (alpha, temperature) = (choice.scalar("alpha")?, choice.scalar("temperature")?);
        Ok(Self { alpha, temperature, hard: choice.flag("hard") })
    }

    #[inline(always)]
    fn bounds<R: Real>(&self, mu: &[R], v: &[R], bounds: &mut [R]) {
        let alpha = mu[0].lit(self.alpha);
        for i in 0..mu.len() {
            bounds[i] = alpha.fma(v[i].sqrt(), mu[i]);
        }
    }

    /// The probabilities up to a factor; also the largest bound.
    #[inline(always)]
    fn weights<R: Real>(&self, bounds: &[R], weights: &mut [R]) -> R {
        let best = largest(bounds);
        let rate = best.lit(1.0 / self.temperature);
        for i in 0..bounds.len() {
            weights[i] = ((bounds[i] - best) * rate).weight();
        }
        best
    }
}

impl LinearKernel for SoftUcb {
    fn draws(&self) -> Draws {
        Draws::Uniform
    }

    fn learns_projection(&self) -> bool {
        true
    }

    fn scalars(&self) -> usize {
        2
    }

    fn unscored(&self) -> Option<&'static str> {
        self.hard.then_some("plays the largest bound with certainty if hard: there is no gradient (train it soft, then set hard)")
    }

    #[inline(always)]
    fn act<R: Real, const SCORE: bool>(&self, mu: &[R], v: &[R], draws: &[R], slopes: &mut Slopes<R>) -> R {
        let arms = mu.len();
        let (v, bounds, weights) = (&v[..arms], &mut slopes.variance[..arms], &mut slopes.mean[..arms]);
        let u = draws[0];
        let (zero, one, alpha) = (u.zero(), u.one(), u.lit(self.alpha));
        self.bounds(mu, v, bounds);
        if self.hard {
            let arm = Best::of(bounds).arm;
            bounds.fill(zero);
            weights.fill(zero);
            return arm;
        }
        let (best, rate) = (self.weights(bounds, weights), u.lit(1.0 / self.temperature));
        let (arm, total) = draw_arm(weights, u);
        if SCORE {
            let share = one / total;
            let (mut by_alpha, mut by_bound) = (zero, zero);
            for i in 0..arms {
                let own = R::only(arm.is(i as f32), one);
                let e = (-weights[i]).fma(share, own) * rate;
                let root = v[i].sqrt();
                by_alpha = e.fma(root, by_alpha);
                by_bound = e.fma(bounds[i] - best, by_bound);
                weights[i] = e;
                let slope = e * alpha * 0.5 / R::select(zero.lt(root), root, one);
                bounds[i] = R::only(zero.lt(root), slope);
            }
            slopes.scalars[0] = by_alpha;
            slopes.scalars[1] = -by_bound * rate;
        }
        arm
    }

    fn is_certain(&self) -> bool {
        self.hard
    }

    fn weigh(&self, mu: &[One<f64>], v: &[One<f64>], weights: &mut [f64]) {
        let mut bounds = vec![One(0.0); 2 * mu.len()];
        let (bounds, soft) = bounds.split_at_mut(mu.len());
        self.bounds(mu, v, bounds);
        if self.hard {
            return certain(Best::of(bounds).arm.0 as usize, weights);
        }
        self.weights(bounds, soft);
        weights.iter_mut().zip(soft).for_each(|(out, x)| *out = x.0);
    }
}
