//! Small dimensions: one round after the other, and one run: its matrices stay in the cache, and its arms hide each other's
//! latency. A row of Q is `V` packs, held in registers.

use super::pack::{PACK, Pack, add_scaled, products_of, sum, zeros};
use super::packed::Packed;
use super::play::Run;
use super::{LinearChooser, Number, vectorized};

/// From here on blocks of rounds are faster.
pub(super) const LARGEST_DIM: usize = 40;

/// Rows of Q are padded to a multiple of this, so that they can be taken two at a time.
pub(super) const STEP: usize = 2;

/// Plays all rounds.
pub(super) fn play<R: Number>(policy: &dyn LinearChooser, table: &Packed<R>, runs: &mut [Run<R>]) {
    match table.width {
        1 => compiled::<R, 1>(policy, table, runs),
        2 => compiled::<R, 2>(policy, table, runs),
        3 => compiled::<R, 3>(policy, table, runs),
        4 => compiled::<R, 4>(policy, table, runs),
        5 => compiled::<R, 5>(policy, table, runs),
        width => unreachable!("{width} packs are played in blocks"),
    }
}

fn compiled<R: Number, const V: usize>(policy: &dyn LinearChooser, table: &Packed<R>, runs: &mut [Run<R>]) {
    vectorized(
        #[inline(always)]
        || all_rounds::<R, V>(policy, table, runs),
    );
}

#[inline(always)]
fn all_rounds<R: Number, const V: usize>(policy: &dyn LinearChooser, table: &Packed<R>, runs: &mut [Run<R>]) {
    let (arms, rows) = (table.arms, table.dim.next_multiple_of(STEP));
    let mut numbers = vec![R::of(0.0); 2 * arms];
    let (mu, v) = numbers.split_at_mut(arms);
    let (mut spare, mut products) = (vec![[zeros(); V]; arms], vec![[zeros(); 2]; arms]);
    let (xs, ys) = (table.x.as_chunks::<V>().0, table.y.as_chunks::<V>().0);
    for run in runs {
        for t in 0..table.horizon {
            let (x, y, floor) = (&xs[t], &ys[t], table.floor[t]);
            let h = match run.kept {
                true => &mut run.h.as_chunks_mut::<V>().0[t * arms..(t + 1) * arms],
                false => &mut spare[..],
            };
            let (q, z) = (run.q.as_chunks::<V>().0, run.z.as_chunks::<V>().0);
            for i in 0..arms {
                // There and back: where the matrices of all arms just miss the first cache, those of the last arms are still in it.
                let i = if t % 2 == 0 { i } else { arms - 1 - i };
                h[i] = residual(x, &q[i * rows..(i + 1) * rows], y);
                // Not in a loop of their own, which the compiler would turn into one over vectors of arms, gathered number by number.
                products[i] = [products_of(y, &z[i]), products_of(y, &h[i])];
            }
            for i in 0..arms {
                let [mean, variance] = &products[i];
                mu[i] = sum(mean);
                v[i] = sum(variance).max(floor);
            }
            let (arm, share) = run.choose(policy, t, &table.rewards, mu, v);
            // A copy: through a reference the compiler must fear that Q changes it, and gives up vectors.
            let h = match run.kept {
                true => run.h.as_chunks::<V>().0[t * arms + arm],
                false => spare[arm],
            };
            let q = &mut run.q.as_chunks_mut::<V>().0[arm * rows..(arm + 1) * rows];
            let z = &mut run.z.as_chunks_mut::<V>().0[arm];
            let gain = run.gains[t];
            for j in 0..V {
                add_scaled(&mut z[j], gain, &h[j]);
            }
            for (row, &entry) in q.iter_mut().zip(h.as_flattened()) {
                let entry = entry * share;
                for j in 0..V {
                    add_scaled(&mut row[j], entry, &h[j]);
                }
            }
        }
    }
}

/// x / lambda - Q y: by columns, in two sums that do not wait for each other.
#[inline(always)]
fn residual<R: Number, const V: usize>(
    x: &[Pack<R>; V],
    q: &[[Pack<R>; V]],
    y: &[Pack<R>; V],
) -> [Pack<R>; V] {
    let (mut even, mut odd) = (*x, [zeros(); V]);
    for (rows, entries) in q.chunks_exact(STEP).zip(y.as_flattened().chunks_exact(STEP)) {
        for j in 0..V {
            add_scaled(&mut even[j], -entries[0], &rows[0][j]);
            add_scaled(&mut odd[j], -entries[1], &rows[1][j]);
        }
    }
    for j in 0..V {
        for l in 0..PACK {
            even[j][l] = even[j][l] + odd[j][l];
        }
    }
    even
}
