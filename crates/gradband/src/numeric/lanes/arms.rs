//! Numbers of the arm that each lane names: chains of selections among few arms, a load or store for each lane among many.

use super::{Real, Word};

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
pub(super) fn number(i: usize) -> f32 {
    if i < NUMBERS.len() { NUMBERS[i] } else { i as f32 }
}

/// Where the numbers of each lane's arm are.
struct Places {
    arms: usize,
    /// In bytes from the first number on.
    lanes: [u32; 16],
}

impl Places {
    /// An arm that is not there is the last one, as no kernel chooses: all lanes are looked at once, where each load and store would
    /// have to look at its own.
    #[inline(always)]
    fn of<R: Real>(arm: R, arms: usize) -> Self {
        const { assert!(size_of::<R>().is_power_of_two()) };
        let last = (arms - 1).min(u32::MAX as usize / size_of::<R>()) as u32;
        Self { arms, lanes: R::bits(arm.tag().at_most(last) << size_of::<R>().trailing_zeros()) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn pick<R: Real>(&self, values: &[R], token: R::Token) -> R {
        let first = values[..self.arms].as_ptr();
        R::from_fn(
            token,
            #[inline(always)]
            // SAFETY: `of` has made all places whole numbers of `R`, and arms that are there.
            |lane| unsafe { &*first.byte_add(self.lanes[lane] as usize) }.lane(lane),
        )
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn put<R: Real>(&self, values: &mut [R], value: R) {
        let first = values[..self.arms].as_mut_ptr();
        for lane in 0..R::WIDTH {
            // SAFETY: as above; there is one reference at a time.
            unsafe { &mut *first.byte_add(self.lanes[lane] as usize) }.set_lane(lane, value.lane(lane));
        }
    }
}

/// The entry of `values` that each lane's `arm` names.
#[inline(always)]
pub fn pick<R: Real>(values: &[R], arm: R) -> R {
    let [picked] = pick_each([values], arm);
    picked
}

/// The same of several, all of one length.
#[inline(always)]
pub fn pick_each<R: Real, const N: usize>(values: [&[R]; N], arm: R) -> [R; N] {
    let mut picked = [arm; N];
    let arms = values[0].len();
    if arms > R::CHAIN {
        let places = Places::of(arm, arms);
        for n in 0..N {
            picked[n] = places.pick(values[n], arm.token());
        }
        return picked;
    }
    for n in 0..N {
        picked[n] = values[n][0];
    }
    for (i, &name) in NUMBERS.iter().enumerate().take(arms).skip(1) {
        let hit = arm.is(name);
        for n in 0..N {
            picked[n] = R::select(hit, values[n][i], picked[n]);
        }
    }
    picked
}

/// Writes the finite `value` into the entry of `values` that each lane's `arm` names.
#[inline(always)]
pub fn put<R: Real>(values: &mut [R], arm: R, value: R) {
    put_each([values], arm, [value]);
}

/// The same for several, all of one length.
///
/// Where a vector takes several registers, exact arithmetic with 0 and 1 instead of a selection: the compiler would fuse selection
/// and store into a masked store, which is slow on AMD cores (docs/performance.md).
#[inline(always)]
pub fn put_each<R: Real, const N: usize>(values: [&mut [R]; N], arm: R, value: [R; N]) {
    let arms = values[0].len();
    if arms > R::CHAIN {
        let places = Places::of(arm, arms);
        for (values, value) in values.into_iter().zip(value) {
            places.put(values, value);
        }
        return;
    }
    let one = arm.one();
    if arms == 2 {
        let other = one - arm;
        for (values, value) in values.into_iter().zip(value) {
            values[0] = other.fma(value, values[0] * arm);
            values[1] = arm.fma(value, values[1] * other);
        }
        return;
    }
    for (i, &name) in NUMBERS.iter().enumerate().take(arms) {
        let mask = arm.is(name);
        let hit = R::only(mask, one);
        for n in 0..N {
            let entry = values[n][i];
            values[n][i] = match R::REGISTERS {
                1 => R::select(mask, value[n], entry),
                _ => hit.fma(value[n], entry * (one - hit)),
            };
        }
    }
}

/// Adds `value` to the entry of `values` that each lane's `arm` names, and returns the new entry.
#[inline(always)]
pub fn add<R: Real>(values: &mut [R], arm: R, value: R) -> R {
    if values.len() > R::CHAIN {
        let places = Places::of(arm, values.len());
        let sum = places.pick(values, arm.token()) + value;
        places.put(values, sum);
        return sum;
    }
    if let [first, second] = values {
        // With two arms the arm itself is the weight.
        *first = (arm.one() - arm).fma(value, *first);
        *second = arm.fma(value, *second);
        return R::select(arm.is(1.0), *second, *first);
    }
    let mut sum = arm.zero();
    for (entry, &i) in values.iter_mut().zip(&NUMBERS) {
        let hit = arm.is(i);
        *entry = *entry + R::only(hit, value);
        sum = R::select(hit, *entry, sum);
    }
    sum
}
