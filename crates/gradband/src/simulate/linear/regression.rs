//! What an agent keeps of an arm with contexts, one reward at a time and in double precision.
//!
//! [`Moments`] know nothing of a policy, so that another one can take them over; they are those of (x, 1), because a policy may
//! want a constant, or its rewards moved by one. A [`Regression`] follows from them and a projection, with the formulas of
//! `linear/late.rs`: a pull shrinks the variance at once, the mean waits for the reward.

use super::{Projection, vectorized};
use crate::numeric::lanes::One;
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// Sums over the pulls of an arm, with x followed by 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moments {
    /// x x' of all pulls: the rows of its lower triangle.
    pulled: Vec<f64>,
    /// x x' of those whose rewards are known.
    known: Vec<f64>,
    /// x Y of those.
    rewards: Vec<f64>,
}

impl Moments {
    /// Of no pulls.
    pub fn new(dim: usize) -> Self {
        let triangle = vec![0.0; (dim + 1) * (dim + 2) / 2];
        Self { pulled: triangle.clone(), known: triangle, rewards: vec![0.0; dim + 1] }
    }

    /// Are they those of contexts with so many features?
    pub fn fit(&self, dim: usize) -> bool {
        let size = (dim + 1) * (dim + 2) / 2;
        (self.pulled.len(), self.known.len(), self.rewards.len()) == (size, size, dim + 1)
            && [&self.pulled, &self.known, &self.rewards].iter().all(|numbers| are_sound(numbers))
    }

    /// A pull, or minus one.
    pub fn pull(&mut self, x: &[f64], sign: f64) {
        add_square(&mut self.pulled, x, sign);
    }

    /// The reward of a pull is known.
    pub fn learn(&mut self, x: &[f64], reward: f64) {
        add_square(&mut self.known, x, 1.0);
        let with_one = x.iter().chain([&1.0]);
        self.rewards.iter_mut().zip(with_one).for_each(|(sum, x)| *sum += x * reward);
    }

    /// In the context that has only the i-th feature, which is 1: pulls, known rewards and their sum.
    pub fn in_context(&self, i: usize) -> (f64, f64, f64) {
        let diagonal = i * (i + 3) / 2;
        (self.pulled[diagonal], self.known[diagonal], self.rewards[i])
    }
}

/// The lower triangle += sign (x, 1) (x, 1)'.
fn add_square(triangle: &mut [f64], x: &[f64], sign: f64) {
    vectorized(
        #[inline(always)]
        || {
            let mut at = 0;
            for (i, &entry) in x.iter().enumerate() {
                for (sum, &x) in triangle[at..at + i + 1].iter_mut().zip(x) {
                    *sum += sign * entry * x;
                }
                at += i + 1;
            }
            for (sum, &x) in triangle[at..].iter_mut().zip(x) {
                *sum += sign * x;
            }
            triangle[at + x.len()] += sign;
        },
    );
}

/// A context as a projection shows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Glimpse {
    /// x / lambda.
    x: Vec<f64>,
    /// M x.
    y: Vec<f64>,
    /// The variance before anything is known: x'M x / lambda.
    prior: f64,
}

/// Roundings: see `linear/packed.rs`.
const ROUNDINGS: f64 = 4.0 * f64::EPSILON;

impl Glimpse {
    /// Looks at another context.
    pub fn look(&mut self, projection: &Projection, x: &[f64]) {
        let dim = projection.dim;
        let (inverse, gram) = (1.0 / projection.ridge, &projection.gram[..]);
        self.x.clear();
        self.x.extend_from_slice(x);
        // A constant feature, if there is one.
        self.x.resize(dim, 1.0);
        let x = &self.x;
        self.y.clear();
        self.y.resize(dim, 0.0);
        vectorized(
            #[inline(always)]
            || {
                // M is symmetric: its rows are its columns.
                for (row, &x) in gram.chunks_exact(dim).zip(x) {
                    add_scaled(&mut self.y, x, row);
                }
            },
        );
        let square: f64 = x.iter().map(|x| x * x).sum();
        let largest = (0..dim).map(|i| gram[i * (dim + 1)]).fold(0.0, f64::max);
        self.prior = dot(&self.y, x) * inverse;
        // W x = 0, and the rest is noise.
        if self.prior * projection.ridge <= ROUNDINGS * square * largest {
            self.y.fill(0.0);
            self.prior = 0.0;
        }
        self.x.iter_mut().for_each(|x| *x *= inverse);
    }
}

/// Whether products of these numbers are numbers. Play leaves no others, but a file may hold them.
fn are_sound(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.abs() <= 1e130)
}

/// The estimate of an arm's mean and its variance in a projected space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Regression {
    /// Q of all pulls, row by row.
    pulled: Vec<f64>,
    /// Q* of those whose rewards are known.
    known: Vec<f64>,
    z: Vec<f64>,
}

impl Regression {
    /// Of no pulls.
    pub fn new(projection: &Projection) -> Self {
        let dim = projection.dim;
        Self { pulled: vec![0.0; dim * dim], known: vec![0.0; dim * dim], z: vec![0.0; dim] }
    }

    /// Is it one in that projection?
    pub fn fits(&self, projection: &Projection) -> bool {
        let dim = projection.dim;
        (self.pulled.len(), self.known.len(), self.z.len()) == (dim * dim, dim * dim, dim)
            && [&self.pulled, &self.known, &self.z].iter().all(|numbers| are_sound(numbers))
    }

    /// What follows from the moments, whatever policy they were made with: (lambda I + A M)^-1 A / lambda is Q, and
    /// (lambda I + A* M)^-1 b is z, with b the sum of x (Y - offset).
    pub fn of(projection: &Projection, moments: &Moments) -> Self {
        let dim = projection.dim;
        let full = |triangle: &[f64]| {
            DMatrix::from_fn(dim, dim, |i, j| triangle[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)])
        };
        let gram = DMatrix::from_row_slice(dim, dim, &projection.gram);
        let solve = |a: &DMatrix<f64>, right: DMatrix<f64>| {
            let left = DMatrix::identity(dim, dim) * projection.ridge + a * &gram;
            // lambda I + A M has no eigenvalue below lambda: it can be solved.
            left.lu().solve(&right).unwrap_or_else(|| DMatrix::zeros(dim, right.ncols()))
        };
        let q = |a: &DMatrix<f64>| {
            let q = solve(a, a / projection.ridge);
            ((&q + q.transpose()) * 0.5).as_slice().to_vec()
        };
        let (pulled, known) = (full(&moments.pulled), full(&moments.known));
        // The last row has the sums of x.
        let sums = &moments.known[moments.known.len() - moments.rewards.len()..];
        let centred = moments.rewards.iter().zip(sums).map(|(xy, x)| xy - projection.offset * x);
        let rewards = DVector::from_iterator(dim, centred.take(dim));
        let z = solve(&known, DMatrix::from_columns(&[rewards]));
        Self { pulled: q(&pulled), known: q(&known), z: z.as_slice().to_vec() }
    }

    /// Estimated mean and variance in a context.
    pub fn estimate(&self, seen: &Glimpse) -> (One<f64>, One<f64>) {
        (One(dot(&seen.y, &self.z)), One(variance(&self.pulled, seen)))
    }

    /// A pull in a context.
    pub fn pull(&mut self, seen: &Glimpse) {
        learn(&mut self.pulled, seen);
    }

    /// The reward of a pull in a context is known.
    pub fn learn(&mut self, projection: &Projection, seen: &Glimpse, reward: f64) {
        let mean = dot(&seen.y, &self.z);
        let (k, share) = learn(&mut self.known, seen);
        add_scaled(&mut self.z, (reward - projection.offset - mean) * share, &k);
    }
}

/// Q += h h' / (1 + v) with h = x / lambda - Q y and v = y'h; also h and 1 / (1 + v).
fn learn(q: &mut [f64], seen: &Glimpse) -> (Vec<f64>, f64) {
    let mut h = seen.x.clone();
    let share = vectorized(
        #[inline(always)]
        || {
            let dim = h.len();
            for (row, &y) in q.chunks_exact(dim).zip(&seen.y) {
                add_scaled(&mut h, -y, row);
            }
            let share = 1.0 / (1.0 + dot(&seen.y, &h).max(ROUNDINGS * seen.prior));
            for (row, &entry) in q.chunks_exact_mut(dim).zip(&h) {
                add_scaled(row, entry * share, &h);
            }
            share
        },
    );
    (h, share)
}

/// y'(x / lambda - Q y).
fn variance(q: &[f64], seen: &Glimpse) -> f64 {
    vectorized(
        #[inline(always)]
        || {
            let mut known = 0.0;
            for (row, &y) in q.chunks_exact(seen.y.len()).zip(&seen.y) {
                known += y * dot(row, &seen.y);
            }
            (seen.prior - known).max(ROUNDINGS * seen.prior)
        },
    )
}

#[inline(always)]
fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Sums that do not wait for each other.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a8, b8) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a8.0.iter().zip(b8.0) {
        for l in 0..8 {
            sums[l] += a[l] * b[l];
        }
    }
    for (l, (a, b)) in a8.1.iter().zip(b8.1).enumerate() {
        sums[l] += a * b;
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]))
}
