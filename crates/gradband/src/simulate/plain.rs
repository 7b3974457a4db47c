//! The plain engine: one run at a time in double precision, for policies that no other engine fits, among them users' own
//! rules. Arms with or without contexts.
//!
//! The estimator streams as in [`super::arms`]: gradient += (return - reference) * scores so far, each return by the chance
//! that its round is played. In a round that is not the policy's to decide there is no score.

mod joint;
mod run;
mod source;

use super::instances::{self, Tally};
use super::job::{Job, Outcome, Output, Player, Task};
use super::returns::{Centre, Returns};
use crate::error::Result;
use crate::numeric::lanes::One;
use crate::numeric::simd::vectorized;
use crate::numeric::stream::{Random, Stream};
use crate::problem::Instance;
pub use joint::JointSeen;
pub(crate) use joint::{Joint, JointKernel};
use run::{Around, Run};
use source::Source;

/// What a policy has seen of a run so far.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Seen<'a> {
    /// The number of rounds that were played.
    pub round: usize,
    /// The number of rounds of the whole run; the most that are simulated, if the end is unknown.
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

    /// How often an arm was pulled. A pull counts at once, even if its reward comes late.
    #[inline]
    pub fn pulls(&self, arm: usize) -> f64 {
        self.statistic(0, arm)
    }

    /// The sum of an arm's rewards; those that are not known yet count as the mean of the others.
    #[inline]
    pub fn sum(&self, arm: usize) -> f64 {
        self.statistic(1, arm)
    }

    /// The mean of an arm's rewards that are known. Before the first: 0, but where rewards come late, arms have a floor or
    /// the end is unknown, the mean of past arms.
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

    /// Is each arm pulled once before the kernel is asked?
    fn each_arm_once(&self) -> bool {
        false
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

    /// Learns that an arm is pulled, by its choice or not.
    #[inline(always)]
    fn pulled(&self, _state: &mut Self::State, _round: &Round, _arm: usize) {}

    /// Learns a reward, once it is known: the context is that of its pull.
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
        let mut around = Around::new(job, self.0.each_arm_once());
        let marks = job.marks.len();
        for (i, outcome) in out.outcomes.iter_mut().enumerate() {
            let index = first + i as u64;
            let source = match job.problem.armed() {
                Some(armed) => {
                    instances::draw(job, armed, index, std::slice::from_mut(outcome), &mut means)?;
                    Source::arms(job, armed, index, &means)
                }
                None => {
                    job.problem.draw_contexts(job.split, job.key, index, &mut instance)?;
                    Source::Contexts(&instance)
                }
            };
            around.schedule.draw(job, index);
            let gradient = out.gradients.get_mut(i * dim..(i + 1) * dim).unwrap_or_default();
            let curve = &mut out.curves[i * marks..(i + 1) * marks];
            vectorized(
                #[inline(always)]
                || self.instance(job, index, &around, source, (outcome, gradient, curve)),
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

impl<P: PlainKernel> Plain<P> {
    #[inline(always)]
    fn instance(
        &self,
        job: &Job,
        index: u64,
        around: &Around,
        mut source: Source,
        (outcome, gradient, curve): (&mut Outcome, &mut [f64], &mut [f64]),
    ) {
        let (arms, horizon) = (job.problem.arms, job.problem.horizon);
        let training = job.task != Task::Evaluate;
        let mut runs: Vec<_> = (0..job.task.runs())
            .map(|r| {
                let mut actions = Random(Stream::new((), job.action_key(r), index));
                let mut score = vec![0.0; self.dim()];
                let state = self.0.start(training, &mut actions, &mut score);
                Run::new(around, job, index, r, (state, actions, score))
            })
            .collect();
        gradient.fill(0.0);
        let mut marks = job.marks.iter().zip(curve).peekable();
        let mut optimal_reward = 0.0;
        for t in 0..horizon {
            let end = job.problem.world().horizon.end(t);
            let (now, weight) = (source.advance(job, t), around.weight(t));
            let best = source.pull(job, t, &now, now.best);
            optimal_reward += best.0 * weight;
            for (r, run) in runs.iter_mut().enumerate() {
                if around.late {
                    for s in around.schedule.due(t) {
                        let (arm, reward) = run.learn(around, s);
                        let seen = Seen::new((t, end), arms, &run.statistics, 1);
                        let round = Round { seen, context: source.context(job, s) };
                        self.0.update(&mut run.state, &round, arm, reward);
                    }
                }
                let decided = run.decided(around, t, arms);
                let Run { state, actions, statistics, score, .. } = run;
                let seen = Seen::new((t, end), arms, statistics, 1);
                let round = Round { seen, context: now.context };
                let score = job.task.scores(r).then_some(&mut score[..]);
                let arm = decided.unwrap_or_else(|| self.0.act(state, &round, actions, score));
                let (mean, reward) = source.pull(job, t, &now, arm);
                self.0.pulled(state, &round, arm);
                if !around.late {
                    self.0.update(state, &round, arm, reward);
                }
                pull(job, around, &source, weight, (arm, (mean, reward)), run);
            }
            climb(job, &source, weight, best, &runs, gradient);
            if let Some((_, point)) = marks.next_if(|(mark, _)| **mark == t + 1) {
                let mut so_far = Outcome::default();
                settle(&source, optimal_reward, &runs, &mut so_far);
                *point = so_far.regret;
            }
        }
        settle(&source, optimal_reward, &runs, outcome);
        if let Task::Gradient(baseline, _) = job.task {
            gradient.iter_mut().for_each(|out| *out /= baseline.divisor(Centre::Sum));
        }
    }
}

/// The arm in whose share of the weights a mark falls.
#[inline(always)]
pub(crate) fn draw(weights: &[f64], mark: f64) -> usize {
    let (mut bound, mut arm) = (0.0, 0);
    for &weight in &weights[..weights.len() - 1] {
        bound += weight;
        arm += usize::from(mark >= bound);
    }
    arm
}

/// d log pi_a / d param, from the weights and the derivatives of their logarithms.
#[inline(always)]
pub(crate) fn score(weights: &[f64], slopes: &[f64], arm: usize, total: f64) -> f64 {
    let centre: f64 = weights.iter().zip(slopes).map(|(weight, slope)| weight * slope).sum();
    slopes[arm] - centre / total
}

/// A run pulls an arm, in a round that is played with some chance.
#[inline(always)]
fn pull<S>(
    job: &Job,
    around: &Around,
    source: &Source,
    weight: f64,
    (arm, (mean, reward)): (usize, (f64, f64)),
    run: &mut Run<S>,
) {
    run.pull(around, arm, reward);
    run.value = value(job.task, source, (mean, reward)) * weight;
    run.reward += mean * weight;
    run.shares[arm] += weight;
}

/// Adds a round of all runs to the estimate.
#[inline(always)]
fn climb<S>(
    job: &Job,
    source: &Source,
    weight: f64,
    best: (f64, f64),
    runs: &[Run<S>],
    gradient: &mut [f64],
) {
    let Task::Gradient(baseline, _) = job.task else { return };
    let optimal = || One(value(job.task, source, best) * weight);
    let reference = baseline.reference(Centre::Sum, |r| One(runs[r].value), optimal);
    for run in runs.iter().enumerate().filter(|&(r, _)| baseline.scores(r)).map(|(_, run)| run) {
        let excess = reference.excess(One(run.value)).0;
        for (out, score) in gradient.iter_mut().zip(&run.score) {
            *out += excess * score;
        }
    }
}

/// A run's return in a round.
#[inline(always)]
fn value(task: Task, source: &Source, (mean, reward): (f64, f64)) -> f64 {
    match task.returns() {
        Returns::Realized => reward,
        Returns::Mean => mean - source.offset(),
    }
}

/// Rewards and regret so far.
fn settle<S>(source: &Source, optimal_reward: f64, runs: &[Run<S>], outcome: &mut Outcome) {
    match source {
        Source::Arms { means, .. } => {
            let mut tally = Tally::new(means);
            runs.iter().for_each(|run| tally.add(run.shares.iter().copied()));
            tally.settle(runs.len(), outcome);
        }
        Source::Contexts(_) => {
            outcome.reward = runs.iter().map(|run| run.reward).sum::<f64>() / runs.len() as f64;
            outcome.regret = optimal_reward - outcome.reward;
        }
    }
}

#[cfg(test)]
mod tests;
