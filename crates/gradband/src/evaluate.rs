//! Bayes regret and reward of policies on common instances, with paired differences.

use crate::batch;
use crate::problem::{Problem, Split};
use crate::registry::Agent;
use crate::simulate::{Job, Task};
use crate::statistics::{Estimate, Quantiles, Sample};
use crate::stream::Key;
use std::ops::ControlFlow;

/// Evaluation's randomness: training never uses it.
const EVALUATION: u64 = 1;

/// What was measured; policies are in the order in which they were given.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Number of instances.
    pub instances: usize,
    regret: Sample,
    reward: Sample,
    quantiles: Vec<Quantiles>,
}

impl Evaluation {
    /// Bayes regret of policy `i`.
    pub fn regret(&self, i: usize) -> Estimate {
        self.regret.estimate(i)
    }

    /// Bayes reward of policy `i`.
    pub fn reward(&self, i: usize) -> Estimate {
        self.reward.estimate(i)
    }

    /// Regret of policy `i` minus that of `j`, on the same instances and rewards.
    pub fn difference(&self, i: usize, j: usize) -> Estimate {
        self.regret.difference(i, j)
    }

    /// Quantiles over instances of the regret of policy `i`.
    pub fn quantiles(&self, i: usize) -> Quantiles {
        self.quantiles[i]
    }
}

/// Plays the policies on the evaluation instances of `seed`: the held-out ones, where the problem has any.
///
/// `progress` hears of the instances done; the result is `None` if it stops the work.
pub fn evaluate(
    agents: &[&dyn Agent],
    problem: &Problem,
    seed: u64,
    instances: usize,
    progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Option<Evaluation> {
    let job = Job::new(problem, Key::new(seed).child(EVALUATION), Split::HeldOut, Task::Evaluate);
    let clusters = problem.clusters(Split::HeldOut);
    let mut regret = Sample::new(agents.len(), clusters);
    let mut reward = Sample::new(agents.len(), clusters);
    let mut regrets = vec![Vec::with_capacity(instances); agents.len()];
    let done = batch::play(
        agents,
        &job,
        instances,
        |row| {
            regret.push(row[0].cluster, row.iter().map(|outcome| outcome.regret));
            reward.push(row[0].cluster, row.iter().map(|outcome| outcome.reward));
            for (values, outcome) in regrets.iter_mut().zip(row) {
                values.push(outcome.regret);
            }
        },
        progress,
    );
    let quantiles =
        regrets.iter_mut().filter(|values| !values.is_empty()).map(|values| Quantiles::of(values));
    done.is_continue().then(|| Evaluation { instances, regret, reward, quantiles: quantiles.collect() })
}

/// Regret after each of `rounds` rounds of policies that play for the whole horizon, a list for each policy.
///
/// The same instances and draws every time, cut short: regret never falls from one to the next. `progress` hears of
/// the instances done, for all rounds together; the result is `None` if it stops the work.
pub fn over_rounds(
    agents: &[&dyn Agent],
    problem: &Problem,
    seed: u64,
    instances: usize,
    rounds: &[usize],
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Option<Vec<Vec<Estimate>>> {
    let mut curves = vec![Vec::with_capacity(rounds.len()); agents.len()];
    for (i, &horizon) in rounds.iter().enumerate() {
        let short = Problem { horizon, ..problem.clone() };
        let evaluation = evaluate(agents, &short, seed, instances, |done| progress(i * instances + done))?;
        curves.iter_mut().enumerate().for_each(|(agent, curve)| curve.push(evaluation.regret(agent)));
    }
    Some(curves)
}
