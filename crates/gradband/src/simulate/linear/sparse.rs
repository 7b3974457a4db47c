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
    put: impl FnMut(usize, &[Pack<R>]),
) {
    vectorized(
        #[inline(always)]
        || match width {
            1 => project_in::<R, 1>(sparse, examples, (map, width), put),
            _ => project_in::<R, 0>(sparse, examples, (map, width), put),
        },
    );
}

/// `V` packs in a row, if that is known to the compiler.
#[inline(always)]
fn project_in<R: Number, const V: usize>(
    sparse: &Sparse,
    examples: &[u32],
    (map, width): (&[Pack<R>], usize),
    mut put: impl FnMut(usize, &[Pack<R>]),
) {
    let width = if V == 0 { width } else { V };
    let mut common = vec![zeros(); width];
    for (row, x) in map.chunks_exact(width).zip(with_constant(sparse)) {
        add_all(&mut common, R::of(x), row);
    }
    let mut y = common.clone();
    for (t, &example) in examples.iter().enumerate() {
        let y = &mut y[..width];
        y.copy_from_slice(&common[..width]);
        for &(j, difference) in sparse.differences(example) {
            add_all(y, R::of(f64::from(difference)), &map[j as usize * width..][..width]);
        }
        put(t, y);
    }
}

/// The common example, and a constant feature behind it.
#[inline(always)]
fn with_constant(sparse: &Sparse) -> impl Iterator<Item = f64> {
    sparse.common().iter().map(|&x| f64::from(x)).chain([1.0])
}

/// The sum of gamma x' over rounds, a row for each number of gamma.
pub(super) fn collect<R: Number>(
    sparse: &Sparse,
    examples: &[u32],
    (features, width): (usize, usize),
    gamma: impl FnMut(usize, &mut [Pack<R>]),
    by_w: &mut [f64],
) {
    vectorized(
        #[inline(always)]
        || match width {
            1 => collect_in::<R, 1>(sparse, examples, (features, width), gamma, by_w),
            _ => collect_in::<R, 0>(sparse, examples, (features, width), gamma, by_w),
        },
    );
}

#[inline(always)]
fn collect_in<R: Number, const V: usize>(
    sparse: &Sparse,
    examples: &[u32],
    (features, width): (usize, usize),
    mut gamma: impl FnMut(usize, &mut [Pack<R>]),
    by_w: &mut [f64],
) {
    let width = if V == 0 { width } else { V };
    let (mut sums, mut total) = (vec![zeros(); features * width], vec![zeros(); width]);
    let mut now = total.clone();
    for (t, &example) in examples.iter().enumerate() {
        let now = &mut now[..width];
        gamma(t, now);
        add_all(&mut total[..width], R::of(1.0), now);
        for &(j, difference) in sparse.differences(example) {
            add_all(&mut sums[j as usize * width..][..width], R::of(f64::from(difference)), now);
        }
    }
    for (j, (row, x)) in sums.chunks_exact_mut(width).zip(with_constant(sparse)).enumerate() {
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
