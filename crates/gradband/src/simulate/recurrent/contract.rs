//! Gradients of weight matrices: sums over rounds and lanes of products of two vectors.
//!
//! ```text
//! out[j][k] += sum over rounds t, lanes of a[t][j] b[t][k]
//! ```
//! Four rows by three columns are summed in twelve registers, over so many rounds that adding up a register's lanes
//! at the end costs little, and so few that four rows of `a` stay in the first-level cache and `b` in the second.

use crate::numeric::lanes::{Lane, Real, halves};

/// Rounds that are summed at a time.
pub(super) const CHUNK: usize = 64;

/// Vectors of lanes, one for each round: `data` has `width` of them per round.
#[derive(Clone, Copy)]
pub(super) struct Rounds<'a, R> {
    pub data: &'a [R],
    pub width: usize,
}

/// Adds the sums to `out`: for four rows at a time, for each column.
#[inline(always)]
pub(super) fn contract<R: Lane>(token: R::Token, a: Rounds<R>, b: Rounds<R>, out: &mut [[f64; 4]]) {
    for (quad, out) in out.chunks_exact_mut(b.width).enumerate() {
        let whole = b.width / 3 * 3;
        for k in (0..whole).step_by(3) {
            tile::<R, 3>(token, a, b, quad, k, out);
        }
        match b.width - whole {
            2 => tile::<R, 2>(token, a, b, quad, whole, out),
            1 => tile::<R, 1>(token, a, b, quad, whole, out),
            _ => {}
        }
    }
}

#[inline(always)]
fn tile<R: Lane, const N: usize>(
    token: R::Token,
    a: Rounds<R>,
    b: Rounds<R>,
    quad: usize,
    k: usize,
    out: &mut [[f64; 4]],
) {
    // Twelve sums, three columns and one row at a time: sixteen registers.
    let mut sums = [[R::Half::splat(token, 0.0); 4]; N];
    for (a, b) in a.data.chunks_exact(a.width).zip(b.data.chunks_exact(b.width)) {
        let (a, b) = (&a[4 * quad..4 * quad + 4], &b[k..k + N]);
        for half in 0..halves::<R>() {
            let mut columns = [R::Half::splat(token, 0.0); N];
            for n in 0..N {
                columns[n] = b[n].half(half);
            }
            for j in 0..4 {
                let row = a[j].half(half);
                for n in 0..N {
                    sums[n][j] = row.fma(columns[n], sums[n][j]);
                }
            }
        }
    }
    for (sums, out) in sums.iter().zip(&mut out[k..]) {
        for (&sum, out) in sums.iter().zip(out) {
            *out += R::half_total(sum);
        }
    }
}
