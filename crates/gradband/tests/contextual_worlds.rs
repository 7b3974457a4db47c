//! Linear policies, and rules that play one run at a time, where rewards come late, every arm has a least share and the end
//! is unknown: against complete enumeration, and the same bits on any number of threads.
#![allow(clippy::unwrap_used)]

use crate::enumeration::{W, cosoftelim, enumerable, enumerated, greedy, known, lin_thompson, soft_ucb};
use crate::problems::{Told, choice, contextual, play, tasks};
use crate::rules;
use gradband::measure::{Estimator, evaluate};
use gradband::policy::{Choice, POLICIES, Policy, PolicyKind, named};
use gradband::problem::{Delay, Horizon, Prior, Problem, Split, World};
use gradband::simulate::{Baseline, Job, Key, Lanes, Returns, Task};
use gradband::{Simulator, Trainer};

/// 243 sequences of contexts, 32 of actions.
const ROUNDS: usize = 5;
const UNIFORM: Horizon = Horizon::Uniform { from: 2, to: ROUNDS };

/// Delay 3, batch 4, floor 0.05 and a uniform horizon, by themselves and together; shorter delays, of which more is known.
fn worlds() -> Vec<World> {
    let plain = World::plain(ROUNDS);
    vec![
        World { delay: Delay::Rounds(3), ..plain },
        World { delay: Delay::Rounds(1), ..plain },
        World { batch: 4, ..plain },
        World { floor: 0.05, ..plain },
        World { horizon: UNIFORM, ..plain },
        World { delay: Delay::Rounds(3), batch: 4, floor: 0.05, horizon: UNIFORM },
        World { delay: Delay::Rounds(1), batch: 2, floor: 0.05, horizon: UNIFORM },
    ]
}

/// Central differences of a function of several numbers, one after the other.
fn slopes(at: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let along = |k: usize| {
        let moved = |by: f64| {
            let mut x = at.to_vec();
            x[k] += by;
            f(&x)
        };
        (moved(step) - moved(-step)) / (2.0 * step)
    };
    (0..at.len()).map(along).collect()
}

/// The mean reward, and every number of the gradient: 20,000 instances, 4 standard errors.
fn check(choice: &Choice, problem: &Problem, reward: f64, exact: &[f64]) {
    let what = format!("{} on {problem}", choice.label());
    let found = Simulator::new(problem).seed(4).instances(20_000).evaluate(choice).unwrap().reward();
    assert!((found.mean - reward).abs() < 4.0 * found.std_error, "{what}: {found:?}, exact {reward}");
    for (baseline, returns) in
        [(Baseline::SelfPlay, Returns::Realized), (Baseline::LeaveOneOut(4), Returns::Mean)]
    {
        let estimator = Estimator { baseline, returns, batch_size: 20_000 };
        let player = choice.scored_player(problem, &mut ()).unwrap();
        let estimate = estimator.estimate(&*player, problem, Key::new(12), &mut ()).unwrap();
        assert_eq!(estimate.estimate.len(), exact.len());
        for (k, (found, exact)) in estimate.estimate.iter().zip(exact).enumerate() {
            let off = (found.mean - exact).abs();
            // Of what never matters the estimate is 0, and so is its error.
            assert!(
                off < 4.0 * found.std_error + 1e-9,
                "{what}, {baseline:?}, {k}: {found:?}, exact {exact}"
            );
        }
    }
}

#[test]
fn gradients_of_linear_policies_are_unbiased_in_every_world() {
    let own = Policy::own_linear(rules::SoftUcbRule);
    for world in worlds() {
        let problem = &enumerable(world);
        let with = |kind: &PolicyKind, settings: &[(&str, &str)], params: &[f64]| {
            let set = |choice: Choice, (key, value): &(&str, &str)| choice.with(problem, key, value).unwrap();
            let initial = Choice::initial(kind, problem).unwrap();
            settings.iter().fold(initial, set).with_params(problem, params).unwrap()
        };
        let settings = [("ridge", "0.7"), ("learn_gamma", "true")];
        let params = [&W[..], &[3.0]].concat();
        let reward = |x: &[f64]| enumerated(&world, x[..4].try_into().unwrap(), 0.7, &cosoftelim(x[4]));
        let policy = with(&named("cosoftelim").unwrap(), &settings, &params);
        check(&policy, problem, reward(&params), &slopes(&params, reward));

        let params = [&W[..], &[0.8, 0.3]].concat();
        let reward = |x: &[f64]| enumerated(&world, x[..4].try_into().unwrap(), 1.0, &soft_ucb(x[4], x[5]));
        let exact = slopes(&params, reward);
        check(&with(&named("soft-ucb").unwrap(), &[], &params), problem, reward(&params), &exact);
        check(&with(own.kind(), &[], &params), problem, reward(&params), &exact);

        let reward = |x: &[f64]| enumerated(&world, x.try_into().unwrap(), 1.0, &lin_thompson(0.5));
        let policy = with(&named("lin-thompson").unwrap(), &[], &W);
        check(&policy, problem, reward(&W), &slopes(&W, reward));

        let identity = [1.0, 0.0, 0.0, 1.0];
        let reward = |x: &[f64]| enumerated(&world, &identity, 1.0, &greedy(x[0]));
        let policy = with(&named("lin-epsilon-greedy").unwrap(), &[], &[0.3]);
        check(&policy, problem, reward(&[0.3]), &slopes(&[0.3], reward));
    }
}

/// What a run of two arms has come to: the pulled arms and their rewards.
type Past = Vec<(usize, f64)>;

/// The reward to come of `FiveStages` with parameters w, from its past on: all arms and rewards that can be, by their
/// probabilities.
fn ahead(world: &World, means: [f64; 2], past_mean: f64, params: &[f64], past: &mut Past) -> f64 {
    let (t, horizon) = (past.len(), world.horizon.rounds());
    if t == horizon {
        return 0.0;
    }
    let pulls = |arm: usize| past.iter().filter(|pull| pull.0 == arm).count() as f64;
    let mean = |arm: usize| {
        let rewards = past.iter().enumerate().filter(|(s, pull)| pull.0 == arm && known(world, *s, t));
        let rewards: Vec<f64> = rewards.map(|(_, pull)| pull.1).collect();
        if rewards.is_empty() { past_mean } else { rewards.iter().sum::<f64>() / rewards.len() as f64 }
    };
    let best = mean(0).max(mean(1));
    let w = params[5 * t / world.horizon.end(t)];
    let weight = |arm: usize| (-2.0 * (best - mean(arm)).powi(2) * pulls(arm) / (w * w)).exp();
    // Arms that were never tried come first, in any order; in the textbook's world the first does.
    let pi = match (pulls(0) == 0.0, pulls(1) == 0.0) {
        (true, true) if world.is_plain() => [1.0, 0.0],
        (true, true) => [0.5, 0.5],
        (true, false) => [1.0, 0.0],
        (false, true) => [0.0, 1.0],
        (false, false) => [0, 1].map(|arm| weight(arm) / (weight(0) + weight(1))),
    };
    let mut total = 0.0;
    for arm in 0..2 {
        let chance = world.floor + (1.0 - 2.0 * world.floor) * pi[arm];
        for reward in [0.0, 1.0] {
            let probability = chance * if reward == 1.0 { means[arm] } else { 1.0 - means[arm] };
            past.push((arm, reward));
            let further = ahead(world, means, past_mean, params, past);
            past.pop();
            total += probability * (world.horizon.weight(t) * means[arm] + further);
        }
    }
    total
}

/// A rule with more parameters than lanes take, six rounds, two instances: reward and gradient are those of complete
/// enumeration.
#[test]
fn rules_that_play_one_run_at_a_time_see_the_same_world() {
    let instances = [[0.7, 0.4], [0.2, 0.5]];
    let prior = Prior::points(instances.map(Vec::from).to_vec()).unwrap();
    let plain = Problem::bernoulli(prior).name("two").horizon(6).build().unwrap();
    let uniform = Horizon::Uniform { from: 3, to: 6 };
    let own = Policy::own(rules::FiveStages);
    let params = [0.5, 0.6, 0.7, 0.8, 0.9];
    for world in [
        World::plain(6),
        World { delay: Delay::Rounds(2), ..World::plain(6) },
        World { batch: 3, ..World::plain(6) },
        World { floor: 0.1, ..World::plain(6) },
        World { horizon: uniform, ..World::plain(6) },
        World { delay: Delay::Rounds(1), batch: 2, floor: 0.1, horizon: uniform },
    ] {
        let problem = plain.with_world(world).unwrap();
        let reward = |params: &[f64]| -> f64 {
            instances.iter().map(|&means| ahead(&world, means, 0.45, params, &mut Past::new()) / 2.0).sum()
        };
        let choice = Choice::initial(own.kind(), &problem).unwrap().with_params(&problem, &params).unwrap();
        check(&choice, &problem, reward(&params), &slopes(&params, reward));
    }
}

/// Worlds of every kind around every contextual problem, and around one for rules that play a run at a time.
fn around() -> Vec<Problem> {
    let armed = Problem::bernoulli(Prior::beta(3, 1.0, 2.0).unwrap()).horizon(30).build().unwrap();
    let mut found = Vec::new();
    for problem in contextual().into_iter().chain([armed]) {
        let (plain, horizon) = (*problem.world(), Horizon::Uniform { from: 10, to: problem.horizon() });
        for world in [
            World { delay: Delay::Rounds(3), batch: 4, floor: 0.05, horizon },
            World { delay: Delay::Geometric { mean: 3.0 }, ..plain },
            World { floor: 0.05, ..plain },
        ] {
            found.push(problem.with_world(world).unwrap());
        }
    }
    found
}

/// Every contextual policy that is quickly prepared; without contexts, a rule that plays a run at a time.
fn choices(problem: &Problem) -> Vec<Choice> {
    let own = match problem.contextual() {
        Some(_) => Policy::own_linear(rules::SoftUcbRule),
        None => return vec![choice(Policy::own(rules::FiveStages).kind(), problem)],
    };
    let kinds = POLICIES.iter().chain([own.kind()]).filter(|kind| kind.refusal(problem).is_none());
    let kinds = kinds.filter(|kind| kind.preparation_seconds(problem) < 0.01);
    kinds.map(|kind| choice(kind, problem)).collect()
}

#[test]
fn lanes_and_blocks_are_not_observable() {
    for problem in around() {
        for choice in choices(&problem) {
            let player = choice.player(&problem, &mut ()).unwrap();
            for task in tasks(&choice, &*player) {
                let job = Job { marks: &[3, 20], ..Job::new(&problem, Key::new(9), Split::HeldOut, task) };
                let reference = play(&*player, &Job { lanes: Lanes::Single, ..job }, 0, 11);
                for block in [1, 7] {
                    let mut all = Told::default();
                    for first in (0..11).step_by(block) {
                        let part = play(&*player, &job, first as u64, block.min(11 - first));
                        all.outcomes.extend(part.outcomes);
                        all.gradients.extend(part.gradients);
                        all.curves.extend(part.curves);
                    }
                    assert_eq!(all, reference, "{} on {problem}, {task:?}, block {block}", choice.name());
                }
            }
        }
    }
}

#[test]
fn threads_are_not_observable() {
    for problem in around() {
        let choices = choices(&problem);
        let choices: Vec<&Choice> = choices.iter().collect();
        let estimate = |choice: &&Choice| {
            let player = choice.player(&problem, &mut ()).unwrap();
            let task = *tasks(choice, &*player).last().unwrap();
            let Task::Gradient(baseline, returns) = task else { return None };
            let estimator = Estimator { baseline, returns, batch_size: 23 };
            Some(format!("{:?}", estimator.estimate(&*player, &problem, Key::new(3), &mut ()).unwrap()))
        };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let found = evaluate(&choices, &problem, 5, 23, &[3, 20], &mut ()).unwrap();
                (format!("{found:?}"), choices.iter().map(estimate).collect::<Vec<_>>())
            })
        };
        assert_eq!(on(2), on(1), "{problem}");
    }
}

/// Without noise everything can be told beforehand.
#[test]
fn explore_then_commit_goes_by_what_is_known() {
    use gradband::problem::{Discrete, Order, Points};
    // Arm 1 is better in both contexts.
    let tables = Points::new(vec![vec![0.0, 0.0, 1.0, 1.0]], None).unwrap();
    let discrete = Discrete::new(tables, 2, 0.0, 0.0, None, Order::Cyclic).unwrap();
    let plain = Problem::discrete(discrete).name("turns").horizon(12).build().unwrap();
    // Contexts 0, 1, 0, 1, ...: each explores arm 0, then arm 1, which costs 1, and commits in round 4 or 5.
    let regret = |delay: usize| {
        let world = World { delay: Delay::Rounds(delay), ..*plain.world() };
        let problem = plain.with_world(world).unwrap();
        let policy = choice(&named("contextual-explore-then-commit").unwrap(), &problem);
        let policy = policy.with_params(&problem, &[1.0]).unwrap();
        Simulator::new(&problem).instances(8).evaluate(&policy).unwrap().regret().mean
    };
    // A context commits knowing both of its rewards, or only the first: arm 0 pays 0, and past arms paid 1/2. With a delay
    // of four it knows neither and keeps the first arm, for the eight rounds that are left.
    assert_eq!([0, 1, 2, 3, 4, 6].map(regret), [2.0, 2.0, 2.0, 2.0, 10.0, 10.0]);
}

/// What is fitted or searched for before the first round plays in the same world.
#[test]
fn preparations_and_training_go_through_it_too() {
    let problem = Problem::named("linear-2").unwrap().with_horizon(60).unwrap();
    let world = World { delay: Delay::Rounds(25), floor: 0.02, ..*problem.world() };
    let late = problem.with_world(world).unwrap();
    let regret = |policy: &str, problem: &Problem| {
        Simulator::new(problem).instances(2_000).evaluate(policy).unwrap().regret()
    };
    for policy in ["linucb(width=tuned)", "mom-thompson", "lin-thompson", "cosoftelim", "random"] {
        let (prompt, late) = (regret(policy, &problem), regret(policy, &late));
        let error = prompt.std_error.hypot(late.std_error);
        // Nobody gains by waiting; who knows nothing loses nothing.
        assert!(late.mean > prompt.mean - 4.0 * error, "{policy}: {prompt:?}, {late:?}");
        assert_eq!(
            policy != "random",
            late.mean > prompt.mean + 4.0 * error,
            "{policy}: {prompt:?}, {late:?}"
        );
    }
    let trained = Trainer::new("cosoftelim").iterations(30).seed(1).train(&late).unwrap();
    let found = Simulator::new(&late).instances(2_000).evaluate(trained.choice()).unwrap().regret();
    let before = regret("cosoftelim", &late);
    assert!(
        found.mean < before.mean - 4.0 * found.std_error.hypot(before.std_error),
        "{found:?}, {before:?}"
    );
}

#[test]
fn networks_are_refused_with_what_is_unusual() {
    let plain = Problem::named("bernoulli-2").unwrap();
    let refusal = |world: World, name: &str| {
        named(name).unwrap().refusal(&plain.with_world(world).unwrap()).unwrap_or_default()
    };
    let late = World { delay: Delay::Rounds(20), ..*plain.world() };
    let why =
        "is trained and played only where rewards are known at once, there is no floor, and the end is known";
    for name in ["lstm", "dqn"] {
        assert_eq!(refusal(*plain.world(), name), "");
        assert_eq!(refusal(late, name), format!("{why}; this problem has delay 20"));
        let floor = World { floor: 0.1, ..late };
        assert_eq!(refusal(floor, name), format!("{why}; this problem has delay 20, floor 0.1"));
        let horizon = World { horizon: Horizon::Geometric { mean: 50.0 }, ..*plain.world() };
        assert_eq!(refusal(horizon, name), format!("{why}; this problem has horizon geometric with mean 50"));
        // Weights that were learned without do not play with it either.
        let learned = choice(&named(name).unwrap(), &plain);
        let error = learned.player(&plain.with_world(late).unwrap(), &mut ()).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert_eq!(refusal(late, "softelim"), "");
}
