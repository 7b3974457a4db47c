//! The same where rewards come late: means have vectors and matrices of their own, and move in steps (`side/late.rs`).

use super::super::late::{pick_matrix, residual};
use super::super::{Run, Table, triangle};
use super::{Collector, VECTORS, outer};
use crate::numeric::lanes::Real;
use crate::simulate::linear::{Number, Numbers};

/// What a collector needs beyond that of prompt rewards, in the projected space.
pub(super) struct Late<R> {
    /// S of each arm: the part of variances. That of means is where all of it is elsewhere.
    by_variance: Vec<R>,
    /// gamma of what is learned in each step, summed over runs.
    gamma: Vec<R>,
    /// S of the arm that a lane pulled, and 1 where that is the arm, else 0.
    picked: Vec<R>,
    mine: Vec<R>,
}

impl<R: Numbers> Late<R> {
    pub fn new(token: R::Token, table: &Table<R>) -> Self {
        let zeros = |len: usize| vec![R::splat(token, 0.0); len];
        let size = triangle(table.dim);
        Self {
            by_variance: zeros(table.arms * size),
            gamma: Vec::new(),
            picked: zeros(size),
            mine: zeros(table.arms),
        }
    }

    /// Adds what a lane learned to the gamma of its rounds.
    #[inline(always)]
    pub fn add_to(&self, lane: usize, gamma: &mut [R::One]) {
        for (gamma, own) in gamma.iter_mut().zip(&self.gamma) {
            *gamma = *gamma + R::One::of(own.lane(lane));
        }
    }

    /// Ready for other instances.
    pub fn clear(&mut self) {
        self.gamma.clear();
    }
}

impl<R: Numbers> Collector<R> {
    /// P += k (a z)' + h (b h)'.
    #[inline(always)]
    pub(super) fn forwards_late(&mut self, table: &Table<R>, run: &Run<R>, advantages: &[R]) {
        let (Some(steps), Some(known)) = (&table.steps, &run.known) else { return };
        let (arms, dim) = (table.arms, self.dim);
        let size = arms * dim;
        let rounds = (VECTORS / arms).max(1);
        for start in (0..table.horizon).step_by(rounds) {
            let end = (start + rounds).min(table.horizon);
            for (t, &advantage) in advantages.iter().enumerate().take(end).skip(start) {
                for s in steps.before(t) {
                    let k = &known.learned[(s + 1) * dim..][..dim];
                    for (i, z) in self.z.chunks_exact_mut(dim).enumerate() {
                        let gain = R::only(run.pulls[s].is(i as f32), known.gains[s]);
                        for (z, &k) in z.iter_mut().zip(k) {
                            *z = gain.fma(k, *z);
                        }
                    }
                }
                let u = self.u[(t - start) * size..].chunks_exact_mut(dim);
                for (i, (u, z)) in u.zip(self.z.chunks_exact(dim)).enumerate() {
                    let a = advantage * run.by_mean[t * arms + i];
                    for (u, &z) in u.iter_mut().zip(z) {
                        *u = a * z;
                    }
                }
            }
            let k = &known.k[start * size..end * size];
            outer(&mut self.sums, dim, k, &self.u[..k.len()]);
            let h = &run.h[(start + 1) * size..(end + 1) * size];
            for (j, (h, u)) in h.chunks_exact(dim).zip(self.u.chunks_exact_mut(dim)).enumerate() {
                let b = advantages[start + j / arms] * run.by_variance[start * arms + j];
                for (&h, u) in h.iter().zip(u) {
                    *u = b * h;
                }
            }
            outer(&mut self.sums, dim, h, &self.u[..h.len()]);
        }
    }

    #[inline(always)]
    pub(super) fn backwards_late(&mut self, table: &Table<R>, run: &Run<R>, advantages: &[R]) {
        let (Some(steps), Some(known)) = (&table.steps, &run.known) else { return };
        let (arms, dim) = (table.arms, self.dim);
        let (size, zero) = (arms * dim, advantages[0].zero());
        let Self { sums, z, u, p, gamma, before, late: Some(late), .. } = self else { return };
        let Late { by_variance, gamma: learned, picked, mine } = late;
        by_variance.fill(zero);
        learned.resize(steps.len() * dim, zero);
        before.resize(steps.len() * dim, zero);
        for s in 0..steps.len() {
            let k = &known.learned[(s + 1) * dim..][..dim];
            let before = &mut before[s * dim..][..dim];
            before.fill(zero);
            for (i, z) in z.chunks_exact_mut(dim).enumerate() {
                let mine = of_arm(run.pulls[s], i);
                let gain = mine * known.gains[s];
                for ((z, before), &k) in z.iter_mut().zip(before.iter_mut()).zip(k) {
                    *before = mine.fma(*z, *before);
                    *z = gain.fma(k, *z);
                }
            }
        }
        for t in (0..table.horizon).rev() {
            let own = &mut gamma[t * dim..][..dim];
            mine.iter_mut().enumerate().for_each(|(i, mine)| *mine = of_arm(run.pulls[t], i));
            pick_matrix(by_variance, mine, picked);
            u.copy_from_slice(own);
            residual(picked, u, &table.y[t * dim..][..dim], own);
            let matrices =
                sums.chunks_exact_mut(triangle(dim)).zip(by_variance.chunks_exact_mut(triangle(dim)));
            let vectors = z.chunks_exact(dim).zip(p.chunks_exact_mut(dim));
            for (i, ((by_mean, by_variance), (z, p))) in matrices.zip(vectors).enumerate() {
                let h = &run.h[(t + 1) * size + i * dim..][..dim];
                let k = &known.k[t * size + i * dim..][..dim];
                let e = advantages[t] * run.by_mean[t * arms + i];
                let b = advantages[t] * run.by_variance[t * arms + i];
                for j in 0..dim {
                    own[j] = e.fma(z[j], own[j]);
                    own[j] = (b + b).fma(h[j], own[j]);
                    p[j] = e.fma(k[j], p[j]);
                    u[j] = e * z[j];
                }
                add_both(by_mean, k, u);
                add_square(by_variance, b + b, h);
            }
            // What became known before this round is part of its means, and of no earlier ones.
            for s in steps.before(t).rev() {
                mine.iter_mut().enumerate().for_each(|(i, mine)| *mine = of_arm(run.pulls[s], i));
                pick_matrix(sums, mine, picked);
                let (own, before) = (&mut learned[s * dim..][..dim], &before[s * dim..][..dim]);
                u.copy_from_slice(own);
                for (i, (z, p)) in z.chunks_exact_mut(dim).zip(p.chunks_exact(dim)).enumerate() {
                    let reward = mine[i] * (table.rewards[s * arms + i] - table.offset);
                    for j in 0..dim {
                        u[j] = reward.fma(p[j], u[j]);
                        z[j] = mine[i].fma(before[j], z[j] * (zero.one() - mine[i]));
                    }
                }
                residual(picked, u, &table.y[s * dim..][..dim], own);
            }
        }
    }
}

/// 1 where `arm` is arm `i`, else 0: products, not selections (`lanes::put`).
#[inline(always)]
fn of_arm<R: Real>(arm: R, i: usize) -> R {
    R::only(arm.is(i as f32), arm.one())
}

/// S += h u' + u h'.
#[inline(always)]
fn add_both<R: Real>(mut s: &mut [R], h: &[R], u: &[R]) {
    for j in (0..h.len()).step_by(2) {
        let end = (j + 2).min(h.len());
        let (rows, rest) = s.split_at_mut((end - j) * end);
        for ((s, &h_above), &u_above) in rows.chunks_exact_mut(end - j).zip(h).zip(u) {
            for ((s, &h), &u) in s.iter_mut().zip(&h[j..end]).zip(&u[j..end]) {
                *s = u.fma(h_above, h.fma(u_above, *s));
            }
        }
        s = rest;
    }
}

/// S += b h h'.
#[inline(always)]
fn add_square<R: Real>(mut s: &mut [R], b: R, h: &[R]) {
    for j in (0..h.len()).step_by(2) {
        let end = (j + 2).min(h.len());
        let (rows, rest) = s.split_at_mut((end - j) * end);
        for (s, &above) in rows.chunks_exact_mut(end - j).zip(h) {
            let above = b * above;
            for (s, &h) in s.iter_mut().zip(&h[j..end]) {
                *s = above.fma(h, *s);
            }
        }
        s = rest;
    }
}
