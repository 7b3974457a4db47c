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
    ///
    /// Several numbers step by step: a core does not look far enough ahead to begin the next one's chain of sums and products while it
    /// waits for this one's.
    #[inline(always)]
    pub fn exp2<R: Bits, const N: usize>(mut x: [R; N]) -> [R; N] {
        let (mut power, mut p) = (x, x);
        for i in 0..N {
            let clamped = x[i].max(x[i].lit(-126.0));
            power[i] = clamped + MAGIC;
            x[i] = clamped - (power[i] - MAGIC);
            p[i] = x[i].lit(1.326_465_9e-3);
        }
        for factor in [9.671_565_8e-3, 5.550_734_4e-2, 2.402_224_1e-1, 6.931_469_8e-1, 1.0] {
            for i in 0..N {
                p[i] = p[i].fma(x[i], x[i].lit(factor));
            }
        }
        for i in 0..N {
            p[i] = p[i].scale_by_power(power[i]);
        }
        p
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
    const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

    /// Adding it rounds to an integer and leaves that integer in the low bits: 1.5 * 2^52.
    const MAGIC: f64 = 6_755_399_441_055_744.0;

    /// 2^x = 2^k e^(f ln 2) with |f| <= 1/2.
    #[inline(always)]
    pub fn exp2<const N: usize>(x: [One<f64>; N]) -> [One<f64>; N] {
        x.map(
            #[inline(always)]
            |x| {
                let x = x.0.max(-126.0);
                let power = x + MAGIC;
                One(taylor((x - (power - MAGIC)) * std::f64::consts::LN_2) * two_to(power))
            },
        )
    }

    /// e^x for -708 <= x <= 709 without a branch, so that a loop of it vectorises. Error below 1 ulp.
    #[inline(always)]
    pub fn exp(x: f64) -> f64 {
        let power = x * std::f64::consts::LOG2_E + MAGIC;
        let k = power - MAGIC;
        taylor((x - k * LN_2_HIGH) - k * LN_2_LOW) * two_to(power)
    }

    /// 2^k, where `power` is k + MAGIC.
    #[inline(always)]
    fn two_to(power: f64) -> f64 {
        f64::from_bits((power.to_bits() << 52).wrapping_add(1023 << 52))
    }

    /// e^r = 1 + r + r^2 q(r), Taylor to degree 13: |r| <= ln(2)/2, so the remainder is below 5e-18. Estrin's
    /// scheme, because a loop of Horner's is bound by latency.
    #[inline(always)]
    fn taylor(r: f64) -> f64 {
        let (r2, r4) = (r * r, (r * r) * (r * r));
        let low = (0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
        let middle = (1.0 / 720.0 + r * (1.0 / 5_040.0)) + r2 * (1.0 / 40_320.0 + r * (1.0 / 362_880.0));
        let high = (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0))
            + r2 * (1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0));
        1.0 + (r + r2 * (low + r4 * (middle + r4 * high)))
    }

    /// 2^52: its last bit is worth 1.
    const TWO_52: f64 = 4_503_599_627_370_496.0;

    /// ln x = k ln 2 + ln m.
    #[inline(always)]
    pub fn ln(x: One<f64>) -> One<f64> {
        const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
        let bits = x.0.to_bits().wrapping_sub(ROOT_HALF);
        // k + 2048 in the low bits of 2^52, less both: AVX2 has neither the signed shift nor the conversion, and loops would stay scalar.
        let low = (bits >> 52).wrapping_add(2048) & 0xfff;
        let k = f64::from_bits(TWO_52.to_bits() | low) - (TWO_52 + 2048.0);
        let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF));
        One(k).fma(One(LN_2_HIGH), One(k * LN_2_LOW) + series_ln(One(m)))
    }
}

/// The factors of the series' terms, n = 1 and on: 2 / (2 n + 1), 1 / (2 n (2 n - 1)) and 1 / (2 n (2 n + 1)). Tables, since the compiler
/// leaves the divisions to the loops of double precision.
const fn factors(numerator: f64, shift: f64, squared: bool) -> [f64; 11] {
    let mut factors = [0.0; 11];
    let mut i = 0;
    while i < 11 {
        let n = 2.0 * (i + 1) as f64;
        factors[i] = numerator / if squared { n * (n + shift) } else { n + shift };
        i += 1;
    }
    factors
}
const LN: [f64; 11] = factors(2.0, 1.0, false);
const COS: [f64; 11] = factors(1.0, -1.0, true);
const SIN: [f64; 11] = factors(1.0, 1.0, true);

/// ln m = 2 (s + s^3/3 + s^5/5 + …) with s = (m - 1)/(m + 1), for m in [sqrt(1/2), sqrt 2).
#[inline(always)]
fn series_ln<R: Real>(m: R) -> R {
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = m.zero();
    for term in (0..R::TERMS).rev() {
        sum = sum.fma(square, m.lit(LN[term]));
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
    for term in (0..R::TERMS).rev() {
        cos = (cos * minus_square).fma(turns.lit(COS[term]), one);
        sin = (sin * minus_square).fma(turns.lit(SIN[term]), one);
    }
    let sin = sin * angle;
    let odd = quadrant.is(1.0) | quadrant.is(3.0);
    let cos_negative = quadrant.is(1.0) | quadrant.is(2.0);
    let sin_negative = quadrant.is(2.0) | quadrant.is(3.0);
    let (c, s) = (R::select(odd, sin, cos), R::select(odd, cos, sin));
    (R::select(cos_negative, -c, c), R::select(sin_negative, -s, s))
}
