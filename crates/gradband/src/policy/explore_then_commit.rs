//! Randomised explore-then-commit for two arms (theorem 1).
//!
//! ```text
//! h' = floor(h) + coin;  rounds before 2 h' alternate the arms;  then the better mean, for good
//! ```
//! The coin is Bernoulli(h - floor(h)) when the policy is evaluated. Its score explodes at integers, so a run in
//! training tosses a fair coin with score +2 or -2 instead: unbiased for the slope of the linear piece.

use super::{History, Policy, Uses};
use crate::lanes::{Best, Real};
use crate::registry::{High, Initial, ParamInfo, PolicyInfo, Range};
use crate::stream::Stream;

/// What the registry knows of it.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "explore-then-commit",
    summary: "alternates two arms h times each, then keeps the better one",
    params: &[ParamInfo {
        name: "h",
        initial: Initial::RootHorizon,
        domain: Range { low: 1.0, high: High::HalfHorizon },
        feasible: Range { low: 1.0, high: High::HalfHorizon },
    }],
    settings: &[],
    refuses: |problem| {
        if problem.arms != 2 {
            return Some(format!("is for two arms, not {}", problem.arms));
        }
        (problem.horizon < 4).then(|| format!("needs a horizon of at least 4, not {}", problem.horizon))
    },
    build: |problem, choice| Box::new(ExploreThenCommit::new(choice.params[0], problem.horizon)),
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

impl Policy for ExploreThenCommit {
    const USES: Uses = Uses::Means;

    /// The rounds to explore, and the arm committed to.
    fn slots(&self, _arms: usize) -> usize {
        2
    }

    #[inline(always)]
    fn start<R: Real>(&self, training: bool, own: &mut [R], actions: &mut Stream<R>, score: &mut R) {
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
        _score: &mut R,
    ) -> R {
        let round = own[0].lit(history.round as f64);
        let turn = own[0].lit((history.round % 2) as f64);
        let decides = round.ge(own[0]) & !(round - 1.0).ge(own[0]);
        own[1] = R::select(decides, Best::of(history.means).arm, own[1]);
        R::select(round.lt(own[0]), turn, own[1])
    }
}
