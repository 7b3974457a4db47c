//! Same seed, same bits: for every policy of the registry, any width of lanes, any block, any number of
//! threads.
#![allow(clippy::unwrap_used)]

use gradband::baseline::{Baseline, Returns};
use gradband::batch;
use gradband::problem::{Contexts, Discrete, Order, Points, Problem, Rewards, Split, Table};
use gradband::registry::{Agent, Choice, ready};
use gradband::simulate::{Job, Lanes, Outcome, Task};
use gradband::stream::Key;
use std::ops::ControlFlow;

fn problems() -> Vec<Problem> {
    let rows = "a,b,c\n0.1,0.2,0.3\n0.5,0.4,0.1\n0.9,0.8,0.7\n0.2,0.2,0.6\n";
    let table = gradband::problem::Prior::Table(Table::read(rows.as_bytes(), "rows", 0.5).unwrap());
    let normal = gradband::problem::Prior::normal(vec![0.0, 1.0, 0.3], vec![1.0; 3]).unwrap();
    let shorten = |name: &str, horizon| Problem { horizon, ..Problem::named(name).unwrap() };
    vec![
        shorten("bernoulli-2", 60),
        shorten("bernoulli-2-uniform", 61),
        shorten("beta-2", 30),
        shorten("bernoulli-10", 40),
        shorten("distractors-7", 40),
        Problem::new("table", Rewards::Bernoulli, table, 30).unwrap(),
        Problem::new("normal", Rewards::Gaussian { noise_sd: 0.5 }, normal, 30).unwrap(),
        shorten("linear-3", 25),
        shorten("wine", 30),
        shorten("satimage", 40),
        discrete(),
    ]
}

fn discrete() -> Problem {
    let tables = Points::new(vec![vec![0.1, 0.5, 0.3, 0.2], vec![0.4, 0.0, 0.9, 0.2]], None).unwrap();
    let source = Discrete::new(tables, 2, 0.1, 1.0, Some(vec![1.0, 2.0]), Order::Random).unwrap();
    Problem::with_contexts("discrete", Contexts::Discrete(source), 2, 30).unwrap()
}

/// Contextual runs take longer; there are fewer of them.
fn count(problem: &Problem) -> usize {
    if problem.contextual().is_some() { 23 } else { 101 }
}

fn outcomes(agent: &dyn Agent, job: &Job) -> (Vec<Outcome>, Vec<f64>) {
    let (mut all, mut gradients) = (Vec::new(), Vec::new());
    let each = |row: &[Outcome], gradient: &[f64]| {
        all.push(row[0]);
        gradients.extend_from_slice(gradient);
    };
    let _ =
        batch::play_with_gradients(&[agent], job, count(job.problem), each, |_| ControlFlow::Continue(()));
    (all, gradients)
}

#[test]
fn lanes_blocks_and_threads_are_not_observable() {
    for problem in problems() {
        for info in ready(&problem) {
            let choice = Choice::initial(info, &problem).unwrap();
            let agent = &*choice.agent(&problem);
            let mut tasks = vec![Task::Evaluate];
            if !choice.params.is_empty() && agent.unscored().is_none() {
                for returns in [Returns::Realized, Returns::Mean] {
                    let baselines =
                        [Baseline::None, Baseline::Opt, Baseline::SelfPlay, Baseline::LeaveOneOut(3)];
                    tasks.extend(baselines.map(|baseline| Task::Gradient(baseline, returns)));
                }
            }
            for task in tasks {
                let job = Job::new(&problem, Key::new(9), Split::HeldOut, task);
                let reference = outcomes(agent, &Job { lanes: Lanes::Single, block: 101, ..job });
                for block in [1, 7, 32, 64] {
                    let what = format!("{} on {}, {task:?}, block {block}", info.name, problem.name);
                    assert_eq!(outcomes(agent, &Job { block, ..job }), reference, "{what}");
                }
                for threads in [1, 2, 5] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    assert_eq!(pool.install(|| outcomes(agent, &job)), reference, "{threads} threads");
                }
            }
        }
    }
}

/// An instance is the same whatever comes before it: any run can be replayed alone.
#[test]
fn an_instance_can_be_replayed_alone() {
    let problem = Problem::named("bernoulli-10").unwrap();
    let choice = Choice::initial(gradband::registry::policy("thompson").unwrap(), &problem).unwrap();
    let agent = choice.agent(&problem);
    let job = Job::new(&problem, Key::new(1), Split::Train, Task::Evaluate);
    let mut together = [Outcome::default(); 40];
    agent.rollout(&job, 1000, &mut together, &mut []);
    for (i, outcome) in together.iter().enumerate() {
        let mut alone = [Outcome::default()];
        agent.rollout(&job, 1000 + i as u64, &mut alone, &mut []);
        assert_eq!(alone[0], *outcome);
    }
}

/// Single and double precision play the same game: regrets on 4,000 instances agree within 4 standard errors.
/// Policies that look up a table (half a minute's work here) have no arithmetic to round.
#[test]
fn single_precision_is_statistically_safe() {
    let problem = Problem::named("bernoulli-10").unwrap();
    for info in ready(&problem).filter(|info| info.preparation_seconds(&problem) < 3.0) {
        let agent = Choice::initial(info, &problem).unwrap().agent(&problem);
        let mean = |lanes| {
            let job = Job { lanes, ..Job::new(&problem, Key::new(2), Split::Train, Task::Evaluate) };
            let mut sample = gradband::statistics::Sample::new(1, None);
            let each = |row: &[Outcome]| sample.push(0, [row[0].regret]);
            let _ = batch::play(&[&*agent], &job, 4_000, each, |_| ControlFlow::Continue(()));
            sample.estimate(0)
        };
        let (single, double) = (mean(Lanes::Auto), mean(Lanes::Double));
        let error = (single.std_error.powi(2) + double.std_error.powi(2)).sqrt();
        assert!((single.mean - double.mean).abs() < 4.0 * error, "{}: {single:?} {double:?}", info.name);
    }
}
