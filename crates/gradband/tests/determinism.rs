//! Same seed, same bits: for every policy of the catalogue and rules of one's own, any width of lanes, any block of
//! instances, any number of threads.
#![allow(clippy::unwrap_used)]

use crate::problems::{Told, choice, play, problems, tasks};
use crate::rules;
use gradband::measure::{Estimator, evaluate};
use gradband::policy::{Choice, POLICIES, Policy, PolicyKind, ready};
use gradband::problem::{Problem, Split};
use gradband::simulate::{Job, Key, Lanes, Player, Task, has_wide_lanes};

/// Every policy that plays a problem, networks and rules of one's own included.
fn choices(problem: &Problem) -> Vec<Choice> {
    let own = [Policy::own(rules::Restless), Policy::own_linear(rules::SoftUcbRule)];
    let own = own.iter().map(|policy| policy.kind().clone());
    let kinds: Vec<PolicyKind> = POLICIES.iter().cloned().chain(own).collect();
    kinds.iter().filter(|kind| kind.refusal(problem).is_none()).map(|kind| choice(kind, problem)).collect()
}

/// Fails where the machine has no wide lanes: a test that passes without having run what it names is worth nothing.
/// `GRADBAND_NO_WIDE_LANES=1` says that they may be left out.
fn require_wide_lanes() {
    let excused = std::env::var_os("GRADBAND_NO_WIDE_LANES").is_some();
    assert!(has_wide_lanes() || excused, "no wide lanes here; GRADBAND_NO_WIDE_LANES=1 does without");
}

/// Instances `0..count` in blocks, one after the other.
fn in_blocks(player: &dyn Player, job: &Job, count: usize, block: usize) -> Told {
    let mut all = Told::default();
    for first in (0..count).step_by(block) {
        let part = play(player, job, first as u64, block.min(count - first));
        all.outcomes.extend(part.outcomes);
        all.gradients.extend(part.gradients);
    }
    all
}

#[test]
fn lanes_and_blocks_are_not_observable() {
    require_wide_lanes();
    for problem in problems() {
        // Contextual runs take longer; there are fewer of them.
        let count = if problem.contextual().is_some() { 11 } else { 71 };
        for choice in choices(&problem) {
            let player = choice.player(&problem, &mut ()).unwrap();
            for task in tasks(&choice, &*player) {
                let job = Job::new(&problem, Key::new(9), Split::HeldOut, task);
                let reference = in_blocks(&*player, &Job { lanes: Lanes::Single, ..job }, count, count);
                for block in [1, 7, 32, 64] {
                    let what = format!("{} on {problem}, {task:?}, block {block}", choice.name());
                    assert_eq!(in_blocks(&*player, &job, count, block), reference, "{what}");
                }
            }
        }
    }
}

/// Means, standard errors, quantiles, regret over rounds and gradients, of enough instances for several chunks.
#[test]
fn threads_are_not_observable() {
    for problem in problems() {
        let count = if problem.contextual().is_some() { 23 } else { 101 };
        let choices = choices(&problem);
        let choices: Vec<&Choice> = choices.iter().collect();
        let estimate = |choice: &&Choice| {
            let player = choice.player(&problem, &mut ()).unwrap();
            let task = *tasks(choice, &*player).last().unwrap();
            let Task::Gradient(baseline, returns) = task else { return None };
            let estimator = Estimator { baseline, returns, batch_size: count };
            Some(format!("{:?}", estimator.estimate(&*player, &problem, Key::new(3), &mut ()).unwrap()))
        };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let found = evaluate(&choices, &problem, 5, count, &[3, 20], &mut ()).unwrap();
                (format!("{found:?}"), choices.iter().map(estimate).collect::<Vec<_>>())
            })
        };
        let one = on(1);
        for threads in [2, 5] {
            assert_eq!(on(threads), one, "{threads} threads on {problem}");
        }
    }
}

/// An instance is the same whatever comes before it: any run can be replayed alone.
#[test]
fn an_instance_can_be_replayed_alone() {
    let problem = Problem::named("bernoulli-10").unwrap();
    let player = Choice::parse("thompson", &problem).unwrap().player(&problem, &mut ()).unwrap();
    let job = Job::new(&problem, Key::new(1), Split::Train, Task::Evaluate);
    for (i, outcome) in play(&*player, &job, 1000, 40).outcomes.iter().enumerate() {
        assert_eq!(play(&*player, &job, 1000 + i as u64, 1).outcomes[0], *outcome);
    }
}

/// Single and double precision play the same game: regrets on 4,000 instances agree within 4 standard errors.
/// Policies that look up a table (half a minute's work here) have no arithmetic to round.
#[test]
fn single_precision_is_statistically_safe() {
    const INSTANCES: usize = 4_000;
    let problem = Problem::named("bernoulli-10").unwrap();
    for kind in ready(&problem).filter(|kind| kind.preparation_seconds(&problem) < 3.0) {
        let player = Choice::initial(kind, &problem).unwrap().player(&problem, &mut ()).unwrap();
        // Mean and squared standard error.
        let regret = |lanes| {
            let job = Job { lanes, ..Job::new(&problem, Key::new(2), Split::Train, Task::Evaluate) };
            let outcomes = play(&*player, &job, 0, INSTANCES).outcomes;
            let n = INSTANCES as f64;
            let mean = outcomes.iter().map(|outcome| outcome.regret).sum::<f64>() / n;
            let squares = outcomes.iter().map(|outcome| (outcome.regret - mean).powi(2)).sum::<f64>();
            (mean, squares / (n * (n - 1.0)))
        };
        let (single, double) = (regret(Lanes::Auto), regret(Lanes::Double));
        let error = (single.1 + double.1).sqrt();
        assert!((single.0 - double.0).abs() < 4.0 * error, "{}: {single:?} {double:?}", kind.name());
    }
}
