//! The elementary functions against the standard library, and wide lanes against one.

use super::{Lane, One, Real, Weigh, add, count_below, pick, pick_each, put, put_each, weigh};
use crate::numeric::simd::tests::in_wide_lanes;
use crate::numeric::stream::{Key, Stream};
use fearless_simd::{Simd, f32x8, f32x16};

/// Inputs of many sizes, in (-bound, bound).
fn inputs(bound: f64, count: usize) -> Vec<f64> {
    let mut stream = Stream::<One<f64>>::new((), Key::new(7), 0);
    (0..count).map(|i| (stream.uniform().0 * 2.0 - 1.0) * bound / (1 << (i % 20)) as f64).collect()
}

#[test]
fn exponentials_are_accurate_in_both_precisions() {
    for x in inputs(125.0, 100_000) {
        let single = f64::from(One(x as f32).exp2().0) / f64::from(x as f32).exp2() - 1.0;
        assert!(single.abs() < 2.5e-7, "exp2({x}): {single}");
        let double = One(x).exp2().0 / x.exp2() - 1.0;
        assert!(double.abs() < 4.0 * f64::EPSILON, "exp2({x}): {double}");
    }
    assert_eq!(One(0.0_f32).exp2().0, 1.0);
    assert!(One(-1000.0_f32).exp2().0 < 1e-37);
    assert!(One(-1000.0_f64).exp2().0 < 1e-37);
    assert!(One(f32::NEG_INFINITY).exp2().0 < 1e-37);
}

#[test]
fn weights_are_exponentials_whose_products_are_normal() {
    for x in (0..2000).map(|i| f64::from(i) / -10.0) {
        let truth = x.max(-40.0).exp();
        // The exponent to base 2 is rounded: up to 58 times 2^-24, relatively.
        assert!((f64::from(One(x as f32).weight().0) / truth - 1.0).abs() < 4e-6, "{x}");
        assert!((One(x).weight().0 / truth - 1.0).abs() < 1e-14, "{x}");
    }
    assert_eq!(One(0.0_f32).weight().0, 1.0);
    let least = One(f32::NEG_INFINITY).weight().0;
    assert!((least * least).is_normal());
    // Less than any uniform number but 0.
    assert!(f64::from(least) < f64::EPSILON / 2.0);
}

#[test]
fn logarithms_are_accurate_in_both_precisions() {
    for x in inputs(80.0, 100_000) {
        let x = x.exp();
        let (single, truth) = (f64::from(One(x as f32).ln().0), f64::from(x as f32).ln());
        assert!((single - truth).abs() <= 1.5e-7 * truth.abs().max(1.0), "ln({x}): {single} {truth}");
        let (double, truth) = (One(x).ln().0, x.ln());
        assert!((double - truth).abs() <= 4.0 * f64::EPSILON * truth.abs().max(1.0), "ln({x})");
    }
    for x in [f64::MIN_POSITIVE, 1e-300, 1e-40, 0.7, 0.71, 1.0, 1.42, 1e40, f64::MAX] {
        assert!((One(x).ln().0 - x.ln()).abs() <= 4.0 * f64::EPSILON * x.ln().abs().max(1.0), "ln({x})");
    }
}

#[test]
fn turns_are_accurate_in_both_precisions() {
    for i in 0..100_000 {
        let turns = f64::from(i) / 100_000.0;
        let (sin, cos) = (turns * std::f64::consts::TAU).sin_cos();
        let single = One(turns as f32).cos_sin_turns();
        let rounding = 1e-6; // of the argument, in turns, to single precision: 2 pi 2^-25, and some more
        assert!(
            (f64::from(single.0.0) - cos).abs() < rounding && (f64::from(single.1.0) - sin).abs() < rounding
        );
        let double = One(turns).cos_sin_turns();
        assert!((double.0.0 - cos).abs() < 1e-14 && (double.1.0 - sin).abs() < 1e-14, "{turns}");
    }
}

#[test]
fn wide_lanes_have_the_bits_of_one() {
    in_wide_lanes!(simd => {
        let same = |wide: f32x16<_>, one: &dyn Fn(usize) -> One<f32>| {
            for lane in 0..16 {
                assert_eq!((wide.lane(lane) as f32).to_bits(), one(lane).0.to_bits());
            }
        };
        for chunk in inputs(80.0, 80_000).chunks_exact(16) {
            let wide = f32x16::from_fn(simd, |lane| chunk[lane]);
            let one = |lane: usize| One(chunk[lane] as f32);
            same(wide.exp2(), &|lane| one(lane).exp2());
            same((wide * wide).ln(), &|lane| (one(lane) * one(lane)).ln());
            same((wide * wide).sqrt(), &|lane| (one(lane) * one(lane)).sqrt());
            same(wide.floor(), &|lane| one(lane).floor());
            let turns = |x: f64| x.abs().fract();
            let wide = f32x16::from_fn(simd, |lane| turns(chunk[lane]));
            same(wide.cos_sin_turns().0, &|lane| One(turns(chunk[lane]) as f32).cos_sin_turns().0);
            same(wide.cos_sin_turns().1, &|lane| One(turns(chunk[lane]) as f32).cos_sin_turns().1);
        }
    });
}

/// Picking, putting and adding by arm, over both ways of doing it (chains and single lanes).
#[test]
fn arms_are_addressed_lane_by_lane() {
    in_wide_lanes!(simd => {
        for arms in [2, 3, 8, 9, 30] {
            let start = |arm: usize, lane: usize| (arm * 10 + lane) as f64 / 7.0;
            let mut values: Vec<_> = (0..arms).map(|arm| f32x16::from_fn(simd, |lane| start(arm, lane))).collect();
            let arm_of = |lane: usize| (lane * 5 + 1) % arms;
            let arm = f32x16::from_fn(simd, |lane| arm_of(lane) as f64);
            for lane in 0..16 {
                assert_eq!(pick(&values, arm).lane(lane) as f32, start(arm_of(lane), lane) as f32);
            }
            let sum = add(&mut values, arm, f32x16::from_fn(simd, |lane| lane as f64));
            put(&mut values, arm, sum * 2.0);
            for lane in 0..16 {
                for (i, value) in values.iter().enumerate() {
                    let mut expected = start(i, lane) as f32;
                    if i == arm_of(lane) {
                        expected = (expected + lane as f32) * 2.0;
                    }
                    assert_eq!(value.lane(lane) as f32, expected);
                }
            }
        }
    });
}

/// The numbers of all lanes.
fn all<R: Real>(x: R) -> Vec<f64> {
    (0..R::WIDTH).map(|lane| x.lane(lane)).collect()
}

/// Several numbers of an arm at once are what each is alone.
#[test]
fn numbers_of_an_arm_are_found_together() {
    in_wide_lanes!(simd => {
        for arms in [2, 3, 8, 9, 17, 40] {
            let row = |shift: usize| -> Vec<_> {
                (0..arms).map(|arm| f32x16::from_fn(simd, |lane| (arm * 31 + lane * 7 + shift) as f64 / 3.0)).collect()
            };
            let (mut first, mut second) = (row(1), row(2));
            let arm = f32x16::from_fn(simd, |lane| ((lane * 11 + 3) % arms) as f64);
            let [a, b] = pick_each([&first, &second], arm);
            let (mut alone, values) = ([first.clone(), second.clone()], [b * 2.0, a - 1.0]);
            for (row, (picked, value)) in alone.iter_mut().zip([(a, values[0]), (b, values[1])]) {
                assert_eq!(all(pick(row, arm)), all(picked));
                put(row, arm, value);
            }
            put_each([&mut first, &mut second], arm, values);
            for (together, alone) in [first, second].iter().zip(&alone) {
                for (together, alone) in together.iter().zip(alone) {
                    assert_eq!(all(*together), all(*alone));
                }
            }
        }
    });
}

/// Loads and stores are not checked one by one: whatever a lane holds, they stay within the arms (and but for one case at the last).
#[test]
fn arms_that_are_not_there_are_the_last() {
    let bad = [f64::NAN, -1.0, -1e30, 20.0, 21.0, 1e9, 3e38, f64::INFINITY, f64::NEG_INFINITY];
    in_wide_lanes!(simd => {
        let mut values: Vec<_> = (0..20).map(|arm| f32x16::from_fn(simd, |lane| (arm * 16 + lane) as f64)).collect();
        let arm = f32x16::from_fn(simd, |lane| bad[lane % bad.len()]);
        let picked = pick(&values, arm);
        put(&mut values, arm, picked + 1000.0);
        for (i, value) in values.iter().enumerate() {
            for lane in 0..16 {
                // What is not a number becomes the largest integer on x86-64, and 0 elsewhere.
                let is_first = bad[lane % bad.len()].is_nan() && cfg!(not(target_arch = "x86_64"));
                let more = if i == if is_first { 0 } else { 19 } { 1000.0 } else { 0.0 };
                assert_eq!(value.lane(lane), (i * 16 + lane) as f64 + more);
            }
        }
    });
}

/// The exponent falls behind the best, and with the pulls.
struct Example;

impl Weigh for Example {
    #[inline(always)]
    fn weigh<R: Real>(&self, best: R, mean: R, pulls: R) -> (R, R) {
        ((best - mean) * pulls, (mean - best) * 3.0 - pulls)
    }
}

/// Weights, their sums and the arms drawn from them, five arms at a time or one, are those of each lane alone.
#[test]
fn softmaxes_have_the_bits_of_one_lane() {
    in_wide_lanes!(simd => {
        for arms in [1, 2, 5, 10, 33] {
            let number = |arm: usize, lane: usize, step: usize| ((arm * step + lane * 13) % 29) as f64 / 31.0;
            let row = |step: usize| -> Vec<_> {
                (0..arms).map(|arm| f32x16::from_fn(simd, |lane| number(arm, lane, step))).collect()
            };
            let (means, pulls) = (row(7), row(11));
            let mut bounds = means.clone();
            let best = super::largest(&means);
            let (total, weighted) = weigh::<_, true>(&Example, best, (&means, &pulls), &mut bounds);
            let drawn = count_below(&bounds[..arms - 1], total * 0.7);
            for lane in 0..16 {
                let one = |row: &[f32x16<_>]| -> Vec<_> { row.iter().map(|x| One(x.lane(lane) as f32)).collect() };
                let (means, pulls) = (one(&means), one(&pulls));
                let mut alone = means.clone();
                let top = super::largest(&means);
                let (sum, moment) = weigh::<_, true>(&Example, top, (&means, &pulls), &mut alone);
                assert_eq!([best, total, weighted].map(|x| One(x.lane(lane) as f32)), [top, sum, moment]);
                assert_eq!(one(&bounds), alone);
                assert_eq!(drawn.lane(lane), f64::from(count_below(&alone[..arms - 1], sum * 0.7).0));
            }
        }
    });
}

/// Number j of row i is in lane i of vector j, with all its digits, for every number of columns.
#[test]
fn rows_become_columns() {
    fn check<R: Lane>(token: R::Token) {
        let number = |i: usize, j: usize| (16 * i + j) as f64 / 3.0;
        let rows = std::array::from_fn(|i| std::array::from_fn(|j| R::scalar(number(i, j))));
        for columns in 1..=R::WIDTH {
            let mut out = vec![R::splat(token, -1.0); columns];
            R::transpose(token, &rows, &mut out);
            for (j, x) in out.iter().enumerate() {
                let expected = |i| R::splat(token, number(i, j)).lane(i);
                (0..R::WIDTH).for_each(|i| assert_eq!(x.lane(i), expected(i)));
            }
        }
    }
    in_wide_lanes!(simd => {
        check::<f32x16<_>>(simd);
        check::<f32x8<_>>(simd);
    });
    check::<One<f32>>(());
    check::<One<f64>>(());
}
