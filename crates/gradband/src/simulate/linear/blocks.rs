//! Large dimensions: contexts do not depend on the actions, so that Q y of a block of rounds is one product of
//! matrices, corrected for the pulls of the block so far:
//!
//! ```text
//! h = x / lambda - Q y - sum over the arm's pulls p in the block of g_p (g_p'y),   g_p = h_p / sqrt(1 + v_p)
//! Q += G'G at the end of the block, with the g_p as the rows of G
//! ```

use super::pack::{PACK, Pack, add_products, add_scaled, products_of, sum, zeros};
use super::packed::Packed;
use super::play::Run;
use super::{Basis, LinearChooser, Number, vectorized};
use crate::numeric::matmul::{Into, Matrix, product};

/// Rounds of a block.
const BLOCK: usize = 24;

/// Packs from a row of Q, which has that row of every arm, to the next. Two more than it has: rows a power of two apart would share few
/// places of the first cache.
pub(super) fn row_packs(arms: usize, width: usize) -> usize {
    arms * width + 2
}

/// Buffers of a block.
struct Block<R> {
    /// Q y, then h, of each round and arm: for runs that do not keep them.
    h: Vec<Pack<R>>,
    /// The scaled vectors of the pulls so far, arm by arm.
    g: Vec<Pack<R>>,
    pulls: Vec<usize>,
    mu: Vec<R>,
    v: Vec<R>,
    /// Products that are still to be summed, and their sums.
    products: Vec<Pack<R>>,
    sums: Vec<R>,
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
        products: vec![zeros(); BLOCK.max(2 * arms)],
        sums: vec![R::of(0.0); BLOCK],
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
            learn(table, run, &block);
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
        Matrix::new(run.q.as_flattened(), table.dim, columns, row_packs(table.arms, width) * PACK),
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
            let products = &mut block.products[..block.pulls[i]];
            each_product(pulls, y, products);
            // Loops of their own: next to sums across a vector products would be narrowed.
            let sums = &mut block.sums[..block.pulls[i]];
            for (sum_of, product) in sums.iter_mut().zip(&*products) {
                *sum_of = -sum(product);
            }
            // Four packs of h at a time: one sum waits for its last product.
            let (fours, rest) = h.as_chunks_mut::<4>();
            for (j, h) in fours.iter_mut().enumerate() {
                correct(h, sums, pulls, (4 * j, width));
            }
            let done = 4 * fours.len();
            for (j, h) in rest.as_chunks_mut::<1>().0.iter_mut().enumerate() {
                correct(h, sums, pulls, (done + j, width));
            }
        }
        let vectors = h.chunks_exact(width).zip(run.z.chunks_exact(width));
        for ((h, z), products) in vectors.zip(block.products.as_chunks_mut::<2>().0) {
            *products = [products_of(y, z), products_of(y, h)];
        }
        for (i, [mean, variance]) in block.products.as_chunks::<2>().0[..arms].iter().enumerate() {
            block.mu[i] = sum(mean);
            block.v[i] = sum(variance).max(table.floor[t]);
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

/// The products of y with each row of `g`, two rows at a time.
#[inline(always)]
fn each_product<R: Number>(g: &[Pack<R>], y: &[Pack<R>], products: &mut [Pack<R>]) {
    let width = y.len();
    let (pairs, last) = products.as_chunks_mut::<2>();
    let rows = g.chunks_exact(2 * width);
    if let [last] = last {
        *last = products_of(rows.remainder(), y);
    }
    for (products, rows) in pairs.iter_mut().zip(rows) {
        let (first, second) = rows.split_at(width);
        let mut sums = [zeros(); 4];
        let even = first.chunks_exact(2).zip(second.chunks_exact(2)).zip(y.chunks_exact(2));
        if width % 2 == 1 {
            add_products(&mut sums[0], &first[width - 1], &y[width - 1]);
            add_products(&mut sums[2], &second[width - 1], &y[width - 1]);
        }
        for ((first, second), y) in even {
            add_products(&mut sums[0], &first[0], &y[0]);
            add_products(&mut sums[1], &first[1], &y[1]);
            add_products(&mut sums[2], &second[0], &y[0]);
            add_products(&mut sums[3], &second[1], &y[1]);
        }
        for l in 0..PACK {
            products[0][l] = sums[0][l] + sums[1][l];
            products[1][l] = sums[2][l] + sums[3][l];
        }
    }
}

/// `h` += shares of the rows of `g`, of packs `from` on.
#[inline(always)]
fn correct<R: Number, const N: usize>(
    h: &mut [Pack<R>; N],
    shares: &[R],
    g: &[Pack<R>],
    (from, width): (usize, usize),
) {
    let mut corrected = *h;
    for (&share, g) in shares.iter().zip(g.chunks_exact(width)) {
        let g = &g[from..from + N];
        for j in 0..N {
            add_scaled(&mut corrected[j], share, &g[j]);
        }
    }
    *h = corrected;
}

/// The pulls of the block enter Q.
fn learn<R: Number>(table: &Packed<R>, run: &mut Run<R>, block: &Block<R>) {
    let (width, stride) = (table.width, table.width * PACK);
    for (i, &pulls) in block.pulls.iter().enumerate() {
        let g = block.g[i * BLOCK * width..][..pulls * width].as_flattened();
        let g_rows = Matrix::new(g, pulls, stride, stride);
        let g_columns = Matrix::new(g, pulls, table.dim, stride).transposed();
        let q = &mut run.q.as_flattened_mut()[i * stride..];
        product(g_columns, g_rows, Into::Add, q, row_packs(table.arms, width) * PACK);
    }
}
