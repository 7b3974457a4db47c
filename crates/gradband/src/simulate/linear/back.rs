//! The gradient by W in the projected space, backwards in time.
//!
//! With y = W x, an arm's estimates are mu = y'z and v = y'h for z = G^-1 sum of y_s Y_s, h = G^-1 y, G = lambda I + sum of
//! y_s y_s' over its pulls s so far. In terms of the vectors y alone
//!
//! ```text
//! d mu_t = z'dy_t  + sum over pulls s < t of (Y_s h - (h z' + z h') y_s)'dy_s
//! d v_t  = 2h'dy_t - sum over pulls s < t of 2 (h'y_s) h'dy_s
//! ```
//!
//! Let e and b be a round's advantage times d log pi / d mu and d log pi / d v of an arm. Backwards in time each arm sums
//!
//! ```text
//! p += e h,   S += e (h z' + z h') + 2 b h h'
//! gamma_t = sum over arms of (e z + 2 b h)  +  (Y_t p - S y_t of the pulled arm, with p and S of later rounds)
//! ```
//!
//! and the gradient of all runs of an instance is one product, the sum of gamma_t x_t'. Where rewards come late p and
//! the first part of S are those of rounds in which the pull's reward is known, with k in the place of h.

use super::pack::{Pack, zeros};
use super::packed::Packed;
use super::play::{Pace, Run};
use super::sparse::{Rows, add_all};
use super::{Number, vectorized};
use crate::numeric::lanes::One;
use crate::numeric::matmul::{Into, Matrix, product};
use crate::simulate::late::Schedule;

/// Collects the gradient of one instance.
pub(super) struct Backward<R> {
    /// gamma of each round, summed over runs.
    gamma: Vec<Pack<R>>,
    /// z of each arm.
    z: Vec<Pack<R>>,
    /// z of the arm of each pull before its reward was known.
    before: Vec<Pack<R>>,
    /// p of each arm.
    p: Vec<Pack<R>>,
    /// S of each arm: the part of means, and that of variances if it is apart.
    by_mean: Vec<Pack<R>>,
    by_variance: Vec<Pack<R>>,
}

impl<R: Number> Backward<R> {
    pub fn new(table: &Packed<R>, pace: Pace) -> Self {
        let (arms, width) = (table.arms, table.width);
        let matrices = vec![zeros(); arms * table.dim * width];
        Self {
            gamma: vec![zeros(); table.horizon * width],
            z: vec![zeros(); arms * width],
            before: vec![zeros(); table.horizon * width],
            p: vec![zeros(); arms * width],
            by_variance: if pace == Pace::Late { matrices.clone() } else { Vec::new() },
            by_mean: matrices,
        }
    }

    /// Adds a run with these advantages. Rewards that come late have a schedule.
    pub fn add(&mut self, table: &Packed<R>, run: &Run<R>, late: Option<&Schedule>, advantages: &[One<f64>]) {
        if !run.kept {
            return;
        }
        for sums in [&mut self.z, &mut self.p, &mut self.by_mean, &mut self.by_variance] {
            sums.fill(zeros());
        }
        vectorized(
            #[inline(always)]
            || match (late, table.width) {
                (None, 1) => self.prompt::<1>(table, run, advantages),
                (None, _) => self.prompt::<0>(table, run, advantages),
                (Some(schedule), _) => self.late(table, run, schedule, advantages),
            },
        );
    }

    /// Rewards are known at once; `V` packs in a row, if that is known to the compiler.
    #[inline(always)]
    fn prompt<const V: usize>(&mut self, table: &Packed<R>, run: &Run<R>, advantages: &[One<f64>]) {
        let (arms, width) = (table.arms, if V == 0 { table.width } else { V });
        let size = table.dim * width;
        let of = |t: usize, arm: usize| &run.h[(t * arms + arm) * width..][..width];
        for t in 0..table.horizon {
            let arm = run.pulls[t] as usize;
            self.learn(t, arm, run.gains[t], of(t, arm));
        }
        for t in (0..table.horizon).rev() {
            let (arm, y) = (run.pulls[t] as usize, &table.y[t * width..][..width]);
            let gamma = &mut self.gamma[t * width..][..width];
            let reward = table.rewards[t * arms + arm];
            add_all(gamma, reward, &self.p[arm * width..][..width]);
            subtract_product(gamma, &self.by_mean[arm * size..][..size], y);
            self.z[arm * width..][..width].copy_from_slice(&self.before[t * width..][..width]);
            let advantage = R::of(advantages[t].0);
            for i in 0..arms {
                let h = of(t, i);
                let e = advantage * run.by_mean[t * arms + i];
                let b = advantage * run.by_variance[t * arms + i];
                let z = &self.z[i * width..][..width];
                add_all(gamma, e, z);
                add_all(gamma, b + b, h);
                add_all(&mut self.p[i * width..][..width], e, h);
                let s = &mut self.by_mean[i * size..][..size];
                // e (h z' + z h') + 2 b h h' = h u' + u h' with u = e z + b h.
                for (j, row) in s.chunks_exact_mut(width).enumerate() {
                    let (hj, zj) = (h.as_flattened()[j], z.as_flattened()[j]);
                    let uj = e.fma(zj, b * hj);
                    add_all(row, e * hj, z);
                    add_all(row, b.fma(hj, uj), h);
                }
            }
        }
    }

    /// The means of a round are those of k and z, its variances those of h.
    #[inline(always)]
    fn late(&mut self, table: &Packed<R>, run: &Run<R>, schedule: &Schedule, advantages: &[One<f64>]) {
        let (arms, width) = (table.arms, table.width);
        let size = table.dim * width;
        for t in 0..table.horizon {
            for s in schedule.due(t) {
                self.learn(s, run.pulls[s] as usize, run.gains[s], &run.learned[s * width..][..width]);
            }
        }
        for t in (0..table.horizon).rev() {
            let arm = run.pulls[t] as usize;
            let gamma = &mut self.gamma[t * width..][..width];
            subtract_product(gamma, &self.by_variance[arm * size..][..size], &table.y[t * width..][..width]);
            let advantage = R::of(advantages[t].0);
            let (h, k) = run.h[2 * t * arms * width..][..2 * arms * width].split_at(arms * width);
            for i in 0..arms {
                let (h, k) = (&h[i * width..][..width], &k[i * width..][..width]);
                let e = advantage * run.by_mean[t * arms + i];
                let b = advantage * run.by_variance[t * arms + i];
                let z = &self.z[i * width..][..width];
                add_all(gamma, e, z);
                add_all(gamma, b + b, h);
                add_all(&mut self.p[i * width..][..width], e, k);
                for j in 0..table.dim {
                    let row = i * size + j * width..i * size + (j + 1) * width;
                    let means = &mut self.by_mean[row.clone()];
                    add_all(means, e * k.as_flattened()[j], z);
                    add_all(means, e * z.as_flattened()[j], k);
                    add_all(&mut self.by_variance[row], (b + b) * h.as_flattened()[j], h);
                }
            }
            // What became known before this round is part of its means, and of no earlier ones.
            for s in schedule.due(t).rev() {
                let arm = run.pulls[s] as usize;
                let gamma = &mut self.gamma[s * width..][..width];
                add_all(gamma, table.rewards[s * arms + arm], &self.p[arm * width..][..width]);
                let s_matrix = &self.by_mean[arm * size..][..size];
                subtract_product(gamma, s_matrix, &table.y[s * width..][..width]);
                self.z[arm * width..][..width].copy_from_slice(&self.before[s * width..][..width]);
            }
        }
    }

    /// z of an arm moves along `h` as the reward of pull `s` is known.
    #[inline(always)]
    fn learn(&mut self, s: usize, arm: usize, gain: R, h: &[Pack<R>]) {
        let width = h.len();
        let z = &mut self.z[arm * width..][..width];
        self.before[s * width..][..width].copy_from_slice(z);
        add_all(z, gain, h);
    }

    /// The sum of gamma x' over rounds; gamma is zero again.
    pub fn finish(&mut self, table: &Packed<R>, rows: Option<Rows>, by_w: &mut [f64]) {
        if let (Some(rows), false) = (rows, by_w.is_empty()) {
            let size = (by_w.len() / table.dim, table.width);
            let gamma = |t: usize, out: &mut [Pack<R>]| {
                out.copy_from_slice(&self.gamma[t * table.width..][..table.width]);
            };
            rows.collect(size, gamma, by_w);
        } else if !by_w.is_empty() {
            let features = by_w.len() / table.dim;
            let (rows, stride) = (table.horizon, table.contexts.as_flattened().len() / table.horizon);
            let mut out = vec![R::of(0.0); by_w.len()];
            let gamma_stride = self.gamma.as_flattened().len() / rows;
            product(
                Matrix::new(self.gamma.as_flattened(), rows, table.dim, gamma_stride).transposed(),
                Matrix::new(table.contexts.as_flattened(), rows, features, stride),
                Into::Replace,
                &mut out,
                features,
            );
            for (by_w, x) in by_w.iter_mut().zip(&out) {
                *by_w = x.lane(0);
            }
        }
        self.gamma.fill(zeros());
    }
}

/// out -= S y, for symmetric S.
#[inline(always)]
fn subtract_product<R: Number>(out: &mut [Pack<R>], s: &[Pack<R>], y: &[Pack<R>]) {
    for (row, &entry) in s.chunks_exact(out.len()).zip(y.as_flattened()) {
        add_all(out, -entry, row);
    }
}
