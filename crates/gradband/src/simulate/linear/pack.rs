//! Vectors as rows of packs of eight numbers: fixed sizes, so that loops over them become vector instructions.

use super::Number;

/// Numbers of a pack.
pub(super) const PACK: usize = 8;

/// Eight numbers.
pub(super) type Pack<R> = [R; PACK];

/// A pack of zeros.
#[inline(always)]
pub(super) fn zeros<R: Number>() -> Pack<R> {
    [R::of(0.0); PACK]
}

/// `out += a x`. Everything is read before anything is written: the compiler need not know that the two differ.
#[inline(always)]
pub(super) fn add_scaled<R: Number>(out: &mut Pack<R>, a: R, x: &Pack<R>) {
    let (mut sum, x) = (*out, *x);
    for i in 0..PACK {
        sum[i] = a.fma(x[i], sum[i]);
    }
    *out = sum;
}

/// The products of two packs, added to `out`.
#[inline(always)]
pub(super) fn add_products<R: Number>(out: &mut Pack<R>, x: &Pack<R>, y: &Pack<R>) {
    for i in 0..PACK {
        out[i] = x[i].fma(y[i], out[i]);
    }
}

/// The sum of a pack, pairwise.
#[inline(always)]
pub(super) fn sum<R: Number>(x: &Pack<R>) -> R {
    let (mut half, mut pair) = ([x[0]; PACK / 2], [x[0]; PACK / 4]);
    for i in 0..PACK / 2 {
        half[i] = x[i] + x[i + PACK / 2];
    }
    for i in 0..PACK / 4 {
        pair[i] = half[i] + half[i + PACK / 4];
    }
    pair[0] + pair[1]
}

/// The products of x'y, in two sums that do not wait for each other. To be summed in a loop of its own: next to sums across a vector
/// the compiler narrows products.
#[inline(always)]
pub(super) fn products_of<R: Number>(x: &[Pack<R>], y: &[Pack<R>]) -> Pack<R> {
    let (mut even, mut odd) = (zeros(), zeros());
    let (x, y) = (x.chunks_exact(2), y.chunks_exact(2));
    for (x, y) in x.remainder().iter().zip(y.remainder()) {
        add_products(&mut even, x, y);
    }
    for (x, y) in x.zip(y) {
        add_products(&mut even, &x[0], &y[0]);
        add_products(&mut odd, &x[1], &y[1]);
    }
    for (even, odd) in even.iter_mut().zip(odd) {
        *even = *even + odd;
    }
    even
}

/// x'y.
#[inline(always)]
pub(super) fn dot<R: Number>(x: &[Pack<R>], y: &[Pack<R>]) -> R {
    sum(&products_of(x, y))
}
