//! The passes of a softmax over the arms: the largest number, cumulative weights, the arm that is drawn from them.

use super::{Part, PartWork, Real, by_parts};

/// What a weight is made of, in lanes of any width.
pub trait Weigh {
    /// A number of an arm, and the exponent of its weight, to base 2.
    fn weigh<R: Real>(&self, best: R, mean: R, pulls: R) -> (R, R);
}

/// Writes the cumulative weights of the arms; their sum, and if `SCORE` that of the arms' numbers times weights.
#[inline(always)]
pub fn weigh<R: Real, const SCORE: bool>(
    what: &impl Weigh,
    best: R,
    (means, pulls): (&[R], &[R]),
    bounds: &mut [R],
) -> (R, R) {
    let zero = best.zero();
    let mut pass = Pass::<_, _, SCORE> { what, best, means, pulls, bounds, total: zero, weighted: zero };
    by_parts(&mut pass);
    (pass.total, pass.weighted)
}

struct Pass<'a, R, W, const SCORE: bool> {
    what: &'a W,
    best: R,
    means: &'a [R],
    pulls: &'a [R],
    bounds: &'a mut [R],
    total: R,
    weighted: R,
}

impl<R: Real, W: Weigh, const SCORE: bool> PartWork<R> for Pass<'_, R, W, SCORE> {
    #[inline(always)]
    fn run<P: Part<R>>(&mut self, part: P) {
        let best = part.of(&self.best);
        let (mut total, mut weighted) = (best.zero(), best.zero());
        for ((mean, pulls), bound) in self.means.iter().zip(self.pulls).zip(&mut *self.bounds) {
            let (number, exponent) = self.what.weigh(best, part.of(mean), part.of(pulls));
            let weight = exponent.exp2();
            total = total + weight;
            part.set(bound, total);
            if SCORE {
                weighted = number.fma(weight, weighted);
            }
        }
        part.set(&mut self.total, total);
        part.set(&mut self.weighted, weighted);
    }
}

/// The largest of `values`, lane by lane.
#[inline(always)]
pub fn largest<R: Real>(values: &[R]) -> R {
    let mut best = [values[0]; 2];
    in_turns(
        &values[1..],
        #[inline(always)]
        |turn, value| best[turn] = best[turn].max(value),
    );
    best[0].max(best[1])
}

/// How many of the increasing `bounds` are at most `u`: an arm drawn from cumulative weights.
#[inline(always)]
pub fn count_below<R: Real>(bounds: &[R], u: R) -> R {
    let mut counts = [u.zero().tag(); 2];
    in_turns(
        bounds,
        #[inline(always)]
        |turn, bound| counts[turn] = R::count(counts[turn], u.ge(bound)),
    );
    R::whole(counts[0] + counts[1])
}

/// Two results by turns, neither of which waits for the other.
#[inline(always)]
fn in_turns<R: Real>(values: &[R], mut take: impl FnMut(usize, R)) {
    let (pairs, rest) = values.as_chunks::<2>();
    for &[first, second] in pairs {
        take(0, first);
        take(1, second);
    }
    for &last in rest {
        take(0, last);
    }
}
