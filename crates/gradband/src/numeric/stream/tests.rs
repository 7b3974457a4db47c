//! The generator against its reference implementation, the draws against their distributions.
//!
//! Statistical tests use 400,000 draws and fixed seeds; a correct sampler fails one of them with probability
//! below 1e-5 (|z| < 4.5), were the seed drawn anew.

use super::{Fill, Key, Shape, Stream, reward};
use crate::numeric::lanes::{One, Real};
use crate::numeric::simd::LaneWork;
use crate::numeric::simd::tests::in_wide_lanes;
use fearless_simd::{Simd, f32x16};
use rand_xoshiro::Xoshiro128Plus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const DRAWS: usize = 400_000;

#[inline(always)]
fn beta_of_counts<R: Real>(stream: &mut Stream<R>, a: R, b: R) -> R {
    let (x, y) = stream.gamma_pair(Shape::new(a), Shape::new(b));
    x / (x + y)
}

#[test]
fn words_are_those_of_xoshiro128_plus() {
    for run in 0..100 {
        let key = Key::new(3).child(5);
        let seed: Vec<u8> = key.state(run).iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut reference = Xoshiro128Plus::from_seed(seed.try_into().unwrap());
        let mut stream = Stream::<One<f32>>::new((), key, run);
        for _ in 0..1000 {
            assert_eq!(stream.next_word().0, reference.next_u32());
        }
    }
}

#[test]
fn keys_and_runs_do_not_collide() {
    let mut states = std::collections::HashSet::new();
    for seed in 0..20 {
        for purpose in 0..20 {
            for run in 0..100 {
                assert!(states.insert(Key::new(seed).child(purpose).state(run)));
            }
        }
    }
    assert_ne!(Key::new(1).child(2).child(3), Key::new(1).child(3).child(2));
}

/// Many at once are what they are one by one, and the stream goes on from there.
#[test]
fn normals_in_vectors_are_those_of_pairs() {
    for count in [1, 31, 32, 33, 200] {
        let mut many = Stream::<One<f64>>::new((), Key::new(8), 3);
        let mut single = many;
        let mut numbers = vec![0.0; count];
        many.fill_normals(&mut numbers);
        for number in numbers {
            assert_eq!(number.to_bits(), (single.normal_pair().0.0 as f32).to_bits());
        }
        assert_eq!(many.next_word(), single.next_word());
    }
}

/// z-values of mean and variance of a sample with known moments (fourth central moment included).
fn check_moments(name: &str, values: &[f64], mean: f64, variance: f64, fourth: f64) {
    let n = values.len() as f64;
    let average = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let z = (average - mean) / (variance / n).sqrt();
    let z_spread = (spread - variance) / ((fourth - variance * variance) / n).sqrt();
    assert!(
        z.abs() < 4.5 && z_spread.abs() < 4.5,
        "{name}: mean {z:.2}, variance {z_spread:.2} standard errors off"
    );
}

/// Mean, variance and fourth central moment of Beta(a, b).
fn beta_moments(a: f64, b: f64) -> (f64, f64, f64) {
    let s = a + b;
    let variance = a * b / (s * s * (s + 1.0));
    let excess = 6.0 * ((a - b).powi(2) * (s + 1.0) - a * b * (s + 2.0)) / (a * b * (s + 2.0) * (s + 3.0));
    (a / s, variance, (excess + 3.0) * variance * variance)
}

fn draws<R: Real<Token = ()>>(run: u64, mut f: impl FnMut(&mut Stream<R>) -> R) -> Vec<f64> {
    let mut stream = Stream::<R>::new((), Key::new(11), run);
    (0..DRAWS).map(|_| f(&mut stream).lane(0)).collect()
}

#[test]
fn uniform_and_normal_draws_have_their_moments() {
    check_moments("uniform", &draws::<One<f32>>(0, Stream::uniform), 0.5, 1.0 / 12.0, 1.0 / 80.0);
    check_moments("normal", &draws::<One<f32>>(1, |s| s.normal_pair().0), 0.0, 1.0, 3.0);
    check_moments("normal, second", &draws::<One<f32>>(2, |s| s.normal_pair().1), 0.0, 1.0, 3.0);
    check_moments("normal, f64", &draws::<One<f64>>(3, |s| s.normal_pair().0), 0.0, 1.0, 3.0);
    let product = draws::<One<f64>>(4, |s| {
        let (x, y) = s.normal_pair();
        x * y
    });
    check_moments("independence of a pair", &product, 0.0, 1.0, 9.0);
}

#[test]
fn beta_draws_have_their_moments() {
    for (i, (a, b)) in [(1.0, 1.0), (2.4, 1.6), (0.3, 0.7), (0.02, 3.98), (600.0, 400.0), (0.01, 0.01)]
        .into_iter()
        .enumerate()
    {
        let (mean, variance, fourth) = beta_moments(a, b);
        let single = draws::<One<f32>>(i as u64, |s| s.beta(One(a as f32), One(b as f32)));
        check_moments(&format!("beta({a}, {b})"), &single, mean, variance, fourth);
        let double = draws::<One<f64>>(i as u64 + 50, |s| s.beta(One(a), One(b)));
        check_moments(&format!("beta({a}, {b}), f64"), &double, mean, variance, fourth);
        if a >= 1.0 && b >= 1.0 {
            let counts =
                draws::<One<f32>>(i as u64 + 100, |s| beta_of_counts(s, One(a as f32), One(b as f32)));
            check_moments(&format!("beta_of_counts({a}, {b})"), &counts, mean, variance, fourth);
        }
    }
}

/// Kolmogorov-Smirnov at level 1e-5 (statistic 2.47) against the CDF of Beta(2, 3): 6x² - 8x³ + 3x⁴.
#[test]
fn beta_draws_follow_their_distribution() {
    let mut values = draws::<One<f32>>(9, |s| beta_of_counts(s, One(2.0), One(3.0)));
    values.sort_by(f64::total_cmp);
    let cdf = |x: f64| x * x * (6.0 - x * (8.0 - 3.0 * x));
    let n = values.len() as f64;
    let distance =
        values.iter().enumerate().map(|(i, &x)| (cdf(x) - (i as f64 + 0.5) / n).abs()).fold(0.0, f64::max);
    assert!(distance * n.sqrt() < 2.47, "{}", distance * n.sqrt());
}

/// A round's rewards of two arms: each uniform, uncorrelated, and all 32 x 32 cells of the pair equally full
/// (chi-square with 1023 degrees of freedom; 1240 is exceeded with probability 3e-6).
#[test]
fn rewards_of_arms_are_independent() {
    for (one, other) in
        [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0), (0.0, 16.0), (3.0, 9.0), (7.0, 99.0), (255.0, 256.0)]
    {
        let mut words = Stream::<One<f32>>::new((), Key::new(13), one as u64);
        let pairs: Vec<_> = (0..DRAWS)
            .map(|_| {
                let word = words.next_word();
                [one, other].map(|arm: f32| f64::from(reward::uniform(word, One(arm)).0))
            })
            .collect();
        for i in 0..2 {
            let singles: Vec<_> = pairs.iter().map(|pair| pair[i] - 0.5).collect();
            check_moments("uniform of an arm", &singles, 0.0, 1.0 / 12.0, 1.0 / 80.0);
        }
        let products: Vec<_> = pairs.iter().map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).collect();
        check_moments("product of two arms", &products, 0.0, 1.0 / 144.0, 1.0 / 6400.0);
        let mut cells = vec![0.0; 1024];
        pairs
            .iter()
            .for_each(|pair| cells[(pair[0] * 32.0) as usize * 32 + (pair[1] * 32.0) as usize] += 1.0);
        let expected = DRAWS as f64 / 1024.0;
        let chi_square: f64 = cells.iter().map(|count: &f64| (count - expected).powi(2) / expected).sum();
        assert!((820.0..1240.0).contains(&chi_square), "arms {one}, {other}: {chi_square}");
    }
}

/// A lane's draws do not depend on the rejections of its neighbours.
#[test]
fn wide_lanes_draw_what_one_draws() {
    in_wide_lanes!(simd => {
        let mut wide = Stream::<f32x16<_>>::new(simd, Key::new(17), 40);
        let mut singles: Vec<_> =
            (0..16).map(|lane| Stream::<One<f32>>::new((), Key::new(17), 40 + lane)).collect();
        for i in 0..2000 {
            let (a, b) = (1.0 + f64::from(i % 7), 1.0 + f64::from(i % 3) * 40.0);
            let counts = beta_of_counts(&mut wide, f32x16::splat(simd, a), f32x16::splat(simd, b));
            let any = wide.beta(f32x16::splat(simd, a / 10.0), f32x16::splat(simd, b / 10.0));
            for (lane, single) in singles.iter_mut().enumerate() {
                assert_eq!(
                    counts.lane(lane),
                    beta_of_counts(single, One(a as f32), One(b as f32)).lane(0)
                );
                let (a, b) = (One((a / 10.0) as f32), One((b / 10.0) as f32));
                assert_eq!(any.lane(lane), single.beta(a, b).lane(0));
            }
        }
    });
}

/// Arms whose lanes do not wait for each other have the numbers of arms one after the other, lane by lane, and so does what comes next.
#[test]
fn lanes_that_fall_behind_draw_what_they_would() {
    #[inline(always)]
    fn check<R: Real>(stream: &mut Stream<R>, round: usize) {
        let (token, arms, mut waiting) = (stream.uniform().token(), 1 + round % 12, *stream);
        // Small parameters reject most often: 5 in 100; those of lanes differ.
        let shapes = |arm: usize| {
            let shape = |i: usize| {
                R::from_fn(token, |lane| {
                    1.0 + ((7 * arm + 3 * lane + 5 * round + i) % 4 * (1 + 30 * i)) as f64
                })
            };
            [Shape::new(shape(0)), Shape::new(shape(1))]
        };
        let mut found = vec![vec![f64::NAN; R::WIDTH]; arms];
        stream.beta_of_arms(arms, shapes, |lanes, arm, sample| {
            for lane in 0..R::WIDTH {
                if R::only(lanes, arm.one()).lane(lane) == 1.0 {
                    let place = &mut found[arm.lane(lane) as usize][lane];
                    assert!(place.is_nan(), "an arm twice");
                    *place = sample.lane(lane);
                }
            }
        });
        for (arm, found) in found.iter().enumerate() {
            let [a, b] = shapes(arm);
            let (x, y) = waiting.gamma_pair(a, b);
            let expected: Vec<_> = (0..R::WIDTH).map(|lane| (x / (x + y)).lane(lane)).collect();
            assert_eq!(found, &expected, "round {round}, arm {arm}");
        }
        assert_eq!(R::bits(stream.next_word()), R::bits(waiting.next_word()), "round {round}");
    }
    let mut single = Stream::<One<f32>>::new((), Key::new(19), 2);
    let mut double = Stream::<One<f64>>::new((), Key::new(19), 3);
    for round in 0..1000 {
        check(&mut single, round);
        check(&mut double, round);
    }
    in_wide_lanes!(simd => {
        let mut wide = Stream::<f32x16<_>>::new(simd, Key::new(19), 40);
        (0..500).for_each(|round| check(&mut wide, round));
    });
}

#[test]
fn filled_buffers_have_the_same_bits_in_any_width() {
    fn check<const NORMAL: bool>(simd: impl Simd, index: u64, length: usize) {
        let key = Key::new(8).child(1);
        let (mut wide, mut narrow) = (vec![0.0; length], vec![0.0; length]);
        let fill = Fill::<NORMAL> { key, index, out: &mut wide };
        fill.run::<f32x16<_>>(simd).unwrap();
        Fill::<NORMAL> { key, index, out: &mut narrow }.run::<One<f32>>(()).unwrap();
        assert_eq!(wide, narrow);
    }
    in_wide_lanes!(simd => {
        for (index, length) in [(0, 0), (1, 1), (2, 15), (3, 16), (4, 33), (5, 500)] {
            check::<true>(simd, index, length);
            check::<false>(simd, index, length);
        }
    });
}

#[test]
fn filled_buffers_begin_alike_and_have_their_moments() {
    let key = Key::new(9);
    let mut values = vec![0.0; DRAWS];
    let mut short = vec![0.0; 1000];
    super::fill_normals(key, 7, &mut values);
    super::fill_normals(key, 7, &mut short);
    assert_eq!(values[..992], short[..992]);
    let doubles = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    check_moments("normal", &doubles(&values), 0.0, 1.0, 3.0);
    super::fill_uniforms(key, 7, &mut values);
    check_moments("uniform", &doubles(&values), 0.5, 1.0 / 12.0, 1.0 / 80.0);
}
