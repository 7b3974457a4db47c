//! Rewards that come late, with the formulas of `linear/late.rs`.
//!
//! All lanes wait equally long: the reward of round s is learned in all of them at once (step s), before the round in which it is known,
//! by the arm that each lane pulled then.

use super::{Run, Table, advance, triangle, turn};
use crate::numeric::lanes::{Real, pick};
use crate::simulate::job::Job;
use crate::simulate::late::Schedule;
use crate::simulate::linear::{LinearChooser, Numbers};
use std::ops::Range;

/// When the lanes learn which rewards.
#[derive(Default)]
pub(super) struct Steps {
    /// Where the steps before each round begin, and where the last ones end.
    first: Vec<usize>,
}

impl Steps {
    /// Those of a job's world.
    pub fn of(job: &Job) -> Self {
        let (schedule, mut first) = (Schedule::new(job.problem), vec![0]);
        for t in 0..job.problem.horizon {
            first.push(first[t] + schedule.even(t).len());
        }
        Self { first }
    }

    /// Those before round `t`.
    #[inline(always)]
    pub fn before(&self, t: usize) -> Range<usize> {
        self.first[t]..self.first[t + 1]
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.first.last().map_or(0, |&end| end)
    }
}

/// What a run knows of its pulls, whose rewards come late.
pub(super) struct Known<R> {
    /// Are vectors and steps kept?
    kept: bool,
    /// Q* of each arm, as Q is kept.
    q: Vec<R>,
    /// k of each round and arm, if kept.
    pub k: Vec<R>,
    /// k of each step after a step of zeros, or of the last one if not kept.
    pub learned: Vec<R>,
    /// If kept, of each step: (Y - mu) / (1 + v).
    pub gains: Vec<R>,
    /// What the last step adds to each arm: 1 / (1 + v) of its pull, or zero.
    share: Vec<R>,
    /// 1 where the arm is that of the step, else 0.
    mine: Vec<R>,
    /// k k' of the last step, and Q* of the arm of this one.
    square: Vec<R>,
    picked: Vec<R>,
}

impl<R: Numbers> Known<R> {
    pub fn new(token: R::Token, table: &Table<R>, kept: bool) -> Self {
        let (arms, dim) = (table.arms, table.dim);
        let zeros = |len: usize| vec![R::splat(token, 0.0); len];
        Self {
            kept,
            q: zeros(arms * triangle(dim)),
            k: zeros(usize::from(kept) * table.horizon * arms * dim),
            learned: zeros(dim),
            gains: Vec::new(),
            share: zeros(arms),
            mine: zeros(arms),
            square: zeros(triangle(dim)),
            picked: zeros(triangle(dim)),
        }
    }

    /// Back to the first round, with these matrices.
    pub fn start(&mut self, prior: &[R], table: &Table<R>, steps: &Steps) {
        let zero = table.offset.zero();
        self.q.copy_from_slice(prior);
        if self.kept {
            self.learned.resize((steps.len() + 1) * table.dim, zero);
            self.gains.resize(steps.len(), zero);
        }
        self.learned[..table.dim].fill(zero);
    }

    /// Step `s`: each lane's arm learns a reward with the context of its pull. Its square is left to who needs Q* next.
    #[inline(always)]
    fn learn(&mut self, table: &Table<R>, arm: R, z: &mut [R], s: usize, pending: bool) {
        let (arms, dim) = (table.arms, table.dim);
        let (x, y, floor) = (&table.x[s * dim..][..dim], &table.y[s * dim..][..dim], table.floor[s]);
        let reward = pick(&table.rewards[s * arms..][..arms], arm) - table.offset;
        let (zero, one) = (floor.zero(), floor.one());
        for (i, mine) in self.mine.iter_mut().enumerate() {
            *mine = R::only(arm.is(i as f32), one);
        }
        let last = if self.kept { s * dim } else { 0 };
        match pending {
            true => {
                square_of(&self.learned[last..][..dim], &mut self.square);
                add_and_pick(&mut self.q, &self.share, &self.square, &self.mine, &mut self.picked);
            }
            false => pick_matrix(&self.q, &self.mine, &mut self.picked),
        }
        let k = &mut self.learned[if self.kept { last + dim } else { 0 }..][..dim];
        match dim {
            8 => residual(&self.picked, &x[..8], &y[..8], &mut k[..8]),
            _ => residual(&self.picked, x, y, k),
        }
        let (mut mu, mut v) = (zero, zero);
        for (j, (&k, &y)) in k.iter().zip(y).enumerate() {
            let mut own = zero;
            for (z, &mine) in z.chunks_exact(dim).zip(&self.mine) {
                own = mine.fma(z[j], own);
            }
            mu = own.fma(y, mu);
            v = k.fma(y, v);
        }
        let weight = one / (v.max(floor) + one);
        let gain = (reward - mu) * weight;
        for ((z, share), &mine) in z.chunks_exact_mut(dim).zip(&mut self.share).zip(&self.mine) {
            *share = mine * weight;
            let gain = mine * gain;
            for (z, &k) in z.iter_mut().zip(&*k) {
                *z = gain.fma(k, *z);
            }
        }
        if self.kept {
            self.gains[s] = gain;
        }
    }

    /// k of all arms in round `t`, after the last step was added if it is pending.
    #[inline(always)]
    fn look(&mut self, table: &Table<R>, steps: &Steps, t: usize, pending: bool) {
        let (size, dim) = (table.arms * table.dim, table.dim);
        let (x, y) = (&table.x[t * dim..][..dim], &table.y[t * dim..][..dim]);
        let last = &self.learned[steps.before(t).end * dim..][..dim];
        let vectors = self.k[t * size..][..size].chunks_exact_mut(dim);
        for ((q, k), &share) in self.q.chunks_exact_mut(triangle(dim)).zip(vectors).zip(&self.share) {
            match (pending, dim) {
                (true, _) => advance(q, share, last, x, y, k),
                (false, 8) => residual(q, &x[..8], &y[..8], &mut k[..8]),
                (false, _) => residual(q, x, y, k),
            }
        }
    }
}

impl<R: Numbers> Run<R> {
    /// Plays all rounds.
    #[inline(always)]
    pub(super) fn play_late(&mut self, policy: &dyn LinearChooser, table: &Table<R>, steps: &Steps) {
        let Some(mut known) = self.known.take() else { return };
        let (arms, dim) = (table.arms, table.dim);
        let size = arms * dim;
        // Does a step wait to be added to Q*?
        let mut pending = false;
        for t in 0..table.horizon {
            for s in steps.before(t) {
                known.learn(table, self.pulls[s], &mut self.z, s, pending);
                pending = true;
            }
            let (x, y, floor) = (&table.x[t * dim..][..dim], &table.y[t * dim..][..dim], table.floor[t]);
            let (old, new) = turn(&mut self.h, self.kept, t, size);
            let vectors = old.chunks_exact(dim).zip(new.chunks_exact_mut(dim));
            let states = self.q.chunks_exact_mut(triangle(dim)).zip(self.z.chunks_exact(dim));
            for (i, ((old, h), (q, z))) in vectors.zip(states).enumerate() {
                match dim {
                    8 => advance(q, self.share[i], &old[..8], &x[..8], &y[..8], &mut h[..8]),
                    _ => advance(q, self.share[i], old, x, y, h),
                }
                let (mut mu, mut v) = (floor.zero(), floor.zero());
                for ((&z, &h), &y) in z.iter().zip(&*h).zip(y) {
                    mu = z.fma(y, mu);
                    v = h.fma(y, v);
                }
                self.mu[i] = mu;
                self.v[i] = v.max(floor);
            }
            if self.kept {
                known.look(table, steps, t, pending);
                pending = false;
            }
            self.choose(policy, table, t);
        }
        self.known = Some(known);
    }
}

/// Entries that are summed over arms in registers.
const BLOCK: usize = 4;

/// picked = the matrix of the arm where `mine` is one.
#[inline(always)]
pub(super) fn pick_matrix<R: Real>(q: &[R], mine: &[R], picked: &mut [R]) {
    let size = picked.len();
    let (blocks, rest) = picked.as_chunks_mut::<BLOCK>();
    let whole = size - rest.len();
    for (b, picked) in blocks.iter_mut().enumerate() {
        let mut sums = [mine[0].zero(); BLOCK];
        for (i, &mine) in mine.iter().enumerate() {
            let q = &q[i * size + b * BLOCK..][..BLOCK];
            for n in 0..BLOCK {
                sums[n] = mine.fma(q[n], sums[n]);
            }
        }
        *picked = sums;
    }
    for (j, picked) in rest.iter_mut().enumerate() {
        let mut sum = mine[0].zero();
        for (i, &mine) in mine.iter().enumerate() {
            sum = mine.fma(q[i * size + whole + j], sum);
        }
        *picked = sum;
    }
}

/// The same after the matrix of each arm has grown by its share of a square.
#[inline(always)]
fn add_and_pick<R: Real>(q: &mut [R], share: &[R], square: &[R], mine: &[R], picked: &mut [R]) {
    let size = picked.len();
    let (blocks, rest) = picked.as_chunks_mut::<BLOCK>();
    let whole = size - rest.len();
    for (b, picked) in blocks.iter_mut().enumerate() {
        let square = &square[b * BLOCK..][..BLOCK];
        let mut sums = [mine[0].zero(); BLOCK];
        for (i, (&mine, &share)) in mine.iter().zip(share).enumerate() {
            let q = &mut q[i * size + b * BLOCK..][..BLOCK];
            for n in 0..BLOCK {
                q[n] = share.fma(square[n], q[n]);
                sums[n] = mine.fma(q[n], sums[n]);
            }
        }
        *picked = sums;
    }
    for (j, picked) in rest.iter_mut().enumerate() {
        let mut sum = mine[0].zero();
        for (i, (&mine, &share)) in mine.iter().zip(share).enumerate() {
            let q = &mut q[i * size + whole + j];
            *q = share.fma(square[whole + j], *q);
            sum = mine.fma(*q, sum);
        }
        *picked = sum;
    }
}

/// k k', as Q is kept.
#[inline(always)]
fn square_of<R: Real>(k: &[R], mut out: &mut [R]) {
    for j in (0..k.len()).step_by(2) {
        let own = &k[j..(j + 2).min(k.len())];
        let (rows, rest) = out.split_at_mut(own.len() * (j + own.len()));
        for (out, &k) in rows.chunks_exact_mut(own.len()).zip(k) {
            for (out, &own) in out.iter_mut().zip(own) {
                *out = own * k;
            }
        }
        out = rest;
    }
}

/// h = x - Q y.
#[inline(always)]
pub(super) fn residual<R: Real>(mut q: &[R], x: &[R], y: &[R], h: &mut [R]) {
    let pairs = h.len() / 2 * 2;
    for j in (0..pairs).step_by(2) {
        let (rows, rest) = q.split_at(2 * (j + 2));
        rows_of(rows.as_chunks().0, [x[j], x[j + 1]], y, h);
        q = rest;
    }
    if pairs < h.len() {
        rows_of(q.as_chunks().0, [x[pairs]], y, h);
    }
}

/// The `N` rows that end with the columns of `q`, and the part of the columns above them.
#[inline(always)]
fn rows_of<R: Real, const N: usize>(q: &[[R; N]], x: [R; N], y: &[R], h: &mut [R]) {
    let first = q.len() - N;
    let (left, own) = q.split_at(first);
    let (above, h) = h.split_at_mut(first);
    let (mut sums, mut own_y) = (x, x);
    own_y.copy_from_slice(&y[first..first + N]);
    for ((q, h), &y) in left.iter().zip(above).zip(y) {
        let mut sum = *h;
        for n in 0..N {
            sums[n] = (-q[n]).fma(y, sums[n]);
            sum = (-q[n]).fma(own_y[n], sum);
        }
        *h = sum;
    }
    for (q, &y) in own.iter().zip(&own_y) {
        for n in 0..N {
            sums[n] = (-q[n]).fma(y, sums[n]);
        }
    }
    h[..N].copy_from_slice(&sums);
}
