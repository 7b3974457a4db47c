//! Epsilon-greedy: the arm with the best empirical mean, or with probability epsilon any arm.
//!
//! ```text
//! pi_i    = (1 - epsilon) [i is best] + epsilon / K
//! score_a = (1/K - 1) / pi_a if a is best, else 1 / epsilon
//! ```

use crate::exact::Part;
use crate::exact::index::{Arm, Index, IndexPolicy};
use crate::numeric::lanes::{Best, Real};
use crate::numeric::stream::Stream;
use crate::policy::decide::Largest;
use crate::policy::definition::{Definition, Method, needs_each_arm_once};
use crate::policy::params::{Initial, Param, Range};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "epsilon-greedy",
    summary: "the best empirical mean, or with probability epsilon any arm",
    params: &[Param::number("epsilon", Initial::Fixed(0.2), Range::new(0.0, 1.0), Range::new(0.01, 1.0)).scale()],
    refuses: needs_each_arm_once,
    player: |_, choice, _| Ok(Box::new(Arms(EpsilonGreedy::new(choice.scalar("epsilon")?)))),
    decider: |_, choice, _| Ok(Box::new(Largest(EpsilonGreedy::new(choice.scalar("epsilon")?)))),
    exact: Some(Method::Counts(|_, choice, _| {
        Ok(Part::only(IndexPolicy(EpsilonGreedy::new(choice.scalar("epsilon")?))))
    })),
    ..Definition::ARMS
};

/// Epsilon-greedy.
#[derive(Clone, Copy, Debug)]
pub struct EpsilonGreedy {
    epsilon: f64,
}

impl EpsilonGreedy {
    /// `epsilon` in [0, 1].
    pub fn new(epsilon: f64) -> Self {
        Self { epsilon }
    }
}

impl ArmsKernel<1> for EpsilonGreedy {
    const USES: Uses = Uses::Means;
    const EACH_ARM_ONCE: bool = true;
    const DRAWS: bool = true;

    /// The score of an exploring pull is 1 / epsilon.
    fn unscored(&self) -> Option<&'static str> {
        (self.epsilon == 0.0).then_some("never explores at epsilon = 0: there is no gradient to estimate")
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        _own: &mut [R],
        _: &mut Stream<R>,
        [score]: &mut [R; 1],
    ) -> R {
        let k = history.means.len() as f64;
        let best = Best::of(history.means).arm;
        let u = history.uniform;
        // One number decides both: its first part explores and, stretched, names the arm.
        let stretched = (u * u.lit(k / self.epsilon.max(1e-30))).floor();
        let arm = R::select(u.lt(u.lit(self.epsilon)), stretched, best);
        // Rounding may stretch the last cell to K.
        let arm = R::select(arm.lt(u.lit(k)), arm, u.lit(k - 1.0));
        if SCORE {
            let greedy = (1.0 / k - 1.0) / (1.0 - self.epsilon + self.epsilon / k);
            let is_best = arm.ge(best) & best.ge(arm);
            *score = *score + R::select(is_best, u.lit(greedy), u.lit(1.0 / self.epsilon));
        }
        arm
    }
}

impl Index for EpsilonGreedy {
    const EACH_ARM_ONCE: bool = true;

    fn index(&self, _: usize, arm: &Arm) -> f64 {
        arm.mean
    }

    fn epsilon(&self) -> Option<f64> {
        Some(self.epsilon)
    }
}
