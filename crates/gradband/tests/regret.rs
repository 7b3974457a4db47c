//! Simulated Bayes regret against exact values (dynamic programmes), and what training reaches.
#![allow(clippy::unwrap_used)]

use gradband::baseline::{Baseline, Returns};
use gradband::evaluate::{evaluate, over_rounds};
use gradband::gradient::Estimator;
use gradband::optimizer::Rule;
use gradband::problem::Problem;
use gradband::registry::{Agent, Choice, policy, ready};
use gradband::statistics::Estimate;
use gradband::train::{Average, Settings, Source, StopReason, train};
use std::ops::ControlFlow;

fn choice(name: &str, params: &[f64], problem: &Problem) -> Choice {
    let initial = Choice::initial(policy(name).unwrap(), problem).unwrap();
    if params.is_empty() { initial } else { initial.with_params(problem, params).unwrap() }
}

fn regret(choice: &Choice, problem: &Problem, seed: u64, instances: usize) -> Estimate {
    let agent = choice.agent(problem);
    evaluate(&[&*agent], problem, seed, instances, |_| ControlFlow::Continue(())).unwrap().regret(0)
}

/// Exact Bayes regrets; 200,000 instances, 4 standard errors.
#[test]
fn simulated_regret_agrees_with_exact_values() {
    let exact: [(&str, &str, &[f64], f64); 10] = [
        ("bernoulli-2", "ucb1", &[], 9.9848),
        ("bernoulli-2", "ucb-v", &[], 15.8080),
        ("bernoulli-2", "thompson", &[], 5.4568),
        ("bernoulli-2", "softelim", &[1.0], 7.2086),
        ("bernoulli-2", "softelim", &[0.5304], 4.6665),
        ("bernoulli-2", "epsilon-greedy", &[0.1], 7.2713),
        ("bernoulli-2", "epsilon-greedy", &[1.0], 20.0),
        ("bernoulli-2", "random", &[], 20.0),
        ("bernoulli-2-uniform", "thompson", &[], 3.55062),
        ("bernoulli-2-uniform", "random", &[], 200.0 / 6.0),
    ];
    for (problem, name, params, exact) in exact {
        let problem = Problem::named(problem).unwrap();
        let estimate = regret(&choice(name, params, &problem), &problem, 1, 200_000);
        let z = (estimate.mean - exact) / estimate.std_error;
        assert!(
            z.abs() < 4.0,
            "{name}{params:?} on {}: {estimate:?}, exact {exact}, z = {z:.2}",
            problem.name
        );
    }
}

/// Rewards add up: regret + reward = n E[best mean], exactly so on two symmetric points.
#[test]
fn regret_and_reward_are_two_sides_of_one_sum() {
    let problem = Problem::named("bernoulli-2").unwrap();
    let agents = ["softelim", "thompson", "ucb1"].map(|name| choice(name, &[], &problem).agent(&problem));
    let agents: Vec<&dyn Agent> = agents.iter().map(|agent| &**agent).collect();
    let evaluation = evaluate(&agents, &problem, 4, 1000, |_| ControlFlow::Continue(())).unwrap();
    for i in 0..3 {
        assert!((evaluation.regret(i).mean + evaluation.reward(i).mean - 120.0).abs() < 1e-9);
        assert!((evaluation.regret(i).std_error - evaluation.reward(i).std_error).abs() < 1e-9);
        let alone = evaluate(&agents[i..=i], &problem, 4, 1000, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(alone.regret(0), evaluation.regret(i), "a policy's row does not depend on its company");
    }
    let (d, e) = (evaluation.difference(0, 2), evaluation.difference(2, 0));
    assert_eq!((d.mean, d.std_error), (-e.mean, e.std_error));
    assert!(d.std_error < evaluation.regret(0).std_error + evaluation.regret(2).std_error);
}

fn paper(iterations: usize) -> Settings {
    Settings {
        gradient: Source::Sampled,
        estimator: Estimator { baseline: Baseline::SelfPlay, returns: Returns::Realized, batch_size: 1000 },
        iterations,
        rule: Rule::Sgd,
        learning_rate: None,
        clip: None,
        decay: 1.0,
        average: Average::Tail,
    }
}

fn ours(iterations: usize) -> Settings {
    let estimator = Estimator { baseline: Baseline::LeaveOneOut(8), returns: Returns::Mean, batch_size: 250 };
    Settings { estimator, ..paper(iterations) }
}

/// Mean regret over seeds of the last iterate, the tail average, and of our defaults.
fn trained_regrets(seeds: u64, instances: usize) -> [f64; 3] {
    let problem = Problem::named("bernoulli-2").unwrap();
    let initial = choice("softelim", &[1.0], &problem);
    let mut sums = [0.0; 3];
    for seed in 0..seeds {
        let paper = train(&problem, &initial, &paper(100), seed, &mut ()).unwrap();
        let ours = train(&problem, &initial, &ours(100), seed, &mut ()).unwrap();
        assert_eq!((paper.stop_reason, paper.history.len()), (StopReason::Iterations, 100));
        for (sum, choice) in sums.iter_mut().zip([&paper.last, &paper.policy, &ours.policy]) {
            *sum += regret(choice, &problem, 1000 + seed, instances).mean / seeds as f64;
        }
    }
    sums
}

/// The class optimum is 4.6665 (w = 0.5304). 5 seeds x 200,000 instances: standard error of a mean about
/// 0.004.
#[test]
fn training_reaches_the_class_optimum() {
    let [last, tail, ours] = trained_regrets(5, 200_000);
    assert!(last < 4.80 && tail < 4.70 && ours < 4.70, "{last} {tail} {ours}");
}

/// The full-size form: 20 seeds x 10^6 instances.
#[test]
#[ignore = "minutes: make test-slow"]
fn training_reaches_the_class_optimum_at_full_size() {
    let [last, tail, ours] = trained_regrets(20, 1_000_000);
    println!("last iterate {last:.4}, tail average {tail:.4}, our defaults {ours:.4}; class optimum 4.6665");
    assert!(last <= 4.76 && tail <= 4.69 && ours <= 4.69, "{last} {tail} {ours}");
}

/// From a start that explores too much, every learnable policy gains (3 standard errors of the paired gain on
/// 20,000 instances), on every kind of problem that it takes, with every optimizer.
#[test]
fn training_improves_every_policy() {
    for name in ["bernoulli-2", "beta-2", "bernoulli-10"] {
        let problem = Problem { horizon: 100, ..Problem::named(name).unwrap() };
        for info in gradband::registry::ready(&problem).filter(|info| !info.params.is_empty()) {
            let start = match info.name {
                "epsilon-greedy" => 0.8,
                "explore-then-commit" => 40.0,
                _ => 1.0,
            };
            let initial = choice(info.name, &[start], &problem);
            for rule in [Rule::Sgd, Rule::Adam, Rule::Yogi] {
                let trained = train(&problem, &initial, &Settings { rule, ..ours(60) }, 3, &mut ()).unwrap();
                let agents = [initial.agent(&problem), trained.policy.agent(&problem)];
                let agents: Vec<&dyn Agent> = agents.iter().map(|agent| &**agent).collect();
                let evaluation =
                    evaluate(&agents, &problem, 1, 20_000, |_| ControlFlow::Continue(())).unwrap();
                let gain = evaluation.difference(0, 1);
                assert!(gain.mean > 3.0 * gain.std_error, "{} by {rule:?} on {name}: {gain:?}", info.name);
            }
        }
    }
}

/// Exact gradients end at the class optimum (4.6665 at w = 0.5304 for SoftElim at n = 200), from either side
/// and for every policy that has them; at n = 60 here, against a search over a fine grid, and at a boundary.
#[test]
fn exact_training_ends_at_the_class_optimum() {
    use gradband::exact::{evaluate, unhurried};
    let problem = Problem { horizon: 60, ..Problem::named("bernoulli-2").unwrap() };
    let exact = |choice: &Choice| {
        evaluate(&problem, choice, gradband::problem::Split::HeldOut, &mut unhurried)
            .unwrap()
            .unwrap()
            .bayes_regret
    };
    for (name, starts, grid) in [
        ("softelim", [1.0, 0.1], (0.3, 0.01)),
        ("boltzmann", [1.0, 0.05], (0.02, 0.005)),
        ("epsilon-greedy", [0.2, 0.9], (0.01, 0.01)),
        ("explore-then-commit", [7.5, 25.0], (1.0, 0.5)),
    ] {
        let best = (0..40).map(|k| exact(&choice(name, &[grid.0 + grid.1 * f64::from(k)], &problem)));
        let best = best.fold(f64::MAX, f64::min);
        for start in starts {
            let settings = Settings { gradient: Source::Exact, average: Average::None, ..ours(100) };
            let initial = choice(name, &[start], &problem);
            let trained = train(&problem, &initial, &settings, 1, &mut ()).unwrap();
            let regret = exact(&trained.policy);
            assert!(
                regret < best + 1e-3,
                "{name} from {start}: {regret}, grid {best}, {:?}",
                trained.history
            );
            assert_eq!(trained.stop_reason, StopReason::Converged, "{name} from {start}");
        }
    }
    let exp3 = choice("exp3", &[0.3], &problem);
    let settings = Settings { gradient: Source::Exact, ..ours(3) };
    assert!(train(&problem, &exp3, &settings, 1, &mut ()).is_err());
    let adam = Settings { gradient: Source::Exact, rule: Rule::Adam, ..ours(30) };
    let initial = choice("softelim", &[1.0], &problem);
    assert!(exact(&train(&problem, &initial, &adam, 1, &mut ()).unwrap().last) < exact(&initial));
}

/// A batch of one instance has no variance, and still a finite rate.
#[test]
fn batches_of_one_instance_train() {
    let problem = Problem::named("bernoulli-2").unwrap();
    let settings = ours(30);
    let estimator = Estimator { batch_size: 1, ..settings.estimator };
    let trained = train(
        &problem,
        &choice("softelim", &[1.0], &problem),
        &Settings { estimator, ..settings },
        1,
        &mut (),
    )
    .unwrap();
    assert!(trained.learning_rate > 0.0 && trained.learning_rate < 1.0, "{}", trained.learning_rate);
    assert!(trained.policy.params[0].is_finite());
}

/// Regret over rounds is of the same runs, cut short: it never falls, ends at the evaluation's, and the policies still
/// play for the whole horizon.
#[test]
fn regret_over_rounds_is_of_the_same_runs() {
    let go_on = |_| ControlFlow::Continue(());
    for name in ["bernoulli-2", "beta-2", "linear-1", "iris"] {
        let problem = Problem::named(name).unwrap();
        let n = problem.horizon;
        for info in ready(&problem).filter(|info| info.preparation_seconds(&problem) < 1.0) {
            let agent = Choice::initial(info, &problem).unwrap().agent(&problem);
            let rounds = [1, n / 4, n / 2, n - 1, n];
            let curves = over_rounds(&[&*agent], &problem, 7, 60, &rounds, go_on).unwrap();
            for pair in curves[0].windows(2) {
                assert!(pair[1].mean >= pair[0].mean - 1e-9, "{name}, {}: {:?}", info.name, curves[0]);
            }
            let whole = evaluate(&[&*agent], &problem, 7, 60, go_on).unwrap();
            assert_eq!(curves[0][4], whole.regret(0), "{name}, {}", info.name);
        }
    }
    // UCB-V's width depends on the horizon: half a run is not a run of half the horizon.
    let problem = Problem::named("bernoulli-2").unwrap();
    let agent = choice("ucb-v", &[], &problem).agent(&problem);
    let half = over_rounds(&[&*agent], &problem, 7, 2000, &[100], go_on).unwrap()[0][0];
    let short = Problem { horizon: 100, ..problem };
    let own = regret(&choice("ucb-v", &[], &short), &short, 7, 2000);
    assert!(half.mean > own.mean + 4.0 * own.std_error.hypot(half.std_error), "{half:?}, {own:?}");
}
