//! The two products with contexts in the projected space, W x and the sum of gamma x', for contexts that differ from a common one in few
//! places: a round pays for its differences alone.

use super::pack::{Pack, add_scaled, zeros};
use super::{Basis, Number, vectorized};
use crate::problem::{Instance, Sparse};
use crate::simulate::job::Job;

/// What examples differ by, if that is how contexts are best read.
pub(super) fn sparse<'a>(job: &Job<'a>, basis: Basis) -> Option<&'a Sparse> {
    match basis {
        Basis::Features => None,
        Basis::Projected => job.problem.contextual()?.examples()?.sparse(),
    }
}

/// Asks for the examples of an instance instead of its contexts, or for these.
pub(super) fn ask(instance: &mut Instance, sparse: Option<&Sparse>) {
    instance.examples = sparse.map(|_| instance.examples.take().unwrap_or_default());
}

/// W x of each round goes to `put`. `map` is W transposed, its rows `width` packs: one more row than features if there is a constant one.
pub(super) fn project<R: Number>(
    sparse: &Sparse,
    examples: &[u32],
    (map, width): (&[Pack<R>], usize),
    mut put: impl FnMut(usize, &[Pack<R>]),
) {
    let mut common = vec![zeros(); width];
    let ones = sparse.common().iter().map(|&x| f64::from(x)).chain([1.0]);
    for (row, x) in map.chunks_exact(width).zip(ones) {
        add_all(&mut common, R::of(x), row);
    }
    let mut y = common.clone();
    for (t, &example) in examples.iter().enumerate() {
        vectorized(
            #[inline(always)]
            || {
                y.copy_from_slice(&common);
                for &(j, difference) in sparse.differences(example) {
                    let row = &map[j as usize * width..][..width];
                    add_all(&mut y, R::of(f64::from(difference)), row);
                }
            },
        );
        put(t, &y);
    }
}

/// The sum of gamma x' over rounds, a row for each number of gamma.
pub(super) fn collect<R: Number>(
    sparse: &Sparse,
    examples: &[u32],
    (features, width): (usize, usize),
    mut gamma: impl FnMut(usize, &mut [Pack<R>]),
    by_w: &mut [f64],
) {
    let (mut sums, mut total) = (vec![zeros(); features * width], vec![zeros(); width]);
    let mut now = total.clone();
    for (t, &example) in examples.iter().enumerate() {
        gamma(t, &mut now);
        vectorized(
            #[inline(always)]
            || {
                add_all(&mut total, R::of(1.0), &now);
                for &(j, difference) in sparse.differences(example) {
                    let row = &mut sums[j as usize * width..][..width];
                    add_all(row, R::of(f64::from(difference)), &now);
                }
            },
        );
    }
    let ones = sparse.common().iter().map(|&x| f64::from(x)).chain([1.0]);
    for (j, (row, x)) in sums.chunks_exact_mut(width).zip(ones).enumerate() {
        add_all(row, R::of(x), &total);
        for (by_w, sum) in by_w.chunks_exact_mut(features).zip(row.as_flattened()) {
            by_w[j] = sum.lane(0);
        }
    }
}

/// out += a x.
#[inline(always)]
pub(super) fn add_all<R: Number>(out: &mut [Pack<R>], a: R, x: &[Pack<R>]) {
    for (out, x) in out.iter_mut().zip(x) {
        add_scaled(out, a, x);
    }
}
