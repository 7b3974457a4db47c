//! A single lane: the plain form of every operation, and the oracle of the wide one.

use super::{Mask, Real, Word, math};
use std::ops::{Add, BitOr, BitXor, Div, Mul, Neg, Shl, Shr, Sub};

/// One run, in `f32` or `f64`; in memory it is that number and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct One<T>(pub T);

impl<T: Into<f64>> From<One<T>> for f64 {
    #[inline(always)]
    fn from(one: One<T>) -> Self {
        one.0.into()
    }
}

/// 32 random bits of one run; arithmetic wraps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneWord(pub u32);

impl Add for OneWord {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}
impl Mul<u32> for OneWord {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: u32) -> Self {
        Self(self.0.wrapping_mul(other))
    }
}
impl BitXor for OneWord {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}
impl BitOr for OneWord {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
impl Shl<u32> for OneWord {
    type Output = Self;
    #[inline(always)]
    fn shl(self, bits: u32) -> Self {
        Self(self.0 << bits)
    }
}
impl Shr<u32> for OneWord {
    type Output = Self;
    #[inline(always)]
    fn shr(self, bits: u32) -> Self {
        Self(self.0 >> bits)
    }
}
impl Word for OneWord {
    #[inline(always)]
    fn at_most(self, most: u32) -> Self {
        Self(self.0.min(most))
    }
}

impl Mask for bool {
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
}

macro_rules! operators {
    ($t:ty, $($trait:ident $method:ident $op:tt),*) => {$(
        impl $trait for One<$t> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $op other.0)
            }
        }
        impl $trait<f32> for One<$t> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f32) -> Self {
                Self(self.0 $op <$t>::from(other))
            }
        }
    )*};
}

macro_rules! one {
    ($t:ident, grid $grid:expr, terms $terms:expr, unit $unit:expr) => {
        operators!($t, Add add +, Sub sub -, Mul mul *, Div div /);

        impl Neg for One<$t> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        impl Real for One<$t> {
            const WIDTH: usize = 1;
            const GRID: f64 = $grid;
            const TERMS: usize = $terms;
            const REGISTERS: usize = 1;
            const CHAIN: usize = 0;
            type Half = Self;
            type Token = ();
            type Word = OneWord;
            type Mask = bool;

            #[inline(always)]
            fn splat((): (), x: f64) -> Self {
                Self(x as $t)
            }
            #[inline(always)]
            fn from_fn((): (), mut f: impl FnMut(usize) -> f64) -> Self {
                Self(f(0) as $t)
            }
            #[inline(always)]
            fn lane(&self, _: usize) -> f64 {
                f64::from(self.0)
            }
            #[inline(always)]
            fn write_to(&self, row: &mut [f64]) {
                row[0] = self.lane(0);
            }
            #[inline(always)]
            fn set_lane(&mut self, _: usize, x: f64) {
                self.0 = x as $t;
            }
            #[inline(always)]
            fn word((): (), mut f: impl FnMut(usize) -> u32) -> OneWord {
                OneWord(f(0))
            }
            #[inline(always)]
            fn indices(self) -> [u32; 16] {
                let mut all = [0; 16];
                all[0] = self.0 as u32;
                all
            }
            #[inline(always)]
            fn bits(word: OneWord) -> [u32; 16] {
                let mut all = [0; 16];
                all[0] = word.0;
                all
            }
            #[inline(always)]
            fn apart<T>((): (), work: impl FnOnce() -> T) -> T {
                work()
            }
            #[inline(always)]
            fn token(self) {}
            #[inline(always)]
            fn fma(self, a: Self, b: Self) -> Self {
                Self(self.0.mul_add(a.0, b.0))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self(if self.0 > other.0 { self.0 } else { other.0 })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(self.0.sqrt())
            }
            #[inline(always)]
            fn floor(self) -> Self {
                Self(self.0.floor())
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self.0 < other.0
            }
            #[inline(always)]
            fn ge(self, other: Self) -> bool {
                self.0 >= other.0
            }
            #[inline(always)]
            fn is(self, x: f32) -> bool {
                self.0 == <$t>::from(x)
            }
            #[inline(always)]
            fn select(mask: bool, a: Self, b: Self) -> Self {
                if mask { a } else { b }
            }
            #[inline(always)]
            fn only(mask: bool, a: Self) -> Self {
                if mask { a } else { Self(0.0) }
            }
            #[inline(always)]
            fn select_word(mask: bool, a: OneWord, b: OneWord) -> OneWord {
                if mask { a } else { b }
            }
            #[inline(always)]
            fn unit(word: OneWord) -> Self {
                Self($unit(word.0))
            }
            #[inline(always)]
            fn tag(self) -> OneWord {
                OneWord(self.0 as u32)
            }
            #[inline(always)]
            fn whole(word: OneWord) -> Self {
                Self(word.0 as $t)
            }
            #[inline(always)]
            fn count(count: OneWord, mask: bool) -> OneWord {
                OneWord(count.0 + u32::from(mask))
            }
            #[inline(always)]
            fn half(&self, _: usize) -> Self {
                *self
            }
            #[inline(always)]
            fn exp2_each<const N: usize>(x: [Self; N]) -> [Self; N] {
                math::$t::exp2(x)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                math::$t::ln(self)
            }
        }
    };
}

one!(f32, grid 16_777_216.0, terms 5,
    unit |w: u32| (w >> 8) as f32 * (1.0 / 16_777_216.0));
one!(f64, grid 4_294_967_296.0, terms 11,
    unit |w: u32| f64::from(w) * (1.0 / 4_294_967_296.0));

/// The bit tricks that `exp2` and `ln` need, per precision.
impl math::Bits for One<f32> {
    #[inline(always)]
    fn scale_by_power(self, power: Self) -> Self {
        Self(f32::from_bits(self.0.to_bits().wrapping_add(power.0.to_bits() << 23)))
    }
    #[inline(always)]
    fn split(self) -> (Self, Self) {
        // Shifting the exponent so that the mantissa lands in [sqrt(1/2), sqrt 2).
        let bits = self.0.to_bits().wrapping_sub(math::f32::ROOT_HALF);
        let exponent = (bits as i32) >> 23;
        let mantissa = (bits & 0x007f_ffff).wrapping_add(math::f32::ROOT_HALF);
        (Self(f32::from_bits(mantissa)), Self(exponent as f32))
    }
}
