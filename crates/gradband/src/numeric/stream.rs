//! Randomness as a pure function of (seed, purpose, run): any run can be replayed alone, on any thread, in any
//! lane.
//!
//! A [`Key`] names a purpose; key and run index seed a xoshiro128+ generator (Blackman and Vigna, 2018) that
//! belongs to that run alone. Only the high bits of its words are used, the low ones being the weaker.

use super::lanes::{Lane, Mask, One, Real};
use super::simd::{LaneWork, Lanes, in_lanes, vectorized};
use crate::error::Result;

/// A source of randomness for one purpose, derived from the user's seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);

/// SplitMix64's increment and finaliser (Steele, Lea and Flood, 2014).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn finalise(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Key {
    /// The key from which all others of a seed are derived.
    pub fn new(seed: u64) -> Self {
        Self(finalise(seed.wrapping_add(GOLDEN)))
    }

    /// The key of a purpose within this one.
    pub fn child(self, purpose: u64) -> Self {
        Self(finalise(self.0.rotate_left(23) ^ purpose.wrapping_add(1).wrapping_mul(GOLDEN)))
    }

    /// What makes it up, to be sent elsewhere.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The key of a name within this one.
    pub(crate) fn named(self, name: &str) -> Self {
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let words = name.as_bytes().chunks(8).map(word);
        words.fold(self.child(name.len() as u64), Self::child)
    }

    /// A uniform number in [0, 1), the only one of this key: a multiple of 2^-53.
    pub(crate) fn uniform(self) -> f64 {
        (finalise(self.0.wrapping_add(GOLDEN)) >> 11) as f64 * f64::EPSILON / 2.0
    }

    /// The generator state of one run: two outputs of the SplitMix64 sequence that starts at the key.
    #[inline(always)]
    fn state(self, run: u64) -> [u32; 4] {
        let at = self.0.wrapping_add(run.wrapping_mul(2).wrapping_add(1).wrapping_mul(GOLDEN));
        let (first, second) = (finalise(at), finalise(at.wrapping_add(GOLDEN)));
        [first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32]
    }

    /// Those of sixteen runs, word by word. Not for inlining: kernels have no use for a copy each.
    #[inline(never)]
    fn states(self, first: u64) -> [[u32; 16]; 4] {
        let mut words = [[0; 16]; 4];
        for lane in 0..16 {
            for (words, word) in words.iter_mut().zip(self.state(first + lane as u64)) {
                words[lane] = word;
            }
        }
        words
    }
}

/// The random numbers of one run in each lane.
#[derive(Clone, Copy)]
pub struct Stream<R: Real> {
    state: [R::Word; 4],
}

impl<R: Real> Stream<R> {
    /// Lane i gets the stream of run `first + i`.
    #[inline(always)]
    pub fn new(token: R::Token, key: Key, first: u64) -> Self {
        let words = match R::WIDTH {
            1 => key.state(first).map(|word| [word; 16]),
            _ => key.states(first),
        };
        Self {
            state: [
                R::word(token, |lane| words[0][lane]),
                R::word(token, |lane| words[1][lane]),
                R::word(token, |lane| words[2][lane]),
                R::word(token, |lane| words[3][lane]),
            ],
        }
    }

    /// A stream for each lane's word: how a reward with a random number of draws stays a function of
    /// (instance, round, arm).
    #[inline(always)]
    pub(crate) fn from_word(word: R::Word) -> Self {
        let first = mix(word * 0x9e37_79b1);
        let second = mix(first * 0x85eb_ca6b);
        let third = mix(second * 0xc2b2_ae35);
        // The last word only has to keep the state from being zero.
        Self { state: [first, second, third, word | (word << 16)] }
    }

    /// The next word: xoshiro128+.
    #[inline(always)]
    pub fn next_word(&mut self) -> R::Word {
        let [a, b, c, d] = self.state;
        let word = a + d;
        let shifted = b << 9;
        let c = c ^ a;
        let d = d ^ b;
        self.state = [a ^ d, b ^ c, c ^ shifted, (d << 11) | (d >> 21)];
        word
    }

    /// The next uniform number in [0, 1).
    #[inline(always)]
    pub fn uniform(&mut self) -> R {
        R::unit(self.next_word())
    }

    /// The next uniform numbers. Out of line: kernels have no use for a copy each.
    #[inline(always)]
    pub(crate) fn fill_uniforms(&mut self, token: R::Token, numbers: &mut [R]) {
        R::apart(
            token,
            #[inline(always)]
            || {
                // A copy stays in registers.
                let mut stream = *self;
                for number in numbers {
                    *number = stream.uniform();
                }
                *self = stream;
            },
        );
    }

    /// A uniform number in (0, 1): the middle of the grid's cell, so that its logarithm is finite.
    #[inline(always)]
    fn positive(&mut self) -> R {
        let u = self.uniform();
        u + u.lit(0.5 / R::GRID)
    }

    /// Two independent standard normal numbers.
    #[inline(always)]
    pub fn normal_pair(&mut self) -> (R, R) {
        let u = self.positive();
        normals_of(u, self.uniform())
    }

    /// Two normal or two uniform numbers.
    #[inline(always)]
    fn pair<const NORMAL: bool>(&mut self) -> (R, R) {
        if NORMAL { self.normal_pair() } else { (self.uniform(), self.uniform()) }
    }

    /// Independent Gamma numbers (Marsaglia and Tsang, 2000).
    ///
    /// Only lanes that still miss a number advance their stream: no lane sees another's rejections.
    #[inline(always)]
    fn gamma_pair(&mut self, a: Shape<R>, b: Shape<R>) -> (R, R) {
        // Where a shape is not a number nothing is missing: such a lane would never end.
        let missing = (a.d.ge(a.d), b.d.ge(b.d));
        let ((x, left), (y, right)) = self.proposals(a, b, missing);
        self.retry(a, b, (missing.0 & left, missing.1 & right), (x, y))
    }

    /// Gamma numbers where they are still missing, the old ones elsewhere.
    #[inline(always)]
    fn retry(
        &mut self,
        a: Shape<R>,
        b: Shape<R>,
        mut missing: (R::Mask, R::Mask),
        (mut x, mut y): (R, R),
    ) -> (R, R) {
        while (missing.0 | missing.1).any() {
            let before = self.state;
            let (first, second) = self.proposals(a, b, missing);
            let active = missing.0 | missing.1;
            for (now, old) in self.state.iter_mut().zip(before) {
                *now = R::select_word(active, *now, old);
            }
            x = R::select(missing.0, first.0, x);
            y = R::select(missing.1, second.0, y);
            missing = (missing.0 & first.1, missing.1 & second.1);
        }
        (x, y)
    }

    /// A proposal for each, and the lanes that reject it.
    #[inline(always)]
    fn proposals(
        &mut self,
        a: Shape<R>,
        b: Shape<R>,
        missing: (R::Mask, R::Mask),
    ) -> ((R, R::Mask), (R, R::Mask)) {
        let normals = self.normal_pair();
        let first = a.propose(normals.0, self.uniform(), missing.0);
        (first, b.propose(normals.1, self.uniform(), missing.1))
    }

    /// A Beta number for each arm, with parameters of at least one; `take` gets those of some lanes, with the arm of each.
    ///
    /// A lane that rejects tries again while the others go on to the next arm, and stays one arm behind: its numbers come in the same order as
    /// if all had waited for it. Only one that rejects when it is behind is waited for.
    #[inline(always)]
    pub(crate) fn beta_of_arms(
        &mut self,
        arms: usize,
        shapes: impl Fn(usize) -> [Shape<R>; 2],
        mut take: impl FnMut(R::Mask, R, R),
    ) {
        let mut last = shapes(0);
        let (mut x, mut y) = (last[0].d, last[1].d);
        let none = x.lt(x);
        let (mut behind, mut missing) = (none, (none, none));
        for arm in 0..arms {
            let now = shapes(arm);
            let (a, b) = (last[0].where_else(behind, now[0]), last[1].where_else(behind, now[1]));
            let begins = !(missing.0 | missing.1);
            // Where a shape is not a number nothing is missing, as above.
            missing = (missing.0 | begins & a.d.ge(a.d), missing.1 | begins & b.d.ge(b.d));
            let (first, second) = self.proposals(a, b, missing);
            x = R::select(begins | missing.0, first.0, x);
            y = R::select(begins | missing.1, second.0, y);
            missing = (missing.0 & first.1, missing.1 & second.1);
            if (behind & (missing.0 | missing.1)).any() {
                (x, y) = self.retry(a, b, (behind & missing.0, behind & missing.1), (x, y));
                missing = (missing.0 & !behind, missing.1 & !behind);
            }
            let done = !(missing.0 | missing.1);
            take(done, x.lit(arm as f64) - R::only(behind, x.one()), x / (x + y));
            behind = behind | !done;
            last = now;
        }
        if behind.any() {
            let [a, b] = last;
            let begins = behind & !(missing.0 | missing.1);
            missing = (missing.0 | begins & a.d.ge(a.d), missing.1 | begins & b.d.ge(b.d));
            (x, y) = self.retry(a, b, missing, (x, y));
            take(behind, x.lit(arms as f64 - 1.0), x / (x + y));
        }
    }

    /// A Beta(a, b) number for a, b > 0, by Gamma(a) = Gamma(a + 1) U^(1/a), in logarithms: with small
    /// parameters both gammas underflow.
    #[inline(always)]
    pub fn beta(&mut self, a: R, b: R) -> R {
        let powers = (self.positive().ln() / a, self.positive().ln() / b);
        let (x, y) = self.gamma_pair(Shape::new(a + 1.0), Shape::new(b + 1.0));
        // The logistic function of -ln(y / x), from the side on which exp cannot overflow.
        let log_ratio = (y.ln() + powers.1) - (x.ln() + powers.0);
        let (flip, size) = (log_ratio.ge(a.zero()), log_ratio.max(-log_ratio));
        let small = (-size).exp();
        R::select(flip, small, a.one()) / (small + 1.0)
    }
}

/// Two independent standard normal numbers from two uniform ones (Box and Muller, 1958).
#[inline(always)]
fn normals_of<R: Real>(u: R, turns: R) -> (R, R) {
    let radius = (u.ln() * -2.0).sqrt();
    let (cos, sin) = turns.cos_sin_turns();
    (radius * cos, radius * sin)
}

impl Stream<One<f64>> {
    /// The first of a [`Self::normal_pair`] for each place: uniform numbers first, so that what is made of them is done in vectors.
    pub(crate) fn fill_normals(&mut self, out: &mut [f32]) {
        const BLOCK: usize = 32;
        vectorized(
            #[inline(always)]
            || {
                for out in out.chunks_mut(BLOCK) {
                    let (mut u, mut turns, mut normals) = ([0.5; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
                    for i in 0..out.len() {
                        (u[i], turns[i]) = (self.positive().0, self.uniform().0);
                    }
                    for i in 0..BLOCK {
                        normals[i] = normals_of(One(u[i]), One(turns[i])).0.0 as f32;
                    }
                    out.copy_from_slice(&normals[..out.len()]);
                }
            },
        );
    }
}

/// Random numbers for problems of one's own. Each draw of an instance or reward gets a stream of its own, so that the same
/// seed gives the same bits on any number of threads.
///
/// ```
/// use gradband::Random;
/// /// A die that favours the six.
/// fn roll(random: &mut Random) -> usize {
///     if random.uniform() < 0.1 { 6 } else { 1 + random.below(6) }
/// }
/// ```
#[derive(Clone)]
pub struct Random(pub(crate) Stream<One<f64>>);

impl Random {
    /// A uniform number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0.uniform().0
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        self.0.normal_pair().0.0
    }

    /// A Beta(a, b) number, for positive a and b.
    pub fn beta(&mut self, a: f64, b: f64) -> f64 {
        self.0.beta(One(a), One(b)).0
    }

    /// A whole number below `count`, all of them equally likely.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count.saturating_sub(1))
    }
}

impl std::fmt::Debug for Random {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Random")
    }
}

/// Lanes that fill one buffer together.
const FILL: usize = 16;

/// Fills `out` with the standard normal numbers of one instance or run: lane l of sixteen is the stream of run
/// `16 index + l`, and the lanes take turns.
pub fn fill_normals(key: Key, index: u64, out: &mut [f32]) {
    fill::<true>(key, index, out);
}

/// Fills `out` with uniform numbers in [0, 1), as [`fill_normals`].
pub fn fill_uniforms(key: Key, index: u64, out: &mut [f32]) {
    fill::<false>(key, index, out);
}

fn fill<const NORMAL: bool>(key: Key, index: u64, out: &mut [f32]) {
    // Filling a buffer cannot fail.
    let _ = in_lanes(Lanes::Auto, Fill::<NORMAL> { key, index, out });
}

struct Fill<'a, const NORMAL: bool> {
    key: Key,
    index: u64,
    out: &'a mut [f32],
}

impl<const NORMAL: bool> LaneWork for Fill<'_, NORMAL> {
    const LONG: bool = true;

    #[inline(always)]
    fn run<R: Lane>(self, token: R::Token) -> Result<()> {
        let Self { key, index, out } = self;
        if R::WIDTH != FILL {
            fill_narrow::<NORMAL>(key, index, out);
            return Ok(());
        }
        let mut stream = Stream::<R>::new(token, key, index * FILL as u64);
        for chunk in out.chunks_mut(2 * FILL) {
            let (first, second) = stream.pair::<NORMAL>();
            if chunk.len() == 2 * FILL {
                first.store(&mut chunk[..FILL]);
                second.store(&mut chunk[FILL..]);
                continue;
            }
            for (i, x) in chunk.iter_mut().enumerate() {
                *x = if i < FILL { first.lane(i) } else { second.lane(i - FILL) } as f32;
            }
        }
        Ok(())
    }
}

/// The same numbers, one lane after the other.
fn fill_narrow<const NORMAL: bool>(key: Key, index: u64, out: &mut [f32]) {
    for lane in 0..FILL {
        let mut stream = Stream::<One<f32>>::new((), key, index * FILL as u64 + lane as u64);
        for chunk in out.chunks_mut(2 * FILL) {
            let (first, second) = stream.pair::<NORMAL>();
            for (place, value) in [(lane, first), (FILL + lane, second)] {
                if let Some(x) = chunk.get_mut(place) {
                    *x = value.0;
                }
            }
        }
    }
}

/// The constants of Marsaglia and Tsang's method for one shape parameter of at least one: a - 1/3, and a scale, worth keeping.
#[derive(Clone, Copy)]
pub(crate) struct Shape<R> {
    d: R,
    c: R,
}

impl<R: Real> Shape<R> {
    #[inline(always)]
    pub fn new(shape: R) -> Self {
        Self::of(shape, Self::scale(shape))
    }

    /// With the scale of the parameter.
    #[inline(always)]
    pub fn of(shape: R, scale: R) -> Self {
        Self { d: shape - shape.lit(1.0 / 3.0), c: scale }
    }

    /// The scale of a parameter.
    #[inline(always)]
    pub fn scale(shape: R) -> R {
        let d = shape - shape.lit(1.0 / 3.0);
        d.one() / (d * 9.0).sqrt()
    }

    /// This one where the mask holds, the other elsewhere.
    #[inline(always)]
    fn where_else(self, mask: R::Mask, other: Self) -> Self {
        Self { d: R::select(mask, self.d, other.d), c: R::select(mask, self.c, other.c) }
    }

    /// A proposal from a normal and a uniform number, and the lanes that reject it, among those that still miss one.
    #[inline(always)]
    fn propose(self, normal: R, uniform: R, missing: R::Mask) -> (R, R::Mask) {
        let root = self.c.fma(normal, normal.one());
        // A proposal below zero is rejected; the floor keeps its logarithm finite.
        let root = root.max(root.lit(1e-6));
        let v = root * root * root;
        let square = normal * normal;
        let sure = uniform.lt((square * square).fma(square.lit(-0.0331), square.one()));
        let value = self.d * v;
        if !(missing & !sure).any() {
            return (value, !sure);
        }
        let bound = square.fma(square.lit(0.5), self.d * (v.ln() - v + 1.0));
        let log = (uniform + uniform.lit(0.5 / R::GRID)).ln();
        (value, !(sure | log.lt(bound)))
    }
}

/// Random numbers of (instance, round, arm), made when an arm is pulled: the reward table Y without a table.
pub mod reward {
    use super::Stream;
    use crate::numeric::lanes::Real;

    /// The word of (instance, round, arm). For each arm it is a permutation of the instance's own stream, so
    /// uniform and independent over rounds; the mixing only decorrelates the arms. Its high bits are mixed best.
    #[inline(always)]
    pub(crate) fn of_arm<R: Real>(word: R::Word, arm: R) -> R::Word {
        let word = (word ^ arm.tag()) * 0x21f0_aaad;
        (word ^ (word >> 15)) * 0xd35a_2d97
    }

    /// The uniform number of (instance, round, arm).
    #[inline(always)]
    pub fn uniform<R: Real>(word: R::Word, arm: R) -> R {
        R::unit(of_arm(word, arm))
    }

    /// A standard normal number of (instance, round, arm).
    #[inline(always)]
    pub fn normal<R: Real>(word: R::Word, arm: R) -> R {
        Stream::<R>::from_word(of_arm(word, arm)).normal_pair().0
    }

    /// A Beta(a, b) number of (instance, round, arm).
    #[inline(always)]
    pub fn beta<R: Real>(word: R::Word, arm: R, a: R, b: R) -> R {
        Stream::<R>::from_word(of_arm(word, arm)).beta(a, b)
    }
}

/// A permutation of the 32-bit words that leaves no pattern (Wellons' `lowbias32` family).
#[inline(always)]
fn mix<W: super::lanes::Word>(word: W) -> W {
    let word = (word ^ (word >> 16)) * 0x21f0_aaad;
    let word = (word ^ (word >> 15)) * 0xd35a_2d97;
    word ^ (word >> 15)
}

#[cfg(test)]
mod tests;
