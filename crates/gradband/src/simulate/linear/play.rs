//! From instances to outcomes: the runs of an instance, what they leave behind, and their returns.

use super::back::Backward;
use super::gradient::Accumulator;
use super::pack::{Pack, zeros};
use super::packed::Packed;
use super::sparse::{Rows, ask, sparse};
use super::{Basis, Draws, LinearChooser, Number, Projection, Slopes, blocks, gradient_len, late, rounds};
use crate::error::Result;
use crate::numeric::lanes::One;
use crate::numeric::stream::Stream;
use crate::problem::{Instance, World};
use crate::simulate::job::{Job, Outcome, Output, Task};
use crate::simulate::late::{Schedule, forced};
use crate::simulate::returns::{Centre, Returns, advantages};

/// How the rounds of a run are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// One after the other, in small dimensions only.
    Rounds,
    /// In blocks.
    Blocks,
    /// One after the other, with rewards that come late.
    Late,
}

impl Pace {
    pub fn of(world: &World, dim: usize) -> Self {
        match world.is_prompt() {
            false => Self::Late,
            true if dim <= rounds::LARGEST_DIM => Self::Rounds,
            true => Self::Blocks,
        }
    }
}

/// One run, and its trace: arms and gains always, scores and the vectors h if it is differentiated.
pub(super) struct Run<R> {
    /// Is this run differentiated, or only a reference?
    pub scored: bool,
    /// Are its vectors h kept?
    pub kept: bool,
    draws: Vec<R>,
    draws_per_round: usize,
    scalars_per_round: usize,
    /// The arm of each round that is not the policy's to decide; empty if all are.
    forced: Vec<Option<u32>>,
    /// The arm of each round.
    pub pulls: Vec<u32>,
    /// (Y - mu) / (1 + v) of each round, as of when the reward is known.
    pub gains: Vec<R>,
    /// Scores of each round and arm (of one round if not scored), then of each round and scalar.
    pub by_mean: Vec<R>,
    pub by_variance: Vec<R>,
    pub by_scalars: Vec<R>,
    /// h of each round and arm, if kept; where rewards come late, h and k of each round.
    pub h: Vec<Pack<R>>,
    /// Q of each arm, in the order that suits the kernel.
    pub q: Vec<Pack<R>>,
    /// z of each arm.
    pub z: Vec<Pack<R>>,
    /// Where rewards come late: Q of the pulls whose rewards are known, and k of each of them (of the last one, if nothing
    /// is kept).
    pub known: Vec<Pack<R>>,
    pub learned: Vec<Pack<R>>,
}

impl<R: Number> Run<R> {
    fn new(policy: &dyn LinearChooser, table: &Packed<R>, pace: Pace, scored: bool) -> Self {
        let (horizon, arms, zero) = (table.horizon, table.arms, R::of(0.0));
        let kept = scored && policy.learns_projection();
        let draws_per_round = policy.draws().per_round(arms);
        let rounds = if scored { horizon } else { 1 };
        let late = usize::from(pace == Pace::Late);
        let matrices = table.prior.len();
        Self {
            scored,
            kept,
            draws: vec![zero; horizon * draws_per_round],
            draws_per_round,
            scalars_per_round: policy.scalars(),
            forced: Vec::new(),
            pulls: vec![0; horizon],
            gains: vec![zero; horizon],
            by_mean: vec![zero; rounds * arms],
            by_variance: vec![zero; rounds * arms],
            by_scalars: vec![zero; rounds * policy.scalars()],
            h: vec![zeros(); usize::from(kept) * (1 + late) * horizon * arms * table.width],
            q: vec![zeros(); matrices],
            z: vec![zeros(); arms * table.width],
            known: vec![zeros(); late * matrices],
            learned: vec![zeros(); late * if kept { horizon } else { 1 } * table.width],
        }
    }

    /// Back to the first round, with the draws of run `r` of instance `index`.
    fn start(
        &mut self,
        job: &Job,
        table: &Packed<R>,
        draws: Draws,
        (r, index): (usize, u64),
        buffer: &mut Vec<f32>,
    ) {
        buffer.resize(self.draws.len(), 0.0);
        draws.fill(job.action_key(r), index, buffer);
        for (draw, &x) in self.draws.iter_mut().zip(buffer.iter()) {
            *draw = R::of(f64::from(x));
        }
        let (floor, arms) = (job.problem.world().floor, job.problem.arms);
        if floor > 0.0 {
            let mut coins = Stream::<One<f64>>::new((), job.coin_key(r), index);
            let coin = |_| forced(coins.uniform().0, floor, arms).map(|arm| arm as u32);
            self.forced.clear();
            self.forced.extend(self.pulls.iter().map(coin));
        }
        self.q.copy_from_slice(&table.prior);
        if !self.known.is_empty() {
            self.known.copy_from_slice(&table.prior);
        }
        self.z.fill(zeros());
    }

    /// The arm of round `t`; leaves the score, arm and gain in the trace. Also 1 / (1 + v) of the arm.
    #[inline(always)]
    pub fn choose(
        &mut self,
        policy: &dyn LinearChooser,
        t: usize,
        rewards: &[R],
        mu: &[R],
        v: &[R],
    ) -> (usize, R) {
        let draws = &self.draws[t * self.draws_per_round..][..self.draws_per_round];
        let (at, arms, scalars) = (if self.scored { t } else { 0 }, mu.len(), self.scalars_per_round);
        let mut slopes = Slopes {
            mean: &mut self.by_mean[at * arms..][..arms],
            variance: &mut self.by_variance[at * arms..][..arms],
            scalars: &mut self.by_scalars[at * scalars..][..scalars],
        };
        let arm = match self.forced.get(t) {
            Some(&Some(arm)) => {
                // Nothing here depends on the policy.
                slopes.mean.fill(R::of(0.0));
                slopes.variance.fill(R::of(0.0));
                slopes.scalars.fill(R::of(0.0));
                arm as usize
            }
            _ => R::chooser(policy).act(self.scored, mu, v, draws, &mut slopes).indices()[0] as usize,
        };
        let share = R::of(1.0) / (v[arm] + 1.0);
        self.pulls[t] = arm as u32;
        self.gains[t] = (rewards[t * arms + arm] - mu[arm]) * share;
        (arm, share)
    }

    /// Adds advantages times scores to the gradient by the scalars.
    fn add_scalars(&self, advantages: &[One<f64>], gradient: &mut [f64]) {
        if gradient.is_empty() {
            return;
        }
        for (scores, advantage) in self.by_scalars.chunks_exact(gradient.len()).zip(advantages) {
            for (out, score) in gradient.iter_mut().zip(scores) {
                *out += score.lane(0) * R::of(advantage.0).lane(0);
            }
        }
    }
}

/// Collects the gradient of an instance, in the way that suits the basis.
enum Collector<'a, R> {
    Features(Accumulator<'a, R>),
    Projected(Backward<R>),
}

/// Plays instances `first..`.
pub(super) fn with<R: Number>(
    policy: &dyn LinearChooser,
    projection: &Projection,
    job: &Job,
    (basis, pace): (Basis, Pace),
    first: u64,
    out: Output,
) -> Result<()> {
    let length = if job.task == Task::Evaluate { 0 } else { gradient_len(policy, projection) };
    let Output { outcomes, gradients, curves } = out;
    assert_eq!(gradients.len(), outcomes.len() * length, "a gradient for each instance");
    let mut instance = Instance::default();
    let mut table = Packed::<R>::new(projection, job.problem, basis, pace);
    let mut runs: Vec<_> =
        (0..job.task.runs()).map(|r| Run::new(policy, &table, pace, job.task.scores(r))).collect();
    let mut collector = match basis {
        Basis::Features => Collector::Features(Accumulator::new(projection, job.problem, table.width)),
        Basis::Projected => Collector::Projected(Backward::new(&table, pace)),
    };
    let sparse = sparse(job, basis);
    ask(&mut instance, sparse);
    let mut returns = Values::new(job);
    let mut schedule = Schedule::new(job.problem);
    let mut buffer = Vec::new();
    let marks = job.marks.len();
    for (i, outcome) in outcomes.iter_mut().enumerate() {
        let index = first + i as u64;
        job.problem.draw_contexts(job.split, job.key, index, &mut instance)?;
        let rows = Rows::of(&instance, sparse);
        table.load(&instance, rows);
        for (r, run) in runs.iter_mut().enumerate() {
            run.start(job, &table, policy.draws(), (r, index), &mut buffer);
        }
        match pace {
            Pace::Rounds => rounds::play(policy, &table, &mut runs),
            Pace::Blocks => blocks::play(policy, &table, &mut runs),
            Pace::Late => {
                schedule.draw(job, index);
                late::play(policy, &table, &schedule, &mut runs);
            }
        }
        let pulls = |r: usize, t: usize| runs[r].pulls[t] as usize;
        *outcome = returns.settle(job, &instance, pulls, &mut curves[i * marks..(i + 1) * marks]);
        if let (Task::Gradient(baseline, _), true) = (job.task, length > 0) {
            advantages(baseline, Centre::Mean, One(1.0), &returns.optimal, &mut returns.values);
            let gradient = &mut gradients[i * length..(i + 1) * length];
            gradient.fill(0.0);
            let (by_w, by_scalars) = gradient.split_at_mut(length - policy.scalars());
            let late = (pace == Pace::Late).then_some(&schedule);
            let all = runs.iter().zip(returns.values.chunks_exact(job.problem.horizon));
            for (run, advantages) in all.filter(|(run, _)| run.scored) {
                run.add_scalars(advantages, by_scalars);
                match &mut collector {
                    Collector::Features(collector) => collector.add(&table, run, late, advantages),
                    Collector::Projected(collector) => collector.add(&table, run, late, advantages),
                }
            }
            match &mut collector {
                Collector::Features(collector) => collector.finish(by_w),
                Collector::Projected(collector) => collector.finish(&table, rows, by_w),
            }
        }
    }
    Ok(())
}

/// Returns of the runs of an instance, one run after the other, and those of the best arm in each round.
struct Values {
    values: Vec<One<f64>>,
    optimal: Vec<One<f64>>,
    /// How likely each round is played.
    weights: Vec<f64>,
}

impl Values {
    fn new(job: &Job) -> Self {
        let horizon = job.problem.horizon;
        Self {
            values: vec![One(0.0); job.task.runs() * horizon],
            optimal: vec![One(0.0); horizon],
            weights: job.problem.round_weights().unwrap_or_else(|| vec![1.0; horizon]),
        }
    }

    /// Rewards and regret of the runs, which pulled `arm(run, round)`; leaves the returns of each, and those of the best arm.
    fn settle(
        &mut self,
        job: &Job,
        instance: &Instance,
        arm: impl Fn(usize, usize) -> usize,
        curve: &mut [f64],
    ) -> Outcome {
        let (arms, horizon, runs) = (job.problem.arms, job.problem.horizon, job.task.runs());
        let of_means = job.task == Task::Evaluate || job.task.returns() == Returns::Mean;
        let (mut reward, mut regret) = (0.0, 0.0);
        let mut marks = job.marks.iter().zip(curve).peekable();
        for t in 0..horizon {
            let means = &instance.means[t * arms..(t + 1) * arms];
            let rewards = &instance.rewards[t * arms..(t + 1) * arms];
            let table = if of_means { means } else { rewards };
            let mut best = 0;
            for i in 1..arms {
                if means[best] < means[i] {
                    best = i;
                }
            }
            let weight = self.weights[t];
            self.optimal[t] = One(f64::from(table[best]) * weight);
            for r in 0..runs {
                let arm = arm(r, t);
                self.values[r * horizon + t] = One(f64::from(table[arm]) * weight);
                let mean = f64::from(means[arm]);
                reward += mean * weight;
                regret += (f64::from(means[best]) - mean) * weight;
            }
            if let Some((_, point)) = marks.next_if(|(mark, _)| **mark == t + 1) {
                *point = regret / runs as f64;
            }
        }
        Outcome { reward: reward / runs as f64, regret: regret / runs as f64, cluster: 0 }
    }
}
