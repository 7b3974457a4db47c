//! The gradient estimator against exact derivatives, for every learnable policy, baseline and kind of
//! returns.
//!
//! Means over 200,000 instances must lie within 4 standard errors of the exact value: a correct estimator
//! fails a comparison with probability 6e-5, were the seed drawn anew.
#![allow(clippy::unwrap_used)]

mod oracle;

use gradband::baseline::{Baseline, Returns};
use gradband::gradient::Estimator;
use gradband::lanes::One;
use gradband::policy::{Boltzmann, EpsilonGreedy, Exp3, History, Policy, SoftElim, exp3::Score};
use gradband::problem::{Points, Prior, Problem, Rewards};
use gradband::registry::{Choice, policy};
use gradband::stream::{Key, Stream};
use oracle::{Naive, Past};
use std::ops::ControlFlow;

const INSTANCES: usize = 200_000;

fn points(rewards: Rewards, instances: &[&[f64]], horizon: usize) -> Problem {
    let instances = instances.iter().map(|means| means.to_vec()).collect();
    Problem::new("points", rewards, Prior::Points(Points::new(instances, None).unwrap()), horizon).unwrap()
}

fn estimators() -> impl Iterator<Item = Estimator> {
    let baselines = [
        Baseline::None,
        Baseline::Opt,
        Baseline::SelfPlay,
        Baseline::LeaveOneOut(2),
        Baseline::LeaveOneOut(5),
    ];
    baselines.into_iter().flat_map(|baseline| {
        [Returns::Realized, Returns::Mean].map(|returns| Estimator {
            baseline,
            returns,
            batch_size: INSTANCES,
        })
    })
}

fn check(choice: &Choice, problem: &Problem, exact: f64) {
    for (i, estimator) in estimators().enumerate() {
        let agent = choice.agent(problem);
        let key = Key::new(i as u64).child(99);
        let gradient = estimator.estimate(&*agent, problem, key, |_| ControlFlow::Continue(())).unwrap();
        let estimate = gradient.estimate[0];
        let z = (estimate.mean - exact) / estimate.std_error;
        assert!(z.abs() < 4.0, "{}, {estimator:?}: {estimate:?}, exact {exact}, z = {z:.2}", choice.label());
    }
}

/// Complete enumeration on the prior's points.
fn enumerated(naive: Naive, w: f64, instances: &[&[f64]], horizon: usize) -> f64 {
    instances.iter().map(|means| naive.derivative(w, means, horizon)).sum::<f64>() / instances.len() as f64
}

const LEARNABLE: [(&str, Naive, f64); 4] = [
    ("softelim", Naive::SoftElim, 0.7),
    ("boltzmann", Naive::Boltzmann, 0.4),
    ("epsilon-greedy", Naive::EpsilonGreedy, 0.2),
    ("exp3", Naive::Exp3, 0.3),
];

#[test]
fn estimates_are_unbiased_with_two_arms() {
    let instances: [&[f64]; 2] = [&[0.6, 0.4], &[0.3, 0.9]];
    for (name, naive, w) in LEARNABLE {
        let problem = points(Rewards::Bernoulli, &instances, 7);
        let choice =
            Choice::initial(policy(name).unwrap(), &problem).unwrap().with_params(&problem, &[w]).unwrap();
        check(&choice, &problem, enumerated(naive, w, &instances, 7));
    }
}

#[test]
fn estimates_are_unbiased_with_three_arms() {
    let instances: [&[f64]; 2] = [&[0.2, 0.5, 0.8], &[0.7, 0.1, 0.6]];
    for (name, naive, w) in LEARNABLE {
        let problem = points(Rewards::Bernoulli, &instances, 5);
        let choice =
            Choice::initial(policy(name).unwrap(), &problem).unwrap().with_params(&problem, &[w]).unwrap();
        check(&choice, &problem, enumerated(naive, w, &instances, 5));
    }
}

/// The figures of the note on Exp3: the total derivative is right, the paper's lemma is not.
#[test]
fn the_papers_exp3_gradient_is_biased_and_ours_is_not() {
    let exact = Naive::Exp3.derivative(0.3, &[0.6, 0.4], 7);
    assert!((exact - 0.034_917_31).abs() < 1e-8, "{exact}");
    let problem = points(Rewards::Bernoulli, &[&[0.6, 0.4]], 7);
    let exp3 =
        Choice::initial(policy("exp3").unwrap(), &problem).unwrap().with_params(&problem, &[0.3]).unwrap();
    let paper = exp3.with(&problem, "score", "paper").unwrap();
    let estimator =
        Estimator { baseline: Baseline::LeaveOneOut(8), returns: Returns::Mean, batch_size: 4_000_000 };
    let estimate = |choice: &Choice| {
        let agent = choice.agent(&problem);
        estimator.estimate(&*agent, &problem, Key::new(5), |_| ControlFlow::Continue(())).unwrap().estimate[0]
    };
    let (total, lemma) = (estimate(&exp3), estimate(&paper));
    assert!((total.mean - exact).abs() < 4.0 * total.std_error, "{total:?}");
    assert!((lemma.mean - 0.037_526_85).abs() < 4.0 * lemma.std_error, "{lemma:?}");
    assert!((lemma.mean - exact).abs() > 8.0 * lemma.std_error, "the bias must show: {lemma:?}");
}

/// Standard normal distribution function by Simpson's rule.
fn normal_cdf(x: f64) -> f64 {
    let density = |t: f64| (-t * t / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let (steps, h) = (2000, x / 2000.0);
    let weight = |i: usize| {
        if i == 0 || i == steps {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    0.5 + h / 3.0 * (0..=steps).map(|i| weight(i) * density(i as f64 * h)).sum::<f64>()
}

/// Theorem 1: mu_1 n - Delta [h + Phi(-Delta sqrt(h/2)) (n - 2h)], linear between integers.
fn explore_then_commit_reward(h: f64, means: &[f64], n: f64) -> f64 {
    let at = |h: f64| {
        let (best, gap) = (means[0].max(means[1]), (means[0] - means[1]).abs());
        best * n - gap * (h + normal_cdf(-gap * (h / 2.0).sqrt()) * (n - 2.0 * h))
    };
    at(h.floor()) * (1.0 - h.fract()) + at(h.floor() + 1.0) * h.fract()
}

#[test]
fn explore_then_commit_matches_theorem_1() {
    let instances: [&[f64]; 2] = [&[0.9, 0.2], &[-0.3, 0.1]];
    let problem = points(Rewards::Gaussian { noise_sd: 1.0 }, &instances, 30);
    let info = policy("explore-then-commit").unwrap();
    for (h, piece) in [(3.4, 3.0), (1.0, 1.0), (7.0, 7.0), (14.2, 14.0), (15.0, 14.0)] {
        let choice = Choice::initial(info, &problem).unwrap().with_params(&problem, &[h]).unwrap();
        let reward = |h: f64| {
            instances.iter().map(|means| explore_then_commit_reward(h, means, 30.0)).sum::<f64>() / 2.0
        };
        check(&choice, &problem, reward(piece + 1.0) - reward(piece));
        let agent = choice.agent(&problem);
        let evaluation =
            gradband::evaluate::evaluate(&[&*agent], &problem, 3, INSTANCES, |_| ControlFlow::Continue(()))
                .unwrap();
        let estimate = evaluation.reward(0);
        assert!(
            (estimate.mean - reward(h)).abs() < 4.0 * estimate.std_error,
            "h = {h}: {estimate:?} {}",
            reward(h)
        );
    }
}

/// Scores agree with central differences of log pi on random histories, to 1e-6.
fn check_score<P: Policy>(name: &str, naive: Naive, make: impl Fn(f64) -> P, w: f64, arms: usize) {
    let mut coin = Stream::<One<f64>>::new((), Key::new(21), arms as u64);
    for run in 0..200 {
        let policy = make(w);
        let mut actions = Stream::<One<f64>>::new((), Key::new(22), run);
        let mut own = vec![One(0.0); policy.slots(arms)];
        let (mut pulls, mut sums, mut means) =
            (vec![One(0.0); arms], vec![One(0.0); arms], vec![One(0.0); arms]);
        let mut past = Past::default();
        for round in 0..12 {
            let mut score = One(0.0);
            let arm = if P::EACH_ARM_ONCE && round < arms {
                round
            } else {
                let history = History { round, pulls: &pulls, sums: &sums, means: &means };
                let arm =
                    policy.act::<One<f64>, 0, true>(&history, &mut own, &mut actions, &mut score).0 as usize;
                let h = 1e-6;
                let log = |w: f64| naive.probabilities(w, arms, &past)[arm].ln();
                let difference = (log(w + h) - log(w - h)) / (2.0 * h);
                assert!(
                    (score.0 - difference).abs() < 1e-6 * (1.0 + difference.abs()),
                    "{name}, round {round}: score {}, difference {difference}",
                    score.0
                );
                arm
            };
            let reward = f64::from(u8::from(coin.uniform().0 < 0.2 + 0.6 * arm as f64 / arms as f64));
            past.0.push((arm, reward));
            pulls[arm] = pulls[arm] + 1.0;
            sums[arm] = sums[arm] + One(reward);
            means[arm] = sums[arm] / pulls[arm];
            policy.update(One(arm as f64), One(reward), pulls[arm], &mut own);
        }
    }
}

#[test]
fn scores_are_derivatives_of_log_probabilities() {
    for arms in [2, 3, 5] {
        for w in [0.1, 0.4, 0.9] {
            check_score("softelim", Naive::SoftElim, SoftElim::new, w, arms);
            check_score("boltzmann", Naive::Boltzmann, Boltzmann::new, w, arms);
            check_score("epsilon-greedy", Naive::EpsilonGreedy, EpsilonGreedy::new, w, arms);
            check_score("exp3", Naive::Exp3, |w| Exp3::new(w, arms, Score::Total), w, arms);
        }
    }
}
