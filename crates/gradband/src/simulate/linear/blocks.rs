//! Large dimensions: contexts do not depend on the actions, so that Q y of a block of rounds is one product of
//! matrices, corrected for the pulls of the block so far:
//!
//! ```text
//! h = x / lambda - Q y - sum over the arm's pulls p in the block of g_p (g_p'y),   g_p = h_p / sqrt(1 + v_p)
//! Q += G'G at the end of the block, with the g_p as the rows of G
//! ```

use super::pack::{PACK, Pack, add_products, add_scaled, dot, sum, zeros};
use super::packed::Packed;
use super::play::Run;
use super::{Basis, LinearChooser, Number, vectorized};
use crate::numeric::matmul::{Into, Matrix, product};

/// Rounds of a block.
const BLOCK: usize = 24;

/// Buffers of a block.
struct Block<R> {
    /// Q y, then h, of each round and arm: for runs that do not keep them.
    h: Vec<Pack<R>>,
    /// The scaled vectors of the pulls so far, arm by arm.
    g: Vec<Pack<R>>,
    pulls: Vec<usize>,
    mu: Vec<R>,
    v: Vec<R>,
}

/// Plays all rounds.
pub(super) fn play<R: Number>(policy: &dyn LinearChooser, table: &Packed<R>, runs: &mut [Run<R>]) {
    let (arms, width) = (table.arms, table.width);
    let mut block = Block {
        h: vec![zeros(); BLOCK * arms * width],
        g: vec![zeros(); BLOCK * arms * width],
        pulls: vec![0; arms],
        mu: vec![R::of(0.0); arms],
        v: vec![R::of(0.0); arms],
    };
    // One run after the other: its matrices stay in the cache.
    for run in runs {
        for start in (0..table.horizon).step_by(BLOCK) {
            let end = (start + BLOCK).min(table.horizon);
            project(table, run, start, end, &mut block.h);
            vectorized(
                #[inline(always)]
                || rounds(policy, table, run, start, end, &mut block),
            );
            learn(table, run, &mut block);
        }
    }
}

/// Q y of a block, for all arms at once: row j of Q has row j of every arm.
fn project<R: Number>(table: &Packed<R>, run: &mut Run<R>, start: usize, end: usize, h: &mut [Pack<R>]) {
    let (width, stride) = (table.width, table.width * PACK);
    let columns = table.arms * stride;
    let out = if run.kept { &mut run.h[start * table.arms * width..end * table.arms * width] } else { h };
    if start == 0 && table.basis == Basis::Features {
        return out.fill(zeros());
    }
    product(
        Matrix::new(table.y[start * width..].as_flattened(), end - start, table.dim, stride),
        Matrix::new(run.q.as_flattened(), table.dim, columns, columns),
        Into::Replace,
        out.as_flattened_mut(),
        columns,
    );
}

#[inline(always)]
fn rounds<R: Number>(
    policy: &dyn LinearChooser,
    table: &Packed<R>,
    run: &mut Run<R>,
    start: usize,
    end: usize,
    block: &mut Block<R>,
) {
    let (arms, width) = (table.arms, table.width);
    block.pulls.fill(0);
    for t in start..end {
        let (x, y) = (&table.x[t * width..(t + 1) * width], &table.y[t * width..(t + 1) * width]);
        let at = if run.kept { t } else { t - start } * arms * width;
        let h = if run.kept { &mut run.h } else { &mut block.h };
        let h = &mut h[at..at + arms * width];
        for (i, h) in h.chunks_exact_mut(width).enumerate() {
            for (h, x) in h.iter_mut().zip(x) {
                let (mut difference, x) = (*h, *x);
                for l in 0..PACK {
                    difference[l] = x[l] - difference[l];
                }
                *h = difference;
            }
            let pulls = &block.g[i * BLOCK * width..][..block.pulls[i] * width];
            for g in pulls.chunks_exact(width) {
                let share = -dot_wide(g, y);
                for (h, g) in h.iter_mut().zip(g) {
                    add_scaled(h, share, g);
                }
            }
            block.mu[i] = dot_wide(y, &run.z[i * width..(i + 1) * width]);
            block.v[i] = dot_wide(y, h).max(table.floor[t]);
        }
        let (arm, share) = run.choose(policy, t, &table.rewards, &block.mu, &block.v);
        let h = if run.kept { &run.h } else { &block.h };
        let h = &h[at + arm * width..at + (arm + 1) * width];
        let (root, gain) = (share.sqrt(), run.gains[t]);
        let place = (arm * BLOCK + block.pulls[arm]) * width;
        let g = &mut block.g[place..place + width];
        let z = &mut run.z[arm * width..(arm + 1) * width];
        for ((g, z), h) in g.iter_mut().zip(z).zip(h) {
            add_scaled(z, gain, h);
            let mut scaled = *h;
            for entry in &mut scaled {
                *entry = *entry * root;
            }
            *g = scaled;
        }
        block.pulls[arm] += 1;
    }
}

/// x'y in two sums that do not wait for each other.
#[inline(always)]
fn dot_wide<R: Number>(x: &[Pack<R>], y: &[Pack<R>]) -> R {
    let mut totals = [zeros(); 2];
    let (x, y) = (x.chunks_exact(2), y.chunks_exact(2));
    let rest = dot(x.remainder(), y.remainder());
    for (x, y) in x.zip(y) {
        add_products(&mut totals[0], &x[0], &y[0]);
        add_products(&mut totals[1], &x[1], &y[1]);
    }
    rest + (sum(&totals[0]) + sum(&totals[1]))
}

/// The pulls of the block enter Q.
fn learn<R: Number>(table: &Packed<R>, run: &mut Run<R>, block: &mut Block<R>) {
    let (width, stride) = (table.width, table.width * PACK);
    for (i, &pulls) in block.pulls.iter().enumerate() {
        let g = block.g[i * BLOCK * width..][..pulls * width].as_flattened();
        let g_rows = Matrix::new(g, pulls, stride, stride);
        let g_columns = Matrix::new(g, pulls, table.dim, stride).transposed();
        let q = &mut run.q.as_flattened_mut()[i * stride..];
        product(g_columns, g_rows, Into::Add, q, table.arms * stride);
    }
}
