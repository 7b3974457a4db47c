//! An instance as the engine reads it: contexts and their products with M in packs, computed once for all runs.

use super::pack::{PACK, Pack, dot, zeros};
use super::{Number, Projection, vectorized};
use crate::numeric::matmul::{Into, Matrix, product};
use crate::problem::{Instance, Problem};

/// An estimated variance is never below this many roundings of the prior one: it is a difference of the two.
const FLOOR: f64 = 4.0;
/// x'M x is zero if it is below this many roundings of |x|^2 max(M): W x = 0, and the rest is noise.
const NOTHING: f64 = 4.0;

/// Shared by all runs of an instance.
pub(super) struct Packed<R> {
    pub horizon: usize,
    pub arms: usize,
    pub dim: usize,
    /// Packs of a context.
    pub width: usize,
    /// x / lambda, row by row.
    pub x: Vec<Pack<R>>,
    /// M x, row by row.
    pub y: Vec<Pack<R>>,
    /// The least variance of each round.
    pub floor: Vec<R>,
    /// Horizon x arms.
    pub rewards: Vec<R>,
    /// M, in packs.
    gram: Vec<Pack<R>>,
    largest: R,
    ridge: f64,
}

impl<R: Number> Packed<R> {
    pub fn new(projection: &Projection, problem: &Problem) -> Self {
        let (horizon, arms, dim) = (problem.horizon, problem.arms, projection.dim);
        let width = dim.div_ceil(PACK);
        let rows = vec![zeros(); horizon * width];
        let mut gram = vec![zeros(); dim * width];
        for (out, row) in gram.chunks_exact_mut(width).zip(projection.gram.chunks_exact(dim)) {
            for (out, &x) in out.as_flattened_mut().iter_mut().zip(row) {
                *out = R::of(x);
            }
        }
        // M is positive semidefinite: its largest entry is on the diagonal.
        let largest = projection.gram.iter().copied().fold(0.0, f64::max);
        Self {
            horizon,
            arms,
            dim,
            width,
            x: rows.clone(),
            y: rows,
            floor: vec![R::of(0.0); horizon],
            rewards: vec![R::of(0.0); horizon * arms],
            gram,
            largest: R::of(largest),
            ridge: projection.ridge,
        }
    }

    /// Takes over an instance.
    pub fn load(&mut self, instance: &Instance) {
        assert_eq!(instance.contexts.len(), self.horizon * self.dim, "contexts of an instance");
        assert_eq!(instance.rewards.len(), self.horizon * self.arms, "rewards of an instance");
        assert_eq!(instance.means.len(), self.horizon * self.arms, "means of an instance");
        for (out, &x) in self.rewards.iter_mut().zip(&instance.rewards) {
            *out = R::of(f64::from(x));
        }
        for (row, x) in self.x.chunks_exact_mut(self.width).zip(instance.contexts.chunks_exact(self.dim)) {
            for (out, &x) in row.as_flattened_mut().iter_mut().zip(x) {
                *out = R::of(f64::from(x));
            }
        }
        let (stride, dim) = (self.width * PACK, self.dim);
        product(
            Matrix::new(self.x.as_flattened(), self.horizon, dim, stride),
            Matrix::new(self.gram.as_flattened(), dim, stride, stride),
            Into::Replace,
            self.y.as_flattened_mut(),
            stride,
        );
        vectorized(
            #[inline(always)]
            || self.scale(),
        );
    }

    #[inline(always)]
    fn scale(&mut self) {
        let shrink = R::of(1.0 / self.ridge);
        let (floor, nothing) = (R::of(FLOOR * R::EPSILON), R::of(NOTHING * R::EPSILON) * self.largest);
        let rows = self.x.chunks_exact_mut(self.width).zip(self.y.chunks_exact_mut(self.width));
        for ((x, y), least) in rows.zip(&mut self.floor) {
            let prior = dot(x, y);
            *least = prior * shrink * floor;
            if !(dot(x, x) * nothing).lt(prior) {
                y.fill(zeros());
                *least = R::of(0.0);
            }
            for x in x.as_flattened_mut() {
                *x = *x * shrink;
            }
        }
    }
}
