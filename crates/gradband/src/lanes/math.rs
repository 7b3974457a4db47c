//! exp2, ln, cos and sin from additions and multiplications alone: the same bits on every machine, which a
//! system's mathematical library does not promise.

use super::Real;

/// The two operations on the bits of an `f32` that exp2 and ln need.
pub trait Bits: Real {
    /// `self * 2^k`, where `power` is k + 1.5 * 2^23: its low bits are the integer k.
    fn scale_by_power(self, power: Self) -> Self;
    /// (m, k) with `self = m * 2^k` and m in [sqrt(1/2), sqrt 2).
    fn split(self) -> (Self, Self);
}

pub mod f32 {
    //! Single precision. exp2: 2.5e-7 relatively. ln: 1.5e-7, absolutely or relatively.
    use super::{Bits, series_ln};
    use std::f32::consts::LN_2;

    /// Bits of sqrt(1/2).
    pub const ROOT_HALF: u32 = 0x3f35_04f3;
    /// Adding it rounds to an integer and leaves that integer in the low bits.
    const MAGIC: f32 = 12_582_912.0;

    /// 2^x = 2^k 2^f with |f| <= 1/2; the polynomial's error is 1.1e-7 and 2^0 is exactly 1.
    #[inline(always)]
    pub fn exp2<R: Bits>(x: R) -> R {
        let x = x.max(x.lit(-126.0));
        let power = x + MAGIC;
        let f = x - (power - MAGIC);
        let p = f.fma(x.lit(1.326_465_9e-3), x.lit(9.671_565_8e-3));
        let p = p.fma(f, x.lit(5.550_734_4e-2));
        let p = p.fma(f, x.lit(2.402_224_1e-1));
        let p = p.fma(f, x.lit(6.931_469_8e-1));
        p.fma(f, x.lit(1.0)).scale_by_power(power)
    }

    /// ln x = k ln 2 + ln m.
    #[inline(always)]
    pub fn ln<R: Bits>(x: R) -> R {
        let (m, k) = x.split();
        k.fma(x.lit(f64::from(LN_2)), series_ln(m))
    }
}

pub mod f64 {
    //! Double precision, one lane: within a few units in the last place.
    use super::super::{One, Real};
    use super::series_ln;

    /// Cody-Waite: ln 2 in two parts, the first exact when multiplied by an exponent.
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

    /// 2^x = 2^k e^(f ln 2) by its Taylor series (fourteen terms reach 2^-53 on |f| <= 1/2).
    #[inline(always)]
    pub fn exp2(x: One<f64>) -> One<f64> {
        let x = x.0.max(-126.0);
        let k = x.round_ties_even();
        let f = (x - k) * std::f64::consts::LN_2;
        let mut sum = 1.0;
        for term in (1..=14).rev() {
            sum = f64::mul_add(sum, f / f64::from(term), 1.0);
        }
        One(sum * f64::from_bits(((k as i64 + 1023) as u64) << 52))
    }

    /// ln x = k ln 2 + ln m.
    #[inline(always)]
    pub fn ln(x: One<f64>) -> One<f64> {
        const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
        let bits = x.0.to_bits().wrapping_sub(ROOT_HALF);
        let k = ((bits as i64) >> 52) as f64;
        let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF));
        One(k).fma(One(LN_2_HIGH), One(k * LN_2_LOW) + series_ln(One(m)))
    }
}

/// ln m = 2 (s + s^3/3 + s^5/5 + …) with s = (m - 1)/(m + 1), for m in [sqrt(1/2), sqrt 2).
#[inline(always)]
fn series_ln<R: Real>(m: R) -> R {
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = m.zero();
    for term in (1..=R::TERMS).rev() {
        sum = sum.fma(square, m.lit(2.0 / (2 * term + 1) as f64));
    }
    (sum * square * s) + s * 2.0
}

/// A quarter turn at a time: Taylor series on |angle| <= pi/4, then swap and sign by the quadrant.
#[inline(always)]
pub fn cos_sin_turns<R: Real>(turns: R) -> (R, R) {
    let quarters = turns * 4.0;
    let quadrant = (quarters + 0.5).floor();
    let angle = (quarters - quadrant) * turns.lit(std::f64::consts::FRAC_PI_2);
    let minus_square = -(angle * angle);
    let one = turns.one();
    let (mut cos, mut sin) = (one, one);
    for term in (1..=R::TERMS).rev() {
        let n = 2.0 * term as f64;
        cos = (cos * minus_square).fma(turns.lit(1.0 / (n * (n - 1.0))), one);
        sin = (sin * minus_square).fma(turns.lit(1.0 / (n * (n + 1.0))), one);
    }
    let sin = sin * angle;
    let odd = quadrant.is(1.0) | quadrant.is(3.0);
    let cos_negative = quadrant.is(1.0) | quadrant.is(2.0);
    let sin_negative = quadrant.is(2.0) | quadrant.is(3.0);
    let (c, s) = (R::select(odd, sin, cos), R::select(odd, cos, sin));
    (R::select(cos_negative, -c, c), R::select(sin_negative, -s, s))
}
