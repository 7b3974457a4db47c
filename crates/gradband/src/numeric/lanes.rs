//! One number per simulated run, so that a policy is written once and runs on one run or on sixteen.
//!
//! A *lane* is a run. [`One<f32>`] is a single lane, `f32x16<S>` sixteen of them; both round every operation
//! the same way, so the same run has the same bits whatever the width. [`One<f64>`] is the precise form that
//! tests and very long horizons use.

pub(crate) mod math;
mod one;
mod registers;
mod wide;

pub use one::{One, OneWord};
pub(crate) use registers::{Lane, total};

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
    /// Vectors to play side by side, so that one's arithmetic hides what the other waits for.
    const FLIGHT: usize;
    /// Up to this many arms a chain of selections is cheaper than a load or store for each lane.
    const CHAIN: usize;

    /// Proof that the machine has the instructions that the lanes need.
    type Token: Copy + Send + Sync;
    /// Random bits, lane by lane.
    type Word: Word;
    /// The outcome of a comparison, lane by lane.
    type Mask: Mask;

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
    #[inline(always)]
    fn only(mask: Self::Mask, a: Self) -> Self {
        Self::select(mask, a, a.zero())
    }
    /// The same choice between words.
    fn select_word(mask: Self::Mask, a: Self::Word, b: Self::Word) -> Self::Word;

    /// A uniform number in [0, 1) from the high bits of a word.
    fn unit(word: Self::Word) -> Self;
    /// A small non-negative integer, as a word.
    fn tag(self) -> Self::Word;
    /// 2^self for `self` up to 127; arguments below -126 give 2^-126 (nothing, next to 1).
    fn exp2(self) -> Self;
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

/// Small numbers as they stand in memory: an arm is compared with one without converting and spreading it first.
const NUMBERS: [f32; 32] = {
    let mut numbers = [0.0; 32];
    let mut i = 0;
    while i < 32 {
        numbers[i] = i as f32;
        i += 1;
    }
    numbers
};

/// `i` as a number.
#[inline(always)]
fn number(i: usize) -> f32 {
    if i < NUMBERS.len() { NUMBERS[i] } else { i as f32 }
}

/// The entry of `values` that each lane's `arm` names.
#[inline(always)]
pub fn pick<R: Real>(values: &[R], arm: R) -> R {
    if values.len() > R::CHAIN {
        let indices = arm.indices();
        return R::from_fn(
            arm.token(),
            #[inline(always)]
            |lane| values[indices[lane] as usize].lane(lane),
        );
    }
    let mut picked = values[0];
    for (&value, &i) in values.iter().zip(&NUMBERS).skip(1) {
        picked = R::select(arm.is(i), value, picked);
    }
    picked
}

/// Writes the finite `value` into the entry of `values` that each lane's `arm` names.
///
/// Exact arithmetic with 0 and 1 instead of a selection: the compiler would fuse selection and store into a
/// masked store, which is slow on AMD cores (docs/performance.md).
#[inline(always)]
pub fn put<R: Real>(values: &mut [R], arm: R, value: R) {
    if values.len() > R::CHAIN {
        let indices = arm.indices();
        for lane in 0..R::WIDTH {
            values[indices[lane] as usize].set_lane(lane, value.lane(lane));
        }
        return;
    }
    let one = arm.one();
    if let [first, second] = values {
        let other = one - arm;
        *first = other.fma(value, *first * arm);
        *second = arm.fma(value, *second * other);
        return;
    }
    for (entry, &i) in values.iter_mut().zip(&NUMBERS) {
        let hit = R::only(arm.is(i), one);
        *entry = hit.fma(value, *entry * (one - hit));
    }
}

/// Adds `value` to the entry of `values` that each lane's `arm` names, and returns the new entry.
#[inline(always)]
pub fn add<R: Real>(values: &mut [R], arm: R, value: R) -> R {
    if values.len() > R::CHAIN {
        let indices = arm.indices();
        return R::from_fn(
            arm.token(),
            #[inline(always)]
            |lane| {
                let entry = &mut values[indices[lane] as usize];
                // Double precision holds the sum of two singles closely enough that rounding twice is rounding once.
                entry.set_lane(lane, entry.lane(lane) + value.lane(lane));
                entry.lane(lane)
            },
        );
    }
    if let [first, second] = values {
        // With two arms the arm itself is the weight.
        *first = (arm.one() - arm).fma(value, *first);
        *second = arm.fma(value, *second);
        return R::select(arm.is(1.0), *second, *first);
    }
    let zero = arm.zero();
    let mut sum = zero;
    for (entry, &i) in values.iter_mut().zip(&NUMBERS) {
        let hit = arm.is(i);
        *entry = *entry + R::only(hit, value);
        sum = R::select(hit, *entry, sum);
    }
    sum
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
        self.arm = R::select(better, value.zero() + number(arm), self.arm);
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

/// The largest of `values`, lane by lane.
#[inline(always)]
pub fn largest<R: Real>(values: &[R]) -> R {
    let mut best = [values[0]; 2];
    in_turns(
        &values[1..],
        #[inline(always)]
        |turn, value| best[turn] = best[turn].max(value),
    );
    best[0].max(best[1])
}

/// How many of the increasing `bounds` are at most `u`: an arm drawn from cumulative weights.
#[inline(always)]
pub fn count_below<R: Real>(bounds: &[R], u: R) -> R {
    let mut counts = [u.zero(); 2];
    in_turns(
        bounds,
        #[inline(always)]
        |turn, bound| counts[turn] = counts[turn] + R::only(u.ge(bound), u.one()),
    );
    counts[0] + counts[1]
}

/// Two results by turns, neither of which waits for the other.
#[inline(always)]
fn in_turns<R: Real>(values: &[R], mut take: impl FnMut(usize, R)) {
    let (pairs, rest) = values.as_chunks::<2>();
    for &[first, second] in pairs {
        take(0, first);
        take(1, second);
    }
    for &last in rest {
        take(0, last);
    }
}

#[cfg(test)]
mod tests;
