//! One number per simulated run, so that a policy is written once and runs on one run or on sixteen.
//!
//! A *lane* is a run. [`One<f32>`] is a single lane, `f32x16<S>` sixteen of them; both round every operation
//! the same way, so the same run has the same bits whatever the width. [`One<f64>`] is the precise form that
//! tests and very long horizons use.

mod arms;
mod lane;
pub(crate) mod math;
mod one;
mod weigh;
mod wide;

pub use arms::{add, pick, pick_each, put, put_each};
pub(crate) use lane::{Lane, halves, total};
pub use one::{One, OneWord};
pub use weigh::{Weigh, count_below, largest, weigh};

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Shl, Shr, Sub};

/// Lanes of 32 random bits.
pub trait Word:
    Copy
    + Send
    + Sync
    + Add<Output = Self>
    + Mul<u32, Output = Self>
    + BitXor<Output = Self>
    + BitOr<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The smaller one.
    fn at_most(self, most: u32) -> Self;
}

/// Lanes of truth values.
pub trait Mask:
    Copy + Not<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
    /// Is any lane true?
    fn any(self) -> bool;
}

/// Lanes of real numbers. Literals are `f32`, and exact in every implementation.
pub trait Real:
    Copy
    + Send
    + Sync
    + 'static
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f32, Output = Self>
    + Sub<f32, Output = Self>
    + Mul<f32, Output = Self>
{
    /// Number of lanes.
    const WIDTH: usize;
    /// Uniform numbers are multiples of `1 / GRID`.
    const GRID: f64;
    /// Terms of the series of ln, cos and sin.
    const TERMS: usize;
    /// Registers that a vector takes.
    const REGISTERS: usize;
    /// Vectors to play side by side, so that one's arithmetic hides what the other waits for.
    const FLIGHT: usize = if Self::WIDTH > 1 && Self::REGISTERS == 1 { 2 } else { 1 };
    /// Up to this many arms a chain of selections is cheaper than a load or store for each lane.
    const CHAIN: usize = if Self::REGISTERS == 1 { 16 } else { 8 };

    /// Proof that the machine has the instructions that the lanes need.
    type Token: Copy + Send + Sync;
    /// Random bits, lane by lane.
    type Word: Word;
    /// The outcome of a comparison, lane by lane.
    type Mask: Mask;
    /// Half of the lanes; or all of them, where there are no more.
    type Half: Real<Token = Self::Token>;

    /// The same number in every lane.
    fn splat(token: Self::Token, x: f64) -> Self;
    /// One number for each lane.
    fn from_fn(token: Self::Token, f: impl FnMut(usize) -> f64) -> Self;
    /// The number in lane `i`.
    fn lane(&self, i: usize) -> f64;
    /// Writes the numbers of all lanes.
    fn write_to(&self, row: &mut [f64]);
    /// Replaces the number in lane `i`.
    fn set_lane(&mut self, i: usize, x: f64);
    /// One word for each lane.
    fn word(token: Self::Token, f: impl FnMut(usize) -> u32) -> Self::Word;
    /// The lanes as indices, if they are small non-negative integers; unused ones are 0.
    fn indices(self) -> [u32; 16];
    /// The bits of a word, lane by lane; unused ones are 0.
    fn bits(word: Self::Word) -> [u32; 16];
    /// Where the numbers live: a token to make more of them.
    fn token(self) -> Self::Token;

    /// `self * a + b`, rounded once (on every machine: bits are promised).
    fn fma(self, a: Self, b: Self) -> Self;
    /// The larger one.
    fn max(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The largest integer that is not larger.
    fn floor(self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self >= other`.
    fn ge(self, other: Self) -> Self::Mask;
    /// `self == x`.
    fn is(self, x: f32) -> Self::Mask;
    /// `a` where the mask holds, `b` elsewhere.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// `a` where the mask holds, 0 elsewhere.
    fn only(mask: Self::Mask, a: Self) -> Self;
    /// The same choice between words.
    fn select_word(mask: Self::Mask, a: Self::Word, b: Self::Word) -> Self::Word;

    /// A uniform number in [0, 1) from the high bits of a word.
    fn unit(word: Self::Word) -> Self;
    /// A small non-negative integer, as a word.
    fn tag(self) -> Self::Word;
    /// A word as a number, if it is small.
    fn whole(word: Self::Word) -> Self;
    /// One more where the mask holds.
    fn count(count: Self::Word, mask: Self::Mask) -> Self::Word;
    /// The first or second half of the lanes.
    fn half(&self, i: usize) -> Self::Half;
    /// 2^x for x up to 127; arguments below -126 give 2^-126 (nothing, next to 1).
    fn exp2_each<const N: usize>(x: [Self; N]) -> [Self; N];
    /// Natural logarithm of a positive number.
    fn ln(self) -> Self;

    /// Does long work out of line, so that kernels share its code instead of each having a copy.
    fn apart<T>(token: Self::Token, work: impl FnOnce() -> T) -> T;

    /// The number `x` in every lane, as many lanes as `self` has.
    #[inline(always)]
    fn lit(self, x: f64) -> Self {
        Self::splat(self.token(), x)
    }

    /// Zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self {
        self.lit(0.0)
    }

    /// One in every lane.
    #[inline(always)]
    fn one(self) -> Self {
        self.lit(1.0)
    }

    /// 2^self, as `exp2_each`.
    #[inline(always)]
    fn exp2(self) -> Self {
        let [power] = Self::exp2_each([self]);
        power
    }

    /// e^self, as `exp2`.
    #[inline(always)]
    fn exp(self) -> Self {
        (self * self.lit(std::f64::consts::LOG2_E)).exp2()
    }

    /// e^self for `self` up to 0: a weight next to one of 1. No less than e^-40, which no uniform number tells from nothing: products with
    /// smaller ones are soon subnormal, and many cores take a hundred times as long for those.
    #[inline(always)]
    fn weight(self) -> Self {
        self.max(self.lit(-40.0)).exp()
    }

    /// (cos, sin) of `self` turns, for `self` in [0, 1).
    #[inline(always)]
    fn cos_sin_turns(self) -> (Self, Self) {
        math::cos_sin_turns(self)
    }
}

/// The largest value seen so far and its arm, lane by lane; ties go to the lowest arm.
#[derive(Clone, Copy)]
pub struct Best<R> {
    /// The arm.
    pub arm: R,
    /// Its value.
    pub value: R,
}

impl<R: Real> Best<R> {
    /// Arm 0 and its value.
    #[inline(always)]
    pub fn first(value: R) -> Self {
        Self { arm: value.zero(), value }
    }

    /// Keeps `arm` where its value is larger.
    #[inline(always)]
    pub fn offer(&mut self, arm: usize, value: R) {
        let better = self.value.lt(value);
        self.value = R::select(better, value, self.value);
        self.arm = R::select(better, value.zero() + arms::number(arm), self.arm);
    }

    /// Keeps the arm of each lane where its value is larger, in some lanes.
    #[inline(always)]
    pub fn offer_some(&mut self, some: R::Mask, arm: R, value: R) {
        let better = some & self.value.lt(value);
        self.value = R::select(better, value, self.value);
        self.arm = R::select(better, arm, self.arm);
    }

    /// The largest of `values`.
    #[inline(always)]
    pub fn of(values: &[R]) -> Self {
        let mut best = Self::first(values[0]);
        for (arm, &value) in values.iter().enumerate().skip(1) {
            best.offer(arm, value);
        }
        best
    }
}

#[cfg(test)]
mod tests;
