//! The passes of a softmax over the arms: the largest number, cumulative weights, the arm that is drawn from them.

use super::Real;

/// What a weight is made of.
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
    let bounds = &mut bounds[..means.len()];
    let mut sums = Sums { total: best.zero(), weighted: best.zero() };
    let (means, last_means) = means.as_chunks::<ARMS>();
    let (pulls, last_pulls) = pulls.as_chunks::<ARMS>();
    let (bounds, last_bounds) = bounds.as_chunks_mut::<ARMS>();
    for ((means, pulls), bounds) in means.iter().zip(pulls).zip(bounds.iter_mut()) {
        sums.add::<_, ARMS, SCORE>(what, best, (means, pulls), bounds);
    }
    for ((&mean, &pulls), bound) in last_means.iter().zip(last_pulls).zip(last_bounds) {
        sums.add::<_, 1, SCORE>(what, best, (&[mean], &[pulls]), std::array::from_mut(bound));
    }
    (sums.total, sums.weighted)
}

/// Arms whose weights are computed step by step.
const ARMS: usize = 5;

struct Sums<R> {
    total: R,
    weighted: R,
}

impl<R: Real> Sums<R> {
    #[inline(always)]
    fn add<W: Weigh, const N: usize, const SCORE: bool>(
        &mut self,
        what: &W,
        best: R,
        (means, pulls): (&[R; N], &[R; N]),
        bounds: &mut [R; N],
    ) {
        let (mut numbers, mut exponents) = (*means, *means);
        for i in 0..N {
            (numbers[i], exponents[i]) = what.weigh(best, means[i], pulls[i]);
        }
        let weights = R::exp2_each(exponents);
        for i in 0..N {
            self.total = self.total + weights[i];
            bounds[i] = self.total;
            if SCORE {
                self.weighted = numbers[i].fma(weights[i], self.weighted);
            }
        }
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
fn in_turns<R: Real>(mut values: &[R], mut take: impl FnMut(usize, R)) {
    while let [first, second, rest @ ..] = values {
        take(0, *first);
        take(1, *second);
        values = rest;
    }
    if let [last] = values {
        take(0, *last);
    }
}
