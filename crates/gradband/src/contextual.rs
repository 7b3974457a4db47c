//! The plain engine of contextual policies without a linear model: a policy plays a whole run at a time, and has at
//! most one score, that of a draw before the first round.

use crate::baseline::{Baseline, Returns};
use crate::lanes::One;
use crate::problem::{Instance, Problem};
use crate::registry::Agent;
use crate::simulate::{ACTIONS, Job, Outcome, Task};
use crate::stream::Stream;

/// A policy that plays whole runs.
pub trait Player: Send + Sync {
    /// Writes the arm of each round; returns the score of what it drew at its start.
    fn play(
        &self,
        problem: &Problem,
        instance: &Instance,
        training: bool,
        actions: &mut Stream<One<f64>>,
        arms: &mut [usize],
    ) -> f64;
    /// Why it has no score, if it has none.
    fn unscored(&self) -> Option<&'static str>;
}

/// A player among other agents.
pub struct Plain<P>(pub P);

impl<P: Player> Agent for Plain<P> {
    fn rollout(&self, job: &Job, first: u64, out: &mut [Outcome], gradients: &mut [f64]) {
        let Some(contextual) = job.problem.contextual() else { return };
        let mut instance = Instance::default();
        let mut arms = vec![0; job.problem.horizon];
        for (i, outcome) in out.iter_mut().enumerate() {
            let index = first + i as u64;
            contextual.sample(job.problem, job.split, job.key, index, &mut instance);
            let gradient = self.instance(job, index, &instance, &mut arms, outcome);
            if let Some(slot) = gradients.get_mut(i) {
                *slot = gradient;
            }
        }
    }

    fn unscored(&self) -> Option<&'static str> {
        self.0.unscored()
    }
}

impl<P: Player> Plain<P> {
    /// Plays every run of an instance. A score at the start multiplies the return of the whole run.
    fn instance(
        &self,
        job: &Job,
        index: u64,
        instance: &Instance,
        arms: &mut [usize],
        outcome: &mut Outcome,
    ) -> f64 {
        let (problem, runs) = (job.problem, job.task.runs());
        let training = job.task != Task::Evaluate;
        let (mut scores, mut returns) = (vec![0.0; runs], vec![0.0; runs]);
        let (mut reward, mut optimal, mut optimal_return) = (0.0, 0.0, 0.0);
        for r in 0..runs {
            let mut actions = Stream::new((), job.key.child(ACTIONS + r as u64), index);
            scores[r] = self.0.play(problem, instance, training, &mut actions, arms);
            let rounds =
                instance.means.chunks_exact(problem.arms).zip(instance.rewards.chunks_exact(problem.arms));
            for ((means, rewards), &arm) in rounds.zip(&*arms) {
                let values = match job.task {
                    Task::Gradient(_, Returns::Realized) => rewards,
                    _ => means,
                };
                reward += f64::from(means[arm]);
                returns[r] += f64::from(values[arm]);
                if r == 0 {
                    let mut best = 0;
                    for (i, mean) in means.iter().enumerate() {
                        best = if *mean > means[best] { i } else { best };
                    }
                    optimal += f64::from(means[best]);
                    optimal_return += f64::from(values[best]);
                }
            }
        }
        outcome.reward = reward / runs as f64;
        outcome.regret = optimal - outcome.reward;
        let Task::Gradient(baseline, _) = job.task else { return 0.0 };
        match baseline {
            Baseline::None => scores[0] * returns[0],
            Baseline::Opt => scores[0] * (returns[0] - optimal_return),
            Baseline::SelfPlay => scores[0] * (returns[0] - returns[1]),
            Baseline::LeaveOneOut(_) => {
                let (count, total) = (runs as f64, returns.iter().sum::<f64>());
                let excess = |own: f64| own - (total - own) / (count - 1.0);
                scores.iter().zip(&returns).map(|(score, &own)| score * excess(own)).sum::<f64>() / count
            }
        }
    }
}
