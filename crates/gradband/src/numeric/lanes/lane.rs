//! What some kernels ask of lanes beyond [`Real`]: scalars of their own precision, sums over lanes.

use super::{One, Real};
use fearless_simd::{Simd, SimdBase, f32x8, f32x16};

/// Lanes with a scalar type.
pub(crate) trait Lane: Real {
    /// A weight.
    type Scalar: Copy + Send + Sync;

    /// From double precision.
    fn scalar(x: f64) -> Self::Scalar;
    /// The same weight in every lane.
    fn spread(token: Self::Token, x: Self::Scalar) -> Self;
    /// Sum over half of the lanes.
    fn half_total(half: Self::Half) -> f64;
    /// Writes the lanes, in single precision.
    fn store(&self, out: &mut [f32]);
    /// Turns rows of numbers, one for each lane, into vectors, one for each column; there are no more columns than lanes.
    fn transpose(token: Self::Token, rows: &[[Self::Scalar; 16]; 16], out: &mut [Self]);
}

/// How many halves there are: one, of a single lane.
pub(crate) const fn halves<R: Real>() -> usize {
    R::WIDTH / R::Half::WIDTH
}

/// Sum over all lanes.
#[inline(always)]
pub(crate) fn total<R: Lane>(x: R) -> f64 {
    let mut sum = 0.0;
    for i in 0..halves::<R>() {
        sum += R::half_total(x.half(i));
    }
    sum
}

macro_rules! wide {
    ($real:ident, $width:literal) => {
        impl<S: Simd> Lane for $real<S> {
            type Scalar = f32;

            #[inline(always)]
            fn scalar(x: f64) -> f32 {
                x as f32
            }
            #[inline(always)]
            fn spread(token: S, x: f32) -> Self {
                <Self as SimdBase<S>>::splat(token, x)
            }
            #[inline(always)]
            fn half_total(half: f32x8<S>) -> f64 {
                let x = half.as_slice();
                f64::from(((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])))
            }
            #[inline(always)]
            fn store(&self, out: &mut [f32]) {
                out.copy_from_slice(self.as_slice());
            }
            #[inline(always)]
            fn transpose(token: S, rows: &[[f32; 16]; 16], out: &mut [Self]) {
                const HALF: usize = $width / 2;
                let mut all = [Self::spread(token, 0.0); $width];
                for (x, row) in all.iter_mut().zip(rows) {
                    *x = Self::from_slice(token, &row[..$width]);
                }
                // The numbers of two vectors by turns, half of all vectors apart: each time an index of the vector becomes one of the lane.
                for _ in 0..usize::ilog2($width) {
                    let last = all;
                    for i in 0..HALF {
                        (all[2 * i], all[2 * i + 1]) = last[i].interleave(last[i + HALF]);
                    }
                }
                // One by one, of a known number: as a slice they would go through memory.
                for i in 0..$width {
                    if let Some(out) = out.get_mut(i) {
                        *out = all[i];
                    }
                }
            }
        }
    };
}

wide!(f32x16, 16);
wide!(f32x8, 8);

macro_rules! one {
    ($t:ty) => {
        impl Lane for One<$t> {
            type Scalar = $t;

            #[inline(always)]
            fn scalar(x: f64) -> $t {
                x as $t
            }
            #[inline(always)]
            fn spread((): (), x: $t) -> Self {
                One(x)
            }
            #[inline(always)]
            fn half_total(half: Self) -> f64 {
                f64::from(half)
            }
            #[inline(always)]
            fn store(&self, out: &mut [f32]) {
                out[0] = self.0 as f32;
            }
            #[inline(always)]
            fn transpose((): (), rows: &[[$t; 16]; 16], out: &mut [Self]) {
                out[0] = One(rows[0][0]);
            }
        }
    };
}

one!(f32);
one!(f64);
