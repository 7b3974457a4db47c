//! The plain engine: one run at a time in double precision, for policies that no other engine fits, among them users' own
//! rules. Arms with or without contexts.
//!
//! The estimator streams as in [`super::arms`]: gradient += (return - reference) * scores so far.

use super::instances::{self, Tally};
use super::job::{Job, Outcome, Output, Player, Task};
use super::returns::{Centre, Returns};
use crate::error::Result;
use crate::numeric::lanes::One;
use crate::numeric::simd::vectorized;
use crate::numeric::stream::{Random, Stream};
use crate::problem::{Armed, Instance, RewardModel};

/// What a policy has seen of a run so far.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Seen<'a> {
    /// The number of rounds that were played.
    pub round: usize,
    /// The number of rounds of the whole run.
    pub horizon: usize,
    arms: usize,
    /// Pulls of all arms, then sums, then means, each `stride` numbers after the one before: of a run among others that
    /// are played at the same time, the numbers stay where they are.
    statistics: &'a [f64],
    stride: usize,
}

impl<'a> Seen<'a> {
    /// `statistics` begin with the pulls of the first arm.
    #[inline(always)]
    pub(crate) fn new(
        (round, horizon): (usize, usize),
        arms: usize,
        statistics: &'a [f64],
        stride: usize,
    ) -> Self {
        Self { round, horizon, arms, statistics, stride }
    }

    #[inline(always)]
    fn statistic(&self, which: usize, arm: usize) -> f64 {
        assert!(arm < self.arms, "there are {} arms, and no arm {arm}", self.arms);
        self.statistics[(which * self.arms + arm) * self.stride]
    }

    /// The number of arms.
    #[inline]
    pub fn arms(&self) -> usize {
        self.arms
    }

    /// How often an arm was pulled.
    #[inline]
    pub fn pulls(&self, arm: usize) -> f64 {
        self.statistic(0, arm)
    }

    /// The sum of an arm's rewards.
    #[inline]
    pub fn sum(&self, arm: usize) -> f64 {
        self.statistic(1, arm)
    }

    /// The mean of an arm's rewards; 0 before the first pull.
    #[inline]
    pub fn mean(&self, arm: usize) -> f64 {
        self.statistic(2, arm)
    }

    /// The largest mean of all arms.
    #[inline]
    pub fn best_mean(&self) -> f64 {
        let mut best = self.mean(0);
        for arm in 1..self.arms {
            let mean = self.mean(arm);
            best = if mean > best { mean } else { best };
        }
        best
    }
}

/// What a round shows.
pub(crate) struct Round<'a> {
    /// What happened so far.
    pub seen: Seen<'a>,
    /// The features; empty without contexts.
    pub context: &'a [f32],
}

/// A policy that plays a run at a time.
pub(crate) trait PlainKernel: Send + Sync {
    /// What it keeps for a run.
    type State;

    /// Number of parameters.
    fn dim(&self) -> usize;

    /// Why it has no score, if it has none.
    fn unscored(&self) -> Option<&'static str> {
        None
    }

    /// Before the first round; a score of what it draws goes to `score`.
    fn start(&self, training: bool, actions: &mut Random, score: &mut [f64]) -> Self::State;

    /// Chooses an arm and adds the gradient of the log-probability of its choice to `score`, if there is one.
    fn act(
        &self,
        state: &mut Self::State,
        round: &Round,
        actions: &mut Random,
        score: Option<&mut [f64]>,
    ) -> usize;

    /// Learns a reward.
    #[inline(always)]
    fn update(&self, _state: &mut Self::State, _round: &Round, _arm: usize, _reward: f64) {}

    /// After some runs: refuses them if something went wrong on the way.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A kernel as a player.
pub(crate) struct Plain<P>(pub P);

impl<P: PlainKernel> Player for Plain<P> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn rollout(&self, job: &Job, first: u64, out: Output) -> Result<()> {
        let dim = self.dim();
        let (mut instance, mut means) = (Instance::default(), vec![0.0; job.problem.arms]);
        let marks = job.marks.len();
        for (i, outcome) in out.outcomes.iter_mut().enumerate() {
            let index = first + i as u64;
            let world = match job.problem.armed() {
                Some(armed) => {
                    instances::draw(job, armed, index, std::slice::from_mut(outcome), &mut means)?;
                    World::arms(job, armed, index, &means)
                }
                None => {
                    job.problem.draw_contexts(job.split, job.key, index, &mut instance)?;
                    World::Contexts(&instance)
                }
            };
            let gradient = out.gradients.get_mut(i * dim..(i + 1) * dim).unwrap_or_default();
            let curve = &mut out.curves[i * marks..(i + 1) * marks];
            vectorized(
                #[inline(always)]
                || self.instance(job, index, world, outcome, gradient, curve),
            );
        }
        self.0.check()
    }

    fn unscored(&self) -> Option<&'static str> {
        self.0.unscored()
    }

    #[cfg(test)]
    fn trajectory(&self, job: &Job, instance: u64, run: usize) -> Option<super::Trajectory> {
        Some(tests::replay(&self.0, job, instance, run))
    }
}

/// Where means and rewards come from.
enum World<'a> {
    Arms { armed: &'a Armed, means: &'a [f64], words: Stream<One<f64>>, best: usize, offset: f64 },
    Contexts(&'a Instance),
}

/// One round of a world.
struct Now<'a> {
    context: &'a [f32],
    word: Option<<One<f64> as crate::numeric::lanes::Real>::Word>,
    best: usize,
}

fn largest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (arm, value) in values.enumerate() {
        best = if value > best.1 { (arm, value) } else { best };
    }
    best.0
}

impl<'a> World<'a> {
    fn arms(job: &Job, armed: &'a Armed, index: u64, means: &'a [f64]) -> Self {
        let best = largest(means.iter().copied());
        let offset = instances::offset(job.task, One(means[best])).0;
        Self::Arms { armed, means, words: Stream::new((), job.reward_key(), index), best, offset }
    }

    #[inline(always)]
    fn advance(&mut self, job: &Job, t: usize) -> Now<'a> {
        match self {
            Self::Arms { words, best, .. } => {
                Now { context: &[], word: Some(words.next_word()), best: *best }
            }
            Self::Contexts(instance) => {
                let (arms, dim) = (job.problem.arms, instance.contexts.len() / job.problem.horizon);
                let means = &instance.means[t * arms..(t + 1) * arms];
                let best = largest(means.iter().map(|&x| f64::from(x)));
                Now { context: &instance.contexts[t * dim..(t + 1) * dim], word: None, best }
            }
        }
    }

    /// Mean and reward of an arm.
    #[inline(always)]
    fn pull(&self, job: &Job, t: usize, now: &Now, arm: usize) -> (f64, f64) {
        match self {
            Self::Arms { armed, means, .. } => {
                let reward = now
                    .word
                    .map_or(0.0, |word| (&armed.rewards).draw(word, One(arm as f64), One(means[arm])).0);
                (means[arm], reward)
            }
            Self::Contexts(instance) => {
                let at = t * job.problem.arms + arm;
                (f64::from(instance.means[at]), f64::from(instance.rewards[at]))
            }
        }
    }

    /// What returns are measured from.
    #[inline(always)]
    fn offset(&self) -> f64 {
        match self {
            Self::Arms { offset, .. } => *offset,
            Self::Contexts(_) => 0.0,
        }
    }
}

/// A run.
struct Run<S> {
    state: S,
    actions: Random,
    /// Pulls, sums and means of the arms, as [`Seen`] has them.
    statistics: Vec<f64>,
    score: Vec<f64>,
    value: f64,
    /// With contexts, whose means move: the sum of the means of the pulled arms.
    reward: f64,
}

impl<P: PlainKernel> Plain<P> {
    #[inline(always)]
    fn instance(
        &self,
        job: &Job,
        index: u64,
        mut world: World,
        outcome: &mut Outcome,
        gradient: &mut [f64],
        curve: &mut [f64],
    ) {
        let (arms, horizon) = (job.problem.arms, job.problem.horizon);
        let training = job.task != Task::Evaluate;
        let mut runs: Vec<_> = (0..job.task.runs())
            .map(|r| {
                let mut actions = Random(Stream::new((), job.action_key(r), index));
                let mut score = vec![0.0; self.dim()];
                let state = self.0.start(training, &mut actions, &mut score);
                Run { state, actions, statistics: vec![0.0; 3 * arms], score, value: 0.0, reward: 0.0 }
            })
            .collect();
        gradient.fill(0.0);
        let mut marks = job.marks.iter().zip(curve).peekable();
        let mut optimal_reward = 0.0;
        for t in 0..horizon {
            let now = world.advance(job, t);
            let best = world.pull(job, t, &now, now.best);
            optimal_reward += best.0;
            for (r, run) in runs.iter_mut().enumerate() {
                let Run { state, actions, statistics, score, .. } = run;
                let seen = Seen::new((t, horizon), arms, statistics, 1);
                let round = Round { seen, context: now.context };
                let score = job.task.scores(r).then_some(&mut score[..]);
                let arm = self.0.act(state, &round, actions, score);
                let (mean, reward) = world.pull(job, t, &now, arm);
                self.0.update(state, &round, arm, reward);
                statistics[arm] += 1.0;
                statistics[arms + arm] += reward;
                statistics[2 * arms + arm] = statistics[arms + arm] / statistics[arm];
                run.value = value(job.task, &world, (mean, reward));
                run.reward += mean;
            }
            if let Task::Gradient(baseline, _) = job.task {
                let optimal = || One(value(job.task, &world, best));
                let reference = baseline.reference(Centre::Sum, |r| One(runs[r].value), optimal);
                for run in runs.iter().enumerate().filter(|&(r, _)| baseline.scores(r)).map(|(_, run)| run) {
                    let excess = reference.excess(One(run.value)).0;
                    for (out, score) in gradient.iter_mut().zip(&run.score) {
                        *out += excess * score;
                    }
                }
            }
            if let Some((_, point)) = marks.next_if(|(mark, _)| **mark == t + 1) {
                let mut so_far = Outcome::default();
                settle(&world, optimal_reward, &runs, &mut so_far);
                *point = so_far.regret;
            }
        }
        settle(&world, optimal_reward, &runs, outcome);
        if let Task::Gradient(baseline, _) = job.task {
            gradient.iter_mut().for_each(|out| *out /= baseline.divisor(Centre::Sum));
        }
    }
}

/// A run's return in a round.
#[inline(always)]
fn value(task: Task, world: &World, (mean, reward): (f64, f64)) -> f64 {
    match task.returns() {
        Returns::Realized => reward,
        Returns::Mean => mean - world.offset(),
    }
}

/// Rewards and regret so far.
fn settle<S>(world: &World, optimal_reward: f64, runs: &[Run<S>], outcome: &mut Outcome) {
    match world {
        World::Arms { means, .. } => {
            let mut tally = Tally::new(means);
            runs.iter().for_each(|run| tally.add(run.statistics[..means.len()].iter().copied()));
            tally.settle(runs.len(), outcome);
        }
        World::Contexts(_) => {
            outcome.reward = runs.iter().map(|run| run.reward).sum::<f64>() / runs.len() as f64;
            outcome.regret = optimal_reward - outcome.reward;
        }
    }
}

#[cfg(test)]
mod tests;
