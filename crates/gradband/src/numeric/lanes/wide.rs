//! Sixteen lanes of `f32` (two vectors of AVX2: one hides the latency of the other), and half of them, on any instruction set that
//! `fearless_simd` knows.

use super::{Mask, Real, Word, math};
use fearless_simd::{
    Simd, SimdBase, SimdFloat, SimdMask, f32x8, f32x16, i32x8, i32x16, mask32x8, mask32x16, prelude::*,
    u32x8, u32x16,
};

/// x a + b, rounded once. Where there is no instruction for it, it is a hundred others: called there, since kernels with copies of them take
/// gigabytes to compile.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
fn fused<S: Simd, V: SimdFloat<S>>(x: V, a: V, b: V) -> V {
    x.mul_add_precise(a, b)
}

macro_rules! wide {
    ($width:literal lanes, $real:ident $word:ident $int:ident $mask:ident) => {
        impl<S: Simd> Word for $word<S> {
            #[inline(always)]
            fn at_most(self, most: u32) -> Self {
                <Self as SimdBase<S>>::min(self, <Self as SimdBase<S>>::splat(self.simd, most))
            }
        }

        impl<S: Simd> Mask for $mask<S> {
            #[inline(always)]
            fn any(self) -> bool {
                self.any_true()
            }
        }

        impl<S: Simd> Real for $real<S> {
            const WIDTH: usize = $width;
            const GRID: f64 = 16_777_216.0;
            const TERMS: usize = 5;
            const REGISTERS: usize = size_of::<Self>().div_ceil(size_of::<S::f32s>());
            type Half = f32x8<S>;
            type Token = S;
            type Word = $word<S>;
            type Mask = $mask<S>;

            #[inline(always)]
            fn splat(token: S, x: f64) -> Self {
                <Self as SimdBase<S>>::splat(token, x as f32)
            }
            #[inline(always)]
            fn from_fn(token: S, mut f: impl FnMut(usize) -> f64) -> Self {
                let mut lanes = [0.0; $width];
                for (i, lane) in lanes.iter_mut().enumerate() {
                    *lane = f(i) as f32;
                }
                lanes.simd_into(token)
            }
            #[inline(always)]
            fn lane(&self, i: usize) -> f64 {
                f64::from(self.as_slice()[i])
            }
            #[inline(always)]
            fn write_to(&self, row: &mut [f64]) {
                let lanes: [f32; $width] = (*self).into();
                for (x, lane) in row[..$width].iter_mut().zip(lanes) {
                    *x = f64::from(lane);
                }
            }
            #[inline(always)]
            fn set_lane(&mut self, i: usize, x: f64) {
                self.as_mut_slice()[i] = x as f32;
            }
            #[inline(always)]
            fn word(token: S, mut f: impl FnMut(usize) -> u32) -> $word<S> {
                let mut lanes = [0; $width];
                for (i, lane) in lanes.iter_mut().enumerate() {
                    *lane = f(i);
                }
                lanes.simd_into(token)
            }
            #[inline(always)]
            fn indices(self) -> [u32; 16] {
                Self::bits(self.tag())
            }
            #[inline(always)]
            fn bits(word: $word<S>) -> [u32; 16] {
                let mut all = [0; 16];
                all[..$width].copy_from_slice(word.as_slice());
                all
            }
            #[inline(always)]
            fn apart<T>(token: S, work: impl FnOnce() -> T) -> T {
                token.vectorize(work)
            }
            #[inline(always)]
            fn token(self) -> S {
                self.simd
            }
            #[inline(always)]
            fn fma(self, a: Self, b: Self) -> Self {
                fused(self, a, b)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                <Self as SimdBase<S>>::max(self, other)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <Self as SimdFloat<S>>::sqrt(self)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                <Self as SimdFloat<S>>::floor(self)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> $mask<S> {
                self.simd_lt(other)
            }
            #[inline(always)]
            fn ge(self, other: Self) -> $mask<S> {
                self.simd_ge(other)
            }
            #[inline(always)]
            fn is(self, x: f32) -> $mask<S> {
                self.simd_eq(x)
            }
            #[inline(always)]
            fn select(mask: $mask<S>, a: Self, b: Self) -> Self {
                mask.select(a, b)
            }
            #[inline(always)]
            fn only(mask: $mask<S>, a: Self) -> Self {
                // True is all bits.
                let (mask, a): ($word<S>, $word<S>) = (mask.to_vector().bitcast(), a.bitcast());
                (mask & a).bitcast()
            }
            #[inline(always)]
            fn select_word(mask: $mask<S>, a: $word<S>, b: $word<S>) -> $word<S> {
                mask.select(a, b)
            }
            #[inline(always)]
            fn unit(word: $word<S>) -> Self {
                let high: $int<S> = (word >> 8).bitcast();
                <Self as SimdCvtFloat<$int<S>>>::float_from(high) * (1.0 / 16_777_216.0)
            }
            #[inline(always)]
            fn tag(self) -> $word<S> {
                <$int<S> as SimdCvtTruncate<Self>>::truncate_from(self).bitcast()
            }
            #[inline(always)]
            fn whole(word: $word<S>) -> Self {
                let word: $int<S> = word.bitcast();
                <Self as SimdCvtFloat<$int<S>>>::float_from(word)
            }
            #[inline(always)]
            fn count(count: $word<S>, mask: $mask<S>) -> $word<S> {
                // True is -1.
                let mask: $word<S> = mask.to_vector().bitcast();
                count - mask
            }
            #[inline(always)]
            fn half(&self, i: usize) -> f32x8<S> {
                f32x8::from_slice(self.simd, &self.as_slice()[8 * i..8 * i + 8])
            }
            #[inline(always)]
            fn exp2_each<const N: usize>(x: [Self; N]) -> [Self; N] {
                math::f32::exp2(x)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                math::f32::ln(self)
            }
        }

        impl<S: Simd> math::Bits for $real<S> {
            #[inline(always)]
            fn scale_by_power(self, power: Self) -> Self {
                let (bits, power): ($word<S>, $word<S>) = (self.bitcast(), power.bitcast());
                (bits + (power << 23)).bitcast()
            }
            #[inline(always)]
            fn split(self) -> (Self, Self) {
                let bits: $word<S> = self.bitcast();
                let bits = bits - math::f32::ROOT_HALF;
                let signed: $int<S> = bits.bitcast();
                let mantissa = (bits & 0x007f_ffff) + math::f32::ROOT_HALF;
                (mantissa.bitcast(), <Self as SimdCvtFloat<$int<S>>>::float_from(signed >> 23))
            }
        }
    };
}

wide!(16 lanes, f32x16 u32x16 i32x16 mask32x16);
wide!(8 lanes, f32x8 u32x8 i32x8 mask32x8);
