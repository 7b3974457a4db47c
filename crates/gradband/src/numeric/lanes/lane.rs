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
    ($real:ident) => {
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
        }
    };
}

wide!(f32x16);
wide!(f32x8);

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
        }
    };
}

one!(f32);
one!(f64);
