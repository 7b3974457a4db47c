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

/// The contexts of an instance, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    sparse: &'a Sparse,
    examples: &'a [u32],
}

impl<'a> Rows<'a> {
    /// None if contexts are there in full.
    pub fn of(instance: &'a Instance, sparse: Option<&'a Sparse>) -> Option<Self> {
        Some(Self { sparse: sparse?, examples: instance.examples.as_ref()? })
    }

    /// |x|^2 of each round, without the constant feature.
    pub fn squares(self) -> impl Iterator<Item = f64> {
        self.examples.iter().map(move |&example| self.sparse.square(example))
    }

    /// W x of each round goes to `put`. `map` is W transposed, its rows `width` packs: one more row than features if there is a
    /// constant one.
    pub fn project<R: Number>(self, (map, width): (&[Pack<R>], usize), put: impl FnMut(usize, &[Pack<R>])) {
        vectorized(
            #[inline(always)]
            || match width {
                1 => self.project_in::<R, 1>(map, width, put),
                _ => self.project_in::<R, 0>(map, width, put),
            },
        );
    }

    /// The sum of gamma x' over rounds, a row for each number of gamma.
    pub fn collect<R: Number>(
        self,
        (features, width): (usize, usize),
        gamma: impl FnMut(usize, &mut [Pack<R>]),
        by_w: &mut [f64],
    ) {
        vectorized(
            #[inline(always)]
            || match width {
                1 => self.collect_in::<R, 1>((features, width), gamma, by_w),
                _ => self.collect_in::<R, 0>((features, width), gamma, by_w),
            },
        );
    }

    /// `V` packs in a row, if that is known to the compiler.
    #[inline(always)]
    fn project_in<R: Number, const V: usize>(
        self,
        map: &[Pack<R>],
        width: usize,
        mut put: impl FnMut(usize, &[Pack<R>]),
    ) {
        let width = if V == 0 { width } else { V };
        let mut common = vec![zeros(); width];
        for (row, x) in map.chunks_exact(width).zip(self.common()) {
            add_all(&mut common, R::of(x), row);
        }
        let mut y = common.clone();
        for (t, &example) in self.examples.iter().enumerate() {
            let y = &mut y[..width];
            y.copy_from_slice(&common[..width]);
            for &(j, difference) in self.sparse.differences(example) {
                add_all(y, R::of(f64::from(difference)), &map[j as usize * width..][..width]);
            }
            put(t, y);
        }
    }

    /// `V` as above.
    #[inline(always)]
    fn collect_in<R: Number, const V: usize>(
        self,
        (features, width): (usize, usize),
        mut gamma: impl FnMut(usize, &mut [Pack<R>]),
        by_w: &mut [f64],
    ) {
        let width = if V == 0 { width } else { V };
        let (mut sums, mut total) = (vec![zeros(); features * width], vec![zeros(); width]);
        let mut now = total.clone();
        for (t, &example) in self.examples.iter().enumerate() {
            let now = &mut now[..width];
            gamma(t, now);
            add_all(&mut total[..width], R::of(1.0), now);
            for &(j, difference) in self.sparse.differences(example) {
                add_all(&mut sums[j as usize * width..][..width], R::of(f64::from(difference)), now);
            }
        }
        for (j, (row, x)) in sums.chunks_exact_mut(width).zip(self.common()).enumerate() {
            add_all(row, R::of(x), &total);
            for (by_w, sum) in by_w.chunks_exact_mut(features).zip(row.as_flattened()) {
                by_w[j] = sum.lane(0);
            }
        }
    }

    /// The common example, and a constant feature behind it.
    #[inline(always)]
    fn common(self) -> impl Iterator<Item = f64> {
        self.sparse.common().iter().map(|&x| f64::from(x)).chain([1.0])
    }
}

/// out += a x.
#[inline(always)]
pub(super) fn add_all<R: Number>(out: &mut [Pack<R>], a: R, x: &[Pack<R>]) {
    for (out, x) in out.iter_mut().zip(x) {
        add_scaled(out, a, x);
    }
}
