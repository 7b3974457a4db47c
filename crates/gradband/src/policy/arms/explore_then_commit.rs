//! Randomised explore-then-commit for two arms (theorem 1).
//!
//! ```text
//! h' = floor(h) + coin;  rounds before 2 h' alternate the arms;  then the better mean, for good
//! ```
//! The coin is Bernoulli(h - floor(h)) when the policy is evaluated. Its score explodes at integers, so a run
//! in training tosses a fair coin with score +2 or -2 instead: unbiased for the slope of the linear piece.

use crate::error::Result;
use crate::exact::forward::scalar_block;
use crate::exact::index::{argmax, certain, mean};
use crate::exact::{CountKernel, Part};
use crate::numeric::lanes::{Best, Real};
use crate::numeric::stream::Stream;
use crate::policy::decide::{self, Decide, Now};
use crate::policy::definition::{Definition, Method};
use crate::policy::params::{End, Initial, Param, Range};
use crate::simulate::arms::{Arms, ArmsKernel, History, Uses};

pub(in crate::policy) const DEFINITION: Definition = Definition {
    name: "explore-then-commit",
    summary: "alternates two arms h times each, then keeps the better one",
    params: &[Param::number(
        "h",
        Initial::Of("floor(sqrt n) + 1/2", |problem| (problem.mean_rounds() as f64).sqrt().floor() + 0.5),
        Range { low: End::Fixed(1.0), high: End::HALF_HORIZON },
        Range { low: End::Fixed(1.0), high: End::HALF_HORIZON },
    )
    .scale()],
    refuses: |problem| {
        if problem.arms != 2 {
            return Some(format!("is for two arms, not {}", problem.arms));
        }
        (problem.horizon < 4).then(|| format!("needs a horizon of at least 4, not {}", problem.horizon))
    },
    player: |problem, choice, _| {
        Ok(Box::new(Arms(ExploreThenCommit::new(choice.scalar("h")?, problem.horizon))))
    },
    decider: |_, choice, _| Ok(Box::new(ExploreThenCommit { h: choice.scalar("h")?, piece: 1.0 })),
    exact: Some(Method::Counts(|problem, choice, _| {
        Ok(ExploreThenCommit::new(choice.scalar("h")?, problem.horizon).parts())
    })),
    ..Definition::ARMS
};

/// Explore-then-commit with exploration horizon h.
#[derive(Clone, Copy, Debug)]
pub struct ExploreThenCommit {
    h: f64,
    /// The left end of the linear piece that training measures: at the upper end of the domain the piece
    /// before it.
    piece: f64,
}

impl ExploreThenCommit {
    /// `h` in [1, horizon / 2].
    pub fn new(h: f64, horizon: usize) -> Self {
        let last = (horizon / 2) as f64;
        Self { h, piece: h.floor().min(last - 1.0).max(1.0) }
    }
}

impl ArmsKernel<1> for ExploreThenCommit {
    const USES: Uses = Uses::Means;
    const LONG: bool = false;

    /// The rounds to explore, and the arm committed to.
    fn slots(&self, _arms: usize) -> usize {
        2
    }

    #[inline(always)]
    fn start<R: Real>(&self, training: bool, own: &mut [R], actions: &mut Stream<R>, [score]: &mut [R; 1]) {
        let u = actions.uniform();
        let (from, chance) = if training { (self.piece, 0.5) } else { (self.h.floor(), self.h.fract()) };
        let up = u.lt(u.lit(chance));
        own[0] = R::select(up, u.lit(2.0 * from + 2.0), u.lit(2.0 * from));
        if training {
            *score = R::select(up, u.lit(2.0), u.lit(-2.0));
        }
    }

    #[inline(always)]
    fn act<R: Real, const K: usize, const SCORE: bool>(
        &self,
        history: &History<R>,
        own: &mut [R],
        _actions: &mut Stream<R>,
        _: &mut [R; 1],
    ) -> R {
        let round = own[0].lit(history.round as f64);
        let turn = own[0].lit((history.round % 2) as f64);
        let decides = round.ge(own[0]) & !(round - 1.0).ge(own[0]);
        own[1] = R::select(decides, Best::of(history.means).arm, own[1]);
        R::select(round.lt(own[0]), turn, own[1])
    }
}

/// Remembers the rounds to explore, and the arm committed to; below zero there is none.
impl Decide for ExploreThenCommit {
    fn weigh(&self, now: &Now, weights: &mut [f64]) -> Result<()> {
        let arm = match *now.memory {
            [explored, _] if (now.round as f64) < explored => now.round % 2,
            [_, committed] if committed >= 0.0 => committed as usize,
            _ => argmax(now.arms.iter().map(|arm| arm.mean)).0,
        };
        decide::certain(arm, weights);
        Ok(())
    }
    fn arms(&self) -> Option<usize> {
        Some(2)
    }
    fn is_certain(&self) -> bool {
        true
    }
    fn start(&self, coin: f64) -> Vec<f64> {
        let h = self.h.floor() + f64::from(u8::from(coin < self.h.fract()));
        vec![2.0 * h, -1.0]
    }
    fn pulled(&self, now: &Now, memory: &mut Vec<f64>) {
        if let &mut [explored, ref mut committed] = &mut memory[..]
            && now.round as f64 >= explored
            && *committed < 0.0
        {
            *committed = argmax(now.arms.iter().map(|arm| arm.mean)).0 as f64;
        }
    }
}

impl ExploreThenCommit {
    /// The two ends of the linear piece, by the coin's probability; the gradient is the slope of the piece.
    fn parts(&self) -> Vec<Part> {
        let share = self.h - self.piece;
        let part = |weight, slope, h| Part { weight, slopes: vec![slope], policy: Box::new(Rounded { h }) };
        vec![part(1.0 - share, -1.0, self.piece as u32), part(share, 1.0, self.piece as u32 + 1)]
    }
}

/// Alternates the two arms for `2 h` rounds, then pulls the better one.
struct Rounded {
    h: u32,
}

impl CountKernel for Rounded {
    fn probabilities(&self, pulls: &[u32], successes: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        let round: u32 = pulls.iter().sum();
        let arm = if round < 2 * self.h {
            round as usize % 2
        } else if round == 2 * self.h {
            argmax(pulls.iter().zip(successes).map(|(&t, &s)| mean(s, t))).0
        } else {
            usize::from(pulls[1] > pulls[0]) // the arm committed to is ahead
        };
        certain(arm, pulls.len(), pi, dpi);
    }

    fn block(&self, pulls: &[u32], pi: &mut [f64], dpi: &mut [f64]) {
        if pulls.iter().sum::<u32>() == 2 * self.h {
            return scalar_block(self, pulls, pi, dpi);
        }
        // Except when committing, the successes do not matter.
        let mut one = [0.0; 2];
        self.probabilities(pulls, &[0, 0], &mut one, &mut []);
        certain(usize::from(one[1] == 1.0), pulls.len(), pi, dpi);
    }
}
