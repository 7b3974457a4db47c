//! Whoever simulates, the bits are the same: trainings and comparisons whose every simulation is done by others, who know
//! the problem from elsewhere and get bytes, in any order, some tasks twice.
#![allow(clippy::unwrap_used)]

use crate::rules;
use gradband::learn::{Baseline, Estimator, Plan, QLearning, Recipe, Returns, Trained};
use gradband::measure::{Worker, evaluate, gradient_key};
use gradband::policy::Choice;
use gradband::problem::{Cell, Delay, ExamplesBuilder, Row, Scale, Table, World};
use gradband::{Catalogue, Comparison, Crew, Iteration, Observer, Policy, Prior, Problem, Progress, Result};
use gradband::{Simulator, StopReason, Trainer};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Three workers that share nothing with the driver, nor with each other.
struct Far {
    workers: Vec<Worker>,
    hands: usize,
    rounds: AtomicUsize,
    /// That were sent so far, there and back.
    bytes: AtomicUsize,
}

impl Far {
    fn new(problem: impl Fn() -> Problem, catalogue: &Catalogue, hands: usize) -> Arc<Self> {
        let workers = (0..3).map(|_| Worker::new(problem(), catalogue.clone())).collect();
        Arc::new(Self { workers, hands, rounds: AtomicUsize::new(0), bytes: AtomicUsize::new(0) })
    }
}

impl Crew for Far {
    fn hands(&self) -> usize {
        self.hands
    }

    fn play(&self, tasks: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let round = self.rounds.fetch_add(1, Relaxed);
        assert!(!tasks.is_empty() && tasks.len() <= self.hands);
        let worker = |i: usize| &self.workers[(i + round) % self.workers.len()];
        let mut answers = vec![Vec::new(); tasks.len()];
        for i in (0..tasks.len()).rev() {
            answers[i] = worker(i).work(&tasks[i])?;
            if (i + round).is_multiple_of(5) {
                assert_eq!(worker(i + 1).work(&tasks[i])?, answers[i], "the same task, another worker");
            }
        }
        self.bytes.fetch_add(tasks.iter().chain(&answers).map(Vec::len).sum(), Relaxed);
        Ok(answers)
    }
}

struct Boss(Option<Arc<Far>>);

impl Observer for Boss {
    fn crew(&self) -> Option<Arc<dyn Crew>> {
        self.0.clone().map(|crew| crew as _)
    }
}

/// With and without a crew; how many rounds it had to play, at least.
fn same<T: PartialEq + std::fmt::Debug>(
    problem: impl Fn() -> Problem,
    catalogue: &Catalogue,
    least: usize,
    found: impl Fn(&Problem, &mut dyn Observer) -> T,
) {
    let here = problem();
    let alone = found(&here, &mut ());
    for hands in [1, 4] {
        let crew = Far::new(&problem, catalogue, hands);
        assert_eq!(found(&here, &mut Boss(Some(crew.clone()))), alone, "{here}, {hands} hands");
        let rounds = crew.rounds.load(Relaxed);
        assert!(rounds >= least, "{here}: {rounds} rounds");
    }
}

/// All that a training leaves, to the last bit.
fn bits(trained: &Trained) -> String {
    format!("{trained:?}")
}

fn bits_of(comparison: &Comparison) -> String {
    format!("{comparison:?}")
}

fn train(trainer: &Trainer, problem: &Problem, observer: &mut dyn Observer) -> String {
    bits(&trainer.train_observed(problem, observer).unwrap())
}

fn same_training(problem: impl Fn() -> Problem, trainer: &Trainer, least: usize) {
    same(problem, &Catalogue::default(), least, |problem, observer| train(trainer, problem, observer));
}

fn small(policy: &str) -> Trainer {
    Trainer::new(policy).iterations(8).batch_size(50)
}

/// Counts of three arms in past problems, a third held out.
fn past() -> Problem {
    let cell = |i: u32| Cell::Counts { successes: f64::from(i * 7 % 31), trials: 100.0 };
    let row = |i: u32| Row::new(vec![cell(i), cell(3 * i + 1), cell(5 * i + 2)]);
    let table = Table::builder().arm_names(["a", "b", "c"]).holdout(0.33);
    let table = table.build((0..60).map(row).collect()).unwrap();
    Problem::bernoulli(Prior::table(table)).horizon(60).build().unwrap()
}

/// Labelled rows of so many features, of which the first few say something of the class, over twenty rounds.
fn labelled(rows: u32, features: u32, classes: u32, holdout: f64) -> Problem {
    let noise = |i: u32, j: u32| f64::from((i * 2_654_435 + j * 40_503).wrapping_mul(97) % 1009) / 1009.0;
    let mut builder = ExamplesBuilder::new(Scale::MinMax, holdout).unwrap();
    for i in 0..rows {
        let class = i % classes;
        let value =
            |j: u32| if j < 4 { f64::from(class * (j + 1) % classes) + noise(i, j) } else { noise(i, j) };
        builder.push(&(0..features).map(value).collect::<Vec<_>>(), &class.to_string()).unwrap();
    }
    Problem::classification(builder.finish(None).unwrap().0).horizon(20).build().unwrap()
}

#[test]
fn policies_of_counts() {
    let problem = || Problem::named("bernoulli-2").unwrap();
    same_training(problem, &small("softelim"), 9);
    same_training(problem, &small("soft-index"), 9);
    same_training(problem, &small("softelim").baseline(Baseline::SelfPlay).returns(Returns::Realized), 9);
    // A search, and what a setting leaves to one.
    same_training(problem, &small("thompson"), 8);
    same(problem, &Catalogue::default(), 20, |problem, observer| {
        let simulator = Simulator::new(problem).instances(500).rounds([50, 200]);
        let policies = ["thompson(sharpen=tuned)", "gittins", "softelim(w=0.53)", "bayes-optimal"];
        bits_of(&simulator.compare_observed(policies, observer).unwrap())
    });
}

#[test]
fn late_rewards() {
    let problem = || {
        let prompt = Problem::named("bernoulli-2").unwrap().with_horizon(50).unwrap();
        prompt
            .with_world(World { delay: Delay::Geometric { mean: 5.0 }, floor: 0.1, ..*prompt.world() })
            .unwrap()
    };
    same_training(problem, &small("softelim"), 9);
}

/// Folds of the training part are played on, and comparisons know their clusters.
#[test]
fn past_problems() {
    same_training(past, &small("soft-index"), 30);
    same(past, &Catalogue::default(), 1, |problem, observer| {
        let simulator = Simulator::new(problem).instances(300).rounds([10, 60]);
        bits_of(&simulator.compare_observed(["thompson", "ucb1", "softelim"], observer).unwrap())
    });
}

/// The start from the history, whitened coordinates, folds.
#[test]
fn labelled_rows() {
    same_training(|| labelled(150, 5, 3, 0.3), &small("soft-ucb"), 100);
    same(
        || labelled(150, 5, 3, 0.3),
        &Catalogue::default(),
        2,
        |problem, observer| {
            let simulator = Simulator::new(problem).instances(60);
            let policies = ["linucb(width=tuned)", "lin-thompson", "mom-thompson", "cosoftelim"];
            bits_of(&simulator.compare_observed(policies, observer).unwrap())
        },
    );
}

#[test]
fn whichever_is_best() {
    same_training(past, &Trainer::auto().iterations(4).batch_size(20), 30);
}

#[test]
fn networks() {
    let problem = || Problem::named("bernoulli-2").unwrap().with_horizon(20).unwrap();
    same(problem, &Catalogue::default(), 12, |problem, observer| {
        let initial = "lstm(hidden=4,embedding=3)".parse::<Policy>().unwrap().on(problem).unwrap();
        let mut recipe = Recipe::standard(problem);
        recipe.stages.iter_mut().for_each(|stage| stage.iterations = 3);
        let recipe = Recipe { instances: 200, checks: 2, check_instances: 100, ..recipe };
        bits(&Plan::Recurrent(recipe).train(problem, &initial, 3, observer).unwrap())
    });
    same(problem, &Catalogue::default(), 2, |problem, observer| {
        let initial = "dqn".parse::<Policy>().unwrap().on(problem).unwrap();
        let settings = QLearning { updates: 60, checks: 2, check_instances: 100, ..QLearning::default() };
        bits(&Plan::QLearning(settings).train(problem, &initial, 3, observer).unwrap())
    });
}

/// A worker that has the rule plays it; one that has not says so.
#[test]
fn rules_of_ones_own() {
    let problem = || Problem::named("bernoulli-2").unwrap().with_horizon(30).unwrap();
    let catalogue = Catalogue::default().with_rule(rules::Restless);
    let trainer = Trainer::own(rules::Restless).iterations(3).batch_size(40);
    same(problem, &catalogue, 4, |problem, observer| train(&trainer, problem, observer));
    let strangers = Far::new(problem, &Catalogue::default(), 2);
    let error = trainer.train_observed(&problem(), &mut Boss(Some(strangers))).unwrap_err().to_string();
    assert!(error.contains("Restless"), "{error}");
}

#[test]
fn gradients() {
    let problem = || Problem::named("bernoulli-2").unwrap();
    same(problem, &Catalogue::default(), 1, |problem, observer| {
        let choice: Choice = "softelim(w=0.7)".parse::<Policy>().unwrap().on(problem).unwrap();
        let estimator = Estimator { baseline: Baseline::Opt, returns: Returns::Mean, batch_size: 333 };
        let player = choice.player(problem, observer).unwrap();
        let key = gradient_key(5);
        format!("{:?}", estimator.estimate(&*player, problem, key, observer).unwrap())
    });
}

/// Workers with another problem refuse, as they do what is not a task; a crew must answer every task, and nothing else.
#[test]
fn refusals() {
    let problem = Problem::named("bernoulli-2").unwrap();
    let choice = "ucb1".parse::<Policy>().unwrap().on(&problem).unwrap();
    let measured = |crew| evaluate(&[&choice], &problem, 1, 100, &[], &mut Boss(Some(crew)));
    let other = Far::new(|| Problem::named("bernoulli-10").unwrap(), &Catalogue::default(), 2);
    let error = measured(other).unwrap_err().to_string();
    assert!(error.contains("another problem than bernoulli-10"), "{error}");
    let worker = Worker::new(Problem::named("bernoulli-2").unwrap(), Catalogue::default());
    assert!(worker.work(b"").is_err() && worker.work(&[7; 300]).is_err());

    type Answers = Vec<Vec<u8>>;
    struct Broken(fn(Answers) -> Answers, Worker);
    impl Crew for Broken {
        fn hands(&self) -> usize {
            2
        }
        fn play(&self, tasks: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
            tasks.iter().map(|task| self.1.work(task)).collect::<Result<_>>().map(self.0)
        }
    }
    struct Trusting(Arc<Broken>);
    impl Observer for Trusting {
        fn crew(&self) -> Option<Arc<dyn Crew>> {
            Some(self.0.clone())
        }
    }
    let breaks: [fn(Answers) -> Answers; 3] = [
        |answers| answers[1..].to_vec(),
        |answers| answers.iter().map(|answer| answer[1..].to_vec()).collect(),
        |answers| answers.iter().map(|answer| [&answer[..], b"more"].concat()).collect(),
    ];
    for broken in breaks {
        let worker = Worker::new(Problem::named("bernoulli-2").unwrap(), Catalogue::default());
        let mut observer = Trusting(Arc::new(Broken(broken, worker)));
        let error = evaluate(&[&choice], &problem, 1, 100, &[], &mut observer).unwrap_err().to_string();
        assert!(error.starts_with("crew: "), "{error}");
    }
}

/// Notes what had been sent after each iteration.
struct Count(Arc<Far>, Vec<usize>);

impl Observer for Count {
    fn iteration(&mut self, _: &Iteration, _: &[f64]) {
        self.1.push(self.0.bytes.load(Relaxed));
    }

    fn crew(&self) -> Option<Arc<dyn Crew>> {
        Some(self.0.clone())
    }
}

/// With 123 features, there and back, after the first iteration: the batch of the defaults.
#[test]
fn an_iteration_sends_little() {
    let problem = || labelled(300, 123, 2, 0.0);
    let (here, crew) = (problem(), Far::new(problem, &Catalogue::default(), 4));
    let mut count = Count(crew, Vec::new());
    Trainer::new("soft-ucb").iterations(3).train_observed(&here, &mut count).unwrap();
    let most = count.1.windows(2).map(|sent| sent[1] - sent[0]).max().unwrap();
    println!("{most} bytes in an iteration");
    assert!((1000..=200_000).contains(&most), "{most} bytes");
}

/// Stops at the n-th report of a kind of work, and from then on.
struct StopIn {
    what: &'static str,
    left: usize,
    iterations: usize,
}

impl Observer for StopIn {
    fn progress(&mut self, progress: Progress) -> ControlFlow<StopReason> {
        if progress.what == self.what && self.left > 0 {
            self.left -= 1;
        }
        if self.left == 0 { ControlFlow::Break(StopReason::Interrupted) } else { ControlFlow::Continue(()) }
    }

    fn iteration(&mut self, _: &Iteration, _: &[f64]) {
        self.iterations += 1;
    }
}

/// Whoever stops while candidates are compared or the result is polished has what all iterations taught.
#[test]
fn a_stop_after_the_last_iteration_keeps_what_was_learned() {
    let problem = Problem::named("bernoulli-2").unwrap();
    let trainer = small("soft-index");
    let mut stages = Vec::new();
    for left in 1..40 {
        let mut stop = StopIn { what: "playing", left, iterations: 0 };
        let trained = trainer.train_observed(&problem, &mut stop).unwrap();
        if stop.left > 0 {
            assert_eq!(trained.stop_reason(), StopReason::Iterations);
            break;
        }
        assert_eq!((trained.stop_reason(), trained.history().len()), (StopReason::Interrupted, 8));
        assert_ne!(trained.choice().params(), trained.initial().params());
        stages.push(bits(&trained));
    }
    // The comparison of candidates, and at least one step of polishing.
    assert!(stages.len() >= 2, "{}", stages.len());
}
