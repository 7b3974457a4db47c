//! Rewards that come late: a pull shrinks an arm's variance at once, its mean waits for the reward. So an arm has two
//! matrices, Q of all its pulls and Q* of those whose rewards are known, with z of the latter:
//!
//! ```text
//! h = x / lambda - Q y,  v = y'h;   k = x / lambda - Q* y,  mu = y'z
//! at the pull:                      Q  += h h' / (1 + v)
//! once its reward Y is known:       Q* += k k' / (1 + y'k),   z += k (Y - mu) / (1 + y'k),   with its own x and y
//! grad_W mu = lambda W (z k' + k z'),   grad_W v = 2 lambda W h h'
//! ```
//!
//! One round after the other, in any dimension.

use super::pack::{PACK, Pack, add_scaled, dot, products_of, sum, zeros};
use super::packed::Packed;
use super::play::Run;
use super::rounds::STEP;
use super::{LinearChooser, Number, vectorized};
use crate::simulate::late::Schedule;

/// Plays all rounds.
pub(super) fn play<R: Number>(
    policy: &dyn LinearChooser,
    table: &Packed<R>,
    schedule: &Schedule,
    runs: &mut [Run<R>],
) {
    vectorized(
        #[inline(always)]
        || match table.width {
            1 => all_rounds::<R, 1>(policy, table, schedule, runs),
            _ => all_rounds::<R, 0>(policy, table, schedule, runs),
        },
    );
}

/// `V` packs in a row, if that is known to the compiler.
#[inline(always)]
fn all_rounds<R: Number, const V: usize>(
    policy: &dyn LinearChooser,
    table: &Packed<R>,
    schedule: &Schedule,
    runs: &mut [Run<R>],
) {
    let width = if V == 0 { table.width } else { V };
    let (mut mu, mut v) = (vec![R::of(0.0); table.arms], vec![R::of(0.0); table.arms]);
    let (mut spare, mut products) = (vec![zeros(); table.arms * width], vec![[zeros(); 2]; table.arms]);
    // One run after the other: its matrices stay in the cache.
    for run in runs {
        for t in 0..table.horizon {
            for s in schedule.due(t) {
                learn(table, run, width, s);
            }
            estimate(table, run, width, t, (&mut spare, &mut products), (&mut mu, &mut v));
            let (arm, share) = run.choose(policy, t, &table.rewards, &mu, &v);
            let h = match run.kept {
                true => &run.h[(2 * table.arms * t + arm) * width..][..width],
                false => &spare[arm * width..][..width],
            };
            add_square(&mut run.q, arm, table.arms, share, h);
        }
    }
}

/// Means and variances of a round: h of all arms, then k of all, stay in a run that keeps them.
#[inline(always)]
fn estimate<R: Number>(
    table: &Packed<R>,
    run: &mut Run<R>,
    width: usize,
    t: usize,
    (spare, products): (&mut [Pack<R>], &mut [[Pack<R>; 2]]),
    (mu, v): (&mut [R], &mut [R]),
) {
    let arms = table.arms;
    let (x, y) = (&table.x[t * width..][..width], &table.y[t * width..][..width]);
    let h = match run.kept {
        true => {
            let (h, k) = run.h[2 * arms * t * width..][..2 * arms * width].split_at_mut(arms * width);
            for (i, k) in k.chunks_exact_mut(width).enumerate() {
                residual(x, matrix(&run.known, i, arms), y, k);
            }
            h
        }
        false => &mut spare[..arms * width],
    };
    for (i, h) in h.chunks_exact_mut(width).enumerate() {
        residual(x, matrix(&run.q, i, arms), y, h);
    }
    let vectors = h.chunks_exact(width).zip(run.z.chunks_exact(width));
    for ((h, z), products) in vectors.zip(&mut *products) {
        *products = [products_of(y, z), products_of(y, h)];
    }
    for (i, [mean, variance]) in products.iter().enumerate() {
        mu[i] = sum(mean);
        v[i] = sum(variance).max(table.floor[t]);
    }
}

/// The reward of round `s` is known: the arm learns it with the context of its pull.
#[inline(always)]
fn learn<R: Number>(table: &Packed<R>, run: &mut Run<R>, width: usize, s: usize) {
    let (arms, arm) = (table.arms, run.pulls[s] as usize);
    let (x, y) = (&table.x[s * width..][..width], &table.y[s * width..][..width]);
    let at = if run.kept { s * width } else { 0 };
    let k = &mut run.learned[at..at + width];
    residual(x, matrix(&run.known, arm, arms), y, k);
    let z = &mut run.z[arm * width..][..width];
    let share = R::of(1.0) / (dot(y, k).max(table.floor[s]) + 1.0);
    let gain = (table.rewards[s * arms + arm] - dot(y, z)) * share;
    run.gains[s] = gain;
    for (z, k) in z.iter_mut().zip(&*k) {
        add_scaled(z, gain, k);
    }
    add_square(&mut run.known, arm, arms, share, k);
}

/// The matrix of an arm.
#[inline(always)]
fn matrix<R>(all: &[Pack<R>], arm: usize, arms: usize) -> &[Pack<R>] {
    let size = all.len() / arms;
    &all[arm * size..][..size]
}

/// The matrix of an arm += share h h'.
#[inline(always)]
fn add_square<R: Number>(all: &mut [Pack<R>], arm: usize, arms: usize, share: R, h: &[Pack<R>]) {
    let size = all.len() / arms;
    let rows = all[arm * size..][..size].chunks_exact_mut(h.len());
    for (row, &entry) in rows.zip(h.as_flattened()) {
        for (row, h) in row.iter_mut().zip(h) {
            add_scaled(row, entry * share, h);
        }
    }
}

/// out = x - Q y.
#[inline(always)]
fn residual<R: Number>(x: &[Pack<R>], q: &[Pack<R>], y: &[Pack<R>], out: &mut [Pack<R>]) {
    let mut from = 0;
    while from < out.len() {
        from += match out.len() - from {
            1 => columns::<R, 1>(x, q, y, out, from),
            2 => columns::<R, 2>(x, q, y, out, from),
            3 => columns::<R, 3>(x, q, y, out, from),
            _ => columns::<R, 4>(x, q, y, out, from),
        };
    }
}

/// `T` packs of it, in registers: two sums that do not wait for each other.
#[inline(always)]
fn columns<R: Number, const T: usize>(
    x: &[Pack<R>],
    q: &[Pack<R>],
    y: &[Pack<R>],
    out: &mut [Pack<R>],
    from: usize,
) -> usize {
    let (width, mut even, mut odd) = (out.len(), [zeros(); T], [zeros(); T]);
    even.copy_from_slice(&x[from..from + T]);
    for (rows, entries) in q.chunks_exact(STEP * width).zip(y.as_flattened().chunks_exact(STEP)) {
        for j in 0..T {
            add_scaled(&mut even[j], -entries[0], &rows[from + j]);
            add_scaled(&mut odd[j], -entries[1], &rows[width + from + j]);
        }
    }
    for ((out, even), odd) in out[from..from + T].iter_mut().zip(&even).zip(&odd) {
        for l in 0..PACK {
            out[l] = even[l] + odd[l];
        }
    }
    T
}
