//! The paper's theorems as tests: what is proved must be seen.
#![allow(clippy::unwrap_used)]

use crate::numbers::{Numbers, normal_cdf};
use gradband::policy::{Choice, named};
use gradband::{Prior, Problem, Simulator};

fn choice(name: &str, params: &[f64], problem: &Problem) -> Choice {
    Choice::initial(&named(name).unwrap(), problem).unwrap().with_params(problem, params).unwrap()
}

/// Bernoulli arms with known means.
fn point(means: Vec<f64>, horizon: usize) -> Problem {
    Problem::bernoulli(Prior::points(vec![means]).unwrap()).horizon(horizon).build().unwrap()
}

/// Theorem 1's closed form: r(n, theta; h) = mu_1 n - Delta [h + Phi(-Delta sqrt(h/2)) (n - 2 h)], unit
/// noise.
fn committed_reward(means: [f64; 2], horizon: usize, h: usize) -> f64 {
    let (best, gap) = (means[0].max(means[1]), (means[0] - means[1]).abs());
    let (n, h) = (horizon as f64, h as f64);
    best * n - gap * (h + normal_cdf(-gap * (h / 2.0).sqrt()) * (n - 2.0 * h))
}

/// Second differences of the closed form are nowhere positive: 200 random instances, every h.
#[test]
fn theorem_1_in_closed_form() {
    let mut numbers = Numbers(21);
    for _ in 0..200 {
        let means = [4.0 * numbers.unit() - 2.0, 4.0 * numbers.unit() - 2.0];
        let horizon = 6 + (100.0 * numbers.unit()) as usize;
        let rewards: Vec<f64> = (1..=horizon / 2).map(|h| committed_reward(means, horizon, h)).collect();
        for triple in rewards.windows(3) {
            let bend = triple[0] - 2.0 * triple[1] + triple[2];
            assert!(bend <= 1e-9, "{means:?}, n = {horizon}: {bend}");
        }
    }
}

/// The simulated reward is the closed form's mixture over the prior, within 4 standard errors of 200,000
/// instances, and concave: second differences of paired rewards, 4 standard errors. Between integers it is
/// linear.
#[test]
fn theorem_1_simulated() {
    const INSTANCES: usize = 200_000;
    let instances = vec![vec![0.5, -0.3], vec![0.1, 0.4], vec![-1.0, 0.2]];
    let prior = Prior::points(instances.clone()).unwrap();
    let problem = Problem::gaussian(prior, 1.0).horizon(20).build().unwrap();
    let hs = (1..=10).map(f64::from).chain([2.5]);
    let choices: Vec<_> = hs.map(|h| choice("explore-then-commit", &[h], &problem)).collect();
    let played = Simulator::new(&problem).instances(INSTANCES).compare(&choices).unwrap();
    let closed =
        |h: usize| instances.iter().map(|m| committed_reward([m[0], m[1]], 20, h)).sum::<f64>() / 3.0;
    let best: f64 = instances.iter().map(|m| 20.0 * m[0].max(m[1])).sum::<f64>() / 3.0;
    for h in 1..=10 {
        let regret = played.regret(h - 1);
        let z = (regret.mean - (best - closed(h))) / regret.std_error;
        assert!(z.abs() < 4.0, "h = {h}: {regret:?}, z = {z:.2}");
    }
    let between = played.regret(10);
    let z = (between.mean - (best - 0.5 * (closed(2) + closed(3)))) / between.std_error;
    assert!(z.abs() < 4.0, "h = 2.5: {between:?}, z = {z:.2}");
    for h in 1..9 {
        // Regret is convex where reward is concave.
        let (first, second) = (played.difference(h - 1, h), played.difference(h, h + 1));
        // The two differences share a policy: by the triangle inequality no more than the sum of their errors.
        let error = first.std_error + second.std_error;
        assert!(first.mean - second.mean > -4.0 * error, "h = {h}: {first:?} {second:?}");
    }
}

/// sum_i (2e + 1) (16 / Delta_i ln n + Delta_i) + 5 Delta_i.
fn theorem_7(means: &[f64], horizon: usize) -> f64 {
    let best = means.iter().copied().fold(f64::MIN, f64::max);
    let gaps = means.iter().map(|mean| best - mean).filter(|&gap| gap > 0.0);
    let slope = 2.0 * std::f64::consts::E + 1.0;
    gaps.map(|gap| slope * (16.0 / gap * (horizon as f64).ln() + gap) + 5.0 * gap).sum()
}

/// SoftElim at w = sqrt 8 on random instances: exact for two arms, and simulated (2,000 runs, 4 standard
/// errors) for more.
#[test]
fn theorem_7_bounds_softelim() {
    let mut numbers = Numbers(22);
    let w = 8f64.sqrt();
    for turn in 0..24 {
        let arms = if turn % 2 == 0 { 2 } else { 3 + turn % 8 };
        let horizon = if arms == 2 { 20 + (60.0 * numbers.unit()) as usize } else { 2_000 };
        let means: Vec<f64> = (0..arms).map(|_| numbers.unit()).collect();
        let bound = theorem_7(&means, horizon);
        let problem = point(means.clone(), horizon);
        let choice = choice("softelim", &[w], &problem);
        let regret = if arms == 2 {
            Simulator::new(&problem).exact(&choice).unwrap().bayes_regret
        } else {
            let regret = Simulator::new(&problem).instances(2_000).evaluate(&choice).unwrap().regret();
            regret.mean + 4.0 * regret.std_error
        };
        assert!(regret <= bound, "{means:?}, n = {horizon}: {regret} > {bound}");
    }
}

/// The inequality in the proof of lemma 5: |d r / dw| <= c n E[sum of regret], where no score is longer than
/// c. Exact gradients and regrets, random instances.
///
/// Boltzmann: |score| = |mean_a - average| / w^2 <= 1 / w^2. Epsilon-greedy: 1 / epsilon at most. SoftElim:
/// 2 gap_score / w^3 with a gap score of at most 2 n.
#[test]
fn lemma_5_bounds_gradients_by_regret() {
    let mut numbers = Numbers(23);
    for _ in 0..12 {
        let horizon = 4 + (40.0 * numbers.unit()) as usize;
        let n = horizon as f64;
        let problem = point(vec![numbers.unit(), numbers.unit()], horizon);
        for w in [0.1, 0.5, 0.9] {
            for (name, c) in [
                ("boltzmann", 1.0 / (w * w)),
                ("epsilon-greedy", 1.0 / w),
                ("softelim", 4.0 * n / (w * w * w)),
            ] {
                let exact = Simulator::new(&problem).exact(&choice(name, &[w], &problem)).unwrap();
                let bound = c * n * exact.bayes_regret;
                assert!(exact.gradient[0].abs() <= bound + 1e-9, "{name}({w}): {exact:?}, bound {bound}");
            }
        }
    }
}
