//! What some kernels ask of lanes beyond [`Real`]: scalars of their own precision, registers, sums over lanes.

use super::{One, Real};
use fearless_simd::{Simd, SimdBase, SimdFloat, SimdSplit, f32x8, f32x16};

/// Lanes with a scalar type, and the registers they are made of.
pub(crate) trait Lane: Real {
    /// A weight.
    type Scalar: Copy + Send + Sync;
    /// One register: sums over lanes keep twelve of them.
    type Part: Copy;
    /// Number of registers.
    const PARTS: usize;

    /// From double precision.
    fn scalar(x: f64) -> Self::Scalar;
    /// The same weight in every lane.
    fn spread(token: Self::Token, x: Self::Scalar) -> Self;
    /// Register `i`.
    fn part(&self, i: usize) -> Self::Part;
    /// A register of zeros.
    fn empty(token: Self::Token) -> Self::Part;
    /// a b + sum.
    fn part_fma(a: Self::Part, b: Self::Part, sum: Self::Part) -> Self::Part;
    /// Sum over the register.
    fn total(part: Self::Part) -> f64;
    /// Writes the lanes, in single precision.
    fn store(&self, out: &mut [f32]);
}

/// Sum over all lanes.
#[inline(always)]
pub(crate) fn total<R: Lane>(x: R) -> f64 {
    let mut sum = 0.0;
    for i in 0..R::PARTS {
        sum += R::total(x.part(i));
    }
    sum
}

impl<S: Simd> Lane for f32x16<S> {
    type Scalar = f32;
    type Part = f32x8<S>;
    const PARTS: usize = 2;

    #[inline(always)]
    fn scalar(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn spread(token: S, x: f32) -> Self {
        <Self as SimdBase<S>>::splat(token, x)
    }
    #[inline(always)]
    fn part(&self, i: usize) -> f32x8<S> {
        let (low, high) = self.split();
        if i == 0 { low } else { high }
    }
    #[inline(always)]
    fn empty(token: S) -> f32x8<S> {
        f32x8::splat(token, 0.0)
    }
    #[inline(always)]
    fn part_fma(a: f32x8<S>, b: f32x8<S>, sum: f32x8<S>) -> f32x8<S> {
        a.mul_add_precise(b, sum)
    }
    #[inline(always)]
    fn total(part: f32x8<S>) -> f64 {
        let x = part.as_slice();
        f64::from(((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])))
    }
    #[inline(always)]
    fn store(&self, out: &mut [f32]) {
        out.copy_from_slice(self.as_slice());
    }
}

macro_rules! one {
    ($t:ty) => {
        impl Lane for One<$t> {
            type Scalar = $t;
            type Part = $t;
            const PARTS: usize = 1;

            #[inline(always)]
            fn scalar(x: f64) -> $t {
                x as $t
            }
            #[inline(always)]
            fn spread((): (), x: $t) -> Self {
                One(x)
            }
            #[inline(always)]
            fn part(&self, _: usize) -> $t {
                self.0
            }
            #[inline(always)]
            fn empty((): ()) -> $t {
                0.0
            }
            #[inline(always)]
            fn part_fma(a: $t, b: $t, sum: $t) -> $t {
                a.mul_add(b, sum)
            }
            #[inline(always)]
            fn total(part: $t) -> f64 {
                f64::from(part)
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
