//! Contextual policies against complete enumeration, published regrets and theorem 2.
#![allow(clippy::unwrap_used)]

use crate::enumeration::{W, cosoftelim, enumerable, enumerated, greedy, lin_thompson, soft_ucb};
use crate::numbers::{Numbers, normal_cdf};
use gradband::learn::{Estimator, Start};
use gradband::policy::{Choice, named};
use gradband::problem::{Discrete, Order, Points, Problem, World};
use gradband::simulate::{Baseline, Key, Returns};
use gradband::{Estimate, Simulator, Trainer};

fn choice(name: &str, problem: &Problem) -> Choice {
    Choice::initial(&named(name).unwrap(), problem).unwrap()
}

fn regret(choice: &Choice, problem: &Problem, instances: usize) -> Estimate {
    Simulator::new(problem).instances(instances).evaluate(choice).unwrap().regret()
}

fn central(f: impl Fn(f64) -> f64, at: f64) -> f64 {
    let step = 1e-5;
    (f(at + step) - f(at - step)) / (2.0 * step)
}

/// Every number of the gradient, every baseline, both kinds of returns: 100,000 instances, 4 standard errors.
fn check_unbiased(choice: &Choice, problem: &Problem, exact: &[f64]) {
    for (i, baseline) in
        [Baseline::None, Baseline::Opt, Baseline::SelfPlay, Baseline::LeaveOneOut(4)].into_iter().enumerate()
    {
        for returns in [Returns::Realized, Returns::Mean] {
            let estimator = Estimator { baseline, returns, batch_size: 100_000 };
            let player = choice.scored_player(problem, &mut ()).unwrap();
            let key = Key::new(7 + i as u64);
            let estimate = estimator.estimate(&*player, problem, key, &mut ()).unwrap();
            assert_eq!(estimate.estimate.len(), exact.len());
            for (k, (estimate, exact)) in estimate.estimate.iter().zip(exact).enumerate() {
                let z = (estimate.mean - exact) / estimate.std_error;
                assert!(z.abs() < 4.0, "{}, {baseline:?}, {k}: {estimate:?}, exact {exact}", choice.label());
            }
        }
    }
}

fn slopes(reward: impl Fn(&[f64; 4]) -> f64) -> Vec<f64> {
    let along = |k: usize| {
        central(
            |x| {
                let mut w = W;
                w[k] = x;
                reward(&w)
            },
            W[k],
        )
    };
    (0..4).map(along).collect()
}

#[test]
fn gradients_are_unbiased_where_everything_can_be_enumerated() {
    let world = &World::plain(4);
    let problem = &enumerable(*world);
    let with = |name: &str, settings: &[(&str, &str)], params: &[f64]| {
        let set = |choice: Choice, (key, value): &(&str, &str)| choice.with(problem, key, value).unwrap();
        settings.iter().fold(choice(name, problem), set).with_params(problem, params).unwrap()
    };
    let exact = slopes(|w| enumerated(world, w, 0.7, &cosoftelim(3.0)));
    check_unbiased(&with("cosoftelim", &[("ridge", "0.7"), ("gamma", "3")], &W), problem, &exact);

    let mut exact = exact;
    exact.push(central(|gamma| enumerated(world, &W, 0.7, &cosoftelim(gamma)), 3.0));
    let learned =
        with("cosoftelim", &[("ridge", "0.7"), ("learn_gamma", "true")], &[&W[..], &[3.0]].concat());
    check_unbiased(&learned, problem, &exact);

    let mut exact = slopes(|w| enumerated(world, w, 1.0, &soft_ucb(0.8, 0.3)));
    exact.push(central(|alpha| enumerated(world, &W, 1.0, &soft_ucb(alpha, 0.3)), 0.8));
    exact.push(central(|temperature| enumerated(world, &W, 1.0, &soft_ucb(0.8, temperature)), 0.3));
    check_unbiased(&with("soft-ucb", &[], &[&W[..], &[0.8, 0.3]].concat()), problem, &exact);

    let exact = slopes(|w| enumerated(world, w, 1.0, &lin_thompson(0.5)));
    check_unbiased(&with("lin-thompson", &[], &W), problem, &exact);

    let identity = [1.0, 0.0, 0.0, 1.0];
    let exact = central(|epsilon| enumerated(world, &identity, 1.0, &greedy(epsilon)), 0.3);
    check_unbiased(&with("lin-epsilon-greedy", &[], &[0.3]), problem, &[exact]);
}

/// The measured regret of untuned CoSoftElim to 1 %, at 50,000 instances (standard error below 0.15 %). Data sets are
/// tested where they are read.
#[test]
fn untuned_cosoftelim_has_the_measured_regret() {
    let problem = Problem::named("linear-1").unwrap();
    let found = regret(&choice("cosoftelim", &problem), &problem, 50_000);
    assert!((found.mean / 55.44 - 1.0).abs() < 0.01, "{found:?}");
}

fn tuned(name: &str, problem: &Problem, seed: u64) -> Choice {
    Trainer::new(name).seed(seed).train(problem).unwrap().choice().clone()
}

/// The identity as the start, one seed (the slow test has five): the asked-for regret, and where it comes from.
#[test]
fn training_finds_the_subspace() {
    let problem = Problem::named("linear-2").unwrap();
    let policy = Trainer::new("cosoftelim").start(Start::Identity).train(&problem).unwrap().choice().clone();
    let found = regret(&policy, &problem, 10_000).mean;
    assert!(found < 20.0, "{found}");
    // Features 1 and 3 matter: their columns are the longest.
    let length = |j: usize| (0..8).map(|i| policy.params()[i * 8 + j].powi(2)).sum::<f64>();
    for other in [1, 3, 4, 5, 6, 7] {
        assert!(length(other) < 0.3 * length(0).min(length(2)), "column {other}");
    }
}

/// Mean regret over seeds, 20,000 instances each, against what was asked for.
#[test]
#[ignore = "minutes: make test-slow"]
fn tuned_policies_reach_their_targets() {
    let cosoftelim = [("linear-1", 37.0), ("linear-2", 20.0), ("linear-3", 29.5), ("linear-4", 25.5)];
    let soft_ucb = [("linear-1", 29.5), ("linear-2", 15.4), ("linear-3", 23.9), ("linear-4", 21.5)];
    let targets = cosoftelim.map(|target| ("cosoftelim", 5, target)).into_iter();
    for (name, seeds, (problem, most)) in targets.chain(soft_ucb.map(|target| ("soft-ucb", 3, target))) {
        let problem = Problem::named(problem).unwrap();
        let regrets: Vec<f64> =
            (1..=seeds).map(|seed| regret(&tuned(name, &problem, seed), &problem, 20_000).mean).collect();
        let mean = regrets.iter().sum::<f64>() / seeds as f64;
        println!("{name} on {problem}: {mean:.2} (at most {most}) {regrets:.2?}");
        assert!(mean <= most);
    }
}

/// A search for alpha lands where a grid of 16 values, on other instances, says (regret within 2 %).
#[test]
fn a_policy_without_a_score_is_searched_for() {
    let problem = Problem::named("linear-1").unwrap();
    let found = tuned("linucb", &problem, 3);
    let best = (1..=16)
        .map(|i| choice("linucb", &problem).with_params(&problem, &[0.1 * f64::from(i)]).unwrap())
        .map(|candidate| regret(&candidate, &problem, 4_000).mean)
        .fold(f64::INFINITY, f64::min);
    let searched = regret(&found, &problem, 4_000).mean;
    assert!(searched < 1.02 * best, "{searched} at {:?}, grid {best}", found.params());
}

/// The method of moments finds the subspace of linear-1 when contexts are centred, and is misled when not: regrets
/// of facts that were measured elsewhere, 40.4 and 50.5 with rank 4, to 3 %.
#[test]
fn moments_need_centred_contexts() {
    let problem = Problem::named("linear-1").unwrap();
    let with = |centred: &str| {
        let choice = choice("mom-thompson", &problem).with(&problem, "rank", "4").unwrap();
        regret(&choice.with(&problem, "centred", centred).unwrap(), &problem, 10_000).mean
    };
    let (raw, centred) = (with("false"), with("true"));
    assert!((centred / 40.4 - 1.0).abs() < 0.03, "{centred}");
    assert!((raw / 50.5 - 1.0).abs() < 0.03, "{raw}");
}

/// The closed form of theorem 1 in one context with `rounds` rounds, unit noise.
fn committed(means: [f64; 2], rounds: usize, h: usize) -> f64 {
    let (best, gap) = (means[0].max(means[1]), (means[0] - means[1]).abs());
    let wrong = normal_cdf(-gap * (h as f64 / 2.0).sqrt());
    best * rounds as f64 - gap * (h as f64 + wrong * (rounds - 2 * h) as f64)
}

/// Theorem 2: with a fixed sequence of contexts the reward is the sum of theorem 1's closed form over contexts
/// (simulated: 100,000 instances, 4 standard errors), concave in h up to half the rarest context's rounds, and the
/// estimated gradient is its slope.
#[test]
fn theorem_2_in_each_context_apart() {
    let mut numbers = Numbers(5);
    let (contexts, horizon) = (3, 60);
    let table: Vec<f64> = (0..2 * contexts).map(|_| 2.0 * numbers.unit() - 1.0).collect();
    let reward = |h: usize| -> f64 {
        (0..contexts).map(|j| committed([table[j], table[contexts + j]], horizon / contexts, h)).sum()
    };
    let tables = Points::new(vec![table.clone()], None).unwrap();
    let cycle = Discrete::new(tables, contexts, 0.0, 1.0, None, Order::Cyclic).unwrap();
    let problem = Problem::discrete(cycle).name("cycle").horizon(horizon).build().unwrap();
    let name = "contextual-explore-then-commit";
    let most = horizon / contexts / 2;
    for h in 1..=most {
        let choice = choice(name, &problem).with_params(&problem, &[h as f64]).unwrap();
        let simulator = Simulator::new(&problem).seed(3).instances(100_000);
        let found = simulator.evaluate(&choice).unwrap().reward();
        // Means are kept in single precision; with nothing but exploration there is no other error.
        let off = (found.mean - reward(h)).abs();
        assert!(off < 4.0 * found.std_error + 1e-5, "h = {h}: {found:?}, closed form {}", reward(h));
        if h >= 2 && h < most {
            let bend = reward(h - 1) - 2.0 * reward(h) + reward(h + 1);
            assert!(bend <= 1e-9, "h = {h}: {bend}");
        }
    }
    assert!(choice(name, &problem).with_params(&problem, &[most as f64 + 0.5]).is_err());
    let middle = choice(name, &problem).with_params(&problem, &[3.4]).unwrap();
    check_unbiased(&middle, &problem, &[reward(4) - reward(3)]);
}
