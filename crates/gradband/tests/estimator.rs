//! The gradient estimator against exact derivatives, for every learnable policy of the catalogue and a rule of one's
//! own, every baseline and kind of returns.
//!
//! Means over 200,000 instances must lie within 4 standard errors of the exact value: a correct estimator
//! fails a comparison with probability 6e-5, were the seed drawn anew.
#![allow(clippy::unwrap_used)]

use crate::numbers::normal_cdf;
use crate::oracle::Naive;
use crate::rules;
use gradband::measure::Estimator;
use gradband::policy::{Choice, Learns, POLICIES, Policy, named};
use gradband::problem::{Prior, Problem, ProblemBuilder};
use gradband::simulate::{Baseline, Key, Returns};
use gradband::{ErrorKind, Simulator};

const INSTANCES: usize = 200_000;

fn points(instances: &[&[f64]]) -> Prior {
    Prior::points(instances.iter().map(|means| means.to_vec()).collect()).unwrap()
}

fn built(problem: ProblemBuilder, horizon: usize) -> Problem {
    problem.horizon(horizon).build().unwrap()
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

fn check(choice: &Choice, problem: &Problem, exact: &[f64]) {
    for (i, estimator) in estimators().enumerate() {
        let player = choice.scored_player(problem, &mut ()).unwrap();
        let key = Key::new(i as u64).child(99);
        let gradient = estimator.estimate(&*player, problem, key, &mut ()).unwrap();
        assert_eq!(gradient.estimate.len(), exact.len());
        for (estimate, exact) in gradient.estimate.iter().zip(exact) {
            let z = (estimate.mean - exact) / estimate.std_error;
            let label = choice.label();
            assert!(z.abs() < 4.0, "{label}, {estimator:?}: {estimate:?}, exact {exact}, z = {z:.2}");
        }
    }
}

/// Complete enumeration on the prior's points.
fn enumerated(naive: Naive, params: &[f64], instances: &[&[f64]], horizon: usize) -> Vec<f64> {
    let gradients: Vec<_> = instances.iter().map(|means| naive.gradient(params, means, horizon)).collect();
    let mean = |i| gradients.iter().map(|gradient| gradient[i]).sum::<f64>() / instances.len() as f64;
    (0..params.len()).map(mean).collect()
}

/// Where a policy is differentiated.
fn numbers_of(name: &str) -> Vec<f64> {
    match name {
        "softelim" => vec![0.7],
        "soft-index" => vec![0.6, 1.5, 0.7, 0.4, 1.3, 0.2],
        "boltzmann" => vec![0.4],
        "epsilon-greedy" => vec![0.2],
        "exp3" => vec![0.3],
        "explore-then-commit" => vec![2.3],
        "Restless" => vec![0.5, 0.3, 0.8],
        other => panic!("{other} can be learned: say where, and what its exact gradient is"),
    }
}

/// Every learnable policy against enumeration, where the oracle knows it, and against the dynamic programme. Networks are
/// compared with differences beside their engines.
fn check_catalogue(instances: &[&[f64]], horizon: usize) {
    let problem = built(Problem::bernoulli(points(instances)), horizon);
    let own = Policy::own(rules::Restless).kind().clone();
    for kind in POLICIES.iter().chain([&own]) {
        if kind.refusal(&problem).is_some() || !kind.learns_something() || kind.learns() != Learns::Score {
            continue;
        }
        // Tuned by a search, not by a gradient.
        if kind.name() == "thompson" {
            continue;
        }
        let numbers = numbers_of(kind.name());
        let choice = Choice::initial(kind, &problem).unwrap().with_params(&problem, &numbers).unwrap();
        let naive =
            Naive::named(kind.name(), horizon).map(|naive| enumerated(naive, &numbers, instances, horizon));
        let exact = Simulator::new(&problem).exact(&choice).map(|exact| exact.gradient);
        match (naive, exact) {
            (Some(naive), Ok(exact)) => {
                let close = naive.iter().zip(&exact).all(|(naive, exact)| (naive - exact).abs() < 1e-8);
                assert!(close && naive.len() == exact.len(), "{}: {naive:?} {exact:?}", kind.name());
                check(&choice, &problem, &exact);
            }
            (Some(naive), Err(_)) => check(&choice, &problem, &naive),
            (None, exact) => check(&choice, &problem, &exact.unwrap()),
        }
    }
}

#[test]
fn estimates_are_unbiased_with_two_arms() {
    check_catalogue(&[&[0.6, 0.4], &[0.3, 0.9]], 7);
}

#[test]
fn estimates_are_unbiased_with_three_arms() {
    check_catalogue(&[&[0.2, 0.5, 0.8], &[0.7, 0.1, 0.6]], 5);
}

/// The figures of the note on Exp3: the total derivative is right, the paper's lemma is not.
#[test]
fn the_papers_exp3_gradient_is_biased_and_ours_is_not() {
    let exact = Naive::Exp3.gradient(&[0.3], &[0.6, 0.4], 7)[0];
    assert!((exact - 0.034_917_31).abs() < 1e-8, "{exact}");
    let problem = built(Problem::bernoulli(points(&[&[0.6, 0.4]])), 7);
    let estimator =
        Estimator { baseline: Baseline::LeaveOneOut(8), returns: Returns::Mean, batch_size: 4_000_000 };
    let estimate = |policy: &str| {
        let player = Choice::parse(policy, &problem).unwrap().scored_player(&problem, &mut ()).unwrap();
        estimator.estimate(&*player, &problem, Key::new(5), &mut ()).unwrap().estimate[0]
    };
    let (total, lemma) = (estimate("exp3(w=0.3)"), estimate("exp3(w=0.3,score=paper)"));
    assert!((total.mean - exact).abs() < 4.0 * total.std_error, "{total:?}");
    assert!((lemma.mean - 0.037_526_85).abs() < 4.0 * lemma.std_error, "{lemma:?}");
    assert!((lemma.mean - exact).abs() > 8.0 * lemma.std_error, "the bias must show: {lemma:?}");
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
    let problem = built(Problem::gaussian(points(&instances), 1.0), 30);
    let kind = named("explore-then-commit").unwrap();
    for (h, piece) in [(3.4, 3.0), (1.0, 1.0), (7.0, 7.0), (14.2, 14.0), (15.0, 14.0)] {
        let choice = Choice::initial(&kind, &problem).unwrap().with_params(&problem, &[h]).unwrap();
        let reward = |h: f64| {
            instances.iter().map(|means| explore_then_commit_reward(h, means, 30.0)).sum::<f64>() / 2.0
        };
        check(&choice, &problem, &[reward(piece + 1.0) - reward(piece)]);
        let played = Simulator::new(&problem).seed(3).instances(INSTANCES).evaluate(&choice).unwrap();
        let estimate = played.reward();
        assert!(
            (estimate.mean - reward(h)).abs() < 4.0 * estimate.std_error,
            "h = {h}: {estimate:?} {}",
            reward(h)
        );
    }
}

/// A policy that has no score has no gradient: an estimate of zero would be a lie.
#[test]
fn nothing_is_estimated_without_a_score() {
    let problem = Problem::named("bernoulli-2").unwrap();
    let estimator = Estimator { baseline: Baseline::None, returns: Returns::Mean, batch_size: 10 };
    let dqn = Choice::initial(&named("dqn").unwrap(), &problem).unwrap();
    let dqn = dqn.with_params(&problem, &vec![0.1; dqn.params().len()]).unwrap();
    let player = dqn.player(&problem, &mut ()).unwrap();
    let error = estimator.estimate(&*player, &problem, Key::new(1), &mut ()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unscored { .. }), "{error}");
}
