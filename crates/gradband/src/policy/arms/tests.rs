//! Slow, obvious versions of what exact results are made of, compared with the fast ones on small problems and random
//! priors: count kernels, the forward programme, the best possible policy.

#[path = "../../../tests/numbers/mod.rs"]
pub(super) mod numbers;

use super::bayes_optimal::DEFINITION as OPTIMAL;
use super::boltzmann::Boltzmann;
use super::epsilon_greedy::EpsilonGreedy;
use super::explore_then_commit::DEFINITION as EXPLORE_THEN_COMMIT;
use super::gittins::Gittins;
use super::random::Random;
use super::soft_index::{Counts as SoftIndexCounts, SoftIndex};
use super::softelim::SoftElim;
use super::thompson::Counts as Thompson;
use super::ucb_v::UcbV;
use super::ucb1::Ucb1;
use crate::exact::bayes_optimal::Plan;
use crate::exact::belief::Unsolved;
use crate::exact::index::IndexPolicy;
use crate::exact::mixture::SuccessTable;
use crate::exact::{ArmPrior, BayesOptimal, Component, Cost, CountKernel, Exact, LIMIT, Mixture, forward};
use crate::measure::exact;
use crate::observe::{Observer, Progress};
use crate::policy::{Choice, POLICIES, named};
use crate::problem::{Horizon, Points, Prior, Problem, Split};
use crate::stop::StopReason;
use numbers::Numbers;
use std::ops::ControlFlow;

fn evaluate(policy: &dyn CountKernel, prior: &Mixture, horizon: usize) -> Exact {
    forward(policy, prior, horizon, &mut ()).unwrap()
}

fn over_counts(prior: &Mixture, horizon: usize) -> BayesOptimal {
    BayesOptimal::over_counts(prior, horizon, &mut ()).unwrap()
}

/// Expected reward of the rounds to come, by enumeration of all actions and rewards.
fn enumerate(
    policy: &dyn CountKernel,
    arms: &[ArmPrior],
    pulls: &mut [u32],
    successes: &mut [u32],
    left: usize,
) -> f64 {
    if left == 0 {
        return 0.0;
    }
    let mut pi = vec![0.0; arms.len()];
    policy.probabilities(pulls, successes, &mut pi, &mut vec![0.0; arms.len() * policy.dim()]);
    assert!((pi.iter().sum::<f64>() - 1.0).abs() < 1e-12 && pi.iter().all(|&p| p >= 0.0));
    let mut total = 0.0;
    for arm in 0..arms.len() {
        let p = arms[arm].predict(successes[arm] as usize, pulls[arm] as usize);
        pulls[arm] += 1;
        let failure = enumerate(policy, arms, pulls, successes, left - 1);
        successes[arm] += 1;
        let success = 1.0 + enumerate(policy, arms, pulls, successes, left - 1);
        successes[arm] -= 1;
        pulls[arm] -= 1;
        total += pi[arm] * (p * success + (1.0 - p) * failure);
    }
    total
}

fn enumerated_reward(policy: &dyn CountKernel, prior: &Mixture, horizon: usize) -> f64 {
    let arms = prior.arms();
    let reward = |c: &Component| {
        c.weight * enumerate(policy, &c.arms, &mut vec![0; arms], &mut vec![0; arms], horizon)
    };
    prior.components().iter().map(reward).sum()
}

fn soft_index(params: [f64; 6], horizon: usize) -> SoftIndexCounts {
    SoftIndexCounts(SoftIndex::new(params, Horizon::Fixed(horizon)))
}

fn policies(arms: usize, horizon: usize) -> Vec<(&'static str, Box<dyn CountKernel>)> {
    vec![
        ("softelim", Box::new(SoftElim::new(0.6))),
        ("softelim", Box::new(SoftElim::new(0.05))),
        ("soft-index", Box::new(soft_index([0.6, 1.5, 0.7, 0.4, 1.3, 0.05], horizon))),
        ("soft-index", Box::new(IndexPolicy(soft_index([0.3, 20.0, 1.0, 0.35, 1.0, 1.0], horizon)))),
        ("boltzmann", Box::new(Boltzmann::new(0.3))),
        ("boltzmann", Box::new(Boltzmann::new(0.0005))),
        ("epsilon-greedy", Box::new(IndexPolicy(EpsilonGreedy::new(0.2)))),
        ("ucb1", Box::new(IndexPolicy(Ucb1::new(horizon)))),
        ("ucb-v", Box::new(IndexPolicy(UcbV::new(arms, horizon)))),
        ("gittins", Box::new(IndexPolicy(Gittins::new(horizon, [0; 2], &mut ()).unwrap()))),
        ("thompson", Box::new(Thompson::new(arms, horizon))),
        ("random", Box::new(Random)),
    ]
}

/// The list above is the catalogue's; explore-then-commit, which is a mixture, and the best possible policy have tests
/// of their own.
#[test]
fn every_policy_with_exact_results_is_compared() {
    let mut known: Vec<_> = policies(2, 4).iter().map(|&(name, _)| name).collect();
    known.extend([EXPLORE_THEN_COMMIT.name, OPTIMAL.name]);
    for kind in POLICIES.iter() {
        assert_eq!(kind.is_exact(), known.contains(&kind.name()), "{}", kind.name());
    }
}

#[test]
fn evaluation_agrees_with_complete_enumeration() {
    let mut numbers = Numbers(1);
    for (arms, horizon) in [(1, 4), (2, 1), (2, 4), (2, 6), (3, 5)] {
        for (name, policy) in policies(arms, horizon) {
            for turn in 0..4 {
                let prior = numbers.prior(arms, turn);
                let (fast, slow) = (
                    evaluate(policy.as_ref(), &prior, horizon),
                    enumerated_reward(policy.as_ref(), &prior, horizon),
                );
                assert!(
                    (fast.bayes_reward - slow).abs() < 1e-13 * horizon as f64,
                    "{name}, K = {arms}, n = {horizon}"
                );
                assert_eq!(fast.gradient.len(), policy.dim());
            }
        }
    }
}

/// Five-point central difference.
fn slope(reward: impl Fn(f64) -> f64, at: f64, h: f64) -> f64 {
    (8.0 * (reward(at + h) - reward(at - h)) - (reward(at + 2.0 * h) - reward(at - 2.0 * h))) / (12.0 * h)
}

#[test]
fn gradients_agree_with_central_differences() {
    let mut numbers = Numbers(2);
    for (arms, horizon) in [(2, 7), (2, 60), (3, 12)] {
        for turn in 0..4 {
            let prior = numbers.prior(arms, turn);
            let check = |name: &str, w: f64, make: &dyn Fn(f64) -> Box<dyn CountKernel>| {
                let gradient = evaluate(make(w).as_ref(), &prior, horizon).gradient[0];
                let difference =
                    slope(|w| evaluate(make(w).as_ref(), &prior, horizon).bayes_reward, w, 1e-3 * w);
                assert!(
                    (gradient - difference).abs() < 1e-6 * gradient.abs().max(1e-3),
                    "{name}({w}): {gradient}, {difference}"
                );
            };
            for w in [0.3, 1.0, 2.5] {
                check("softelim", w, &|w| Box::new(SoftElim::new(w)));
                check("boltzmann", w, &|w| Box::new(Boltzmann::new(w)));
            }
            check("epsilon-greedy", 0.3, &|w| Box::new(IndexPolicy(EpsilonGreedy::new(w))));
        }
    }
}

/// All six at once: each derivative along its own parameter.
#[test]
fn gradients_of_the_soft_index_agree_with_central_differences() {
    let mut numbers = Numbers(2);
    for (arms, horizon) in [(2, 7), (2, 40), (3, 9)] {
        for turn in 0..4 {
            let prior = numbers.prior(arms, turn);
            let params = [0.55, 2.5, 0.8, 0.35, 0.7, 0.1];
            let gradient = evaluate(&soft_index(params, horizon), &prior, horizon).gradient;
            assert_eq!(gradient.len(), 6);
            for (i, gradient) in gradient.into_iter().enumerate() {
                let reward = |x| {
                    let mut params = params;
                    params[i] = x;
                    evaluate(&soft_index(params, horizon), &prior, horizon).bayes_reward
                };
                let difference = slope(reward, params[i], 1e-3 * params[i]);
                assert!(
                    (gradient - difference).abs() < 1e-6 * gradient.abs().max(1e-3),
                    "K = {arms}, n = {horizon}, parameter {i}: {gradient}, {difference}"
                );
            }
        }
    }
}

#[test]
fn explore_then_commit_agrees_with_a_closed_form_and_is_piecewise_linear() {
    let mut numbers = Numbers(3);
    let points = Points::new(vec![vec![0.7, 0.4], vec![0.1, 0.3]], Some(vec![1.0, 3.0])).unwrap();
    let explore_then_commit = |h: f64, horizon: usize| {
        let problem = Problem::bernoulli(Prior::Points(points.clone())).horizon(horizon).build().unwrap();
        let choice = Choice::initial(&named("explore-then-commit").unwrap(), &problem).unwrap();
        let choice = choice.with_params(&problem, &[h]).unwrap();
        exact(&problem, &choice, Split::HeldOut, &mut ()).unwrap()
    };
    // Reward = h (a + b) + (n - 2 h) (P(commit to 0) a + P(commit to 1) b), commitments by binomial sums;
    // ties go to 0.
    let closed = |horizon: usize, h: usize| -> f64 {
        let binomial = |p: f64| SuccessTable::new(&ArmPrior::Point(p), h).row(h).to_vec();
        [(0.25, 0.7, 0.4), (0.75, 0.1, 0.3)]
            .map(|(weight, a, b)| {
                let (x, y) = (binomial(a), binomial(b));
                let first: f64 = (0..=h).map(|s| x[s] * y[..=s].iter().sum::<f64>()).sum();
                weight * (h as f64 * (a + b) + (horizon - 2 * h) as f64 * (first * a + (1.0 - first) * b))
            })
            .iter()
            .sum()
    };
    for horizon in [4, 5, 6, 11] {
        let highest = horizon / 2;
        for h in 1..=highest {
            let exact = explore_then_commit(h as f64, horizon);
            assert!((exact.bayes_reward - closed(horizon, h)).abs() < 1e-12);
            let low = h.min(highest.max(2) - 1);
            let piece = if highest == 1 { 0.0 } else { closed(horizon, low + 1) - closed(horizon, low) };
            assert!((exact.gradient[0] - piece).abs() < 1e-12, "n = {horizon}, h = {h}");
            if h < highest {
                let share = numbers.unit();
                let between = explore_then_commit(h as f64 + share, horizon);
                let line = closed(horizon, h) * (1.0 - share) + closed(horizon, h + 1) * share;
                assert!((between.bayes_reward - line).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn thompson_in_closed_form_agrees_with_quadrature() {
    let (closed, quadrature) = (Thompson::new(2, 120), Thompson::by_quadrature(2, 120));
    for pulls in [[0, 0], [1, 0], [0, 7], [5, 5], [3, 90], [60, 60]] {
        let len = (pulls[0] as usize + 1) * (pulls[1] as usize + 1);
        let mut all = [vec![0.0; 2 * len], vec![0.0; 2 * len]];
        closed.block(&pulls, &mut all[0], &mut []);
        quadrature.block(&pulls, &mut all[1], &mut []);
        all[0].iter().zip(&all[1]).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{pulls:?}: {a}, {b}"));
    }
}

/// Bellman's equation with posterior weights of the components: the best reward to come.
fn expectimax(
    prior: &Mixture,
    posterior: &[f64],
    pulls: &mut [u32],
    successes: &mut [u32],
    left: usize,
) -> f64 {
    if left == 0 {
        return 0.0;
    }
    let mut best = f64::MIN;
    for arm in 0..prior.arms() {
        let chance =
            |k: usize| prior.components()[k].arms[arm].predict(successes[arm] as usize, pulls[arm] as usize);
        let joint: Vec<f64> = posterior.iter().enumerate().map(|(k, q)| q * chance(k)).collect();
        let p: f64 = joint.iter().sum();
        let after = |success: bool| -> Vec<f64> {
            posterior
                .iter()
                .zip(&joint)
                .map(|(q, j)| if success { j / p } else { (q - j) / (1.0 - p) })
                .collect()
        };
        let (up, down) = (after(true), after(false));
        pulls[arm] += 1;
        let failure = if p < 1.0 { expectimax(prior, &down, pulls, successes, left - 1) } else { 0.0 };
        successes[arm] += 1;
        let success = if p > 0.0 { 1.0 + expectimax(prior, &up, pulls, successes, left - 1) } else { 0.0 };
        successes[arm] -= 1;
        pulls[arm] -= 1;
        best = best.max(p * success + (1.0 - p) * failure);
    }
    best
}

#[test]
fn bayes_optimal_agrees_with_expectimax_and_bounds_every_policy() {
    let mut numbers = Numbers(4);
    for (arms, horizon) in [(1, 3), (2, 1), (2, 7), (3, 5), (5, 3)] {
        for turn in 0..4 {
            let prior = numbers.prior(arms, turn);
            let best = over_counts(&prior, horizon);
            let weights: Vec<f64> = prior.components().iter().map(|c| c.weight).collect();
            let slow = expectimax(&prior, &weights, &mut vec![0; arms], &mut vec![0; arms], horizon);
            assert!((best.exact.bayes_reward - slow).abs() < 1e-12, "K = {arms}, n = {horizon}");
            let played = evaluate(&best, &prior, horizon).bayes_reward;
            assert!((played - slow).abs() < 1e-11, "the table plays {played}, the value is {slow}");
            for (name, policy) in policies(arms, horizon) {
                let other = evaluate(policy.as_ref(), &prior, horizon).bayes_reward;
                assert!(other <= slow + 1e-12, "{name} earns {other}, more than {slow}");
            }
        }
    }
}

#[test]
fn beliefs_agree_with_counts() {
    let mut numbers = Numbers(5);
    let mut means = |arms: usize| -> Vec<f64> { (0..arms).map(|_| numbers.unit()).collect() };
    let mut problems = vec![
        (vec![0.6, 0.4], vec![0.4, 0.6], 60),
        (vec![0.5, 0.5, 0.2], vec![0.5, 0.5, 0.9], 12),
        (vec![1.0, 0.5], vec![0.0, 0.5], 20),  // one pull tells
        (vec![0.0, 0.3], vec![0.0, 0.31], 20), // an arm that tells nothing
        (vec![0.3, 0.3], vec![0.3, 0.3], 20),  // nothing to learn
        (vec![1.0, 0.9, 0.0], vec![1.0, 1.0, 0.1], 10),
    ];
    problems.extend((0..6).map(|turn| (means(2 + turn % 2), means(2 + turn % 2), 30 - 18 * (turn % 2))));
    for (first, second, horizon) in problems {
        let prior = Mixture::points(&[first, second], &[0.3, 0.7]).unwrap();
        let best = over_counts(&prior, horizon).exact.bayes_regret;
        let belief = Unsolved::new(&prior).unwrap().solve(horizon, &mut ()).unwrap();
        let belief = BayesOptimal::over_belief(belief, &prior, horizon);
        let regret = belief.exact.bayes_regret;
        assert!(
            regret > best - 1e-11 && regret - belief.error < best + 1e-11,
            "{prior:?}: {regret} ± {}, {best}",
            belief.error
        );
        assert!(belief.error < 5e-5, "{prior:?}: {}", belief.error);
        let played = evaluate(&belief, &prior, horizon).bayes_regret;
        assert!((played - best).abs() < 1e-6, "{prior:?} plays {played}, not {best}");
    }
    assert!(Unsolved::new(&Mixture::beta(&[1.0; 2], &[1.0; 2]).unwrap()).is_none());
}

/// A policy with two points on a lattice is planned over beliefs, any other over counts, and what does not
/// fit is refused with numbers.
#[test]
fn the_cheapest_exact_method_is_taken() {
    let plan = |prior: &Mixture, horizon| BayesOptimal::plan(prior, horizon, &LIMIT);
    let over_belief = |prior: &Mixture| matches!(plan(prior, 200).unwrap(), Plan::Belief(..));
    let lattice = Mixture::points(&[vec![0.6, 0.4], vec![0.4, 0.6]], &[0.5, 0.5]).unwrap();
    assert!(over_belief(&lattice));
    let other = Mixture::points(&[vec![0.6, 0.41], vec![0.4, 0.6]], &[0.5, 0.5]).unwrap();
    assert!(!over_belief(&other));
    let wide = Mixture::points(&[vec![0.31; 24], vec![0.41; 24]], &[0.5, 0.5]).unwrap();
    assert!(over_belief(&wide));
    let uniform = Mixture::beta(&[1.0; 10], &[1.0; 10]).unwrap();
    let Err(error) = plan(&uniform, 1000) else { panic!("a programme of that size") };
    let error = error.to_string();
    for part in ["10 arms", "1000 rounds", "states", "GB", "largest horizon that fits is"] {
        assert!(error.contains(part), "{error}");
    }
    let small = Cost { bytes: 1 << 20, ..LIMIT };
    assert!(BayesOptimal::plan(&Mixture::beta(&[1.0; 2], &[1.0; 2]).unwrap(), 200, &small).is_err());
}

/// Stops the work when it is told of it for the third time.
struct Third(usize);

impl Observer for Third {
    fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
        self.0 += 1;
        if self.0 < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(StopReason::Time) }
    }
}

/// A programme that is stopped has no result, and says why.
#[test]
fn programmes_can_be_stopped() {
    let prior = Mixture::beta(&[1.0; 2], &[1.0; 2]).unwrap();
    let forward = forward(&SoftElim::new(1.0), &prior, 9, &mut Third(0)).unwrap_err();
    let backward = BayesOptimal::over_counts(&prior, 9, &mut Third(0)).unwrap_err();
    assert_eq!([forward, backward].map(|error| error.stopped()), [Some(StopReason::Time); 2]);
}
