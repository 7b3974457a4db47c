//! Sixteen lanes of `f32` (two vectors of AVX2: one hides the latency of the other), on any instruction set that `fearless_simd` knows.

use super::{Mask, Real, Word, math};
use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x16, i32x16, mask32x16, prelude::*, u32x16};

impl<S: Simd> Word for u32x16<S> {}

impl<S: Simd> Mask for mask32x16<S> {
    #[inline(always)]
    fn any(self) -> bool {
        self.any_true()
    }
}

impl<S: Simd> Real for f32x16<S> {
    const WIDTH: usize = 16;
    const GRID: f64 = 16_777_216.0;
    const TERMS: usize = 5;
    const FLIGHT: usize = if size_of::<S::f32s>() == size_of::<Self>() { 2 } else { 1 };
    const CHAIN: usize = if size_of::<S::f32s>() == size_of::<Self>() { 16 } else { 8 };
    type Token = S;
    type Word = u32x16<S>;
    type Mask = mask32x16<S>;

    #[inline(always)]
    fn splat(token: S, x: f64) -> Self {
        <Self as SimdBase<S>>::splat(token, x as f32)
    }
    #[inline(always)]
    fn from_fn(token: S, mut f: impl FnMut(usize) -> f64) -> Self {
        let mut lanes = [0.0; 16];
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
        let lanes: [f32; 16] = (*self).into();
        for (x, lane) in row[..16].iter_mut().zip(lanes) {
            *x = f64::from(lane);
        }
    }
    #[inline(always)]
    fn set_lane(&mut self, i: usize, x: f64) {
        self.as_mut_slice()[i] = x as f32;
    }
    #[inline(always)]
    fn word(token: S, mut f: impl FnMut(usize) -> u32) -> u32x16<S> {
        let mut lanes = [0; 16];
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = f(i);
        }
        lanes.simd_into(token)
    }
    #[inline(always)]
    fn indices(self) -> [u32; 16] {
        self.tag().into()
    }
    #[inline(always)]
    fn bits(word: u32x16<S>) -> [u32; 16] {
        word.into()
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
        self.mul_add_precise(a, b)
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
    fn lt(self, other: Self) -> mask32x16<S> {
        self.simd_lt(other)
    }
    #[inline(always)]
    fn ge(self, other: Self) -> mask32x16<S> {
        self.simd_ge(other)
    }
    #[inline(always)]
    fn is(self, x: f32) -> mask32x16<S> {
        self.simd_eq(x)
    }
    #[inline(always)]
    fn select(mask: mask32x16<S>, a: Self, b: Self) -> Self {
        mask.select(a, b)
    }
    #[inline(always)]
    fn select_word(mask: mask32x16<S>, a: u32x16<S>, b: u32x16<S>) -> u32x16<S> {
        mask.select(a, b)
    }
    #[inline(always)]
    fn unit(word: u32x16<S>) -> Self {
        let high: i32x16<S> = (word >> 8).bitcast();
        <Self as SimdCvtFloat<i32x16<S>>>::float_from(high) * (1.0 / 16_777_216.0)
    }
    #[inline(always)]
    fn tag(self) -> u32x16<S> {
        <i32x16<S> as SimdCvtTruncate<Self>>::truncate_from(self).bitcast()
    }
    #[inline(always)]
    fn exp2(self) -> Self {
        math::f32::exp2(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        math::f32::ln(self)
    }
}

impl<S: Simd> math::Bits for f32x16<S> {
    #[inline(always)]
    fn scale_by_power(self, power: Self) -> Self {
        let (bits, power): (u32x16<S>, u32x16<S>) = (self.bitcast(), power.bitcast());
        (bits + (power << 23)).bitcast()
    }
    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let bits: u32x16<S> = self.bitcast();
        let bits = bits - math::f32::ROOT_HALF;
        let signed: i32x16<S> = bits.bitcast();
        let mantissa = (bits & 0x007f_ffff) + math::f32::ROOT_HALF;
        (mantissa.bitcast(), <Self as SimdCvtFloat<i32x16<S>>>::float_from(signed >> 23))
    }
}
