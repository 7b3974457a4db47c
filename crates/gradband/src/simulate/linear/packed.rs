//! An instance as the engine reads it: contexts and their products with M or W in packs, computed once for all runs.

use super::blocks::row_packs;
use super::pack::{PACK, Pack, dot, zeros};
use super::play::Pace;
use super::rounds::STEP;
use super::sparse::Rows;
use super::{Basis, Number, Projection, vectorized};
use crate::numeric::matmul::{Into, Matrix, product};
use crate::problem::{Instance, Problem};

/// Among features, an estimated variance is never below this many roundings of the prior one: it is a difference of the
/// two.
pub(super) const FLOOR: f64 = 4.0;
/// x'M x is zero if it is below this many roundings of |x|^2 max(M): W x = 0, and the rest is noise.
pub(super) const NOTHING: f64 = 4.0;

/// Shared by all runs of an instance.
pub(super) struct Packed<R> {
    pub basis: Basis,
    pub horizon: usize,
    pub arms: usize,
    /// Of the state: features, or rows of W.
    pub dim: usize,
    /// Packs of a vector of the state.
    pub width: usize,
    /// Of features: x / lambda, row by row; in the projected space zeros.
    pub x: Vec<Pack<R>>,
    /// M x or W x, row by row.
    pub y: Vec<Pack<R>>,
    /// In the projected space: the contexts themselves, row by row, unless they are sparse, and their squared lengths.
    pub contexts: Vec<Pack<R>>,
    squares: Vec<R>,
    /// The least variance of each round.
    pub floor: Vec<R>,
    /// Horizon x arms, less the offset.
    pub rewards: Vec<R>,
    /// Q of all arms before the first pull.
    pub prior: Vec<Pack<R>>,
    /// M, or W transposed, in packs.
    map: Vec<Pack<R>>,
    /// Features that are drawn, and the constant one if there is one.
    drawn: usize,
    features: usize,
    largest: f64,
    ridge: f64,
    offset: f64,
}

impl<R: Number> Packed<R> {
    pub fn new(projection: &Projection, problem: &Problem, basis: Basis, pace: Pace) -> Self {
        let (horizon, arms, features) = (problem.horizon, problem.arms, projection.dim);
        let dim = match basis {
            Basis::Features => features,
            Basis::Projected => projection.rank,
        };
        let width = dim.div_ceil(PACK);
        let rows = vec![zeros(); horizon * width];
        let mut map = vec![zeros(); features * width];
        for (j, out) in map.chunks_exact_mut(width).enumerate() {
            for (i, out) in out.as_flattened_mut()[..dim].iter_mut().enumerate() {
                *out = R::of(match basis {
                    Basis::Features => projection.gram[j * features + i],
                    Basis::Projected => projection.w[i * features + j],
                });
            }
        }
        let contexts = match basis {
            Basis::Features => Vec::new(),
            Basis::Projected => vec![zeros(); horizon * features.div_ceil(PACK)],
        };
        // M is positive semidefinite: its largest entry is on the diagonal.
        let largest = projection.gram.iter().copied().fold(0.0, f64::max);
        Self {
            basis,
            horizon,
            arms,
            dim,
            width,
            x: rows.clone(),
            y: rows,
            contexts,
            squares: Vec::new(),
            floor: vec![R::of(0.0); horizon],
            rewards: vec![R::of(0.0); horizon * arms],
            prior: prior(projection, basis, pace, arms, dim),
            map,
            drawn: features - usize::from(projection.intercept),
            features,
            largest,
            ridge: projection.ridge,
            offset: projection.offset,
        }
    }

    /// Takes over an instance.
    pub fn load(&mut self, instance: &Instance, rows: Option<Rows>) {
        assert_eq!(instance.rewards.len(), self.horizon * self.arms, "rewards of an instance");
        assert_eq!(instance.means.len(), self.horizon * self.arms, "means of an instance");
        for (out, &x) in self.rewards.iter_mut().zip(&instance.rewards) {
            *out = R::of(f64::from(x) - self.offset);
        }
        if let Some(rows) = rows {
            let constant = (self.features - self.drawn) as f64;
            self.squares.clear();
            self.squares.extend(rows.squares().map(|square| R::of(square + constant)));
            assert_eq!(self.squares.len(), self.horizon, "examples of an instance");
            let put = |t: usize, y: &[Pack<R>]| self.y[t * self.width..][..self.width].copy_from_slice(y);
            rows.project((&self.map, self.width), put);
        } else {
            self.multiply(instance);
        }
        vectorized(
            #[inline(always)]
            || match self.basis {
                Basis::Features => self.scale(),
                Basis::Projected => self.bound(),
            },
        );
    }

    /// y = M x or W x of dense contexts.
    fn multiply(&mut self, instance: &Instance) {
        assert_eq!(instance.contexts.len(), self.horizon * self.drawn, "contexts of an instance");
        let contexts = match self.basis {
            Basis::Features => &mut self.x,
            Basis::Projected => &mut self.contexts,
        };
        let packs = self.features.div_ceil(PACK);
        for (row, x) in contexts.chunks_exact_mut(packs).zip(instance.contexts.chunks_exact(self.drawn)) {
            let (row, constant) = row.as_flattened_mut()[..self.features].split_at_mut(self.drawn);
            for (out, &x) in row.iter_mut().zip(x) {
                *out = R::of(f64::from(x));
            }
            constant.fill(R::of(1.0));
        }
        let stride = self.width * PACK;
        product(
            Matrix::new(contexts.as_flattened(), self.horizon, self.features, packs * PACK),
            Matrix::new(self.map.as_flattened(), self.features, stride, stride),
            Into::Replace,
            self.y.as_flattened_mut(),
            stride,
        );
        if self.basis == Basis::Projected {
            self.squares.clear();
            vectorized(
                #[inline(always)]
                || self.squares.extend(self.contexts.chunks_exact(packs).map(|x| dot(x, x))),
            );
        }
    }

    #[inline(always)]
    fn scale(&mut self) {
        let shrink = R::of(1.0 / self.ridge);
        let (floor, nothing) = (R::of(FLOOR * R::EPSILON), R::of(NOTHING * R::EPSILON) * R::of(self.largest));
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

    /// No pulls leave less variance than those of all rounds, with the longest context in the same direction.
    #[inline(always)]
    fn bound(&mut self) {
        let nothing = R::of((NOTHING * R::EPSILON).powi(2) * self.largest);
        let mut longest = R::of(0.0);
        for (&whole, y) in self.squares.iter().zip(self.y.chunks_exact_mut(self.width)) {
            let square = dot(y, y);
            if !(whole * nothing).lt(square) {
                y.fill(zeros());
            }
            longest = longest.max(square);
        }
        let most = R::of(1.0) / longest.fma(R::of(self.horizon as f64), R::of(self.ridge));
        for (y, least) in self.y.chunks_exact(self.width).zip(&mut self.floor) {
            *least = dot(y, y) * most;
        }
    }
}

/// Q before the first pull: zero among features; minus the prior covariance, I / lambda, in the projected space, where
/// x is zero in its place.
fn prior<R: Number>(
    projection: &Projection,
    basis: Basis,
    pace: Pace,
    arms: usize,
    dim: usize,
) -> Vec<Pack<R>> {
    let (width, rows) = (dim.div_ceil(PACK), dim.next_multiple_of(STEP));
    let mut q = match pace {
        Pace::Blocks => vec![zeros(); dim * row_packs(arms, width)],
        Pace::Rounds | Pace::Late => vec![zeros(); arms * rows * width],
    };
    if basis == Basis::Projected {
        for (arm, j) in (0..arms).flat_map(|arm| (0..dim).map(move |j| (arm, j))) {
            let row = match pace {
                Pace::Blocks => j * row_packs(arms, width) + arm * width,
                Pace::Rounds | Pace::Late => (arm * rows + j) * width,
            };
            q.as_flattened_mut()[row * PACK + j] = R::of(-1.0 / projection.ridge);
        }
    }
    q
}
