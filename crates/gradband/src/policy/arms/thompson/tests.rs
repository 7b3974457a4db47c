//! Thompson sampling over counts with other priors than the flat one: against closed forms, and against itself.

use super::{Counts, Thompson};
use crate::exact::{CountKernel, space};
use crate::policy::arms::tests::numbers::Numbers;

/// Beta(c (a + s), c (b + f)) for whole numbers is what a flat prior has after c a - 1 + c s successes and c b - 1 + c f
/// failures: quadrature in log-odds agrees with the closed form, and with Gauss-Legendre for three arms.
#[test]
fn thompson_with_any_prior_agrees_with_whole_numbers() {
    for (arms, alpha, beta, c) in [(2, 1, 1, 1), (2, 2, 3, 1), (2, 1, 40, 3), (3, 1, 1, 1), (3, 2, 5, 2), (5, 1, 2, 4)] {
        let horizon = 9;
        let policy = Thompson::new(f64::from(alpha), f64::from(beta), f64::from(c));
        let any = Counts::in_log_odds(&policy, arms, horizon).unwrap();
        let whole = Counts::new(arms, arms * c as usize * (alpha + beta) as usize + c as usize * horizon);
        let mut numbers = Numbers(7);
        for _ in 0..40 {
            let pulls: Vec<u32> = (0..arms).map(|_| (numbers.unit() * 9.99 / arms as f64) as u32).collect();
            let successes: Vec<u32> =
                pulls.iter().map(|&t| (numbers.unit() * (f64::from(t) + 0.99)) as u32).collect();
            let (mut found, mut expected) = (vec![0.0; arms], vec![0.0; arms]);
            any.probabilities(&pulls, &successes, &mut found, &mut []);
            let [p, s] = [(&pulls, alpha + beta, 2), (&successes, alpha, 1)].map(|(counts, of_prior, flat)| {
                counts.iter().map(|t| c * (t + of_prior) - flat).collect::<Vec<u32>>()
            });
            whole.probabilities(&p, &s, &mut expected, &mut []);
            let states = (&pulls, &successes);
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-11, "({alpha}, {beta}, {c}) at {states:?}: {found:?}, {expected:?}");
            }
            let mut block = vec![0.0; arms * space::block_len(&pulls)];
            any.block(&pulls, &mut block, &mut []);
            let at = space::outcome_rank(&pulls, &successes);
            for (arm, p) in found.iter().enumerate() {
                assert!((block[arm * space::block_len(&pulls) + at] - p).abs() < 1e-14, "a block at {states:?}");
            }
        }
    }
}

/// Probabilities of all arms add up to one wherever posteriors are defined, near 0 and 1 and sharpened too: what is left out
/// and what the steps miss is below 1e-10. Beyond, and where the tables do not fit, thompson is refused.
#[test]
fn thompson_with_any_prior_is_a_distribution() {
    for (alpha, beta, c) in [(0.1, 0.1, 1.0), (0.07, 900.0, 1.0), (2.07, 204.0, 26.9), (1.0, 1.0, 128.0), (3e3, 5e4, 0.25)] {
        for arms in [2, 4] {
            let any = Counts::in_log_odds(&Thompson::new(alpha, beta, c), arms, 12).unwrap();
            let mut pi = vec![0.0; arms];
            for (pulls, successes) in [([0; 4], [0; 4]), ([3; 4], [0, 1, 2, 3]), ([11, 0, 1, 0], [11, 0, 0, 0])] {
                any.probabilities(&pulls[..arms], &successes[..arms], &mut pi, &mut []);
                let sum: f64 = pi.iter().sum();
                assert!((sum - 1.0).abs() < 1e-10, "({alpha}, {beta}, {c}), {arms} arms, {pulls:?}: {sum}");
            }
        }
    }
    let refused = |alpha, beta, c, horizon| {
        Counts::in_log_odds(&Thompson::new(alpha, beta, c), 2, horizon).unwrap_err().to_string()
    };
    assert!(refused(0.01, 1.0, 1.0, 9).contains("at least about 0.06, not 0.01"));
    assert!(refused(1.0, 0.5, 0.1, 9).contains("at least about 0.06, not 0.05"));
    assert!(refused(1.0, 1.0, 128.0, 900).contains("the largest horizon that fits is"));
}
