//! The networks among the other policies: the same instances, the same rewards; and their training.
#![allow(clippy::unwrap_used)]

use crate::problems::{play, shorten};
use gradband::learn::{Plan, QLearning, Recipe};
use gradband::measure::evaluate;
use gradband::policy::{Choice, named};
use gradband::problem::{Prior, Problem, Split};
use gradband::simulate::{Job, Key, Task};
use gradband::{Iteration, Observer, Progress, StopReason, Trained};
use std::ops::ControlFlow;

/// A network without weights, with some of its settings.
fn network(name: &str, settings: &[(&str, &str)], problem: &Problem) -> Choice {
    let initial = Choice::initial(&named(name).unwrap(), problem).unwrap();
    settings.iter().fold(initial, |choice, (key, value)| choice.with(problem, key, value).unwrap())
}

fn regrets(choices: &[&Choice], problem: &Problem) -> Vec<f64> {
    let found = evaluate(choices, problem, 1, 2000, &[], &mut ()).unwrap();
    (0..choices.len()).map(|i| found.regret(i).mean).collect()
}

#[test]
fn an_indifferent_network_plays_at_random() {
    let problem = shorten("bernoulli-10", 50);
    let lstm = network("lstm", &[], &problem);
    let zeros = lstm.with_params(&problem, &vec![0.0; lstm.params().len()]).unwrap();
    let job = Job::new(&problem, Key::new(9), Split::Train, Task::Evaluate);
    let outcomes =
        |choice: &Choice| play(&*choice.player(&problem, &mut ()).unwrap(), &job, 0, 2000).outcomes;
    let (network, random) = (outcomes(&zeros), outcomes(&network("random", &[], &problem)));
    // Reward and regret add up to what the best arm gives: the instances are the same.
    for (a, b) in network.iter().zip(&random) {
        assert!((a.reward + a.regret - b.reward - b.regret).abs() < 1e-9);
    }
    let mean = |out: &[gradband::simulate::Outcome]| out.iter().map(|o| o.regret).sum::<f64>() / 2000.0;
    // Each run's regret has a standard deviation of 2 given its instance: 0.3 is 4.7 standard errors.
    assert!((mean(&network) - mean(&random)).abs() < 0.3, "{} {}", mean(&network), mean(&random));
}

/// Notes what it is told, and stops the work after so many records.
struct Listener {
    records: Vec<(usize, Option<f64>)>,
    most: usize,
}

impl Observer for Listener {
    fn progress(&mut self, _: Progress) -> ControlFlow<StopReason> {
        if self.records.len() < self.most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(StopReason::Interrupted)
        }
    }

    fn iteration(&mut self, record: &Iteration, _: &[f64]) {
        self.records.push((record.iteration, record.loss));
    }
}

fn train(plan: &Plan, problem: &Problem, initial: &Choice, seed: u64, most: usize) -> (Trained, Listener) {
    let mut listener = Listener { records: Vec::new(), most };
    let trained = plan.train(problem, initial, seed, &mut listener).unwrap();
    (trained, listener)
}

/// A small recipe on a small network: learns, repeats itself, and stops when told.
#[test]
fn recurrent_training_learns_and_repeats() {
    let problem = shorten("bernoulli-2", 30);
    let initial = network("lstm", &[("hidden", "16"), ("embedding", "8")], &problem);
    let mut recipe = Recipe::standard(&problem);
    (recipe.check_instances, recipe.instances) = (2000, 64);
    for stage in &mut recipe.stages {
        (stage.iterations, stage.rate.initial) = (100, 1e-2);
    }
    let plan = Plan::Recurrent(recipe);
    let (trained, listener) = train(&plan, &problem, &initial, 1, usize::MAX);
    assert_eq!((listener.records.len(), trained.stop_reason()), (300, StopReason::Iterations));
    // At random the regret is 3.
    let regret = regrets(&[trained.choice()], &problem)[0];
    assert!(regret < 2.0, "{regret}");
    let (again, _) = train(&plan, &problem, &initial, 1, usize::MAX);
    assert_eq!(again.choice().params(), trained.choice().params());
    let (early, listener) = train(&plan, &problem, &initial, 1, 7);
    assert_eq!((listener.records.len(), early.stop_reason()), (7, StopReason::Interrupted));
    assert_eq!(early.choice().params(), early.last().params(), "nothing was checked yet");
}

fn easy(horizon: usize) -> Problem {
    let prior = Prior::points(vec![vec![0.9, 0.1], vec![0.1, 0.9]]).unwrap();
    Problem::bernoulli(prior).name("easy").horizon(horizon).build().unwrap()
}

fn short(updates: usize) -> Plan {
    Plan::QLearning(QLearning {
        updates,
        buffer: 256,
        checks: 3,
        check_instances: 500,
        ..QLearning::default()
    })
}

#[test]
fn q_learning_repeats_itself() {
    let problem = easy(20);
    let initial = network("dqn", &[("hidden", "16")], &problem);
    let learn = |seed| train(&short(200), &problem, &initial, seed, usize::MAX).0.choice().params().to_vec();
    let first = learn(1);
    assert_eq!(first, learn(1));
    assert_ne!(first, learn(2));
}

#[test]
fn q_learning_can_be_stopped() {
    let problem = easy(20);
    let initial = network("dqn", &[("hidden", "16")], &problem);
    let (trained, listener) = train(&short(1500), &problem, &initial, 1, 2);
    assert_eq!(listener.records.iter().map(|&(done, _)| done).collect::<Vec<_>>(), [100, 200]);
    assert!(listener.records.iter().all(|(_, loss)| loss.is_some_and(f64::is_finite)));
    assert_eq!(trained.stop_reason(), StopReason::Interrupted);
    assert_eq!(trained.choice().params().len(), initial.params().len());
}

#[test]
fn q_learning_beats_playing_at_random() {
    let problem = easy(20);
    let (trained, _) =
        train(&short(1500), &problem, &network("dqn", &[("hidden", "32")], &problem), 1, usize::MAX);
    let regret = regrets(&[trained.choice(), &network("random", &[], &problem)], &problem);
    // Playing at random costs 8; knowing only the first reward, and staying with the better arm, 1.5.
    assert!(regret[0] < 2.5 && regret[1] > 7.5, "{regret:?}");
}
