//! What an agent keeps of an arm with contexts, one reward at a time and in double precision.
//!
//! [`Moments`] know nothing of a policy, so that another one can take them over; they are those of (x, 1), because a policy may
//! want a constant, or its rewards moved by one. A [`Regression`] follows from them and a projection: as in `linear/late.rs` a pull
//! shrinks the variance at once, and the mean waits for the reward. It lives in the space of y = W x, and keeps a square root of
//! the inverse of V = lambda I + sum y y', which loses half as many digits as that would (Potter's filter; Kaminski et al., 1971).

use super::packed::NOTHING;
use super::{Projection, vectorized};
use crate::numeric::lanes::One;
use nalgebra::{DMatrix, DVector, SymmetricEigen};
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
            && [&self.pulled, &self.known, &self.rewards]
                .iter()
                .all(|numbers| are_within(numbers, LARGEST_SUM))
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

/// The largest sum that play leaves: contexts end at 1e30, and so do rewards.
const LARGEST_SUM: f64 = 1e80;
/// The largest entry of an estimate; far beyond what play leaves.
const LARGEST: f64 = 1e130;

fn are_within(numbers: &[f64], most: f64) -> bool {
    numbers.iter().all(|x| x.abs() <= most)
}

/// A context as a projection shows it: W x.
#[derive(Clone, Debug, Default)]
pub(crate) struct Glimpse(Vec<f64>);

impl Glimpse {
    /// Looks at another context.
    pub fn look(&mut self, projection: &Projection, x: &[f64]) {
        let Self(y) = self;
        let dim = projection.dim;
        y.clear();
        // A constant feature, if there is one, comes last.
        let constant = if x.len() < dim { 1.0 } else { 0.0 };
        let rows = projection.w.chunks_exact(dim);
        vectorized(
            #[inline(always)]
            || y.extend(rows.map(|row| dot(&row[..x.len()], x) + constant * row[dim - 1])),
        );
        let square = constant + dot(x, x);
        let largest = projection.gram.iter().step_by(dim + 1).copied().fold(0.0, f64::max);
        // W x = 0, and the rest is noise.
        if dot(y, y) <= (NOTHING * f64::EPSILON).powi(2) * square * largest {
            y.fill(0.0);
        }
    }
}

/// The estimate of an arm's mean and its variance in a projected space. The fields of older files, which kept it among the features,
/// have other names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Regression {
    /// S' with S S' = V^-1 of all pulls, row by row.
    pulled_root: Vec<f64>,
    /// The same of those whose rewards are known.
    known_root: Vec<f64>,
    /// V^-1 sum y (Y - offset) of those.
    theta: Vec<f64>,
}

impl Regression {
    /// Of no pulls.
    pub fn new(projection: &Projection) -> Self {
        let rank = projection.rank;
        let entry = |i| if i % (rank + 1) == 0 { 1.0 / projection.ridge.sqrt() } else { 0.0 };
        let root: Vec<f64> = (0..rank * rank).map(entry).collect();
        Self { pulled_root: root.clone(), known_root: root, theta: vec![0.0; rank] }
    }

    /// Is it one in that projection? No entry of a root is beyond that before the first pull.
    pub fn fits(&self, projection: &Projection) -> bool {
        let (rank, most) = (projection.rank, 1.001 / projection.ridge.sqrt());
        let roots = [&self.pulled_root, &self.known_root];
        roots.iter().all(|root| root.len() == rank * rank && are_within(root, most))
            && self.theta.len() == rank
            && are_within(&self.theta, LARGEST)
    }

    /// What follows from the moments, whatever policy they were made with: V = lambda I + W A W', and theta of b = sum x (Y - offset).
    pub fn of(projection: &Projection, moments: &Moments) -> Self {
        let &Projection { rank, dim, ridge, .. } = projection;
        let w = DMatrix::from_row_slice(rank, dim, &projection.w);
        let full = |triangle: &[f64]| {
            DMatrix::from_fn(dim, dim, |i, j| triangle[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)])
        };
        let root = |triangle: &[f64]| {
            let squares = &w * full(triangle) * w.transpose();
            // Rounding may leave what is not positive.
            let SymmetricEigen { mut eigenvectors, eigenvalues } = squares.symmetric_eigen();
            for (mut column, value) in eigenvectors.column_iter_mut().zip(&eigenvalues) {
                column /= (ridge + value.max(0.0)).sqrt();
            }
            eigenvectors
        };
        let (pulled, known) = (root(&moments.pulled), root(&moments.known));
        // The last row has the sums of x.
        let sums = &moments.known[moments.known.len() - moments.rewards.len()..];
        let centred = moments.rewards.iter().zip(sums).map(|(xy, x)| xy - projection.offset * x);
        let b = &w * DVector::from_iterator(dim, centred.take(dim));
        let theta = &known * known.tr_mul(&b);
        // The columns of S are the rows of S'.
        let rows = |root: DMatrix<f64>| root.as_slice().to_vec();
        Self { pulled_root: rows(pulled), known_root: rows(known), theta: theta.as_slice().to_vec() }
    }

    /// Estimated mean and variance in a context.
    pub fn estimate(&self, Glimpse(y): &Glimpse) -> (One<f64>, One<f64>) {
        let rows = self.pulled_root.chunks_exact(y.len());
        let variance = vectorized(
            #[inline(always)]
            || rows.map(|row| dot(row, y).powi(2)).sum(),
        );
        (One(dot(y, &self.theta)), One(variance))
    }

    /// A pull in a context.
    pub fn pull(&mut self, seen: &Glimpse) {
        learn(&mut self.pulled_root, seen);
    }

    /// The reward of a pull in a context is known.
    pub fn learn(&mut self, projection: &Projection, seen: &Glimpse, reward: f64) {
        let surprise = reward - projection.offset - dot(&seen.0, &self.theta);
        let gain = learn(&mut self.known_root, seen);
        for (theta, gain) in self.theta.iter_mut().zip(gain) {
            // A file may hold what play never leaves, and what it becomes must be a number again.
            *theta = (*theta + surprise * gain).clamp(-LARGEST, LARGEST);
        }
    }
}

/// S -= S f f' / (a + sqrt(a)) with f = S'y and a = 1 + f'f; returns V^-1 y = S f / a.
fn learn(root: &mut [f64], Glimpse(y): &Glimpse) -> Vec<f64> {
    let (rank, mut f) = (y.len(), Vec::with_capacity(y.len()));
    let mut gain = vec![0.0; rank];
    vectorized(
        #[inline(always)]
        || {
            for row in root.chunks_exact(rank) {
                f.push(dot(row, y));
                add_scaled(&mut gain, f[f.len() - 1], row);
            }
            let a = 1.0 + dot(&f, &f);
            let share = 1.0 / (a + a.sqrt());
            for (row, f) in root.chunks_exact_mut(rank).zip(&f) {
                add_scaled(row, -share * f, &gain);
            }
            gain.iter_mut().for_each(|gain| *gain /= a);
        },
    );
    gain
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::stream::Key;

    /// Far from the identity: W of low and of more than full rank, large contexts and small ridges, against V itself, in the space of
    /// W x. The condition of V is up to 1e12: a root loses six of sixteen digits, its inverse (the oracle) and the moments up to twelve.
    #[test]
    fn estimates_at_the_edge() {
        for (rank, dim, ridge, scale) in [
            (2, 6, 1e-3, 1e3),
            (2, 6, 1e-6, 1e3),
            (8, 6, 1.0, 1.0),
            (1, 3, 1e-6, 1e-3),
            (5, 5, 1e6, 1e3),
            (4, 4, 1e-6, 300.0),
        ] {
            let draw = |i: usize| 2.0 * Key::new(3).child(i as u64).uniform() - 1.0;
            let w: Vec<f64> = (0..rank * dim).map(draw).collect();
            let projection = Projection::new(&w, rank, dim, ridge).with_intercept(true).with_offset(0.25);
            let (mut moments, mut regression) = (Moments::new(dim - 1), Regression::new(&projection));
            let (mut seen, mut v) = (Glimpse::default(), DMatrix::identity(rank, rank) * ridge);
            let mut sum = DVector::zeros(rank);
            for t in 1..=3_000 {
                let x: Vec<f64> = (1..dim).map(|i| scale * draw(100 * t + i)).collect();
                let with_one = DVector::from_iterator(dim, x.iter().copied().chain([1.0]));
                let (y, reward) = (DMatrix::from_row_slice(rank, dim, &w) * with_one, draw(100 * t + 50));
                seen.look(&projection, &x);
                if t % 100 < 8 {
                    let solved = v.clone().cholesky().unwrap();
                    let (mean, variance) = (y.dot(&solved.solve(&sum)), y.dot(&solved.solve(&y)));
                    let case = format!("rank {rank}, ridge {ridge}, scale {scale}, round {t}");
                    let check = |found: (One<f64>, One<f64>), tolerance: f64| {
                        let off = (
                            (found.0.0 - mean).abs() / (1.0 + mean.abs()),
                            (found.1.0 / variance - 1.0).abs(),
                        );
                        assert!(off.0.max(off.1) < tolerance, "{case}: {found:?} for {mean}, {variance}");
                    };
                    check(regression.estimate(&seen), 1e-6);
                    check(Regression::of(&projection, &moments).estimate(&seen), 1e-4);
                    assert!(regression.fits(&projection), "{case}");
                }
                moments.pull(&x, 1.0);
                regression.pull(&seen);
                moments.learn(&x, reward);
                regression.learn(&projection, &seen, reward);
                v += &y * y.transpose();
                sum += y * (reward - 0.25);
            }
        }
    }
}
