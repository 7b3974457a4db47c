//! The gradient by W: P = sum of h (a z + b h)' among features (`linear/gradient.rs`), backwards in time in the projected space
//! (`linear/back.rs`), lane by lane.

mod late;

use super::{Run, Table, triangle};
use crate::numeric::lanes::Real;
use crate::numeric::matmul::{Into, Matrix, product};
use crate::simulate::linear::pack::PACK;
use crate::simulate::linear::sparse::Rows;
use crate::simulate::linear::{Basis, Number, Numbers, Projection};
use late::Late;

/// Vectors that are made before they are multiplied.
const VECTORS: usize = 32;

/// Collects the gradients of the instances in the lanes.
pub(super) struct Collector<R: Numbers> {
    basis: Basis,
    dim: usize,
    /// P; or S of each arm, as Q is kept.
    sums: Vec<R>,
    z: Vec<R>,
    /// a z + b h of some vectors, or of one.
    u: Vec<R>,
    /// In the projected space: p of each arm, gamma of each round, and z of the arm of each pull before its reward.
    p: Vec<R>,
    /// y of one round, zero where another arm was pulled.
    seen: Vec<R>,
    gamma: Vec<R>,
    before: Vec<R>,
    /// gamma of one lane.
    one: Vec<R::One>,
    late: Option<Late<R>>,
}

impl<R: Numbers> Collector<R> {
    pub fn new(token: R::Token, table: &Table<R>) -> Self {
        let (dim, arms, zeros) = (table.dim, table.arms, |len: usize| vec![R::splat(token, 0.0); len]);
        let back = usize::from(table.basis == Basis::Projected);
        Self {
            basis: table.basis,
            dim,
            sums: zeros(if back == 1 { arms * triangle(dim) } else { dim * dim }),
            z: zeros(arms * dim),
            u: zeros(dim * if back == 1 { 1 } else { VECTORS.max(arms) }),
            p: zeros(back * arms * dim),
            seen: zeros(dim),
            gamma: zeros(back * table.horizon * dim),
            before: zeros(back * table.horizon * dim),
            one: Vec::new(),
            late: (back == 1 && table.steps.is_some()).then(|| Late::new(token, table)),
        }
    }

    /// Adds a run with these advantages.
    #[inline(always)]
    pub fn add(&mut self, table: &Table<R>, run: &Run<R>, advantages: &[R]) {
        let zero = advantages[0].zero();
        self.z.fill(zero);
        if self.basis == Basis::Projected {
            self.sums.fill(zero);
            self.p.fill(zero);
        }
        match (self.basis, table.steps.is_some()) {
            (Basis::Features, false) => self.forwards(table, run, advantages),
            (Basis::Features, true) => self.forwards_late(table, run, advantages),
            (Basis::Projected, false) => self.backwards(table, run, advantages),
            (Basis::Projected, true) => self.backwards_late(table, run, advantages),
        }
    }

    /// P += h u', with u = a z + b h.
    #[inline(always)]
    fn forwards(&mut self, table: &Table<R>, run: &Run<R>, advantages: &[R]) {
        let (arms, dim) = (table.arms, self.dim);
        let size = arms * dim;
        let rounds = (VECTORS / arms).max(1);
        for start in (0..table.horizon).step_by(rounds) {
            let end = (start + rounds).min(table.horizon);
            for (t, &advantage) in advantages.iter().enumerate().take(end).skip(start) {
                let h = &run.h[(t + 1) * size..][..size];
                let u = &mut self.u[(t - start) * size..][..size];
                for i in 0..arms {
                    let at = i * dim..(i + 1) * dim;
                    let (h, u, z) = (&h[at.clone()], &mut u[at.clone()], &mut self.z[at]);
                    let a = advantage * run.by_mean[t * arms + i];
                    let b = advantage * run.by_variance[t * arms + i];
                    let gain = R::only(run.pulls[t].is(i as f32), run.gains[t]);
                    // Of a known size it is unrolled.
                    match dim {
                        8 => step([a, b, gain], &h[..8], &mut u[..8], &mut z[..8]),
                        _ => step([a, b, gain], h, u, z),
                    }
                }
            }
            let h = &run.h[(start + 1) * size..(end + 1) * size];
            outer(&mut self.sums, dim, h, &self.u[..h.len()]);
        }
    }

    #[inline(always)]
    fn backwards(&mut self, table: &Table<R>, run: &Run<R>, advantages: &[R]) {
        let (arms, dim) = (table.arms, self.dim);
        let size = arms * dim;
        for (t, advantage) in advantages.iter().enumerate() {
            let (zero, one) = (advantage.zero(), advantage.one());
            let before = &mut self.before[t * dim..][..dim];
            before.fill(zero);
            for (i, z) in self.z.chunks_exact_mut(dim).enumerate() {
                let h = &run.h[(t + 1) * size + i * dim..][..dim];
                // Products with 0 and 1, not selections: see `lanes::put`.
                let mine = R::only(run.pulls[t].is(i as f32), one);
                let gain = mine * run.gains[t];
                for ((z, before), &h) in z.iter_mut().zip(before.iter_mut()).zip(h) {
                    *before = mine.fma(*z, *before);
                    *z = gain.fma(h, *z);
                }
            }
        }
        for t in (0..table.horizon).rev() {
            let (y, before) = (&table.y[t * dim..][..dim], &self.before[t * dim..][..dim]);
            let gamma = &mut self.gamma[t * dim..][..dim];
            let states = self.sums.chunks_exact_mut(triangle(dim)).zip(self.p.chunks_exact_mut(dim));
            for (i, ((s, p), z)) in states.zip(self.z.chunks_exact_mut(dim)).enumerate() {
                let h = &run.h[(t + 1) * size + i * dim..][..dim];
                let one = advantages[t].one();
                let mine = R::only(run.pulls[t].is(i as f32), one);
                let other = one - mine;
                let reward = mine * (table.rewards[t * arms + i] - table.offset);
                let e = advantages[t] * run.by_mean[t * arms + i];
                let b = advantages[t] * run.by_variance[t * arms + i];
                for j in 0..dim {
                    z[j] = mine.fma(before[j], z[j] * other);
                    self.u[j] = e.fma(z[j], b * h[j]);
                    gamma[j] = reward.fma(p[j], gamma[j]);
                    gamma[j] = e.fma(z[j], gamma[j]);
                    gamma[j] = (b + b).fma(h[j], gamma[j]);
                    p[j] = e.fma(h[j], p[j]);
                    self.seen[j] = mine * y[j];
                }
                retreat(s, &self.seen, h, &self.u, gamma);
            }
        }
    }

    /// The gradients by W come first in each of `gradients`; the sums are zero again.
    #[inline(always)]
    pub fn finish<'a>(
        &mut self,
        projection: &Projection,
        (table, rows): (&Table<R>, impl Fn(usize) -> Option<Rows<'a>>),
        gradients: &mut [f64],
        length: usize,
    ) {
        let by_w = projection.rank * projection.dim;
        match self.basis {
            Basis::Features => {
                let (dim, p) = (self.dim, &self.sums);
                for (k, w) in projection.w.chunks_exact(dim).enumerate() {
                    for j in 0..dim {
                        let mut sum = p[0].zero();
                        for (i, &w) in w.iter().enumerate() {
                            sum = sum.lit(w).fma(p[i * dim + j] + p[j * dim + i], sum);
                        }
                        for (lane, gradient) in gradients.chunks_exact_mut(length).enumerate() {
                            gradient[k * dim + j] = projection.ridge * sum.lane(lane);
                        }
                    }
                }
                let zero = p[0].zero();
                self.sums.fill(zero);
            }
            Basis::Projected => {
                let mut out = vec![R::One::of(0.0); by_w];
                for (lane, gradient) in gradients.chunks_exact_mut(length).enumerate() {
                    self.one.clear();
                    self.one.extend(self.gamma.iter().map(|gamma| R::One::of(gamma.lane(lane))));
                    if let Some(late) = &self.late {
                        late.add_to(lane, &mut self.one);
                    }
                    let (rounds, features) = (table.horizon, projection.dim);
                    if let Some(rows) = rows(lane) {
                        let (dim, one) = (self.dim, &self.one);
                        rows.collect(
                            (features, dim.div_ceil(PACK)),
                            #[inline(always)]
                            |t, out| {
                                let from = &one[t * dim..][..dim];
                                out.as_flattened_mut().iter_mut().zip(from).for_each(|(out, x)| *out = *x);
                            },
                            &mut gradient[..by_w],
                        );
                        continue;
                    }
                    product(
                        Matrix::new(&self.one, rounds, self.dim, self.dim).transposed(),
                        Matrix::new(&table.contexts[lane], rounds, features, features),
                        Into::Replace,
                        &mut out,
                        features,
                    );
                    gradient[..by_w].iter_mut().zip(&out).for_each(|(gradient, x)| *gradient = x.lane(0));
                }
                let zero = self.sums[0].zero();
                self.gamma.fill(zero);
                if let Some(late) = &mut self.late {
                    late.clear();
                }
            }
        }
    }
}

/// u = a z + b h, then z += gain h.
#[inline(always)]
fn step<R: Real>([a, b, gain]: [R; 3], h: &[R], u: &mut [R], z: &mut [R]) {
    for ((&h, u), z) in h.iter().zip(u).zip(z) {
        *u = a.fma(*z, b * h);
        *z = gain.fma(h, *z);
    }
}

/// P += the sum of h u' over vectors, by blocks that stay in registers.
#[inline(always)]
fn outer<R: Real>(p: &mut [R], dim: usize, h: &[R], u: &[R]) {
    let (fours, pairs) = (dim / 4 * 4, dim / 2 * 2);
    for j in (0..pairs).step_by(2) {
        for i in (0..fours).step_by(4) {
            outer_block::<R, 4, 2>(p, dim, h, u, (i, j));
        }
        for i in fours..dim {
            outer_block::<R, 1, 2>(p, dim, h, u, (i, j));
        }
    }
    if pairs < dim {
        for i in (0..fours).step_by(4) {
            outer_block::<R, 4, 1>(p, dim, h, u, (i, pairs));
        }
        for i in fours..dim {
            outer_block::<R, 1, 1>(p, dim, h, u, (i, pairs));
        }
    }
}

/// The block whose first entry is (i, j).
#[inline(always)]
fn outer_block<R: Real, const N: usize, const M: usize>(
    p: &mut [R],
    dim: usize,
    h: &[R],
    u: &[R],
    (i, j): (usize, usize),
) {
    let mut sums = [[p[0]; M]; N];
    for (n, row) in sums.iter_mut().enumerate() {
        row.copy_from_slice(&p[(i + n) * dim + j..][..M]);
    }
    for (h, u) in h.chunks_exact(dim).zip(u.chunks_exact(dim)) {
        let (h, u) = (&h[i..i + N], &u[j..j + M]);
        for n in 0..N {
            for m in 0..M {
                sums[n][m] = h[n].fma(u[m], sums[n][m]);
            }
        }
    }
    for (n, row) in sums.iter().enumerate() {
        p[(i + n) * dim + j..][..M].copy_from_slice(row);
    }
}

/// gamma -= S y, then S += h u' + u h'.
#[inline(always)]
fn retreat<R: Real>(mut s: &mut [R], y: &[R], h: &[R], u: &[R], gamma: &mut [R]) {
    let pairs = gamma.len() / 2 * 2;
    for j in (0..pairs).step_by(2) {
        let (rows, rest) = s.split_at_mut(2 * (j + 2));
        rows_of::<R, 2>(rows.as_chunks_mut().0, y, h, u, gamma);
        s = rest;
    }
    if pairs < gamma.len() {
        rows_of::<R, 1>(s.as_chunks_mut().0, y, h, u, gamma);
    }
}

/// The `N` rows that end with the columns of `s`, and the part of the columns above them.
#[inline(always)]
fn rows_of<R: Real, const N: usize>(s: &mut [[R; N]], y: &[R], h: &[R], u: &[R], gamma: &mut [R]) {
    let first = s.len() - N;
    let [mut own_y, mut own_h, mut own_u] = [[y[0]; N]; 3];
    own_y.copy_from_slice(&y[first..first + N]);
    own_h.copy_from_slice(&h[first..first + N]);
    own_u.copy_from_slice(&u[first..first + N]);
    let (left, own) = s.split_at_mut(first);
    let (above, gamma) = gamma.split_at_mut(first);
    let mut sums = own_y;
    sums.copy_from_slice(&gamma[..N]);
    for ((((s, gamma), &y), &h), &u) in left.iter_mut().zip(above).zip(y).zip(h).zip(u) {
        let mut sum = *gamma;
        for n in 0..N {
            sums[n] = (-s[n]).fma(y, sums[n]);
            sum = (-s[n]).fma(own_y[n], sum);
            s[n] = own_u[n].fma(h, own_h[n].fma(u, s[n]));
        }
        *gamma = sum;
    }
    for (((s, &y), &h), &u) in own.iter_mut().zip(&own_y).zip(&own_h).zip(&own_u) {
        for n in 0..N {
            sums[n] = (-s[n]).fma(y, sums[n]);
            s[n] = own_u[n].fma(h, own_h[n].fma(u, s[n]));
        }
    }
    gamma[..N].copy_from_slice(&sums);
}
