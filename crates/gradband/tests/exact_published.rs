//! The exact numbers of the paper's two-armed problems at its horizon, from independent programs.
#![allow(clippy::unwrap_used)]

use gradband::exact::{ArmPrior, BayesOptimal, Component, Cost, CountKernel, Exact, LIMIT, Mixture, forward};
use gradband::problem::{Problem, Split};
use gradband::{Policy, Simulator};

const HORIZON: usize = 200;

fn of(problem: &str, policy: &str) -> Exact {
    Simulator::new(&Problem::named(problem).unwrap()).exact(policy).unwrap()
}

fn prior(problem: &str) -> Mixture {
    Mixture::of(&Problem::named(problem).unwrap(), Split::HeldOut).unwrap()
}

#[track_caller]
fn near(value: f64, published: f64, tolerance: f64) {
    assert!((value - published).abs() <= tolerance, "{value}, published {published}");
}

/// Tolerances are half a unit of the last published digit.
#[test]
fn regrets_are_as_published() {
    for (problem, policy, regret, tolerance) in [
        ("bernoulli-2", "ucb1", 9.9848, 5e-5),
        ("bernoulli-2", "ucb-v", 15.8080, 5e-5),
        ("bernoulli-2", "epsilon-greedy(epsilon=0.1)", 7.2713, 5e-5),
        ("bernoulli-2", "thompson", 5.4568, 5e-5),
        ("bernoulli-2", "gittins", 3.7564, 5e-5),
        ("bernoulli-2", "softelim(w=0.5304)", 4.6665, 5e-5),
        ("bernoulli-2", "random", 20.0, 1e-10),
        ("bernoulli-2", "bayes-optimal", 2.4805, 5e-5),
        ("bernoulli-2-uniform", "thompson", 3.55062, 5e-6),
        ("bernoulli-2-uniform", "gittins", 2.24791, 5e-6),
        ("bernoulli-2-uniform", "bayes-optimal", 2.23925, 5e-6),
        ("distractors-24", "bayes-optimal", 1.370, 5e-4),
    ] {
        near(of(problem, policy).bayes_regret, regret, tolerance);
    }
}

#[test]
fn softelim_and_its_gradient() {
    let problem = Problem::named("bernoulli-2").unwrap();
    let softelim: Policy = "softelim".parse().unwrap();
    let at = |w: f64| Simulator::new(&problem).exact(softelim.clone().with_param("w", &[w])).unwrap();
    let untuned = at(1.0);
    near(untuned.bayes_regret, 7.2086, 5e-5);
    near(untuned.gradient[0], -6.98594, 5e-6);
    let h = 1e-3;
    let difference = (8.0 * (at(1.0 + h).bayes_reward - at(1.0 - h).bayes_reward)
        - (at(1.0 + 2.0 * h).bayes_reward - at(1.0 - 2.0 * h).bayes_reward))
        / (12.0 * h);
    near(untuned.gradient[0] / difference, 1.0, 1e-8);
    near(at(0.5304).gradient[0], 0.0, 5e-3);
}

/// The value of the programme is what its policy earns, over counts and over beliefs.
#[test]
fn bayes_optimal_plays_what_it_promises() {
    let points = prior("bernoulli-2");
    let counts = BayesOptimal::over_counts(&points, HORIZON, &mut ()).unwrap();
    let belief = BayesOptimal::new(&points, HORIZON, &LIMIT, &mut ()).unwrap();
    near(belief.exact.bayes_regret, counts.exact.bayes_regret, 1e-11);
    for optimal in [&counts, &belief] {
        let played = forward(optimal, &points, HORIZON, &mut ()).unwrap();
        near(played.bayes_regret, optimal.exact.bayes_regret, 1e-10);
    }
    let many = BayesOptimal::new(&prior("distractors-24"), HORIZON, &LIMIT, &mut ()).unwrap();
    assert!(many.error < 2e-5);
    let little = Cost { bytes: 1 << 20, ..LIMIT };
    assert!(BayesOptimal::new(&prior("bernoulli-2-uniform"), HORIZON, &little, &mut ()).is_err());
}

/// Any arm, uniformly.
struct Uniform;

impl CountKernel for Uniform {
    fn probabilities(&self, pulls: &[u32], _: &[u32], pi: &mut [f64], _: &mut [f64]) {
        pi.fill(1.0 / pulls.len() as f64);
    }
}

/// A random policy earns the mean of all arms: every state of the last layer counts, the least likely too.
#[test]
fn no_digit_is_lost() {
    let reward = |prior: &Mixture| forward(&Uniform, prior, HORIZON, &mut ()).unwrap().bayes_reward;
    for means in [[0.0, 1.0], [0.999, 1e-3], [0.5, 0.5]] {
        let arms = means.map(ArmPrior::Point).to_vec();
        let mean = 0.5 * (means[0] + means[1]);
        let prior = Mixture::new(vec![Component { weight: 1.0, arms }]).unwrap();
        near(reward(&prior) / (HORIZON as f64 * mean), 1.0, 1e-13);
    }
    let prior = Mixture::beta(&[1e4, 1e-2], &[1.0, 1e-2]).unwrap();
    let mean = 0.5 * (1e4 / (1e4 + 1.0) + 0.5);
    near(reward(&prior) / (HORIZON as f64 * mean), 1.0, 1e-13);
}

/// Two arms over 200 rounds: two layers of states, not all of them.
#[test]
fn memory_is_two_layers() {
    let Cost { states, bytes, .. } = Cost::evaluation(2, HORIZON, 1, 2);
    assert_eq!(states, 68_685_050);
    assert!(bytes < states, "{bytes} bytes for {states} states");
}
