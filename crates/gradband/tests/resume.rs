//! Trainings that are broken off again and again, and go on from what their observer kept: every way to learn leaves, to
//! the bit, what it leaves unbroken.
#![allow(clippy::unwrap_used)]

use crate::numbers::Numbers;
use gradband::learn::{GradientSource, Optimizer, Plan, QLearning, Recipe, Start};
use gradband::policy::Choice;
use gradband::problem::{ExamplesBuilder, Scale};
use gradband::{Observer, Problem, Progress, Result, StopReason, Trained, Trainer};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Keeps what it is told to, some of what it is offered, and breaks the work off after so many looks.
struct Memory {
    kept: BTreeMap<String, Vec<u8>>,
    looks: usize,
    offers: usize,
    broken: bool,
}

impl Observer for Memory {
    fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
        self.broken |= self.looks == 0;
        if self.broken {
            return ControlFlow::Break(StopReason::Interrupted);
        }
        self.looks -= 1;
        ControlFlow::Continue(())
    }

    fn offer(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        self.offers += 1;
        if !self.broken && self.offers.is_multiple_of(3) {
            self.kept.insert(step.into(), state());
        }
    }

    fn keep(&mut self, step: &str, state: &dyn Fn() -> Vec<u8>) {
        if !self.broken {
            let within = format!("{step}/");
            self.kept.retain(|name, _| !name.starts_with(&within));
            self.kept.insert(step.into(), state());
        }
    }

    fn recall(&mut self, step: &str) -> Option<Vec<u8>> {
        self.kept.get(step).cloned()
    }
}

/// Trains in pieces of growing length, and compares with one piece.
fn holds(name: &str, train: impl Fn(&mut dyn Observer) -> Result<Trained>) {
    let unbroken = format!("{:?}", train(&mut ()).unwrap());
    let mut numbers = Numbers(name.len() as u64);
    let (mut kept, mut breaks) = (BTreeMap::new(), 0);
    loop {
        let looks = 1 + (numbers.unit() * (4 + breaks) as f64) as usize;
        let mut memory = Memory { kept, looks, offers: 0, broken: false };
        let trained = train(&mut memory);
        if !memory.broken {
            assert_eq!(format!("{:?}", trained.unwrap()), unbroken, "{name} after {breaks} breaks");
            assert!(breaks >= 3, "{name} was broken off {breaks} times only");
            return;
        }
        (kept, breaks) = (memory.kept, breaks + 1);
        assert!(breaks < 400, "{name} does not get on");
    }
}

fn short(name: &str, horizon: usize) -> Problem {
    Problem::named(name).unwrap().with_horizon(horizon).unwrap()
}

#[test]
fn every_optimizer_goes_on() {
    let problem = short("bernoulli-2", 40);
    for optimizer in [Optimizer::Sgd, Optimizer::Adam, Optimizer::Yogi] {
        let trainer = Trainer::new("softelim").optimizer(optimizer).iterations(30).batch_size(20);
        holds(optimizer.name(), |observer| trainer.train_observed(&problem, observer));
    }
}

#[test]
fn exact_gradients_go_on() {
    let problem = short("bernoulli-2", 15);
    let exact = Trainer::new("softelim").gradient(GradientSource::Exact).iterations(20);
    for (name, trainer) in [("checked steps", exact.clone()), ("adam", exact.optimizer(Optimizer::Adam))] {
        holds(name, |observer| trainer.train_observed(&problem, observer));
    }
}

#[test]
fn searches_and_polishing_go_on() {
    let problem = short("bernoulli-2", 40);
    let sharp = Trainer::new("thompson").iterations(25).batch_size(20);
    holds("search", |observer| sharp.train_observed(&problem, observer));
    let linear = short("linear-2", 20);
    let polished = Trainer::new("soft-ucb").iterations(10).batch_size(5);
    holds("start and polish", |observer| polished.train_observed(&linear, observer));
    let identity = polished.start(Start::Identity);
    holds("identity", |observer| identity.train_observed(&linear, observer));
}

/// Labelled rows of which some are held out: folds of the rest decide how far to go.
#[test]
fn folds_go_on() {
    let mut numbers = Numbers(3);
    let mut builder = ExamplesBuilder::new(Scale::MinMax, 0.3).unwrap();
    for i in 0..90 {
        let row: Vec<f64> = (0..4).map(|j| numbers.unit() + if j == i % 3 { 1.0 } else { 0.0 }).collect();
        builder.push(&row, ["a", "b", "c"][i % 3]).unwrap();
    }
    let (examples, _) = builder.finish(None).unwrap();
    let problem = Problem::classification(examples).horizon(30).build().unwrap();
    let trainer = Trainer::new("soft-ucb").iterations(16).batch_size(4);
    holds("folds", |observer| trainer.train_observed(&problem, observer));
}

#[test]
fn the_choice_of_a_class_goes_on() {
    let problem = short("bernoulli-2", 20);
    let trainer = Trainer::auto().iterations(10).batch_size(10);
    holds("auto", |observer| trainer.train_observed(&problem, observer));
}

#[test]
fn networks_go_on() {
    let problem = short("bernoulli-2", 20);
    let choice = |text: &str| Choice::parse(text, &problem).unwrap();
    let mut recipe = Recipe::standard(&problem);
    recipe.stages.iter_mut().for_each(|stage| stage.iterations = 12);
    (recipe.instances, recipe.check_instances) = (10, 50);
    let lstm = choice("lstm(hidden=4)");
    let plan = Plan::Recurrent(recipe);
    holds("stages", |observer| plan.train(&problem, &lstm, 1, observer));
    let settings =
        QLearning { updates: 900, updates_per_play: 30, check_instances: 50, ..QLearning::default() };
    let (plan, dqn) = (Plan::QLearning(settings), choice("dqn"));
    holds("q-learning", |observer| plan.train(&problem, &dqn, 1, observer));
}
