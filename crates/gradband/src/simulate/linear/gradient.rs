//! Advantages times scores: P = sum of h (a z + b h)' over the rounds and arms of the differentiated runs.
//!
//! Advantages are known only after the run. Its vectors h were kept; z is replayed from arms and gains. Where rewards come
//! late the means have vectors of their own: P = sum of k (a z)' + h (b h)'.

use super::pack::{PACK, Pack, add_scaled, zeros};
use super::packed::Packed;
use super::play::Run;
use super::{Number, Projection, vectorized};
use crate::numeric::lanes::One;
use crate::numeric::matmul::{Into, Matrix, product};
use crate::problem::Problem;
use crate::simulate::late::Schedule;

/// Rows of a z + b h that are made before they are multiplied.
const ROWS: usize = 192;

/// Collects the gradient of one instance.
pub(super) struct Accumulator<'a, R> {
    projection: &'a Projection,
    /// W, row by row.
    w: Vec<R>,
    /// P; its rows are padded to packs.
    p: Vec<Pack<R>>,
    z: Vec<Pack<R>>,
    u: Vec<Pack<R>>,
    advantages: Vec<R>,
}

impl<'a, R: Number> Accumulator<'a, R> {
    pub fn new(projection: &'a Projection, problem: &Problem, width: usize) -> Self {
        Self {
            projection,
            w: projection.w.iter().map(|&x| R::of(x)).collect(),
            p: vec![zeros(); projection.dim.next_multiple_of(PACK) * width],
            z: vec![zeros(); problem.arms * width],
            u: Vec::new(),
            advantages: vec![R::of(0.0); problem.horizon],
        }
    }

    /// Adds a run with these advantages to P. Rewards that come late have a schedule.
    pub fn add(&mut self, table: &Packed<R>, run: &Run<R>, late: Option<&Schedule>, advantages: &[One<f64>]) {
        for (out, advantage) in self.advantages.iter_mut().zip(advantages) {
            *out = R::of(advantage.0);
        }
        if !run.kept {
            return;
        }
        self.z.fill(zeros());
        if table.width == 1 && late.is_none() {
            return vectorized(
                #[inline(always)]
                || self.add_small(table, run),
            );
        }
        let per_round = table.arms * if late.is_some() { 2 } else { 1 };
        let rounds = (ROWS / per_round).max(1);
        let stride = table.width * PACK;
        for start in (0..table.horizon).step_by(rounds) {
            let count = rounds.min(table.horizon - start);
            vectorized(
                #[inline(always)]
                || match late {
                    None => self.weigh(table, run, start, count),
                    Some(schedule) => self.weigh_late(table, run, schedule, start, count),
                },
            );
            let rows = count * per_round;
            let h = &run.h[start * per_round * table.width..];
            product(
                Matrix::new(h.as_flattened(), rows, table.dim, stride).transposed(),
                Matrix::new(self.u.as_flattened(), rows, stride, stride),
                Into::Add,
                self.p.as_flattened_mut(),
                stride,
            );
        }
    }

    /// The rows a z + b h of some rounds.
    #[inline(always)]
    fn weigh(&mut self, table: &Packed<R>, run: &Run<R>, start: usize, count: usize) {
        let (arms, width) = (table.arms, table.width);
        self.u.resize(count * arms * width, zeros());
        for (t, u) in (start..start + count).zip(self.u.chunks_exact_mut(arms * width)) {
            let advantage = self.advantages[t];
            let h = &run.h[t * arms * width..(t + 1) * arms * width];
            for i in 0..arms {
                let a = advantage * run.by_mean[t * arms + i];
                let b = advantage * run.by_variance[t * arms + i];
                let row = i * width..(i + 1) * width;
                let rows = u[row.clone()].iter_mut().zip(&self.z[row.clone()]).zip(&h[row]);
                for ((u, z), h) in rows {
                    let (mut sum, z) = (*h, *z);
                    for l in 0..PACK {
                        sum[l] = a.fma(z[l], b * sum[l]);
                    }
                    *u = sum;
                }
            }
            let arm = run.pulls[t] as usize;
            let row = arm * width..(arm + 1) * width;
            for (z, h) in self.z[row.clone()].iter_mut().zip(&h[row]) {
                add_scaled(z, run.gains[t], h);
            }
        }
    }

    /// The rows b h of all arms and then a z of all arms, of some rounds.
    #[inline(always)]
    fn weigh_late(
        &mut self,
        table: &Packed<R>,
        run: &Run<R>,
        schedule: &Schedule,
        start: usize,
        count: usize,
    ) {
        let (arms, width) = (table.arms, table.width);
        self.u.resize(2 * count * arms * width, zeros());
        for (t, u) in (start..start + count).zip(self.u.chunks_exact_mut(2 * arms * width)) {
            for s in schedule.due(t) {
                let arm = run.pulls[s] as usize;
                let z = self.z[arm * width..].iter_mut();
                for (z, k) in z.zip(&run.learned[s * width..(s + 1) * width]) {
                    add_scaled(z, run.gains[s], k);
                }
            }
            let h = &run.h[2 * t * arms * width..][..arms * width];
            let advantage = self.advantages[t];
            let (by_variance, by_mean) = u.split_at_mut(arms * width);
            for (u, vectors, slopes) in
                [(by_variance, h, &run.by_variance), (by_mean, &self.z[..], &run.by_mean)]
            {
                let rows = u.chunks_exact_mut(width).zip(vectors.chunks_exact(width));
                for ((u, vector), &slope) in rows.zip(&slopes[t * arms..(t + 1) * arms]) {
                    u.fill(zeros());
                    for (u, x) in u.iter_mut().zip(vector) {
                        add_scaled(u, advantage * slope, x);
                    }
                }
            }
        }
    }

    /// One pack: P stays in registers.
    #[inline(always)]
    fn add_small(&mut self, table: &Packed<R>, run: &Run<R>) {
        let arms = table.arms;
        let mut p = [zeros::<R>(); PACK];
        p.copy_from_slice(&self.p);
        for (t, h) in run.h.chunks_exact(arms).enumerate() {
            let advantage = self.advantages[t];
            let by_mean = &run.by_mean[t * arms..(t + 1) * arms];
            let by_variance = &run.by_variance[t * arms..(t + 1) * arms];
            for i in 0..arms {
                let (a, b) = (advantage * by_mean[i], advantage * by_variance[i]);
                let mut u = zeros();
                for l in 0..PACK {
                    u[l] = a.fma(self.z[i][l], b * h[i][l]);
                }
                for j in 0..PACK {
                    add_scaled(&mut p[j], h[i][j], &u);
                }
            }
            let arm = run.pulls[t] as usize;
            add_scaled(&mut self.z[arm], run.gains[t], &h[arm]);
        }
        self.p.copy_from_slice(&p);
    }

    /// lambda W (P + P'); P is zero again.
    pub fn finish(&mut self, by_w: &mut [f64]) {
        if !by_w.is_empty() {
            let Projection { rank, dim, ridge, .. } = *self.projection;
            let (p, stride) = (self.p.as_flattened(), self.p.len() * PACK / dim.next_multiple_of(PACK));
            let both: Vec<R> = (0..dim * dim)
                .map(|i| p[i / dim * stride + i % dim] + p[i % dim * stride + i / dim])
                .collect();
            let mut out = vec![R::of(0.0); rank * dim];
            let (w, both) = (Matrix::new(&self.w, rank, dim, dim), Matrix::new(&both, dim, dim, dim));
            product(w, both, Into::Replace, &mut out, dim);
            for (out, x) in by_w.iter_mut().zip(&out) {
                *out = ridge * x.lane(0);
            }
        }
        self.p.fill(zeros());
    }
}
