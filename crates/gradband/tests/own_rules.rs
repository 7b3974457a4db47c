//! Rules of one's own against the same policies built in, and against differences of exact results.
#![allow(clippy::unwrap_used)]

use crate::problems;
use crate::problems::{Told, play, shorten, table};
use crate::rules::{EpsilonGreedyRule, FiveStages, Restless, SoftElimRule, SoftUcbRule};
use gradband::exact::Exact;
use gradband::learn::{Estimator, GradientSource};
use gradband::policy::Choice;
use gradband::problem::{Prior, Problem, Split};
use gradband::simulate::{Baseline, Job, Key, Lanes, Returns, Task};
use gradband::{Catalogue, Policy, Simulator, Trainer};

fn softelim_rules() -> [Policy; 2] {
    [false, true].map(|knows_slopes| Policy::own(SoftElimRule { knows_slopes }))
}

/// Problems on which a multi-armed rule can be compared, not only those with exact results.
fn armed() -> Vec<Problem> {
    let normal = Prior::normal(3, 0.0, 1.0).unwrap();
    vec![
        shorten("bernoulli-2", 60),
        shorten("beta-2", 40),
        shorten("bernoulli-10", 60),
        Problem::bernoulli(Prior::table(table())).horizon(30).build().unwrap(),
        Problem::gaussian(normal, 0.5).horizon(30).build().unwrap(),
    ]
}

fn played(choice: &Choice, problem: &Problem, task: Task, lanes: Lanes, count: usize) -> Told {
    let job = Job { lanes, ..Job::new(problem, Key::new(3), Split::Train, task) };
    play(&*choice.player(problem, &mut ()).unwrap(), &job, 0, count)
}

const GRADIENT: Task = Task::Gradient(Baseline::LeaveOneOut(4), Returns::Realized);

/// Two policies that draw their arms in the same way: in double precision they make the same choices, run by run, and their
/// gradients differ by rounding alone.
fn check_same_runs(own: &Choice, built_in: &Choice, problem: &Problem, count: usize) {
    for task in [Task::Evaluate, GRADIENT] {
        let [own, built_in] =
            [own, built_in].map(|choice| played(choice, problem, task, Lanes::Double, count));
        for (a, b) in own.outcomes.iter().zip(&built_in.outcomes) {
            assert!((a.regret - b.regret).abs() < 1e-9, "{problem}, {task:?}: {a:?}, built in {b:?}");
        }
        let size = built_in.gradients.iter().map(|x| x.abs()).fold(0.0, f64::max);
        for (a, b) in own.gradients.iter().zip(&built_in.gradients) {
            assert!((a - b).abs() <= 1e-9 * size, "{problem}: {a}, built in {b}, largest {size}");
        }
        assert!(task == Task::Evaluate || size > 1e-3, "nothing was compared: {size}");
    }
}

#[test]
fn softelim_as_a_rule_is_softelim() {
    for problem in armed() {
        for w in [0.3, 1.0] {
            let built_in = Choice::parse("softelim", &problem).unwrap().with_params(&problem, &[w]).unwrap();
            for rule in softelim_rules() {
                let own = rule.with_param("w", &[w]).on(&problem).unwrap();
                check_same_runs(&own, &built_in, &problem, 200);
            }
        }
    }
}

/// In single precision: 20,000 instances, 4 standard errors of the paired difference, and rounding.
#[test]
fn softelim_as_a_rule_has_the_same_regret() {
    for problem in armed() {
        let [rule, _] = softelim_rules();
        let policies = [rule, "softelim".parse().unwrap()].map(|policy| policy.with_param("w", &[0.6]));
        let found = Simulator::new(&problem).instances(20_000).compare(&policies).unwrap();
        let difference = found.difference(0, 1);
        assert!(difference.mean.abs() <= 4.0 * difference.std_error + 1e-9, "{problem}: {found}");
        assert!(
            difference.std_error < 0.2 * found.regret(1).std_error,
            "the runs are hardly common: {found}"
        );
    }
}

fn exactly(policy: &Policy, problem: &Problem) -> Exact {
    Simulator::new(problem).exact(policy).unwrap()
}

fn assert_same(own: &Exact, built_in: &Exact, what: &str) {
    assert!((own.bayes_reward - built_in.bayes_reward).abs() < 1e-10, "{what}: {own:?}, {built_in:?}");
    assert!((own.bayes_regret - built_in.bayes_regret).abs() < 1e-10, "{what}: {own:?}, {built_in:?}");
    for (a, b) in own.gradient.iter().zip(&built_in.gradient) {
        assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{what}: {own:?}, {built_in:?}");
    }
    assert_eq!(own.gradient.len(), built_in.gradient.len());
}

#[test]
fn rules_have_the_exact_values_of_what_they_are() {
    let three = Problem::bernoulli(Prior::betas(vec![1.0, 2.0, 0.7], vec![1.0, 0.5, 3.0]).unwrap());
    for problem in [shorten("bernoulli-2", 80), three.horizon(12).build().unwrap()] {
        for number in [0.15, 0.5, 0.9] {
            let softelim: Policy = format!("softelim(w={number})").parse().unwrap();
            for rule in softelim_rules() {
                let own = exactly(&rule.with_param("w", &[number]), &problem);
                assert_same(&own, &exactly(&softelim, &problem), &format!("softelim({number}) on {problem}"));
            }
            let greedy: Policy = format!("epsilon-greedy(epsilon={number})").parse().unwrap();
            let own = exactly(&Policy::own(EpsilonGreedyRule).with_param("epsilon", &[number]), &problem);
            assert_same(&own, &exactly(&greedy, &problem), &format!("epsilon-greedy({number}) on {problem}"));
        }
    }
}

/// Rules of weights draw in another way than the built-in policy does: the same regret within 4 standard errors of
/// 40,000 instances each, and of the exact value.
#[test]
fn weights_are_played_as_they_say() {
    let problem = shorten("bernoulli-2", 60);
    let policy = Policy::own(EpsilonGreedyRule).with_param("epsilon", &[0.3]);
    let exact = exactly(&policy, &problem);
    let found = Simulator::new(&problem).instances(40_000).evaluate(&policy).unwrap().regret();
    assert!((found.mean - exact.bayes_regret).abs() < 4.0 * found.std_error, "{found}, {exact:?}");
    let estimator =
        Estimator { baseline: Baseline::LeaveOneOut(4), returns: Returns::Mean, batch_size: 40_000 };
    let slope = Simulator::new(&problem).gradient(&policy, &estimator).unwrap().estimate[0];
    assert!((slope.mean - exact.gradient[0]).abs() < 4.0 * slope.std_error, "{slope}, {exact:?}");
}

#[test]
fn soft_ucb_as_a_rule_is_soft_ucb() {
    for problem in [shorten("linear-3", 40), problems::classes(), problems::discrete()] {
        let initial = Choice::parse("soft-ucb", &problem).unwrap();
        let last = initial.params().len() - 2;
        let mut params = initial.params().to_vec();
        params[..last].iter_mut().enumerate().for_each(|(i, w)| *w += 0.2 * (1.3 * i as f64).sin());
        params[last..].copy_from_slice(&[0.8, 0.3]);
        let built_in = initial.with_params(&problem, &params).unwrap();
        let own =
            Policy::own_linear(SoftUcbRule).on(&problem).unwrap().with_params(&problem, &params).unwrap();
        check_same_runs(&own, &built_in, &problem, 40);
    }
}

/// Five-point central differences of the exact regret, for every parameter.
fn check_gradient(policy: &Policy, names: &[&str], problem: &Problem) -> Exact {
    let choice = policy.on(problem).unwrap();
    let exact = exactly(policy, problem);
    assert_eq!(exact.gradient.len(), names.len());
    for (i, name) in names.iter().enumerate() {
        let at = choice.param(name).unwrap()[0];
        let regret = |x: f64| exactly(&policy.clone().with_param(name, &[x]), problem).bayes_regret;
        let h = 1e-3 * at;
        let difference = (8.0 * (regret(at + h) - regret(at - h))
            - (regret(at + 2.0 * h) - regret(at - 2.0 * h)))
            / (12.0 * h);
        let slope = -exact.gradient[i];
        assert!((slope - difference).abs() < 1e-7 * (1.0 + slope.abs()), "{name}: {slope}, {difference}");
        assert!(slope.abs() > 1e-6, "{name} does not matter");
    }
    exact
}

/// Estimates of all parameters at once, 40,000 instances, 4 standard errors.
fn check_estimate(policy: &Policy, problem: &Problem, exact: &Exact) {
    for baseline in [Baseline::None, Baseline::Opt, Baseline::SelfPlay, Baseline::LeaveOneOut(5)] {
        let estimator = Estimator { baseline, returns: Returns::Mean, batch_size: 40_000 };
        let found = Simulator::new(problem).gradient(policy, &estimator).unwrap();
        for (estimate, exact) in found.estimate.iter().zip(&exact.gradient) {
            let z = (estimate.mean - exact) / estimate.std_error;
            assert!(z.abs() < 4.0, "{baseline:?}: {estimate}, exact {exact}, z = {z:.2}");
        }
        assert_eq!(found.estimate.len(), exact.gradient.len());
    }
}

#[test]
fn three_parameters_have_three_slopes() {
    let problem = shorten("bernoulli-2", 40);
    let names = ["width", "temperature", "weariness"];
    let exact = check_gradient(&Policy::own(Restless), &names, &problem);
    check_estimate(&Policy::own(Restless), &problem, &exact);
}

#[test]
fn rules_may_have_more_parameters_than_lanes_take() {
    let problem = shorten("bernoulli-2", 40);
    let names = ["w1", "w2", "w3", "w4", "w5"];
    let exact = check_gradient(&Policy::own(FiveStages), &names, &problem);
    check_estimate(&Policy::own(FiveStages), &problem, &exact);
    // All stages alike: SoftElim, in the engine that plays a run at a time.
    let built_in = Choice::parse("softelim(w=0.7)", &problem).unwrap();
    let own = Policy::own(FiveStages).on(&problem).unwrap();
    let [own, built_in] =
        [own, built_in].map(|choice| played(&choice, &problem, GRADIENT, Lanes::Double, 200));
    assert_eq!(own.outcomes, built_in.outcomes);
    for (own, built_in) in own.gradients.chunks_exact(5).zip(&built_in.gradients) {
        let sum: f64 = own.iter().sum();
        assert!((sum - built_in).abs() < 1e-9 * (1.0 + built_in.abs()), "{own:?}, softelim {built_in}");
    }
}

/// Training climbs all three: sampled and exact gradients both end below where they started, and near each other.
#[test]
fn three_parameters_are_trained_together() {
    let problem = shorten("bernoulli-2", 40);
    let regret = |policy: &Policy| exactly(policy, &problem).bayes_regret;
    let start = regret(&Policy::own(Restless));
    let sampled = Trainer::own(Restless).seed(1).train(&problem).unwrap();
    let exact =
        Trainer::own(Restless).gradient(GradientSource::Exact).iterations(60).train(&problem).unwrap();
    let (by_sample, by_exact) = (regret(sampled.policy()), regret(exact.policy()));
    assert!(by_sample < start - 0.02 && by_exact < start - 0.02, "{start}: {by_sample}, {by_exact}");
    // What training hands out can be typed, and read again by whoever knows the rule.
    let catalogue = Catalogue::default().with_rule(Restless);
    let again = catalogue.policy(&sampled.policy().to_string()).unwrap();
    assert_eq!(regret(&again), by_sample);
    assert!(sampled.policy().to_string().parse::<Policy>().is_err(), "a rule is not in every catalogue");
}

/// Lanes, and one run at a time after the other, are the same estimator: single precision agrees with double on average
/// (4.5 standard errors of the paired difference on 2,000 instances).
#[test]
fn single_precision_agrees_with_double_on_average() {
    const INSTANCES: usize = 2_000;
    let problem = shorten("bernoulli-2", 60);
    let choice = Policy::own(Restless).on(&problem).unwrap();
    let [single, double] =
        [Lanes::Auto, Lanes::Double].map(|lanes| played(&choice, &problem, GRADIENT, lanes, INSTANCES));
    for param in 0..3 {
        let off = |i: usize| single.gradients[3 * i + param] - double.gradients[3 * i + param];
        let n = INSTANCES as f64;
        let mean = (0..INSTANCES).map(off).sum::<f64>() / n;
        let squares = (0..INSTANCES).map(|i| (off(i) - mean).powi(2)).sum::<f64>();
        let error = (squares / (n * (n - 1.0))).sqrt();
        assert!(mean.abs() <= 4.5 * error + 1e-6, "parameter {param}: {mean} +- {error}");
    }
}
